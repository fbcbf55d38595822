"""The frontier of cost against accuracy, worth of rounds, and the whole report: hand-worked tables."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import (
    MOST_PANELS,
    OURS,
    MixedPanels,
    OnlySimulated,
    PanelWorth,
    Scale,
    StagedPoint,
    WorthOptions,
    chosen_subsets,
    panel_worth,
)
from support.ballot_tables import ballots, with_column
from support.ladder_votes import SCALE
from support.reference_data import ballots_of

S, R, U = OURS.categories
VOTES = [(S, S, U), (U, S, S), (S, U, U), (U, U, S)]
LABELS = [S, S, U, U]


def points(found: PanelWorth) -> dict[tuple[str, int], Any]:
    return {("".join(one.seats), one.rounds): one for one in found.frontier.points}


def test_every_subset_is_a_choice_with_its_accuracy_and_decided_share() -> None:
    found = panel_worth(ballots(VOTES, labels=LABELS))

    assert {("a", 0.5, 1.0), ("b", 1.0, 1.0), ("c", 0.5, 1.0), ("ab", 0.5, 0.5), ("ac", 0.0, 0.0)} <= {
        (name, one.value.value, one.decided) for (name, _), one in points(found).items()
    }
    assert (7, 7, True) == (found.frontier.tried, found.subsets, found.all_subsets)
    assert 1.0 == points(found)["abc", 0].value.value


def test_the_frontier_has_what_no_other_choice_beats_at_its_price() -> None:
    table = ballots(VOTES, labels=LABELS)
    costs = {"a": 0.1, "b": 3.0, "c": 0.2}
    found = panel_worth(with_column(table, "cost", [costs[seat] for seat in table["seat"].to_pylist()]))

    assert "cost" == found.frontier.measure
    assert [("a", 0.1), ("b", 3.0)] == [
        ("".join(one.seats), pytest.approx(one.cost)) for one in found.frontier.points if one.on_frontier
    ]


def test_without_any_price_a_vote_is_the_price() -> None:
    found = panel_worth(ballots(VOTES, labels=LABELS))

    assert (None, None) == (found.frontier.measure, found.spending[0].cost)
    assert ["b"] == ["".join(one.seats) for one in found.frontier.points if one.on_frontier]


def test_a_discussion_without_a_seat_is_by_assumption_and_the_whole_panel_is_not() -> None:
    found = panel_worth(ballots([VOTES, [(S, S, S), (S, S, S), (U, U, U), (U, U, U)]], labels=LABELS))

    assert {("ab", 0): 0, ("ab", 1): 4, ("abc", 0): 0, ("abc", 1): 0} == {
        key: points(found)[key].by_assumption for key in (("ab", 0), ("ab", 1), ("abc", 0), ("abc", 1))
    }
    assert found.frontier.by_assumption


def test_a_round_is_worth_what_it_adds() -> None:
    found = panel_worth(ballots([[(S, U), (U, S)] * 6, [(S, S), (U, S)] * 6], labels=[S, S] * 6))

    zero, one = found.rounds
    assert (0.0, 0.0) == (zero.value.value, zero.decided)
    assert (0.5, 0.5, 0.5) == (one.value.value, one.gain.value, one.decided)
    assert zero.gain.reason == "there is no round before it"


def test_without_labels_the_goal_is_agreement_with_the_whole_panel() -> None:
    found = panel_worth(ballots(VOTES))

    assert "agreement" == found.frontier.goal
    assert (1.0, 0.5) == (points(found)["b", 0].value.value, points(found)["a", 0].value.value)
    assert all(one.shapley.value is None for one in found.values.seats)


def test_the_final_judge_is_paid_whatever_the_rounds() -> None:
    table = ballots([[(S, S)], [(S, S)]], labels=[S], judges=[S])
    found = panel_worth(
        with_column(table, "cost", [1.0 if role == "juror" else 5.0 for role in table["role"].to_pylist()])
    )

    assert [7.0, 9.0] == [one.cost for one in found.rounds]
    assert [(1.0, 2.0)] * 2 == [(one.first_cost, one.cost) for one in found.spending]


def test_a_panel_of_many_tries_nested_panels_and_the_smallest_subsets() -> None:
    seats = [f"s{number:02}" for number in range(30)]
    subsets = chosen_subsets(seats, 3, seats[::-1])

    assert MOST_PANELS // 3 == len(subsets) == len(set(subsets))
    assert tuple(seats) == subsets[0]
    assert ("s28", "s29") in subsets
    assert {(seat,) for seat in seats} <= set(subsets)


def test_simulated_debates_and_several_panels_are_refused() -> None:
    table = ballots(VOTES, labels=LABELS)
    simulated = with_column(table, "simulated", [True] * table.num_rows)
    two = with_column(table, "panel", ["p" if case == "c000000" else "q" for case in table["case_id"].to_pylist()])

    with pytest.raises(OnlySimulated):
        panel_worth(simulated)
    assert panel_worth(simulated, options=WorthOptions(simulated=True)).warnings
    with pytest.raises(MixedPanels):
        panel_worth(two)


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
