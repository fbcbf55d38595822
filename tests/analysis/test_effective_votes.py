"""Error correlation and effective votes: hand-worked tables, scipy, and reference figures."""

from itertools import pairwise

import numpy as np
import pytest

from jury_analysis import OURS, EffectiveVotes, Scale, effective_votes, probability_of_majority, vote_matrix
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import needs_reference_data, reference, triviaqa

TWO = Scale(("bad", "good"), ordered=True)


def votes_of(right: list[tuple[int | None, ...]]) -> EffectiveVotes:
    """1 is right, 0 wrong, None an abstention; all labels are good."""
    names = {1: "good", 0: "bad", None: None}
    table = ballots([[names[one] for one in row] for row in right], labels=["good"] * len(right))
    return effective_votes(vote_matrix(table, TWO))


def test_identical_seats_are_worth_one_vote() -> None:
    found = votes_of([(1, 1, 1), (0, 0, 0)] * 20)

    assert (1.0, 1.0) == (found.effective.value, found.mean_phi.value)
    assert found.effective.interval is None


def test_uncorrelated_errors_are_worth_as_many_votes_as_seats() -> None:
    found = votes_of([(1, 1), (1, 0), (0, 1), (0, 0)])

    assert (2.0, 0.0) == (found.effective.value, found.mean_phi.value)


def test_phi_is_the_correlation_of_errors_where_both_seats_decided() -> None:
    from scipy.stats import pearsonr

    random = np.random.default_rng(5)
    hard = random.random(60) < 0.3
    rows = [tuple(int(random.random() > (0.7 if one else 0.1)) for _ in range(3)) for one in hard]
    with_gaps = [(None, *row[1:]) if number % 7 == 0 else row for number, row in enumerate(rows)]
    found = votes_of(with_gaps)

    for pair in found.pairs:
        one, two = "abc".index(pair.first), "abc".index(pair.second)
        both = [(row[one], row[two]) for row in with_gaps if row[one] is not None and row[two] is not None]
        assert pearsonr(*np.array(both, dtype=float).T).statistic == pytest.approx(pair.phi.value, abs=1e-12)
        assert len(both) == pair.phi.n
    mean = np.mean([pair.phi.value for pair in found.pairs])
    assert mean == pytest.approx(found.mean_phi.value)
    assert 3 / (1 + 2 * mean) == pytest.approx(found.effective.value)


def test_seats_that_never_err_have_a_reason_in_place_of_effective_votes() -> None:
    found = votes_of([(1, 1)] * 12)

    assert found.effective.value is None
    assert found.effective.reason


def test_majority_and_best_seat_are_of_the_units_that_all_seats_decided() -> None:
    found = votes_of([(1, 1, 0), (1, 0, 0), (1, 1, 1), (0, 1, 1), (1, None, 0)])

    assert (4, ("a", "b")) == (found.complete, found.best_seats)
    assert (3 / 4, 3 / 4) == (found.majority_accuracy.value, found.best_seat_accuracy.value)


def test_accuracy_if_independent_of_equal_seats_is_binomial() -> None:
    from scipy.stats import binom

    chance = probability_of_majority(np.array([[0.8] * 5, [0.6] * 5]))

    assert list(binom.sf(2, 5, [0.8, 0.6])) == pytest.approx(list(chance))


def test_half_of_an_even_panel_is_no_majority() -> None:
    assert 0.25 == probability_of_majority(np.array([[0.5, 0.5]]))[0]


def test_an_abstaining_verdict_is_no_error() -> None:
    safe, review, unsafe = OURS.categories
    votes = [(safe, safe), (review, unsafe), (unsafe, safe), (unsafe, unsafe)]
    table = ballots(votes, labels=[safe, safe, safe, unsafe])
    found = effective_votes(vote_matrix(table, OURS.against([safe, unsafe])))

    assert (3, 3) == (found.complete, found.pairs[0].phi.n)


@needs_reference_data
@each_row(
    ("name", "seats"),
    [
        ("effective_votes_triviaqa_nine", "triviaqa_nine_llm_judges"),
        ("effective_votes_triviaqa_panel3", "triviaqa_panel3"),
    ],
)
def test_effective_votes_agree_with_the_reference(name: str, seats: str) -> None:
    expected = reference(name)
    scale = Scale(("incorrect", "correct"), ordered=True)
    found = effective_votes(vote_matrix(triviaqa(reference(seats)["raters"]), scale))
    phi = [pair.phi.value or 0.0 for pair in found.pairs]
    figures = {
        "mean_error_phi": found.mean_phi.value,
        "n_eff": found.effective.value,
        "min_phi": min(phi),
        "max_phi": max(phi),
        "complete_items": found.complete,
        "accuracy_if_independent": found.accuracy_if_independent.value,
        "accuracy_majority_complete": found.majority_accuracy.value,
        "best_single_complete": found.best_seat_accuracy.value,
    }

    assert expected == pytest.approx({key: figures[key] for key in expected}, abs=1e-6)


def test_more_correlation_is_worth_fewer_votes() -> None:
    values = [votes_of([(1, 1), (0, 0)] * same + [(1, 0), (0, 1)] * 10).effective.value or 0 for same in (5, 10, 30)]

    assert all(more > less for more, less in pairwise(values))
