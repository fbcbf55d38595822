"""A run under `stop: settled`, from the panel to the pages, statistics and calibrations."""

import json
from pathlib import Path

import pytest

from jury_judge import load_panel
from support.command_line import CommandLine

PANEL = """
preset: independent
stop: settled
seats:
  - {model: simulated/juror, juror_id: one}
  - {model: simulated/juror, juror_id: two}
  - {model: simulated/juror, juror_id: three}
"""
PRICED = """
preset: independent
stop: {last: price}
seats:
  - {model: openai/gpt-6-sol, juror_id: dear}
  - {model: openai/gpt-5.4-mini, juror_id: cheap}
  - {model: simulated/juror, juror_id: free}
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


def test_a_page_names_the_seats(stopped: CommandLine, tmp_path: Path) -> None:
    debate = settled_case(stopped)

    assert 0 == stopped("export", debate, "--html", "--output", str(tmp_path)).code
    (page,) = tmp_path.glob("*.html")
    assert "not asked: Juror C" in page.read_text()


def test_a_cassette_of_it_is_imported_and_replays(stopped: CommandLine, tmp_path: Path) -> None:
    cassettes = tmp_path / "cassettes"
    store = f"sqlite:///{tmp_path}/other.db"

    assert 0 == stopped("export", "--run", "r1", "--output", str(cassettes)).code
    assert 0 == stopped("import", str(cassettes), "--store", store).code
    assert "12 equal" in stopped("replay", "--all", "--store", store).out


def test_statistics_leave_conditional_votes_out_and_say_so(stopped: CommandLine) -> None:
    asked = sum(one["vote_kinds"]["three"] == "own" for one in lines(stopped))

    out = stopped("stats", "r1", "--include-simulated").out

    assert f"left out: {asked} vote" in out
    assert "(asked only where other seats left the case open)" in out


def test_its_votes_are_not_calibrated_on(stopped: CommandLine) -> None:
    outcome = stopped("calibrate", "--run", "r1", "--include-simulated")

    assert 2 == outcome.code
    assert "was judged with stop: settled" in outcome.err


def test_a_recount_that_needs_the_missing_seats_is_by_assumption(stopped: CommandLine) -> None:
    out = stopped("rescore", "--run", "r1", "--recount", "--set", "quorum=2,3").out

    assert "12 of 12 determined" in out
    assert "three, not asked, would change nothing" in out


def test_seats_are_asked_by_price(tmp_path: Path) -> None:
    (tmp_path / "panel.yaml").write_text(PRICED)
    stop = load_panel(str(tmp_path / "panel.yaml"), {}).resolved.panel.stop

    assert stop is not None
    assert ("free", "cheap", "dear") == stop.order


def test_an_order_by_price_needs_every_price(jury: CommandLine) -> None:
    (jury.folder / "panel.yaml").write_text(PRICED.replace("gpt-5.4-mini", "gpt-own"))
    outcome = jury("run", jury.write("cases.jsonl", {"question": "a", "response": "b"}), "--panel", "panel.yaml")

    assert 2 == outcome.code
    assert "price needs a list price of openai/gpt-own (seat cheap), and there is none" in outcome.err


def test_an_estimate_counts_the_first_group_and_at_most_every_seat(stopped: CommandLine) -> None:
    outcome = stopped("run", "cases.jsonl", "--panel", "panel.yaml", "--dry-run", "--json")

    assert 0 == outcome.code
    assert {"least": 24, "likely": 24, "most": 36} == json.loads(outcome.out)["calls"]
