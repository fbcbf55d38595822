"""The debates before and after one: of its run, or of the whole list where it has none."""

from typing import NamedTuple

from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import PageCursor


class Neighbours(NamedTuple):
    """The debates that were opened just `before` and just `after` one; None at either end."""

    before: DebateRow | None
    after: DebateRow | None


def neighbours(store: EventStore, run_id: str | None, position: int) -> Neighbours:
    """Those of a debate.

    Args:
        store: where they are.
        run_id: its run; None: all debates are looked at.
        position: of its opening in the log.
    """
    before = store.list_debates(DebateFilter(run_id=run_id), limit=1, after=PageCursor(position))
    after = store.debates(run_id=run_id, limit=1, after=position)
    return Neighbours(before[0] if before else None, after[0] if after else None)
