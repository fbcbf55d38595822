"""One page of the list of debates."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_judge import DebateRow, IntegrityState, PageCursor
from jury_judge.comparisons.comparison import Excerpt
from jury_judge.serving.store_reader import StoreReader, recorded_row
from jury_views.debate_fold import answered_in_stream, change_counts, position_changes
from jury_views.reasons import VerdictReason
from jury_web.pages.list_query import REASON, ListQuery

PAGE = 50
"""Debates on one page."""

_AT_ONCE = 5


class AgreementCell(NamedTuple):
    """Beside the votes: positions that jurors changed themselves, `synthetic` (blocked answers) and `stale` votes."""

    changes: int
    synthetic: int
    stale: int


class ListRow(NamedTuple):
    """A debate of the list, with `agreement` once there are votes, and `integrity` where it was checked.

    `excerpt` is the match of a search, None where it matched an id. `why`: the reason of the verdict; None where there
    is no verdict, the column is not wanted, or the record was altered.
    """

    debate: DebateRow
    agreement: AgreementCell | None
    integrity: IntegrityState | None
    excerpt: Excerpt | None
    why: VerdictReason | None


class ListPage(NamedTuple):
    """One page; `after` is where the next page begins, None on the last page."""

    rows: tuple[ListRow, ...]
    after: PageCursor | None
    checked: bool


def list_page(reader: StoreReader, found: Sequence[DebateRow], query: ListQuery) -> ListPage:
    """The page of `found`, which has one debate more than a page where a next page exists.

    Args:
        reader: reads the store.
        found: in the order of the query.
        query: the parameters; checking records takes about a millisecond each.
    """
    shown = found[:PAGE]
    after = query.order.cursor(asdict(shown[-1])) if len(found) > len(shown) else None
    ids = [row.debate_id for row in shown]
    histories = reader.events_of(ids if "agreement" in query.columns else [])
    streams = {history.debate_id: history.stored_events for history in histories}
    matches = reader.excerpts(ids, query.text) if query.text else {}
    reasons = reader.reasons(ids if REASON in query.columns else [])
    states: dict[str, IntegrityState] = {}
    # A few at a time: their texts are in memory, and may be long.
    for start in range(0, len(ids) if query.check else 0, _AT_ONCE):
        records = reader.histories(ids[start : start + _AT_ONCE])
        states |= zip(ids[start:], reader.integrity(records), strict=False)
        checked = {record.debate_id: record for record in records}
        # The row of a checked debate is made of its events, so that it shows what was checked.
        shown = [recorded_row(row, checked[row.debate_id]) if row.debate_id in checked else row for row in shown]
    rows = (
        ListRow(
            row,
            agreement(streams.get(row.debate_id, ())),
            states.get(row.debate_id),
            matches.get(row.debate_id),
            reasons.get(row.debate_id) if (state := states.get(row.debate_id)) is None or state.intact else None,
        )
        for row in shown
    )
    return ListPage(tuple(rows), after, checked=query.check)


def agreement(stream: Sequence[StoredEvent]) -> AgreementCell | None:
    """The agreement of the votes of a debate; None without votes, and where its record cannot be decoded."""
    try:
        votes = next(
            (json.loads(one.body)["judgment"]["votes"] for one in stream if one.type == "judgment_rendered"), None
        )
        if not votes:
            return None
        kinds = Counter(vote["kind"] for vote in votes)
        changes = change_counts(position_changes(answered_in_stream(stream)))
        return AgreementCell(changes.own, kinds["synthetic"], kinds["stale"])
    except (EventError, ValueError, KeyError, TypeError, RecursionError):
        return None
