"""What early stop saves (`stop: settled`): seats of which no vote could change the majority are not asked.

First the fewest seats are asked that decide if they agree; then the fewest that can decide after these votes; until a
verdict has more than half of all votes that can still come, or none can have it. A verdict that passes needs more than
half of all seats. The majority is that of all seats.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from jury_analysis.vote_matrix import Codes, VoteMatrix, patterns


@dataclass(frozen=True)
class EarlyStop:
    """Over all debates, where seats are asked in this order."""

    order: tuple[str, ...]
    votes: float
    """Seats asked, the mean of the debates."""
    saved: float
    """The share of the seats that are not asked, 0-1."""


def early_stops(matrix: VoteMatrix) -> tuple[EarlyStop, ...]:
    """For each seat, the saving where it is asked last and the others before it in the order of the seats.

    () for fewer than three seats, of which all are needed.
    """
    seats = len(matrix.seats)
    if seats <= 2 or not matrix.units:  # noqa: PLR2004  (two seats decide nothing alone)
        return ()
    found = []
    passing = [matrix.scale.categories.index(name) for name in matrix.scale.passing]
    for last in reversed(range(seats)):
        places = [*(place for place in range(seats) if place != last), last]
        codes, rows = patterns(matrix.votes[:, places])
        asked = np.array([asked_seats(row, passing) for row in rows], dtype=np.int64)[codes]
        votes = float(asked.mean())
        found.append(EarlyStop(tuple(matrix.seats[place] for place in places), votes, 1 - votes / seats))
    return tuple(found)


def asked_seats(row: Codes | Sequence[int], passing: Collection[int]) -> int:
    """How many seats are asked of a debate.

    Args:
        row: the code of each seat's verdict in the order of asking; -1: an abstention.
    """
    seats = len(row)
    asked = seats // 2 + 1
    while asked < seats:
        given = [int(code) for code in row[:asked] if code >= 0]
        votes = [(given.count(code), code in passing) for code in sorted(set(given))]
        missing, passes = seats - asked, sum(count for count, passed in votes if passed)
        # More votes than half are needed: of those that can come, and of all seats where they pass.
        short = [
            max((len(given) + missing) // 2 + 1 - count, seats // 2 + 1 - passes if passed else 0)
            for count, passed in votes
        ]
        none = [
            2 * count + missing <= len(given) or (passed and 2 * (passes + missing) <= seats) for count, passed in votes
        ]
        if given and (min(short) <= 0 or (all(none) and missing <= len(given))):
            break
        asked += min(missing, max(1, min(short, default=missing // 2 + 1)))
    return asked
