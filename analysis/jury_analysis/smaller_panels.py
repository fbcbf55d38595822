"""Which smaller panels are tried, and their verdicts by counting votes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import numpy as np

from jury_analysis.frontier import SmallerPanel
from jury_analysis.subset_counting import pluralities
from jury_analysis.vote_matrix import Codes, VoteMatrix

MOST_PANELS = 1000
"""Choices of seats and rounds that are tried at most."""


def chosen_subsets(seats: Sequence[str], rounds: int, ranking: Sequence[str]) -> list[tuple[str, ...]]:
    """The subsets of seats to try, so that subsets × rounds are at most `MOST_PANELS`, as far as that is possible.

    Args:
        rounds: how many numbers of rounds each subset is tried with.
        ranking: the seats, most valuable first: the nested panels of the first seats come first.

    Returns:
        All subsets if there are few enough; otherwise the nested panels, then subsets by size, as many as fit. Each
        has its seats in the order of `seats`, the whole panel is the first.
    """
    nested = [_ordered(seats, ranking[:size]) for size in range(len(seats), 0, -1)]
    others = (one for size in range(1, len(seats)) for one in combinations(seats, size))
    most = max(1, MOST_PANELS // max(1, rounds))
    wanted = dict.fromkeys(nested)
    for subset in islice(others, most + len(nested)):
        wanted[subset] = None
    return list(islice(wanted, most))


def by_plurality(
    rounds: Mapping[int, VoteMatrix], subsets: Sequence[tuple[str, ...]], most_rounds: Sequence[int]
) -> Iterator[SmallerPanel]:
    """The strict plurality of each subset after at most so many rounds: a vote stands until the seat votes again.

    Exact for the first evaluation; a later vote was cast with sight of the other seats.
    """
    first = rounds[0]
    place = {seat: index for index, seat in enumerate(first.seats)}
    members = np.zeros((len(subsets), len(first.seats)), dtype=np.bool_)
    for row, subset in enumerate(subsets):
        members[row, [place[seat] for seat in subset]] = True
    everyone = set(first.seats)
    for most in most_rounds:
        votes, total = _votes_after(rounds, most)
        verdicts = pluralities(votes, members, len(first.scale.categories))
        for subset, given in zip(subsets, verdicts, strict=True):
            exact = (total == 0) | (set(subset) == everyone)
            yield SmallerPanel(subset, most, given, total, exact)


def _votes_after(
    rounds: Mapping[int, VoteMatrix], most: int
) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The votes [units, seats] that stand after at most so many rounds, and how many there were [units]."""
    votes = rounds[0].votes.copy()
    total = np.zeros(len(votes), dtype=np.int64)
    for number in sorted(rounds):
        if not 0 < number <= most:
            continue
        later = rounds[number]
        votes = np.where(later.votes >= 0, later.votes, votes)
        total[(later.kinds >= 0).any(axis=1)] = number
    return votes, total


def _ordered(seats: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    return tuple(seat for seat in seats if seat in chosen)
