"""Every command of `docs/gate.md` is called, in order, in one folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import CommandLine, environment
from support.vote_rows import write_csv, write_jsonl

GUIDE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")
PANEL = "preset: independent\nseats: [{{model: simulated/{0}}}, {{model: simulated/reader}}]\n"
JUDGES = ("gpt", "claude", "gemini", "llama")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def folder(jury: CommandLine) -> CommandLine:
    """What the guide's commands read: cases, two panels, labels, votes."""
    cases = [f"c{number}" for number in range(12)]
    jury.write("cases.jsonl", *({"id": case, "question": "Open?", "response": "At nine."} for case in cases))
    jury.write("panel.yaml", PANEL.format("one"))
    jury.write("candidate.yaml", PANEL.format("other"))
    write_csv(jury.folder / "labels.csv", [{"case_id": case, "label": "safe_pass"} for case in cases])
    votes = [{"case_id": str(number), "judges": dict.fromkeys(JUDGES, "safe_pass")} for number in range(300)]
    write_jsonl(jury.folder / "votes.jsonl", votes)
    return jury


def call(jury: CommandLine, line: str) -> int:
    """A command of the guide; its jurors are simulated here, and it starts no cluster."""
    name, *arguments = shlex.split(line)
    if name == "pytest":
        (jury.folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *arguments,
            "--jury-gate-include-simulated",
        ]
        return subprocess.run(command, cwd=jury.folder, env=environment(), capture_output=True, check=False).returncode
    if name != "jury":
        summary = {"GITHUB_STEP_SUMMARY": "summary.md"}
        command = ["bash", "-ec", line]
        return subprocess.run(command, cwd=jury.folder, env=environment(summary), check=False).returncode
    if arguments[0] == "run":
        return jury(*arguments, "--in-process").code
    simulated = ("--include-simulated",) if arguments[1] == "base" else ()
    return jury(*arguments, *simulated).code


@pytest.mark.full
def test_the_guide_can_be_followed_command_by_command(folder: CommandLine) -> None:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    (workflow,) = blocks("yaml")
    steps = re.findall(r"\brun: (.*)", workflow)

    ended = {line: call(folder, line) for line in (*lines, *steps)}

    assert 11 <= len(ended)
    # Twelve cases decide little; whatever else a command ends with is wrong.
    undecided = {line for line, code in ended.items() if code == 6}
    assert {0, 6} == set(ended.values()), ended
    assert undecided == {line for line in undecided if line.startswith("jury gate base candidate")}
    assert "## gate base → candidate" in (folder.folder / "summary.md").read_text(encoding="utf-8")


def test_the_plan_of_the_guide_is_what_is_printed(jury: CommandLine) -> None:
    (shown,) = blocks("text")

    assert shown == jury("gate", "--plan", "300", "--metric", "accuracy").out
