"""Calibrations over recorded debates: of this version and of rules that took no notice of them."""

from typing import Any

import pytest

from jury_debate import panel_digest
from jury_events import Calibration, DebateHistory
from jury_replay import (
    SUFFIX,
    Grid,
    NotApplicable,
    RecountRescoring,
    RegressionStatus,
    RescoreRow,
    RescoreStatus,
    Setting,
    StrictRescoring,
    read_cassette,
    read_positions,
    regress,
)
from support.calibrations import a_calibration
from support.corpus import CORPUS
from support.each_row import each_row

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
