"""The import contracts keep the layers, and catch each import against them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.each_row import each_row

ROOT = Path(__file__).parent.parent
FOLDERS = {
    folder: f"jury_{folder}"
    for folder in (
        *("events", "debate", "store", "migrations", "replay", "analysis", "providers", "actors"),
        *("cases", "judge", "views", "web", "integrations", "cli"),
    )
}

LAYERS = "Layers point one way"
JUDGE = "The judge's layers point one way"
CASES = "Cases are read without the store, the rules, a provider or a command line"
VIEWS = "Views read events, rules and results of the analysis alone"
DOORS = "Front doors call the application and know nothing behind it"
CYCLES = "No import cycle between the parts of a package"
PURE = "Events and rules know no database, no Ray, no provider, no command line"
REPLAY = "Replay never imports Ray, a provider or its SDK"
STATISTICS = "Statistics are pure: no database, no Ray, no provider, no command line, no web"
PROVIDERS = "Providers know no store, no Ray, no command line"
SDKS = "A provider's SDK is imported by its adapter alone"
VERSIONS = "A rules version is imported by the registry only"
RULES = "Rules are built on shared types and texts"

BREAKS = [
    # What a room may not import, one row a contract and kind of import.
    (LAYERS, "jury_events/errors.py", "import jury_store.errors"),
    (LAYERS, "jury_debate/errors.py", "import jury_store.errors"),
    (LAYERS, "jury_debate/errors.py", "import jury_analysis.errors"),
    (LAYERS, "jury_store/errors.py", "import jury_debate.errors"),
    (LAYERS, "jury_analysis/errors.py", "import jury_store.errors"),
    (LAYERS, "jury_replay/errors.py", "import jury_actors.errors"),
    (LAYERS, "jury_actors/errors.py", "import jury_judge.errors"),
    (LAYERS, "jury_cases/errors.py", "import jury_views.terms"),
    (LAYERS, "jury_views/terms.py", "import jury_judge.errors"),
    (LAYERS, "jury_judge/jury.py", "import jury_web.middleware"),
    (LAYERS, "jury_web/errors.py", "import jury_cli.exits"),
    (LAYERS, "jury_web/errors.py", "import jury_integrations.errors"),
    (LAYERS, "jury_integrations/errors.py", "import jury_web.middleware"),
    (LAYERS, "jury_judge/errors.py", "import jury_integrations.errors"),
    (JUDGE, "jury_judge/panels/document.py", "import jury_judge.runs.run"),
    (JUDGE, "jury_judge/records/reading.py", "import jury_judge.jury"),
    (JUDGE, "jury_judge/store_access/debates.py", "import jury_judge.comparisons.run_comparison"),
    (JUDGE, "jury_judge/jury.py", "import jury_judge.documents.seating"),
    (CASES, "jury_cases/errors.py", "import jury_store.errors"),
    (CASES, "jury_cases/errors.py", "import jury_debate.errors"),
    (CASES, "jury_cases/rows.py", "import click"),
    (VIEWS, "jury_views/terms.py", "import jury_store.errors"),
    (VIEWS, "jury_views/terms.py", "import jury_replay.errors"),
    (VIEWS, "jury_views/terminal/debate.py", "import jury_cases.errors"),
    (DOORS, "jury_cli/list.py", "from jury_store.opening import open_store"),
    (DOORS, "jury_cli/views/groups.py", "import jury_analysis.errors"),
    (DOORS, "jury_cli/cases.py", "from jury_cases.case_files import CaseFiles"),
    (DOORS, "jury_web/errors.py", "import jury_replay.errors"),
    (DOORS, "jury_web/errors.py", "import jury_debate.errors"),
    (DOORS, "jury_integrations/errors.py", "import jury_cases.errors"),
    (PURE, "jury_debate/errors.py", "import ray"),
    (PURE, "jury_events/errors.py", "import sqlalchemy"),
    (REPLAY, "jury_replay/errors.py", "import ray"),
    (REPLAY, "jury_replay/errors.py", "import jury_providers.errors"),
    (STATISTICS, "jury_analysis/errors.py", "import sqlalchemy"),
    (STATISTICS, "jury_analysis/errors.py", "import ray"),
    (STATISTICS, "jury_analysis/errors.py", "import openai"),
    (STATISTICS, "jury_analysis/errors.py", "import fastapi"),
    (STATISTICS, "jury_analysis/errors.py", "import click"),
    (PROVIDERS, "jury_providers/errors.py", "import jury_store.errors"),
    (PROVIDERS, "jury_providers/errors.py", "import ray"),
    (SDKS, "jury_providers/errors.py", "import openai"),
    (SDKS, "jury_actors/errors.py", "import openai"),
    (SDKS, "jury_judge/errors.py", "import anthropic"),
    (SDKS, "jury_cli/errors.py", "from google import genai"),
    (VERSIONS, "jury_debate/errors.py", "import jury_debate.rules_1.rules"),
    (VERSIONS, "jury_replay/errors.py", "from jury_debate.rules_1.checks import check_consensus"),
    (VERSIONS, "jury_judge/errors.py", "import jury_debate.rules_1.rules"),
    (RULES, "jury_debate/assignment.py", "import jury_debate.conversation"),
]


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


def test_every_import_against_a_contract_is_caught_and_named(packages: Path) -> None:
    """All in one run of the linter, which names each under its contract; a cycle between parts of a layer too."""
    for _, module, line in BREAKS:
        with (packages / module).open("a") as file:
            file.write(f"\n{line}\n")
    for part, imported in (("tally", "terminal.added"), ("terminal/added", "tally")):
        with (packages / "jury_views" / f"{part}.py").open("a") as file:
            file.write(f"import jury_views.{imported}\n")

    found = _chains(lint(packages).stdout)

    assert [] == [
        (contract, module, line) for contract, module, line in BREAKS if _named(module, line) not in found[contract]
    ]
    assert found[CYCLES]


def _chains(said: str) -> dict[str, str]:
    """What the linter says of each broken contract."""
    sections = re.split(r"^(.+)\n-+\n", said.partition("Broken contracts")[2], flags=re.MULTILINE)[1:]
    return defaultdict(str, zip(sections[::2], sections[1::2], strict=True))


def _named(module: str, line: str) -> str:
    """The import as the linter writes it."""
    imported = line.split()[1]
    importer = module.removesuffix(".py").replace("/", ".")
    return f"{importer} -> {imported}"


def test_every_contract_is_broken_by_a_test() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

    assert {one["name"] for one in contracts} == {contract for contract, _, _ in BREAKS} | {CYCLES}


@each_row("folder", FOLDERS)
def test_every_folder_has_a_readme_of_one_screen_and_is_typed(folder: str) -> None:
    assert (ROOT / folder / FOLDERS[folder] / "py.typed").exists()
    assert 10 <= len((ROOT / folder / "README.md").read_text().splitlines()) <= 60


@each_row("folder", FOLDERS)
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
