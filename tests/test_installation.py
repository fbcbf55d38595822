"""What is said of installing: the groups, the commands of a clone and of a wheel, and no release that is not there."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from jury_events import install_line
from support.each_row import each_row
from support.group_of_tests import COMMAND

ROOT = Path(__file__).parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INSTALL = (ROOT / "docs" / "install.md").read_text("utf-8")
WHEEL = f"jury_judge-{PYPROJECT['project']['version']}-py3-none-any.whl"
_ENDINGS = {".md", ".py", ".html", ".yml", ".yaml", ".toml", ".sh", ".js", ".json", ".ipynb", ""}
_FROM_AN_INDEX = re.compile(
    r"(?:pip|pipx|uv add|uvx|uv tool|conda|requirement|default:)[^\n]*\bjury-judge\b(?!\[\S+\] @)"
)
"""A line that installs it by its name alone."""


def _files() -> list[Path]:
    """Everything that is read or run by a user: not the tests, nor the history of changes."""
    said = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [
        ROOT / name
        for name in said.splitlines()
        if not name.startswith(("tests/", "CHANGELOG.md", "uv.lock")) and Path(name).suffix in _ENDINGS
    ]


def test_nothing_says_that_a_release_is_published() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in _files()
        for line in path.read_text("utf-8", "replace").splitlines()
        if _FROM_AN_INDEX.search(line) and path.name != "Dockerfile"
    ]

    assert [] == found


def test_one_page_has_the_commands_and_messages_agree_with_it() -> None:
    in_clone, of_wheel = install_line("EXTRA").split(" (in a clone) or ")

    assert in_clone.replace("EXTRA", "stats") in INSTALL
    assert re.search(of_wheel.replace("EXTRA", "X").replace("[", r"\[").replace("X]", r"[a-z,]+\]"), INSTALL)
    assert WHEEL in INSTALL
    for path in ("examples/ci/gitlab-ci.yml", "examples/ci/jury-gate.yml"):
        assert WHEEL in (ROOT / path).read_text("utf-8")


def test_the_extras_that_are_listed_are_those_of_the_package() -> None:
    listed = re.findall(
        r"`([a-z]+)`", "".join(re.findall(r"^\| (`.*?) \|", INSTALL.split("## Extras")[1], re.MULTILINE))
    )

    assert sorted(PYPROJECT["project"]["optional-dependencies"]) == sorted(listed[: len(set(listed))])


def test_the_first_command_installs_the_product_alone() -> None:
    assert [] == PYPROJECT["tool"]["uv"]["default-groups"]
    assert f"```console\n{COMMAND}\n```" in (ROOT / "README.md").read_text("utf-8")


@each_row("page", ["README.md", "CONTRIBUTING.md", "docs/development.md", ".ci/run"])
def test_every_page_calls_the_tests_by_the_command_that_installs_them(page: str) -> None:
    text = (ROOT / page).read_text("utf-8").replace("`uv run pytest` ends with a line", "")

    assert COMMAND in text
    assert "uv run pytest" not in text


@pytest.fixture
def script(tmp_path: Path) -> str:
    """The command `pytest` of an installation from a clone, as a file that this Python can run."""
    found = re.search(r'_PYTEST = """#!python\n(.*?)"""', (ROOT / "hatch_build.py").read_text("utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path / "pytest"
    path.write_text(found[1], "utf-8")
    return str(path)


def test_the_command_of_a_clone_names_what_is_missing(script: str) -> None:
    done = subprocess.run([sys.executable, "-S", script], capture_output=True, text=True, check=False, env={})

    assert (1, f"pytest: the tests need more than the product; run: {COMMAND}\n") == (done.returncode, done.stderr)


def test_the_command_of_a_clone_is_that_of_pytest_where_it_is_installed(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, script, "--version"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ},
    )

    assert (0, f"pytest {distribution('pytest').version}") == (done.returncode, (done.stdout + done.stderr).strip())


def test_a_pytest_of_elsewhere_ends_with_the_command(tmp_path: Path) -> None:
    seen = tmp_path / "support"
    seen.mkdir()
    for name in ("__init__.py", "group_of_tests.py"):
        source = ROOT / "tests" / "support" / name
        (seen / name).write_text(
            source.read_text("utf-8").replace("jury_store", "jury_of_nobody") if source.exists() else ""
        )
    (tmp_path / "conftest.py").write_text("import support.group_of_tests\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-n", "0"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip

    assert 4 == done.returncode
    assert f"the tests need more than this pytest; run: {COMMAND}" in done.stdout + done.stderr
