"""The scripts of `examples/` run as they are."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.command_line import JURY, CommandLine, environment

ROOT = Path(__file__).parent.parent.parent
GATE = ROOT / "examples" / "ci" / "gate.sh"
CASE_IDS = [json.loads(row)["case_id"] for row in (ROOT / "examples" / "cases.jsonl").read_text().splitlines()]
SCRIPT = ROOT / "examples" / "judge_from_python.py"


def call(folder: Path, *command: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    path = {"PATH": f"{Path(JURY).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        command, cwd=folder, env=environment(path | variables), capture_output=True, text=True, check=False
    )


@pytest.mark.full
def test_the_python_script_judges_with_simulated_jurors_and_says_so(tmp_path: Path) -> None:
    ended = call(tmp_path, sys.executable, SCRIPT)

    assert (0, "") == (ended.returncode, ended.stderr)
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("simulated jurors: no model was called")
    assert ["case", *CASE_IDS] == [line.split(":")[0] for line in lines if ", score " in line]


@pytest.fixture
def gated(jury: CommandLine) -> CommandLine:
    """What the script reads: cases and a panel."""
    jury.write(
        "cases.jsonl",
        *({"id": f"c{number}", "question": "Open?", "response": "At nine."} for number in range(12)),
    )
    jury.write("panel.yaml", "preset: independent\nseats: [{model: simulated/one}, {model: simulated/other}]\n")
    return jury


@pytest.mark.full
def test_the_gate_passes_what_is_not_worse(gated: CommandLine) -> None:
    ended = call(
        gated.folder, "sh", GATE, "cases.jsonl", "panel.yaml", "panel.yaml", "--include-simulated", "--inconclusive",
        "pass", GITHUB_STEP_SUMMARY="summary.md",
    )  # fmt: skip

    assert 0 == ended.returncode, ended.stderr
    assert "testsuite" in ET.parse(gated.folder / "gate.xml").getroot().tag
    assert (gated.folder / "gate.md").read_text() == (gated.folder / "summary.md").read_text()


def test_the_gate_names_what_it_needs(tmp_path: Path) -> None:
    ended = call(tmp_path, "sh", GATE, "cases.jsonl")

    assert (2, 1) == (ended.returncode, len(ended.stderr.splitlines()))
