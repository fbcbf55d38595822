"""Agreement by round: reliability first, convergence after."""

import pytest

from jury_analysis import Scale, by_round, check, convergence
from support.ballot_tables import ballots
from support.reference_data import mmlu, needs_reference_data, reference

TWO = Scale(("n", "y"), ordered=True)


def test_agreement_is_given_by_round() -> None:
    first = [["y", "n"], ["y", "y"], ["n", "n"], ["n", "y"]]
    second = [["y", "y"], ["y", "y"], ["n", "n"], ["n", "n"]]

    one, other = convergence(by_round(ballots([first, second]), TWO), resamples=0)

    assert (0, 4, 8, 0.5) == (one.round, one.debates, one.votes, one.raw.value)
    assert (1, 4, 8, 1.0) == (other.round, other.debates, other.votes, other.raw.value)
    assert one.alpha_nominal == other.alpha_before


def test_a_round_is_compared_with_the_same_debates_before() -> None:
    """Only the two debates that disagreed go on: their α before is that of full disagreement."""
    first = [["y", "n"], ["y", "y"], ["n", "n"], ["n", "y"]]
    table = ballots([first, first])
    on = [row["round"] == 0 or row["debate_id"] in {"d000000", "d000003"} for row in table.to_pylist()]

    one, other = convergence(by_round(check(table.filter(on)), TWO), resamples=0)

    assert 2 == other.debates
    assert one.alpha_nominal.value == pytest.approx(1 - 7 * 4 / (2 * 4 * 4))
    assert other.alpha_before.value == pytest.approx(1 - 3 * 4 / (2 * 2 * 2))


@needs_reference_data
def test_rounds_agree_with_the_reference_figures() -> None:
    figures = reference("dynamics_mmlu")

    rounds = convergence(by_round(mmlu(), Scale(("A", "B", "C", "D"), ordered=False)), resamples=100)

    assert 3 == len(rounds)
    for one in rounds:
        expected = figures[f"round_{one.round}"]
        assert expected["alpha_nominal"] == pytest.approx(one.alpha_nominal.value, abs=1e-6)
        assert (expected["debates"], expected["votes"]) == (one.debates, one.votes)
