"""Worth of seats: hand-worked games, brute force over all orders, and reference figures."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

from jury_analysis import (
    OURS,
    ChosenSeat,
    Scale,
    SeatValues,
    SingleSeat,
    VoteMatrix,
    best_seat,
    seat_values,
    vote_matrix,
)
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import needs_reference_data, reference, triviaqa

S, R, U = OURS.categories
TWO = Scale(("bad", "good"), ordered=True)


def matrix_of(right: list[tuple[int | None, ...]]) -> VoteMatrix:
    """1 is right, 0 wrong, None an abstention; all labels are good."""
    names = {1: "good", 0: "bad", None: None}
    table = ballots([[names[one] for one in row] for row in right], labels=["good"] * len(right))
    return vote_matrix(table, TWO)


def shapley(found: SeatValues) -> list[float | None]:
    return [one.shapley.value for one in found.seats]


def by_all_orders(right: list[tuple[int | None, ...]]) -> list[float]:
    """The definition, word for word."""
    seats = len(right[0])

    def worth(members: tuple[int, ...]) -> float:
        votes = [[row[seat] for seat in members] for row in right]
        return sum(vote.count(1) > vote.count(0) for vote in votes) / len(right)

    totals = [0.0] * seats
    for order in permutations(range(seats)):
        for place, seat in enumerate(order):
            totals[seat] += worth(order[: place + 1]) - worth(order[:place])
    return [total / factorial(seats) for total in totals]


def test_two_seats_share_what_they_decide_together() -> None:
    """v(a) = 1, v(b) = 1/2, v(ab) = 1/2 as a tie is not right: a adds 1 first and 0 second, b 1/2 first and -1/2."""
    found = seat_values(matrix_of([(1, 1), (1, 0)]))

    assert [0.5, 0.0] == shapley(found)
    assert (0.5, 0.5) == (found.accuracy.value, found.decided.value)
    assert [(0.0, 0.5), (-0.5, 1.0)] == [(one.leave_one_out.value, one.accuracy_without) for one in found.seats]


def test_an_odd_panel_less_one_decides_less() -> None:
    found = seat_values(matrix_of([(1, 1, 0), (1, 0, 1), (0, 1, 1)]))

    assert 1.0 == found.decided.value
    assert [1 / 3] * 3 == pytest.approx([one.decided_without for one in found.seats])
    assert [2 / 3] * 3 == pytest.approx([one.leave_one_out.value for one in found.seats])


def test_values_are_means_over_all_orders() -> None:
    random = np.random.default_rng(3)
    right = [tuple(None if one < 0.1 else int(one < 0.7) for one in random.random(5)) for _ in range(40)]

    found = seat_values(matrix_of(right))

    assert by_all_orders(right) == pytest.approx(shapley(found), abs=1e-12)
    assert sum(filter(None, shapley(found))) == pytest.approx(found.accuracy.value)


def test_the_panel_of_the_values_is_that_of_the_accuracy_against_labels() -> None:
    """A middle verdict that no label has counts as an abstention, but it is a vote."""
    table = ballots([(R, R, S), (S, S, U), (S, R, U)], labels=[S, S, U])
    found = seat_values(vote_matrix(table, OURS.against([S, U])))

    assert 1 / 3 == pytest.approx(found.accuracy.value)
    assert 1 / 3 == pytest.approx(found.decided.value)


def test_orders_are_drawn_for_more_than_12_seats_with_their_error() -> None:
    random = np.random.default_rng(5)
    right = [tuple(int(one < 0.6) for one in random.random(13)) for _ in range(50)]

    found, again = (seat_values(matrix_of(right), orders=100, seed=7) for _ in range(2))

    assert (100, 7) == (found.orders, found.seed)
    assert found == again
    assert sum(filter(None, shapley(found))) == pytest.approx(found.accuracy.value)
    assert all(one.sampling_error for one in found.seats)


def test_drawn_values_are_within_their_error_of_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    right = [tuple(int(one < 0.6) for one in random.random(6)) for _ in range(50)]
    exact = shapley(seat_values(matrix_of(right)))
    monkeypatch.setattr("jury_analysis.seat_value.MOST_EXACT", 5)

    found = seat_values(matrix_of(right), orders=400)

    for value, one in zip(exact, found.seats, strict=True):
        assert value is not None
        assert one.sampling_error is not None
        assert abs((one.shapley.value or 0.0) - value) < 4 * one.sampling_error


@needs_reference_data
def test_nine_judges_are_worth_what_was_computed_elsewhere() -> None:
    expected = reference("seat_value_triviaqa_nine")
    table = triviaqa(list(expected["shapley"]))

    found = seat_values(vote_matrix(table, Scale(("incorrect", "correct"), ordered=True)))

    assert expected["v_full"] == pytest.approx(found.accuracy.value, abs=1e-6)
    assert expected["shapley"] == pytest.approx({one.seat: one.shapley.value for one in found.seats}, abs=1e-6)
    assert expected["leave_one_out"] == pytest.approx(
        {one.seat: one.leave_one_out.value for one in found.seats}, abs=1e-6
    )
    assert {113} == {one.shapley.interval.clusters for one in found.seats if one.shapley.interval}


PASS, FAIL = "safe_pass", "unsafe_fail"


def matrix(rights: list[str], *, cases: int = 40, clusters: list[str] | None = None) -> VoteMatrix:
    """Cases that are all to be passed; a seat is right in case n if its text has a 1 at n, repeated."""
    rows = [[PASS if right[case % len(right)] == "1" else FAIL for right in rights] for case in range(cases)]
    return vote_matrix(ballots(rows, labels=[PASS] * cases, clusters=clusters), OURS)


def gain(one: SingleSeat) -> tuple[float | None, float, float]:
    """The gain with its interval."""
    assert one.gain.interval is not None
    return one.gain.value, one.gain.interval.low, one.gain.interval.high


def test_the_panel_loses_to_a_seat_that_is_better_than_its_majority() -> None:
    found = best_seat(matrix(["1100", "1100", "1111"]))

    assert found is not None
    assert (1.0, -0.5) == (found.apart.accuracy.value, found.apart.gain.value)
    assert gain(found.apart)[2] < 0
    assert (ChosenSeat("c", 10),) == found.chosen
    assert ("c", found.apart) == (found.hindsight_seat, found.hindsight)


def test_the_panel_wins_where_its_seats_err_apart() -> None:
    found = best_seat(matrix(["0111", "1011", "1101"]))

    assert found is not None
    assert 0.25 == found.hindsight.gain.value
    assert gain(found.hindsight)[1] > 0
    assert "a" == found.hindsight_seat


@pytest.mark.full
def test_a_seat_that_is_best_by_luck_is_flattered_in_hindsight_alone() -> None:
    generator = np.random.default_rng(3)
    apart, hindsight = [], []
    for _ in range(200):
        rights = [[str(one) for one in generator.binomial(1, 0.75, size=60)] for _ in range(3)]
        found = best_seat(matrix(["".join(right) for right in rights], cases=60))
        assert found is not None
        apart.append(found.apart.accuracy.value or 0.0)
        hindsight.append(found.hindsight.accuracy.value or 0.0)

    assert np.mean(apart) == pytest.approx(0.75, abs=0.01)
    assert np.mean(hindsight) > 0.78


def test_cases_of_a_cluster_are_in_one_part() -> None:
    # Seat a is right in the first half of the clusters, b in the second: inside a cluster nothing can be learned.
    names = [f"q{case // 4:02}" for case in range(40)]
    rows = [[PASS, FAIL] if case < 20 else [FAIL, PASS] for case in range(40)]
    found = best_seat(vote_matrix(ballots(rows, labels=[PASS] * 40, clusters=names), OURS))

    assert found is not None
    assert 0.0 == found.apart.accuracy.value
    assert (ChosenSeat("a", 5), ChosenSeat("b", 5)) == found.chosen


def test_seats_and_the_panel_are_measured_over_the_same_labelled_cases() -> None:
    rows = [[PASS, PASS, FAIL]] * 12 + [[None, None, None]] * 3
    labels = [PASS] * 12 + [FAIL] * 3
    found = best_seat(vote_matrix(ballots([*rows, [FAIL] * 3], labels=[*labels, None]), OURS))

    assert found is not None
    assert (15, 15) == (found.apart.accuracy.n, found.hindsight.gain.n)
    assert (0.8, 0.0) == (found.apart.accuracy.value, found.apart.gain.value)


@each_row("cases", [1, 9])
def test_too_few_clusters_choose_nothing(cases: int) -> None:
    assert best_seat(matrix(["1", "0", "1"], cases=cases)) is None
