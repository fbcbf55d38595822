"""Parameters and checks that endpoints share."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from starlette.requests import HTTPConnection

from jury_events.ids import DEBATE_ID, RUN_ID
from jury_events.text import moment
from jury_judge import DebateRow, RunRow
from jury_judge.serving.service import Service
from jury_views.review_objects import assignment_object, review_objects
from jury_views.run_quotations import evidence_object
from jury_web.api.error_responses import RequestRefused
from jury_web.list_parameters import MOST_ROWS


def _service(connection: HTTPConnection) -> Service:
    service = connection.app.state.service
    assert isinstance(service, Service)
    return service


Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
ServiceDependency = Annotated[Service, Depends(_service)]
DebateId = Annotated[str, Path(pattern=f"^{DEBATE_ID}$", description="A debate's id.")]
RunId = Annotated[str, Path(pattern=f"^{RUN_ID}$", description="A run's id.")]


def debate_not_found(debate_id: str) -> RequestRefused:
    return RequestRefused(404, f"there is no debate {debate_id!r} in this store", "GET /api/debates lists the debates")


def require_debate(service: Service, debate_id: str) -> None:
    """Check that a debate exists."""
    if not service.reader.has_debate(debate_id):
        raise debate_not_found(debate_id)


def row_table(row: DebateRow | RunRow) -> dict[str, Any]:
    """A row as a table for its schema: times in ISO 8601, no digests."""
    table = asdict(row)
    for bookkeeping in ("inherited_steps", "cached_calls", "evidence_values", "calls_at_most", "cost_at_most"):
        table.pop(bookkeeping, None)
    for name, value in list(table.items()):
        if isinstance(value, bytes):
            del table[name]
        elif name.endswith("_at") and value is not None:
            table[name] = moment(value, "microseconds")
    if isinstance(row, DebateRow):
        del table["waiting"]  # the status says it
        table["evidence"] = evidence_object(row.evidence)
        table["disposition"] = row.disposition
        table["reviews"] = review_objects(row.review_facts)
        table["assignments"] = [assignment_object(one) for one in row.assignments]
    return table
