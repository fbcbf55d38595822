"""Stages beside the frontier: a few seats first, the whole panel where they differ."""

from collections.abc import Sequence

import pyarrow as pa
import pytest

from jury_analysis import PanelWorth, Scale, StagedPoint, WorthOptions, panel_worth
from support.ladder_votes import SCALE
from support.reference_data import ballots_of

ROWS: tuple[tuple[int, str, str], ...] = (
    (40, "good", "gggg"),
    (40, "bad", "bbbb"),
    (10, "good", "gbgg"),
    (6, "bad", "ggbb"),
    (4, "good", "bbgg"),
)
WORDS = {"g": "good", "b": "bad"}


def votes(rows: Sequence[tuple[int, str, str]] = ROWS, *, labelled: bool = True) -> pa.Table:
    given = [
        {seat: WORDS[one] for seat, one in zip("abcd", said, strict=False)} for n, _, said in rows for _ in range(n)
    ]
    labels = [label if labelled else None for number, label, _ in rows for _ in range(number)]
    return ballots_of(given, labels=labels)


def worth(table: pa.Table, scale: Scale = SCALE) -> PanelWorth:
    return panel_worth(table, options=WorthOptions(scale=scale))


def of(found: PanelWorth, *seats: str) -> StagedPoint:
    return next(one for one in found.stages if one.seats == seats)


def test_what_the_first_seats_agree_on_stands_and_the_rest_is_judged_by_all() -> None:
    found = of(worth(votes()), "a", "b")

    # All but 10 cases end there; 6 + 4 of them wrong, and the panel is right about the 10.
    assert (0.9, 0.9, 1.0) == (found.early.value, found.value.value, found.decided)
    assert pytest.approx(2 + 0.1 * 4) == found.votes


def test_pairs_and_threes_are_tried() -> None:
    assert 6 + 4 == len(worth(votes()).stages)


def test_a_point_on_the_frontier_is_beaten_by_none_at_its_price() -> None:
    found = worth(votes())
    single = [(len(one.seats), one.value.value or 0.0) for one in found.frontier.points]
    staged = [(one.votes, one.value.value or 0.0) for one in found.stages]

    for one in found.stages:
        value = one.value.value or 0.0
        beaten = any(
            (price <= one.votes and other > value) or (price < one.votes and other >= value)
            for price, other in (*single, *staged)
        )
        assert not (one.on_frontier and beaten)


def test_without_labels_the_goal_is_the_verdict_of_the_whole_panel() -> None:
    found = of(worth(votes(labelled=False)), "c", "d")

    assert 1.0 == found.early.value
    # The panel of four is tied in 10 cases, where there is nothing to agree with.
    assert (1.0, 90) == (found.value.value, found.value.n)


def test_two_seats_have_no_stage_before_them() -> None:
    rows = [(number, label, said[:2]) for number, label, said in ROWS]

    assert () == worth(votes(rows)).stages
