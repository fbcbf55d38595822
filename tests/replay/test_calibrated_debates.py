"""What rescoring says of calibrated panels, and of panels that read otherwise."""

import re
from typing import Any

import pytest

from jury_debate import PanelSpec, panel_digest, resolve
from jury_events import Calibration, DebateHistory, SettingError
from jury_judge import load_grid
from jury_providers import Script
from jury_replay import (
    SUFFIX,
    Grid,
    NotApplicable,
    RecountRescoring,
    RegressionStatus,
    RescoreRow,
    RescoreStatus,
    Setting,
    SettingRefused,
    StrictRescoring,
    read_cassette,
    read_positions,
    regress,
)
from support.calibrations import a_calibration
from support.corpus import CORPUS
from support.debate_harness import a_panel
from support.each_row import each_row
from support.long_records import WINDOW, a_long_case
from support.runtime_harness import KeptStore, Run, completed

WITHOUT = "two-of-three-reach-0.67"  # safe_pass by two of three, and no calibration
ON_THE_THRESHOLD = "calibrated-on-the-threshold"
NOT_ACCEPTED = "calibrated-and-not-accepted"


def recorded(name: str) -> DebateHistory:
    return read_cassette(CORPUS / (name + SUFFIX)).history


def certified(history: DebateHistory, **numbers: Any) -> Calibration:
    """A calibration of the debate's panel."""
    return a_calibration(panel=panel_digest(history.opened.panel), **numbers)


def rows(history: DebateHistory, mode: str, *calibrations: Any, **settings: Any) -> list[RescoreRow]:
    grid = Grid.of({"calibration": calibrations, **{key: (value,) for key, value in settings.items()}})
    if mode == "strict":
        return StrictRescoring(grid).rows(history)
    return RecountRescoring(grid).rows(read_positions(history))


@each_row("mode", ["strict", "recount"])
def test_a_calibration_applies_to_a_debate_that_had_none(mode: str) -> None:
    history = recorded(WITHOUT)

    high, low, off = rows(history, mode, certified(history, threshold=0.7), certified(history, threshold=0.6), "off")

    assert {RescoreStatus.DETERMINED} == {row.status for row in (high, low, off)}
    assert ["needs_review", "safe_pass", "safe_pass"] == [row.new_verdict for row in (high, low, off)]
    assert "safe_pass not accepted: 0.666667 is below the threshold 0.7" in high.reason
    assert ["", ""] == [low.reason, off.reason]


@each_row("mode", ["strict", "recount"])
def test_without_its_calibration_a_withheld_verdict_stands(mode: str) -> None:
    (row,) = rows(recorded(NOT_ACCEPTED), mode, "off")

    assert ("needs_review", "safe_pass") == (row.old_verdict, row.new_verdict)


@each_row("mode", ["strict", "recount"])
def test_a_calibration_of_another_panel_is_not_applicable(mode: str) -> None:
    history = recorded(ON_THE_THRESHOLD)
    (other,) = rows(history, mode, a_calibration())
    (changed,) = rows(history, mode, certified(history), quorum=1)

    assert {RescoreStatus.NOT_APPLICABLE} == {other.status, changed.status}
    assert "it was certified for another panel" in other.reason


def test_a_changed_setting_of_a_calibrated_panel_asks_to_leave_the_calibration_out() -> None:
    panel = recorded(ON_THE_THRESHOLD).opened.panel

    with pytest.raises(NotApplicable, match="calibration=off leaves it out"):
        Setting(method="median").apply(panel)
    assert Setting(method="median", calibration="off").apply(panel).final.calibration is None


def test_regress_sees_another_threshold() -> None:
    history = recorded(ON_THE_THRESHOLD)
    calibration = history.opened.panel.final.calibration
    assert calibration is not None
    setting = Setting(calibration=calibration.changed(threshold=0.75))

    found = regress(CORPUS / (ON_THE_THRESHOLD + SUFFIX), setting=setting)

    assert RegressionStatus.CHANGED is found.status
    assert found.now is not None
    assert "needs_review" == found.now.verdict
    assert any("judgment.acceptance.threshold" in line for one in found.differences for line in one.lines())


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
