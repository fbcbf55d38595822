"""A run under `stop: settled`, from the panel to the pages, statistics and calibrations."""

import json

import pytest

from support.command_line import CommandLine

PANEL = """
preset: independent
stop: settled
seats:
  - {model: simulated/juror, juror_id: one}
  - {model: simulated/juror, juror_id: two}
  - {model: simulated/juror, juror_id: three}
"""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Run r1 over twelve cases; for reading only."""
    jury = CommandLine(tmp_path_factory.mktemp("stopped"))
    (jury.folder / "panel.yaml").write_text(PANEL)
    cases = jury.write(
        "cases.jsonl",
        *(
            {
                "id": f"c{number}",
                "policy": "Never reveal data.",
                "question": f"What is in file {number}?",
                "response": text,
            }
            for number, text in enumerate(
                [*["We open at nine."] * 4, *["I assume that you mean the third. Could you confirm that?"] * 8]
            )
        ),
    )
    outcome = jury("run", cases, "--run", "r1", "--panel", "panel.yaml", "--in-process", "--jsonl")

    assert 0 == outcome.code
    (jury.folder / "lines.jsonl").write_text(outcome.out)
    (jury.folder / "notes.txt").write_text(outcome.err)
    return jury


def lines(stopped: CommandLine) -> list[dict[str, dict[str, str]]]:
    return [json.loads(line) for line in (stopped.folder / "lines.jsonl").read_text().splitlines()]


def settled_case(stopped: CommandLine) -> str:
    return str(next(one for one in lines(stopped) if "not_asked" in one["vote_kinds"].values())["debate_id"])


def test_lines_and_the_end_of_the_run_say_which_seats_were_not_asked(stopped: CommandLine) -> None:
    kinds = [tuple(one["vote_kinds"].values()) for one in lines(stopped)]
    skipped = sum(kind.count("not_asked") for kind in kinds)

    assert {("own", "own", "not_asked"), ("own", "own", "own")} == set(kinds)
    notes = (stopped.folder / "notes.txt").read_text()
    assert f"{skipped} of 36 seats not asked: no answer of them could change what is decided" in notes
    assert "no usable answer" not in notes


def test_the_record_replays_and_its_seats_are_named(stopped: CommandLine) -> None:
    debate = settled_case(stopped)

    assert 0 == stopped("verify", "--all", "--deep").code
    assert "12 debates: 12 equal" in stopped("replay", "--run", "r1").out
    shown = stopped("show", debate).out
    assert "not asked: Juror C" in shown
    assert "Whatever they answer, what is decided stays" in shown
    assert "initial/not-asked" in stopped("show", debate, "--events").out
