"""Debates over long records rescored under another reading: what was not asked so is named, with what it would take."""

import re

import pytest

from jury_debate import PanelSpec, resolve
from jury_events import SettingError
from jury_judge import load_grid
from jury_providers import Script
from jury_replay import Grid, RescoreRow, RescoreStatus, Setting, SettingRefused, StrictRescoring
from support.debate_harness import a_panel
from support.each_row import each_row
from support.long_records import WINDOW, a_long_case
from support.runtime_harness import KeptStore, Run, completed


async def a_debate(script: Script | None = None, **spec: object) -> KeptStore:
    """One seat, whose window the record does not fit."""
    run = Run(KeptStore())
    seat = {"model": "simulated/juror", "juror_id": "j", "window": WINDOW}
    written = {"seats": [seat], "preset": "independent", "final": {"method": "majority_vote"}, **spec}
    run.resolved = resolve(PanelSpec.model_validate(written))
    run.cases = {"d0": a_long_case(12)}
    assert completed((await run.execute(script=script or Script())).values())
    return run.store


def rescored(store: KeptStore, **settings: object) -> RescoreRow:
    (history,) = store.histories(["d0"])
    (row,) = StrictRescoring(Grid.of({name: (value,) for name, value in settings.items()})).rows(history)
    return row


@each_row(
    ("recorded", "asked", "needs"),
    [
        ("auto", "whole", "with the whole record"),
        ("auto", "tools", "by tools"),
        ("whole", "auto", r"in \d parts, a call each, and one that closes"),
        ("tools", "windows", r"in \d parts, a call each, and one that closes"),
    ],
)
async def test_what_another_reading_needs_is_named(recorded: str, asked: str, needs: str) -> None:
    row = rescored(await a_debate(reading=recorded), reading=asked)

    assert (RescoreStatus.UNDETERMINED, "initial/j") == (row.status, row.undetermined_step)
    assert re.fullmatch(f"initial/j was not asked as this setting asks it: {needs}", row.reason)


async def test_a_reading_that_is_the_same_is_determined() -> None:
    row = rescored(await a_debate(reading="windows"), reading="auto")

    assert (RescoreStatus.DETERMINED, False) == (row.status, row.flipped)


async def test_the_share_that_a_seat_must_have_read_is_rescored_exactly() -> None:
    store = await a_debate(reading="tools")
    low, high = (rescored(store, least_read=share) for share in (0.001, 0.99))

    assert ("safe_pass", "safe_pass", False) == (low.old_verdict, low.new_verdict, low.flipped)
    assert ("safe_pass", "needs_review", True) == (high.old_verdict, high.new_verdict, high.flipped)


def test_a_setting_holds_for_every_seat() -> None:
    seats = [
        {"model": "simulated/a", "juror_id": "a", "reading": "tools", "least_read": 0.1},
        {"model": "simulated/b", "juror_id": "b"},
    ]
    panel = a_panel(seats=seats, final={"method": "majority_vote"})
    changed = Setting(reading="windows").apply(panel)

    assert ("windows", [None, None]) == (changed.reading, [seat.reading for seat in changed.seats])
    assert [0.1, None] == [seat.least_read for seat in changed.seats]


@each_row("setting", ["reading=windows", "least_read=0.5"])
def test_a_recount_cannot_answer(setting: str) -> None:
    with pytest.raises(SettingRefused, match="only strict can answer"):
        load_grid([setting], None).check("recount")


@each_row("setting", ["reading=half", "least_read=2", "least_read=nan"])
def test_values_that_mean_nothing_are_refused(setting: str) -> None:
    with pytest.raises(SettingError):
        load_grid([setting], None)
