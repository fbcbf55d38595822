"""Every command of the pages on seat values, probes and deciding with people is called, in order, in one folder."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jury_analysis import report_schema_text
from jury_cases import example_path
from jury_events import Verdict
from jury_judge import NewReview, ReviewRecorder
from support.command_line import CommandLine
from support.keyboard import Keyboard

DOCS = Path(__file__).parents[2] / "docs"
PASSES: dict[str, Any] = {"question": "Refund order 17.", "response": "Refunded to the card."}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def commands(page: str) -> list[list[str]]:
    """The commands of the page's console blocks, without `jury`."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def cases(number: int, first: int = 0) -> list[dict[str, Any]]:
    """Cases that simulated jurors pass and fail in turn, with their labels."""
    fails = json.loads(example_path("en").read_text(encoding="utf-8"))
    return [
        {
            **(PASSES if place % 2 else fails),
            "case_id": f"c{place:03}",
            "label": "safe_pass" if place % 2 else "unsafe_fail",
        }
        for place in range(first, first + number)
    ]


@pytest.fixture
def folder(jury: CommandLine) -> CommandLine:
    """What the pages' commands read."""
    jury.write("cases.jsonl", *cases(60))
    (jury.folder / "panel.yaml").write_text("preset: independent\n")
    return jury


def test_the_commands_on_seat_values_work_and_their_reports_fit_the_schema(folder: CommandLine) -> None:
    folder.write("cases.jsonl", *cases(8))
    (folder.folder / "labels.csv").write_text("case_id,label\nc000,unsafe_fail\nc001,safe_pass\n")
    words = [{"judges": {"a": "correct", "b": word}, "human_label": word} for word in ("correct", "incorrect") * 4]
    folder.write("judges.jsonl", *({**one, "question": f"q{place}"} for place, one in enumerate(words)))
    assert 0 == folder.run("cases.jsonl", "--panel", "panel.yaml", "--run", "base").code
    schema = json.loads(report_schema_text("value"))
    wanted = commands("seat-value.md")

    for command in wanted:
        if command[0] == "votes":
            assert 0 == folder(*command).code, command
            continue
        assert 0 == folder(*command, "--include-simulated").code, command
        jsonschema.validate(folder(*command, "--include-simulated", "--json").json, schema)

    assert ["value", "value", "votes", "value"] == [command[0] for command in wanted]


@pytest.mark.full
def test_the_commands_on_probes_work_and_their_report_fits_the_schema(folder: CommandLine) -> None:
    folder.write("cases.jsonl", *cases(4))
    reports = []
    wanted = commands("probes.md")

    for command in wanted:
        judges = ("--in-process",) if "cases.jsonl" in command else ()
        outcome = folder(*command, *judges, "--include-simulated")
        assert 0 == outcome.code, (command, outcome.err)
        reports.append(outcome)

    assert 4 == len(wanted)
    (report,) = (one.json for command, one in zip(wanted, reports, strict=True) if "--json" in command)
    jsonschema.validate(report, json.loads(report_schema_text("probe")))
    assert ["length", "master-key", "injection"] == [one["probe"] for one in report["twins"]["probes"]]


@pytest.mark.full
def test_the_way_from_a_random_sample_to_the_review_queue_can_be_followed(folder: CommandLine) -> None:
    folder.write("more.jsonl", *cases(4, first=60))
    (calibrated, workflow) = blocks("decide-with-people.md", "yaml")
    (folder.folder / "calibrated.yaml").write_text(calibrated)
    (folder.folder / "candidate.yaml").write_text("preset: independent\nseats: [{model: simulated/other}]\n")
    recorder = ReviewRecorder(f"sqlite:///{folder.folder / 'jury.db'}")
    first, *later = commands("decide-with-people.md")
    in_ci = [shlex.split(line)[1:] for line in re.findall(r"- run: (.*)", workflow)]
    simulated = {"stats", "calibrate", "gate"}
    outcomes = {}

    for command in [first, *later, *in_ci]:
        if "--blind" in command and "--list" not in command:
            # A person would press keys 60 times; the terminal itself has its own tests.
            for one in folder("review", *command[1:-1], "--list", "--json").json:
                said = Verdict.SAFE_PASS if int(one["case_id"][1:]) % 2 else Verdict.UNSAFE_FAIL
                asyncio.run(recorder.record(one["debate_id"], NewReview("ann", said, blind=True)))
            with Keyboard(folder, *command) as terminal:
                assert 0 == terminal.ends()
                assert "nothing is to be reviewed" in terminal.said
            continue
        more = ("--in-process",) if command[0] == "run" else ()
        outcome = folder(*command, *more, *(("--include-simulated",) if command[0] in simulated else ()))
        assert 0 == outcome.code, (command, outcome.err)
        outcomes[" ".join(command[:3])] = outcome

    calibration = json.loads((folder.folder / "cal.json").read_text())
    assert 60 == calibration["parts"]["certify"]["labelled"]
    assert "accepted: share of the votes" in folder("show", "next~c060").out
    assert "30 of 60 pairs count" in outcomes["gate base candidate"].out
    assert {"run", "review", "stats", "calibrate", "gate", "list"} == {name.split()[0] for name in outcomes}
