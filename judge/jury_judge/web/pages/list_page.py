"""The list of debates: searched, filtered and sorted, a page at a time."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.ids import debate_stream
from jury_judge.app.excerpts import Excerpt, excerpts
from jury_judge.present.answered_by import answered_in_stream
from jury_judge.present.position_changes import change_counts, position_changes
from jury_judge.web.pages.integrity_state import IntegrityState, integrity_states
from jury_judge.web.pages.list_query import ListQuery
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_store.inventory import DebateRecord
from jury_store.list_order import Place
from jury_store.projection import row_of

PAGE = 50
"""Debates on one page."""

_AT_ONCE = 5


class Agreement(NamedTuple):
    """`largest` of `seats` votes are for one position, of which some may be `synthetic` (blocked answers) or `stale`.

    `changes` counts the positions that jurors changed on the way, a provider's filter aside.
    """

    largest: int
    seats: int
    changes: int
    synthetic: int
    stale: int


class ListRow(NamedTuple):
    """A debate of the list; `agreement` is there once votes are, `integrity` where it was asked for.

    `excerpt` is what a search found, where it did not find the debate by its id.
    """

    debate: DebateRow
    agreement: Agreement | None
    integrity: IntegrityState | None
    excerpt: Excerpt | None


class ListPage(NamedTuple):
    """One page; `after` is the place after which the next one begins, None on the last."""

    rows: tuple[ListRow, ...]
    after: Place | None
    checked: bool


def list_page(store: EventStore, found: Sequence[DebateRow], query: ListQuery) -> ListPage:
    """The page of the debates `found`, of which there is one more than a page where another follows.

    Args:
        store: where they are.
        found: in the order asked for.
        query: what was asked; to check their records takes about a millisecond each.
    """
    shown = found[:PAGE]
    after = query.order.place(asdict(shown[-1])) if len(found) > len(shown) else None
    ids = [row.debate_id for row in shown]
    streams = store.read_streams([debate_stream(one) for one in ids]) if ids and "agreement" in query.columns else {}
    said = excerpts(store, ids, query.text) if query.text else {}
    states: dict[str, IntegrityState] = {}
    # A few at a time: their texts are held in memory, and may be long.
    for start in range(0, len(ids) if query.check else 0, _AT_ONCE):
        records = store.records(ids[start : start + _AT_ONCE])
        states |= zip(ids[start:], integrity_states(store, records), strict=False)
        shown = [_as_recorded(row, records) for row in shown]
    rows = (
        ListRow(
            row,
            agreement(streams.get(debate_stream(row.debate_id), [])),
            states.get(row.debate_id),
            said.get(row.debate_id),
        )
        for row in shown
    )
    return ListPage(tuple(rows), after, checked=query.check)


def _as_recorded(row: DebateRow, records: Sequence[DebateRecord]) -> DebateRow:
    """The line of a debate that was checked, as its events make it: beside "intact" stands what was checked."""
    events = [
        event
        for record in records
        if record.debate_id == row.debate_id
        for stream in record.events.values()
        for event in stream
    ]
    made = row_of(events)
    return row if made is None else DebateRow(**made)


def agreement(stream: Sequence[StoredEvent]) -> Agreement | None:
    """How far the votes of a debate agree; None before there are any, and where its record cannot be read."""
    try:
        votes = next(
            (json.loads(one.body)["judgment"]["votes"] for one in stream if one.type == "judgment_rendered"), None
        )
        if not votes:
            return None
        held = Counter(vote["position"] for vote in votes if vote["position"] is not None)
        kinds = Counter(vote["kind"] for vote in votes)
        changes = change_counts(position_changes(answered_in_stream(stream)))
        return Agreement(max(held.values(), default=0), len(votes), changes.own, kinds["synthetic"], kinds["stale"])
    except (EventError, ValueError, KeyError, TypeError):
        return None
