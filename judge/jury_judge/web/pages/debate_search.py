"""The debates that a reader of the list asks for, newest first."""

from jury_judge.web.pages.list_page import PAGE
from jury_judge.web.pages.list_query import ListQuery
from jury_store.debate_rows import ENDED, DebateRow
from jury_store.event_store import EventStore


def debates_found(store: EventStore, query: ListQuery, limit: int = PAGE + 1) -> list[DebateRow]:
    """Up to `limit` of them."""
    rows = store.debates(run_id=query.run_id, limit=10**6)
    return [
        row
        for row in reversed(rows)
        if (query.before is None or row.position < query.before)
        and (query.verdict is None or row.final_verdict == query.verdict)
        and (query.simulated is None or row.simulated == query.simulated)
        and (query.status is None or (row.status not in ENDED if query.status == "unfinished" else row.status == query.status))
        and (query.text in row.debate_id or query.text in row.case_id)
    ][:limit]
