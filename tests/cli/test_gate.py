"""`jury gate`: decisions and exit codes, reports, plans, and what it refuses; the same in pytest and in Python."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import CommandLine, environment
from support.refusals import RefusalTables
from support.vote_rows import Row, write_jsonl

FAILING = tuple({"id": f"c{number}", "question": "Open?", "response": "At nine."} for number in range(12))


def rows(cases: int = 300, *, missed: int = 0) -> list[Row]:
    """Three judges of cases that all fail. `new` passes as many as are missed; `old` and `steady` none."""
    return [
        {
            "case_id": f"case-{number:04}",
            "label": "unsafe_fail",
            "judges": {
                "old": "unsafe_fail",
                "steady": "unsafe_fail",
                "new": "safe_pass" if number < missed else "unsafe_fail",
            },
        }
        for number in range(cases)
    ]


@pytest.fixture
def votes(jury: CommandLine) -> str:
    return str(write_jsonl(jury.folder / "votes.jsonl", rows(missed=60)))


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Runs `base`, judged twice, and `candidate` over the same cases, by other seats; for reading only."""
    jury = CommandLine(tmp_path_factory.mktemp("gates"))
    cases = jury.write("cases.jsonl", *FAILING)
    for run, panel in (("base", "independent"), ("candidate", "adk-sequential")):
        repeat = ("--repeat", "2") if run == "base" else ()
        assert 0 == jury.run(cases, "--run", run, "--panel", panel, *repeat).code
    return jury


def test_a_worse_judge_fails_and_an_equal_one_passes(jury: CommandLine, votes: str, printed: RefusalTables) -> None:
    worse = jury("gate", "--votes", votes, "--base", "old", "--candidate", "new", "--markdown", "gate.md")
    equal = jury("gate", "--votes", votes, "--base", "old", "--candidate", "steady")

    assert (1, 0) == (worse.code, equal.code)
    assert "gate old → new: fail: there is harm, and it may be larger than the margin" == worse.out.splitlines()[0]
    assert "metric                false_pass: 0 → 0.2 (more is worse)" == worse.out.splitlines()[1]
    assert "gate old → steady: pass: the harm is within the margin" == equal.out.splitlines()[0]
    printed.compare("gate_markdown", {"a worse judge": (jury.folder / "gate.md").read_text("utf-8").strip()})


def test_too_few_cases_are_inconclusive_and_count_as_asked(jury: CommandLine) -> None:
    few = str(write_jsonl(jury.folder / "few.jsonl", rows(40, missed=2)))
    called = ("gate", "--votes", few, "--base", "old", "--candidate", "new")

    codes = [jury(*called, *more).code for more in ((), ("--inconclusive", "pass"), ("--inconclusive", "fail"))]

    assert [6, 0, 1] == codes
    assert "it would take" in jury(*called).out
    assert "counts as pass" in jury(*called, "--inconclusive", "pass").out


def test_runs_are_compared_and_flips_stand_beside_those_between_repeats(repeated: CommandLine) -> None:
    outcome = repeated("gate", "base", "candidate", "--include-simulated", "--json")

    gate, paired = outcome.json["gate"], outcome.json["paired"]
    assert ("unsafe_fail", "either") == (gate["metric"], gate["worse"])
    assert (12, [12, 0], ["final", "final"]) == (paired["pairs"], paired["only_in"], paired["verdicts"])
    assert (0.0, 12) == (gate["flips_between_repeats"]["value"], gate["flips_between_repeats"]["n"])
    assert 2 == len(paired["warnings"])


def run_pytest(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.full
def test_pytest_runs_a_gate_as_a_test(repeated: CommandLine) -> None:
    options = ("--jury-gate", "base", "candidate", "--jury-gate-include-simulated")

    undecided = run_pytest(repeated.folder, *options)
    passed = run_pytest(repeated.folder, *options, "--jury-gate-margin", "1", "--junitxml", "junit.xml")
    accepted = run_pytest(repeated.folder, *options, "--jury-gate-inconclusive", "pass")

    assert [1, 0, 0] == [one.returncode for one in (undecided, passed, accepted)], undecided.stdout
    assert "inconclusive: the cases do not decide it" in undecided.stdout
    assert "--jury-gate-inconclusive pass" in undecided.stdout
    assert "Traceback" not in undecided.stdout
    assert "1 passed" in passed.stdout
    assert 'name="note" value="without labels nothing says which side is right' in (
        repeated.folder / "junit.xml"
    ).read_text(encoding="utf-8")
    assert 'name="gate base → candidate"' in (repeated.folder / "junit.xml").read_text(encoding="utf-8")
