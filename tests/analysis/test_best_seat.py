"""The panel beside its best member, which is chosen on other clusters."""

import numpy as np
import pytest

from jury_analysis import OURS, ChosenSeat, SingleSeat, VoteMatrix, best_seat, vote_matrix
from support.ballot_tables import ballots
from support.each_row import each_row

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
