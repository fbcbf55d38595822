"""What README and examples say is run as it stands there; `jury run` without Ray, which the demo is for."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jury_judge.panels.files import load_panel

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
JURY = str(Path(sys.executable).parent / "jury")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text: str) -> list[list[str]]:
    lines = [line for block in blocks(text, "console") for line in block.splitlines()]
    return [line.removeprefix("uv run jury ").split() for line in lines if line.startswith("uv run jury ")]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    more = ["--in-process"] if arguments[0] == "run" and "--in-process" not in arguments else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JURY_")}
    return subprocess.run(
        [JURY, *arguments, *more], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.ray
def test_the_commands_of_the_readme_work_one_after_another(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(blocks(README, "json")[0])
    (tmp_path / "panel.yaml").write_text(blocks(README, "yaml")[0])

    results = [(arguments, run(arguments, tmp_path)) for arguments in commands(README)]

    first = ["demo", "cases", "run", "list", "show", "verify", "run", "run"]
    again = ["replay", "rescore", "fork", "compare", "export", "regress"]
    assert first + again == [arguments[0] for arguments, _ in results]
    for arguments, result in results:
        assert 0 == result.returncode, (arguments, result.stderr)
        assert result.stdout or arguments[0] == "export"
    demo = results[0][1]
    assert "simulated" in demo.stdout
    assert "No model is called" in demo.stderr
    lines = [json.loads(line) for line in results[2][1].stdout.splitlines()]
    assert ["refund-17", "refund-18"] == [line["case_id"] for line in lines]
    assert all(line["simulated"] for line in lines)


@pytest.mark.parametrize(
    "block", [block for text in (README, (ROOT / "docs" / "panels.md").read_text()) for block in blocks(text, "yaml")]
)
def test_panels_that_are_shown_can_be_read(tmp_path: Path, block: str) -> None:
    (tmp_path / "strict.md").write_text("Judge by the letter.")
    without_packages = "\n".join(line for line in block.splitlines() if "{redactor:" not in line)
    (tmp_path / "panel.yaml").write_text(without_packages)

    assert load_panel(str(tmp_path / "panel.yaml"), {}).panel.seats


def test_the_examples_run_as_they_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    text = (ROOT / "examples" / "README.md").read_text()

    results = [run(arguments, tmp_path) for arguments in commands(text)]

    assert [0, 0, 0] == [result.returncode for result in results], results[-1].stderr
    assert [5, 5, 5] == [len(result.stdout.splitlines()) for result in results]


def test_the_readme_names_every_command_that_there_is() -> None:
    from jury_judge.cli.main import COMMANDS

    shown = run(["--help"], ROOT).stdout

    for name in COMMANDS:
        assert f"  {name} " in shown
        assert re.search(rf"jury {name}\b|`{name}`", README + (ROOT / "CHANGELOG.md").read_text())


def test_ci_runs_the_readmes_own_test_command() -> None:
    assert "uv run pytest\n" in "\n".join(blocks(README, "console"))
    assert re.search(r"^uv run pytest\b", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert link.startswith("https://") or (ROOT / link).exists()
