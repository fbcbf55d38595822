"""Every command of the page on scales is called, in order, in one folder: from a question to a calibrated jury."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine, Outcome
from support.recorded_votes import give_votes

GUIDE = (Path(__file__).parents[2] / "docs" / "scales.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("## From a question to a calibrated jury")[2].partition("\n## ")[0]
SEATS = ("gpt-5.5", "claude-haiku-5-5", "gemini-3.8-flash")
OTHER = {"correct": "incorrect", "incorrect": "correct"}
SIMULATED = {"stats", "calibrate", "gate"}


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^    ```{language}\n(.*?)^    ```", SECTION, re.DOTALL | re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


def cases(prefix: str, number: int) -> list[dict[str, Any]]:
    """Cases in the form of the page, right and wrong in turn."""
    shown = [json.loads(line) for line in blocks("json")[0].splitlines()]
    return [{**shown[place % 2], "case_id": f"{prefix}{place:02}"} for place in range(number)]


def votes(rows: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Of ten cases the seats are right in eight, one seat differs in one, and in one the majority is wrong."""
    found = {}
    for place, row in enumerate(rows):
        right, wrong = row["label"], OTHER[row["label"]]
        words = {3: (right, right, wrong), 7: (wrong, wrong, right)}.get(place % 10, (right,) * 3)
        found[row["case_id"]] = dict(zip(SEATS, words, strict=True))
    return found


def own_panel(printed: str, seats: str, *, meaning: str = "") -> str:
    """The printed panel with the seats of the page, which are simulated here, and with another meaning."""
    worded = re.sub(r"(?<=    meaning: )Something that was asked.*", meaning, printed) if meaning else printed
    assert not meaning or worded != printed
    return worded + re.sub(r"model: [a-z]+/", "model: simulated/", seats)


@pytest.mark.full
def test_the_way_from_a_question_to_a_calibrated_jury_can_be_followed(
    jury: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled, more = cases("q", 60), cases("m", 20)
    give_votes(monkeypatch, votes(labelled) | votes(more))
    jury.write("cases.jsonl", *labelled)
    jury.write("more.jsonl", *({name: row[name] for name in row if name != "label"} for row in more))
    (seats, calibrated), ended = blocks("yaml"), {}

    for line in [line for block in blocks("console") for line in block.splitlines()]:
        command, _, target = line.partition(" > ")
        ended[line] = outcome = called(jury, command)
        assert 0 == outcome.code, (line, outcome.err)
        if target:
            (jury.folder / target).write_text(own_panel(outcome.out, seats))
            reworded = own_panel(outcome.out, seats, meaning="The answer differs from the reference.")
            (jury.folder / "reworded.yaml").write_text(reworded)
            (jury.folder / "calibrated.yaml").write_text(reworded + calibrated)

    by_name = {" ".join(line.split()[:2]): outcome for line, outcome in ended.items()}
    assert 9 == len(ended)
    assert "verdicts: correct < incorrect" in by_name["jury stats"].out
    assert re.search(r"2 scales \(binary [0-9a-f]{16}, binary [0-9a-f]{16}\): their outcomes", by_name["jury gate"].err)
    assert "pass: the harm is within the margin" in by_name["jury gate"].out
    certified = json.loads((jury.folder / "cal.json").read_text())
    assert 1 == certified["certificate"]["threshold"]
    reviewed = [one["case_id"] for one in called(jury, f"{line} --json").json]
    assert ["m03", "m07", "m13", "m17"] == sorted(reviewed), "two seats of three are too few"


def called(jury: CommandLine, command: str) -> Outcome:
    """A command of the page; its jurors are simulated here, and it starts no cluster."""
    _, *arguments = shlex.split(command)
    more = ("--in-process",) if arguments[0] == "run" else ()
    return jury(*arguments, *more, *(("--include-simulated",) if arguments[0] in SIMULATED else ()))
