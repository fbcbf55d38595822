"""The import contracts keep the layers, and catch each import against them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    folder: f"jury_{folder}"
    for folder in ("events", "debate", "store", "migrations", "replay", "analysis", "providers", "actors", "judge")
}


def lint(path: Path) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--config",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(path / "cache"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run(command, cwd=path, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of every package, side by side. Shared, so that the linter reads each module once."""
    path = tmp_path_factory.mktemp("packages")
    for folder, package in FOLDERS.items():
        shutil.copytree(ROOT / folder / package, path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return path


@pytest.fixture
def packages(copies: Path) -> Iterator[Path]:
    """The copies, for tests that change modules: afterwards they are as before."""
    before = {path: path.read_bytes() for path in copies.glob("*/**/*.py")}
    yield copies
    for path in copies.glob("*/**/*.py"):
        if path not in before:
            path.unlink()
        elif path.read_bytes() != before[path]:
            path.write_bytes(before[path])


def test_the_packages_keep_their_layers(packages: Path) -> None:
    result = lint(packages)

    assert result.returncode == 0, result.stdout


@pytest.mark.full
@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("jury_events", "import jury_store.errors"),
        ("jury_debate", "import jury_store.errors"),
        ("jury_debate", "import ray"),
        ("jury_debate", "import jury_debate.rules_v1.state_machine"),
        ("jury_replay", "from jury_debate.rules_v1.consensus import check_consensus"),
        ("jury_judge", "import jury_debate.rules_v1.rules"),
        ("jury_store", "import jury_debate.errors"),
        ("jury_replay", "import ray"),
        ("jury_replay", "import jury_actors.errors"),
        ("jury_replay", "import jury_providers.errors"),
        ("jury_analysis", "import jury_store.errors"),
        ("jury_analysis", "import jury_debate.errors"),
        ("jury_analysis", "import sqlalchemy"),
        ("jury_analysis", "import ray"),
        ("jury_analysis", "import openai"),
        ("jury_analysis", "import fastapi"),
        ("jury_analysis", "import click"),
        ("jury_debate", "import jury_analysis.errors"),
        ("jury_providers", "import jury_store.errors"),
        ("jury_providers", "import jury_actors.errors"),
        ("jury_providers", "import ray"),
        ("jury_providers", "import openai"),
        ("jury_actors", "import jury_judge.errors"),
        ("jury_actors", "import openai"),
        ("jury_judge", "import anthropic"),
        ("jury_judge", "from google import genai"),
    ],
)
def test_an_import_against_the_layers_is_caught(packages: Path, package: str, line: str) -> None:
    module = packages / package / "errors.py"
    module.write_text(module.read_text() + f"\n{line}\n") if module.exists() else module.write_text(f"{line}\n")

    result = lint(packages)

    assert result.returncode != 0
    assert "BROKEN" in result.stdout


@pytest.mark.full
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("app/run_execution.py", "import jury_web.server"),
        ("present/terms.py", "import jury_judge.stores.debates"),
        ("cases/options.py", "import jury_judge.panels.document"),
        ("text/page.py", "import jury_views.terms"),
        ("documents/seating.py", "import jury_web.server"),
        ("cases/rows.py", "import jury_cli.exits"),
    ],
)
def test_an_import_against_the_layers_of_the_judge_is_caught(packages: Path, module: str, line: str) -> None:
    path = packages / "jury_judge" / module
    path.write_text(path.read_text() + f"\n{line}\n")

    result = lint(packages)

    assert result.returncode != 0
    assert "The judge's layers point one way BROKEN" in result.stdout


@pytest.mark.full
def test_an_import_cycle_between_parts_of_one_layer_is_caught(packages: Path) -> None:
    for part, imported in (("live", "reports.report"), ("reports", "live.progress")):
        module = packages / "jury_judge" / "present" / part / "added.py"
        module.write_text(f"import jury_views.{imported}\n")

    result = lint(packages)

    assert result.returncode != 0
    assert "No import cycle between the parts of a package BROKEN" in result.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_a_readme_of_one_screen_and_is_typed(folder: str) -> None:
    assert (ROOT / folder / FOLDERS[folder] / "py.typed").exists()
    assert 10 <= len((ROOT / folder / "README.md").read_text().splitlines()) <= 60


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_imports_the_root_of_its_own_package(folder: str) -> None:
    root = ROOT / folder / FOLDERS[folder]
    from_root = re.compile(rf"^\s*from {root.name} import (.+)$", re.MULTILINE)

    named = [
        (source.name, name.strip())
        for source in root.rglob("*.py")
        for names in from_root.findall(source.read_text())
        for name in names.split(",")
    ]

    assert [] == [pair for pair in named if not (root / f"{pair[1]}.py").exists()]
