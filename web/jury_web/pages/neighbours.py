"""The debates before and after one, of its run, or of all debates where it has no run."""

from typing import NamedTuple

from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import PageCursor


class Neighbours(NamedTuple):
    """The debates opened just `before` and just `after` one; None at the ends."""

    before: DebateRow | None
    after: DebateRow | None


def neighbours(store: EventStore, run_id: str | None, position: int) -> Neighbours:
    """The neighbours of a debate.

    Args:
        store: with the debates.
        run_id: its run; None: of all debates.
        position: of its opening event.
    """
    before = store.list_debates(DebateFilter(run_id=run_id), limit=1, after=PageCursor(position))
    after = store.debates(run_id=run_id, limit=1, after=position)
    return Neighbours(before[0] if before else None, after[0] if after else None)
