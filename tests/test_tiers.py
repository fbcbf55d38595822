"""What runs by default, and what more where the command line says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CONFTEST = """
from support.tiers import Tiers, mark_of_case, upper_folders_first

def pytest_configure(config):
    upper_folders_first(config)
    config.pluginmanager.register(Tiers(config), "tiers")

def pytest_collection_modifyitems(config, items):
    for item in items:
        mark_of_case(item)
    config.pluginmanager.get_plugin("tiers").choose(config, items)
"""
INI = "[pytest]\nmarkers =\n    full\n    full_for(value)\n    long\n"
PLANTED = """
import pytest

pytestmark = pytest.mark.full_for("dear")

def test_quick(): ...

@pytest.mark.full
def test_dear(): ...

@pytest.mark.long
def test_very_long(): ...

@pytest.mark.parametrize("value", ["cheap", "dear"])
def test_case(value): ...
"""
DEFAULT = {"test_quick", "test_case[cheap]"}
FULL = {"test_dear", "test_case[dear]"}


def shown(folder: Path, *arguments: str) -> tuple[set[str], str]:
    """The tests that are run, and the last lines."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(INI)
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "test_planted.py").write_text(PLANTED)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "--no-header", "-p", "no:schemathesis", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    ran = {line.split("::")[1].split()[0] for line in done.stdout.splitlines() if "PASSED" in line}
    return ran, done.stdout


def test_by_default_what_is_left_out_is_counted_also_where_workers_run_the_tests(tmp_path: Path) -> None:
    ran, said = shown(tmp_path, "tests", "-n", "2")

    assert DEFAULT == ran
    assert 'left out: 2 tests marked full (pytest -m full; all: -m "full or not full")' in said
    assert "left out: 1 test marked long (pytest -m long)" in said


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), DEFAULT),
        (("tests",), DEFAULT),
        (("-m", "full"), FULL),
        (("-m", "full or not full"), DEFAULT | FULL),
        (("tests/test_planted.py",), DEFAULT | FULL),
        (("tests/test_planted.py::test_dear",), {"test_dear"}),
        (("-m", "long"), {"test_very_long"}),
    ],
)
def test_a_tier_is_chosen_by_marker_and_a_test_that_is_named_runs(
    tmp_path: Path, arguments: tuple[str, ...], expected: set[str]
) -> None:
    ran, _ = shown(tmp_path, *arguments)

    assert expected == ran


def test_a_fixture_of_a_folder_is_found_whatever_is_named_between_its_files(tmp_path: Path) -> None:
    below = tmp_path / "tests" / "below"
    below.mkdir(parents=True)
    (below / "conftest.py").write_text("import pytest\n\n@pytest.fixture\ndef kept(): ...\n")
    for name in ("first", "last"):
        (below / f"test_{name}.py").write_text(f"def test_{name}(kept): ...\n")

    ran, _ = shown(tmp_path, "tests/below/test_first.py", "tests/test_planted.py", "tests/below/test_last.py")

    assert {"test_first", "test_last", *DEFAULT, *FULL} == ran
