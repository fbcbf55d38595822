"""`jury fork`: branched at an event, run from there, resumed by the same command."""

import re
import signal

import pytest

from support.command_line import CommandLine

FORK = ("fork", "d~leak", "--in-process")


@pytest.fixture
def judged(jury: CommandLine, cases: str) -> CommandLine:
    """A store with the ended debate d~leak."""
    assert 0 == jury.run(cases, "--run", "d").code
    return jury


def branches(jury: CommandLine) -> list[str]:
    return [row["debate_id"] for row in jury("list", "--json").json if row["run_id"] is None]


def test_a_branch_reuses_what_was_asked_and_names_its_origin(judged: CommandLine) -> None:
    before = judged("show", "d~leak", "--events", "--json").json
    outcome = judged(*FORK, "--at", "initial/check", "--method", "median", "--json")

    result, (branch,) = outcome.json, branches(judged)
    assert (0, "median", branch) == (outcome.code, result["method"], result["debate_id"])
    assert {"debate_id": "d~leak", "version": 5} == result["forked_from"]
    assert re.search(r"after event 5: \d+ recorded calls reused, none of them repeated\n", outcome.err)
    assert "Forked from: d~leak @ 5" in judged("show", branch).out
    assert before == judged("show", "d~leak", "--events", "--json").json
    assert 0 == judged("verify", "--all").code


def test_the_same_command_again_is_the_same_branch(judged: CommandLine) -> None:
    first = judged(*FORK, "--at", "5", "--max-rounds", "1")
    again = judged(*FORK, "--at", "initial/check", "--max-rounds", "1")
    other = judged(*FORK, "--at", "5", "--max-rounds", "2")

    assert (0, 0, 0) == (first.code, again.code, other.code)
    assert first.out == again.out
    assert "judged before" in again.err
    assert 2 == len(branches(judged))


def test_new_events_are_shown_and_kept_ones_are_not(judged: CommandLine) -> None:
    err = judged(*FORK, "--at", "initial/check").err

    assert "phase 2: discussion, round 1" in err
    assert "phase 1" not in err
    assert "No model is called." in err


@pytest.mark.full
def test_an_interrupted_branch_is_resumed(judged: CommandLine) -> None:
    command = (*FORK, "--at", "initial/check", "--as", "b", "--simulate", "latency=0.3")
    process = judged.start(*command)
    line = b""
    while b"discussion, round 1" not in line:
        line = process.stderr.readline()
        assert line, "it ended before"
    process.send_signal(signal.SIGINT)
    while b"press Ctrl-C again" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()

    assert 130 == process.returncode
    assert b"the same command resumes the branch b" in err
    outcome = judged(*command)
    assert 0 == outcome.code
    assert "resumed" in outcome.err
    assert "resumed; asked again: round-1/" in outcome.err
    assert 0 == judged("verify", "--all").code


@pytest.fixture(scope="module")
def jury_with_debate(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    jury = CommandLine(tmp_path_factory.mktemp("forked"))
    rows = [{"id": name, "question": "May I?", "response": "Yes."} for name in ("leak", "polite")]
    assert 0 == jury.run(jury.write("cases.jsonl", *rows), "--run", "d", "--preset", "adk-sequential").code
    return jury


def test_an_id_with_other_settings_is_not_resumed(judged: CommandLine) -> None:
    judged(*FORK, "--at", "5", "--as", "b")
    outcome = judged(*FORK, "--at", "5", "--as", "b", "--max-rounds", "1")
    elsewhere = judged(*FORK, "--at", "4", "--as", "b")

    assert (2, 2) == (outcome.code, elsewhere.code)
    assert "begun with other settings: discussion.max_rounds was 3, is 1" in outcome.err
    assert "it is a branch of d~leak at event 5" in elsewhere.err


def test_a_panel_file_takes_the_place_of_the_recorded_panel(judged: CommandLine) -> None:
    judged.write("panel.yaml", "preset: adk-sequential\nname: filed\n")

    result = judged(*FORK, "--at", "5", "--panel", "panel.yaml", "--model", "sim-policy=simulated/x", "--json").json

    assert ("filed", "completed") == (result["panel"], result["status"])
    assert "simulated/x" == result["discussion_rounds"][0]["statements"][0]["updated_evaluation"]["model"]
    assert "simulated/juror" == result["phase1_evaluations"][0]["model"]


def test_the_environment_does_not_change_a_recorded_panel(judged: CommandLine) -> None:
    env = {"JURY_FINAL_JUDGMENT_METHOD": "median"}

    assert "final_judge" == judged(*FORK, "--at", "5", "--json", env=env).json["method"]


def test_a_preset_changes_the_rules_of_the_recorded_panel(judged: CommandLine) -> None:
    result = judged(*FORK, "--at", "5", "--preset", "independent", "--json")

    assert ("majority_vote", 0) == (result.json["method"], result.json["total_rounds"])
