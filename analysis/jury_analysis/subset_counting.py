"""The strict plurality of subsets of seats, from the votes of one round.

A vote of round 0 was cast without sight of the others, so the verdicts of a subset are those of a panel of these seats
alone.
"""

from typing import NamedTuple

import numpy as np

from jury_analysis.accuracy import decided
from jury_analysis.vote_matrix import Bools, Codes, Ints, VoteMatrix, patterns

CELLS = 4_000_000
"""Of the arrays [subsets, patterns, categories] in memory at once: 16 MB."""


class UnitPatterns(NamedTuple):
    """Units with equal votes and labels, counted once."""

    of_unit: Ints
    """[units]: the pattern of each unit."""
    votes: Codes
    """[patterns, seats]."""
    labels: Codes
    """[patterns]: -1 without one."""


class CountedSubsets(NamedTuple):
    """What subsets of seats say of each pattern: [subsets, patterns]."""

    right: Bools
    """The strict plurality is the label."""
    decided: Bools
    """There is a strict plurality, and it is no abstention."""


def unit_patterns(matrix: VoteMatrix) -> UnitPatterns:
    """The patterns of a round."""
    codes, rows = patterns(matrix.votes, matrix.labels)
    return UnitPatterns(codes, rows[:, :-1].astype(np.int8), rows[:, -1].astype(np.int8))


def subset_members(seats: int) -> Bools:
    """[subsets, seats]: every subset with at least one seat; smaller ones first, then by the order of the seats."""
    numbers = np.arange(1, 1 << seats)
    members = (numbers[:, None] >> np.arange(seats) & 1).astype(np.bool_)
    order = np.lexsort((*(~members.T[::-1]), members.sum(axis=1)))
    return members[order]


def pluralities(votes: Codes, members: Bools, categories: int) -> Codes:
    """[subsets, rows]: the strict plurality of votes [rows, seats] among members [subsets, seats]; -1: none."""
    chosen = members.astype(np.float32)
    tally = np.stack([chosen @ np.equal(votes.T, code).astype(np.float32) for code in range(categories)])
    top = tally.max(axis=0)
    single = np.count_nonzero(tally == top, axis=0) == 1
    codes: Codes = np.where(single & (top > 0), tally.argmax(axis=0), -1).astype(np.int8)
    return codes


def count_subsets(matrix: VoteMatrix, found: UnitPatterns, members: Bools) -> CountedSubsets:
    """The verdicts of subsets against the labels."""
    given = decided(pluralities(found.votes, members, len(matrix.scale.categories)), matrix.scale)
    return CountedSubsets(right=(given >= 0) & (given == found.labels), decided=given >= 0)
