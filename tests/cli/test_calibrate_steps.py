"""`jury calibrate --signal votes+step`: beside the votes alone, and applied by a panel ."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import example_path
from support.command_line import CommandLine
from support.reference_data import FOLDER, needs_reference_data

STEPS = ("--order", "clean,faulty", "--field", "decisive_message=step")
AGREED, APART = ("faulty", 3), ("faulty", 5)


def votes_of(jury: CommandLine, *names: str) -> str:
    """50 faults on whose step two of three seats agree, and 30 passes of which a third is wrong."""
    rows = [
        {
            "case_id": f"f{number}",
            "human": "faulty",
            "judges": {"a": said(*AGREED), "b": said(*AGREED), "c": said(*APART)},
        }
        for number in range(50)
    ] + [
        {
            "case_id": f"p{number}",
            "human": "clean" if number % 3 else "faulty",
            "judges": {name: said("clean", None) for name in "abc"},
        }
        for number in range(30)
    ]
    (jury.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert 0 == jury("votes", "rows.jsonl", "--label", "human", *names, "-o", "votes.parquet").code
    return "votes.parquet"


def said(verdict: str, step: int | None) -> dict[str, Any]:
    return {"verdict": verdict, "step": step}


def test_the_page_sets_it_beside_the_votes_alone(jury: CommandLine) -> None:
    found = jury("calibrate", "--votes", votes_of(jury, *STEPS), "--signal", "votes+step")

    assert 0 == found.code, found.err
    assert "signal: agreement on the verdict and the decisive message" in found.out
    assert "accepted: verdicts on whose step 2 of 3 seats agree, or more; no clean" in found.out
    first, _, rest = found.out.partition("Beside the votes alone, for the same promise\n")
    assert first
    assert [
        ["signal", "threshold", "accepted", "wrong", "upper", "bound"],
        ["votes+step", "0.833333", "50", "of", "80", "(62.5%)", "0", "0.0450"],
        ["votes", "alone", "none", "0", "of", "80"],
    ] == [line.split() for line in rest.splitlines()[:3]]


def test_a_threshold_that_takes_passes_says_so(jury: CommandLine) -> None:
    found = jury("calibrate", "--votes", votes_of(jury, *STEPS), "--signal", "votes+step", "--risk", "0.2")

    assert "accepted: verdicts on whose step two seats agree, or more; clean with 3 of 3 votes, or more" in found.out


def test_the_report_and_the_file_have_both_certificates(jury: CommandLine) -> None:
    given = ("calibrate", "--votes", votes_of(jury, *STEPS), "--signal", "votes+step", "--split", "0/80/20")
    found = json.loads(jury(*given, "--risk", "0.1", "--json", "-o", "cal.json").out)
    written = json.loads((jury.folder / "cal.json").read_text())

    assert {"kind": "votes+step", "passing": "clean", "step": "message"} == found["signal"]
    assert (found["certificate"]["units"], 0.1) == (
        found["votes_alone"]["certificate"]["units"],
        found["votes_alone"]["certificate"]["risk"],
    )
    assert found["votes_alone"] == written["votes_alone"]
    assert 16 == found["test"]["units"]


def test_votes_that_name_no_message_are_refused_in_one_line(jury: CommandLine) -> None:
    found = jury("calibrate", "--votes", votes_of(jury, *STEPS[:2]), "--signal", "votes+step")

    assert 2 == found.code
    assert "no vote names one: votes of files need a column decisive_message" in found.err


@pytest.mark.full
def test_a_panel_takes_it_says_so_and_replays_equal(jury: CommandLine) -> None:
    fails = json.loads(example_path("en").read_text(encoding="utf-8"))
    passes = {"question": "What is 2 + 2?", "response": "4"}
    cases = [{**(fails if number % 5 else passes), "case_id": f"c{number:02}"} for number in range(50)]
    (jury.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    (jury.folder / "panel.yaml").write_text("preset: independent\n")
    run = ("run", "cases.jsonl", "--in-process")
    assert 0 == jury(*run, "--run", "base", "--panel", "panel.yaml").code
    rows = json.loads(jury("list", "--run", "base", "--json").out)
    # Every pass is wrong, every fail is right.
    labels = [{"case_id": row["case_id"], "label": "unsafe_fail", "annotator": "a"} for row in rows]
    (jury.folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    calibrate = ("calibrate", "--run", "base", "--labels", "labels.jsonl", "--include-simulated", "--risk", "0.1")
    found = jury(*calibrate, "--signal", "votes+step", "-o", "cal.json")
    assert 0 == found.code, found.err + found.out
    threshold = json.loads((jury.folder / "cal.json").read_text())["threshold"]
    (jury.folder / "calibrated.yaml").write_text("preset: independent\nfinal:\n  calibration: cal.json\n")

    assert 0 == jury(*run, "--run", "second", "--panel", "calibrated.yaml").code
    again = json.loads(jury("list", "--run", "second", "--json").out)
    shown = [json.loads(jury("show", row["debate_id"], "--json").out) for row in again]
    acceptances = [one["phase3_judgment"]["acceptance"] for one in shown]

    assert {("votes+step", threshold)} == {(one["signal"], one["threshold"]) for one in acceptances}
    assert {("unsafe_fail", True), ("safe_pass", False)} == {(one["verdict"], one["accepted"]) for one in acceptances}
    assert "50 debates: 50 equal" in jury("replay", "--run", "second").out


@needs_reference_data
def test_on_recorded_judges_it_accepts_where_the_votes_alone_accept_nothing(jury: CommandLine) -> None:
    path = Path(FOLDER) / "b11_trajectory_steps.jsonl"
    read = ("--label", "human_label", "--cluster", "instance", *STEPS)
    jury("votes", str(path), *read, "-o", "steps.parquet")
    found = json.loads(jury("calibrate", "--votes", "steps.parquet", "--signal", "votes+step", "--json").out)
    certified = [one for one in found["certificate"]["candidates"] if one["outcome"] == "certified"]

    assert (0.7, 106, 0) == (found["threshold"], certified[-1]["accepted"], certified[-1]["wrong"])
    assert found["votes_alone"]["certificate"]["threshold"] is None
