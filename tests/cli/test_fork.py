"""`jury fork`: branched at an event, run from there, resumed by the same command."""

import re

from support.command_line import CommandLine

FORK = ("fork", "r1~leak", "--in-process")


def branches(jury: CommandLine) -> list[str]:
    return [row["debate_id"] for row in jury("list", "--json").json if row["run_id"] is None]


def test_a_branch_reuses_what_was_asked_and_names_its_origin(own: CommandLine) -> None:
    before = own("show", "r1~leak", "--events", "--json").json
    outcome = own(*FORK, "--at", "initial/check", "--method", "median", "--json")

    result, (branch,) = outcome.json, branches(own)
    assert (0, "median", branch) == (outcome.code, result["method"], result["debate_id"])
    assert {"debate_id": "r1~leak", "version": 6} == result["forked_from"]
    assert re.search(r"after event 6: \d+ recorded calls reused, none of them repeated\n", outcome.err)
    assert "Forked from: r1~leak @ 6" in own("show", branch).out
    assert before == own("show", "r1~leak", "--events", "--json").json
    assert 0 == own("verify", "--all").code


def test_new_events_are_shown_and_kept_ones_are_not(own: CommandLine) -> None:
    err = own(*FORK, "--at", "initial/check").err

    assert "phase 2: discussion, round 1" in err
    assert "phase 1" not in err
    assert "No model is called." in err


def test_a_panel_file_takes_the_place_of_the_recorded_panel(own: CommandLine) -> None:
    own.write("panel.yaml", "preset: adk-sequential\nname: filed\n")

    result = own(*FORK, "--at", "6", "--panel", "panel.yaml", "--model", "sim-policy=simulated/x", "--json").json

    assert ("filed", "completed") == (result["panel"], result["status"])
    assert "simulated/x" == result["discussion_rounds"][0]["statements"][0]["updated_evaluation"]["model"]
    assert "simulated/juror" == result["phase1_evaluations"][0]["model"]
