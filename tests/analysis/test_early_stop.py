"""What early stop saves, and that its verdict is that of all seats."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_analysis import OURS, asked_seats, early_stops, panel_worth, vote_matrix
from support.ballot_tables import ballots
from support.each_row import each_row

NO_VOTE, PASSING = -1, (0,)


def majority(row: tuple[int, ...]) -> int | None:
    """The verdict with more than half of the votes cast; of all seats, where it passes."""
    cast = [code for code in row if code != NO_VOTE]
    code, most = Counter(cast).most_common(1)[0] if cast else (NO_VOTE, 0)
    return code if 2 * most > len(row if code in PASSING else cast) else None


@given(st.lists(st.sampled_from([NO_VOTE, 0, 0, 0, 1, 2]), min_size=3, max_size=7))
def test_no_vote_of_a_seat_that_is_not_asked_changes_the_majority(votes: list[int]) -> None:
    asked = asked_seats(votes, PASSING)

    for others in product([NO_VOTE, 0, 1, 2], repeat=len(votes) - asked):
        assert majority(tuple(votes)) == majority((*votes[:asked], *others))


@each_row(
    ("row", "asked"),
    [
        ((0, 0, 1), 2),
        ((0, 1, 1), 3),
        ((0, NO_VOTE, 0), 3),
        ((0, NO_VOTE, 0, NO_VOTE, 0), 5),
        ((2, NO_VOTE, 2, 2, 0), 4),
        ((NO_VOTE, NO_VOTE, NO_VOTE, 0, 0), 5),
        ((0, 0, 0, 1, 1), 3),
        ((0, 0, 1, 0, 1), 4),
        ((0, 0, 1, 1, 1, 1, 1), 6),
        ((0, 1, 2, 0), 3),
    ],
)
def test_groups_are_the_fewest_seats_that_can_decide(row: tuple[int, ...], asked: int) -> None:
    assert asked == asked_seats(row, PASSING)


def test_the_report_has_a_row_for_each_seat_that_may_be_asked_last() -> None:
    table = ballots([("safe_pass", "safe_pass", "unsafe_fail"), ("safe_pass", "unsafe_fail", "unsafe_fail")])

    found = panel_worth(table).early_stops

    assert [("a", "b", "c"), ("a", "c", "b"), ("b", "c", "a")] == [one.order for one in found]
    assert [2.5, 3.0, 2.5] == [one.votes for one in found]
    assert [1 - 2.5 / 3, 0.0, 1 - 2.5 / 3] == pytest.approx([one.saved for one in found])


def test_two_seats_are_always_asked() -> None:
    table = ballots([("safe_pass", "safe_pass"), ("safe_pass", "unsafe_fail")])

    assert () == early_stops(vote_matrix(table, OURS))
