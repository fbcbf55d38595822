"""Debates that have not ended, as the lists have them: kept in memory by the process that projects the lists.

A debate is in many batches of events before it ends. Its row, read from the database each time, and its ballots, stored
and read each time, would cost more than everything else in the lists. Ballots are therefore stored when the debate
ends. What is not in memory, after a restart or because another process projected in between, is read again: the row
from the list, the ballots from the events of the debate.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jury_store.ballot_sheet import BallotSheet

MOST_DEBATES = 4_000
"""Kept at most, about five kilobytes each; the longest unchanged leave first.

Beyond, an event takes up to three times as long to project, where that debate is not here. Of debates that run at once
few are beyond; of those that wait for batches most are, and each of them changes a few times.
"""


class OpenDebate(NamedTuple):
    """The row of a debate in the list, by column name, and its ballots."""

    row: dict[str, Any]
    sheet: BallotSheet


class OpenDebates:
    """Debates by id, valid while the lists are at the position that they were kept for."""

    def __init__(self) -> None:
        self._debates: dict[str, OpenDebate] = {}
        self._position: int | None = None

    def take(self, position: int, debates: Iterable[str]) -> dict[str, OpenDebate]:
        """Those of these debates that are kept, for a change: none is kept here until `keep`.

        Args:
            position: that the lists have reached. Debates kept for another one are forgotten.
            debates: ids.
        """
        if position != self._position:
            self._debates.clear()
        self._position = None  # until the change is kept: a transaction that fails changes rows and sheets all the same
        return {one: self._debates.pop(one) for one in debates if one in self._debates}

    def keep(self, position: int, debates: Mapping[str, OpenDebate]) -> None:
        """Keep debates that have come to `position`, with those that were not taken."""
        self._debates.update(debates)
        for one in list(self._debates)[: max(0, len(self._debates) - MOST_DEBATES)]:
            del self._debates[one]
        self._position = position
