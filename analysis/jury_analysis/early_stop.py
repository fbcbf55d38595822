"""What early stop saves (`stop: settled`): seats of which no vote could change the majority are not asked.

First the fewest seats are asked that decide if they agree; then the fewest that can decide after these votes; until a
verdict has more than half of all votes that can still come, or none can have it. The majority is that of all seats.
"""

from collections.abc import Sequence
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

    Args:
        matrix: the votes of the first evaluation.
    """
    seats = len(matrix.seats)
    if seats <= 2 or not matrix.units:  # noqa: PLR2004  (two seats decide nothing alone)
        return ()
    found = []
    for last in reversed(range(seats)):
        places = [*(place for place in range(seats) if place != last), last]
        codes, rows = patterns(matrix.votes[:, places])
        asked = np.array([asked_seats(row) for row in rows], dtype=np.int64)[codes]
        votes = float(asked.mean())
        found.append(EarlyStop(tuple(matrix.seats[place] for place in places), votes, 1 - votes / seats))
    return tuple(found)


def asked_seats(row: Codes | Sequence[int]) -> int:
    """How many seats are asked of a debate.

    Args:
        row: the code of each seat's verdict in the order of asking; -1: an abstention.
    """
    seats = len(row)
    asked = seats // 2 + 1
    while asked < seats:
        given = [int(code) for code in row[:asked] if code >= 0]
        missing, most = seats - asked, max((given.count(code) for code in set(given)), default=0)
        can_come = len(given) + missing
        if given and (2 * most > can_come or 2 * most + missing <= len(given)):
            break
        asked += min(missing, max(1, can_come // 2 + 1 - most))
    return asked
