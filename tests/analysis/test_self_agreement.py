"""Repeats of a case: does a seat agree with itself?"""

import pytest

from jury_analysis import Repeats, Scale, self_agreement, vote_matrix
from support.ballot_tables import ballots

TWO = Scale(("n", "y"), ordered=True)


def of(votes: list[list[str | None]], cases: list[str], finals: list[str | None] | None = None) -> Repeats:
    return self_agreement(vote_matrix(ballots(votes, cases=cases, finals=finals), TWO), resamples=100)


def test_a_seat_that_repeats_itself_agrees_fully_and_one_that_does_not_does_not() -> None:
    """Two cases, three repeats each. Seat b says y y n and n n y: one pair of three agrees in both cases."""
    found = of([["y", "y"], ["y", "y"], ["y", "n"], ["n", "n"], ["n", "n"], ["n", "y"]], ["p"] * 3 + ["q"] * 3)

    assert (2, 3) == (found.cases, found.largest)
    steady, wavering = found.seats
    assert 1.0 == steady.raw.value
    assert 1.0 == steady.alpha_nominal.value
    assert wavering.raw.value == pytest.approx(1 / 3)
    assert wavering.alpha_nominal.value == pytest.approx(1 - 5 * 4 / (2 * 3 * 3))
    assert 2 == wavering.raw.n


def test_cases_without_a_repeat_do_not_count() -> None:
    found = of([["y"], ["y"], ["n"]], ["p", "p", "q"])

    assert (1, 2) == (found.cases, found.largest)
    assert 1 == found.seats[0].raw.n


def test_the_panel_is_its_final_verdict_where_known_or_else_its_plurality() -> None:
    votes: list[list[str | None]] = [["y", "y", "n"], ["y", "n", "y"]]

    assert 1.0 == of(votes, ["p", "p"]).panel.raw.value
    assert 0.0 == of(votes, ["p", "p"], finals=["y", "n"]).panel.raw.value


def test_a_seat_that_abstains_in_all_repeats_but_one_has_the_reason() -> None:
    found = of([["y", None], ["y", "y"]], ["p", "p"])

    assert "the seat has no two votes on a case" == found.seats[1].raw.reason
