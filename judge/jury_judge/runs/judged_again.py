"""Cases of a run that are judged again: by a second debate, which counts in place of the first."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from jury_events.ids import again_id, first_of
from jury_events.judgment import Decider
from jury_events.verdict import REVIEW
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

Again = Literal["no_evaluation"]
"""Which cases: those whose debate ended without an evaluation."""

_PAGE = 1000


class JudgedAgain(NamedTuple):
    """The debates of a run that others stand in for; see `Run.successors`.

    `replacing` are those that no successor is recorded of yet.
    """

    successors: dict[str, str]
    replacing: frozenset[str] = frozenset()


def judged_again(store: EventStore, run_id: str, again: Again | None = None) -> JudgedAgain:
    """What is recorded of a run, and what is to be judged again now.

    An erased case has no text to judge, and an imported debate is another store's: both stay as they are.

    Args:
        store: open for reading.
        run_id: the run.
        again: which cases to judge again; None: none.

    Raises:
        StoreError: the store cannot be read.
    """
    replaced = (
        row for row in _rows(store, DebateFilter(run_id, counted=False, waiting=None)) if row.aside == "replaced"
    )
    successors: dict[str, str] = {}
    for row in replaced:
        first, successor = first_of(row.debate_id), again_id(row.debate_id)
        successors[first] = max(successors.get(first, ""), successor, key=lambda one: (len(one), one))
    replacing = frozenset(_without_evaluation(store, run_id) if again else ())
    successors.update({first_of(one): again_id(one) for one in replacing})
    return JudgedAgain(successors, replacing)


def _without_evaluation(store: EventStore, run_id: str) -> Iterator[str]:
    unevaluated = DebateFilter(run_id, status="completed", verdict=REVIEW)
    for wanted in (unevaluated, DebateFilter(run_id, status="failed"), DebateFilter(run_id, status="cancelled")):
        for row in _rows(store, wanted):
            evaluated = row.status == "completed" and row.decided_by != Decider.NO_EVALUATION
            if not evaluated and row.imported is None and row.end_reason != "erased":
                yield row.debate_id


def _rows(store: EventStore, wanted: DebateFilter) -> Iterator[DebateRow]:
    after = None
    while rows := store.list_debates(wanted, OLDEST, limit=_PAGE, after=after):
        yield from rows
        after = PageCursor(rows[-1].position)
