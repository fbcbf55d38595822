"""Position changes: by the juror itself, or by a provider's filter. Every view and every count uses this.

The recorded `position_changed` compares a seat's position with its previous one, also if one of the two is the
neutral evaluation that stands in for an answer which a provider's filter blocked. Then no juror changed its mind.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from jury_events.evaluation import SeatPosition
from jury_events.ids import Step
from jury_views.answered_by import AnsweredBy

Change = Literal["own", "synthetic"]
"""own: the juror's label or verdict is another than its latest own one. synthetic: only what stands in for a blocked
answer differs, from the juror's verdict or the juror's verdict from it."""


class ChangeCounts(NamedTuple):
    """The numbers of statements that changed a position, by cause."""

    own: int
    synthetic: int


class PositionTracker:
    """Takes the evaluations of one debate in order, and says of each statement whose change it is."""

    def __init__(self) -> None:
        self._own: dict[str, SeatPosition] = {}

    def take(self, one: AnsweredBy) -> Change | None:
        """Take the next evaluation; None if the position is unchanged, and for the final judge."""
        juror = one.step.juror_id
        if juror is None:
            return None
        recorded: Change | None = "synthetic" if one.position_changed else None
        if one.synthetic:
            return recorded
        before = self._own.get(juror)
        self._own[juror] = one.position
        return "own" if before is not None and before != one.position else recorded


def position_changes(evaluations: Iterable[AnsweredBy]) -> dict[Step, Change]:
    """The steps of a debate that changed a position.

    Args:
        evaluations: all of the debate, in order.
    """
    changes = PositionTracker()
    found = ((one.step, changes.take(one)) for one in evaluations)
    return {step: change for step, change in found if change is not None}


def change_counts(changes: Mapping[Step, Change]) -> ChangeCounts:
    """The number of changes by cause."""
    made = list(changes.values())
    return ChangeCounts(own=made.count("own"), synthetic=made.count("synthetic"))
