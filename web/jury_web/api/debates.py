"""Endpoints that list, read, replay and rescore debates."""

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from jury_events.envelope import StoredEvent
from jury_events.text import moment
from jury_judge import BadCursor, RescoreProblem
from jury_judge.comparisons.comparison import Excerpt
from jury_judge.replays.grids import grid_of
from jury_views.debate_results import result_of
from jury_views.event_words import hash_text
from jury_views.reasons import reason_data
from jury_web.api.dependencies import AT_MOST, DebateId, Limit, ServiceDependency, require_debate, row_table
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.list_parameters import DebateParameters
from jury_web.api.schemas.base import MOST_ROWS, Listing, StrictRoute, camel_case
from jury_web.api.schemas.debates import DebateListing, DebateSummary, DebateTotals, LogEvent
from jury_web.api.schemas.results import ReplayResult, RescoreRequest, RescoreResult, ServedResult

router = APIRouter(prefix="/api/debates", tags=["debates"], route_class=StrictRoute)


@router.get("", operation_id="listDebates", responses=error_responses(422, 503))
def listed(service: ServiceDependency, asked: Annotated[DebateParameters, Query()]) -> DebateListing:
    """Debates, newest first or in another order, in pages."""
    chosen, order, reader = asked.chosen, asked.sorting, service.reader
    try:
        after = None if asked.after is None else order.decode_cursor(asked.after)
    except BadCursor as error:
        raise RequestRefused(422, f"after: {error}", "start again without it") from None
    rows = reader.debates(chosen, order, limit=asked.limit, after=after)
    following = None
    if len(rows) == asked.limit:
        following = asked.address("/api/debates", order.encode_cursor(order.cursor(asdict(rows[-1]))))
    found = reader.excerpts([row.debate_id for row in rows], asked.search) if asked.search else {}
    reasons = reader.reasons([row.debate_id for row in rows])
    tables = [
        {**row_table(row), **reason_data(reasons.get(row.debate_id)), "excerpt": _excerpt(found, row.debate_id)}
        for row in rows
    ]
    return DebateListing(
        rows=[DebateSummary.model_validate(table) for table in tables],
        next=following,
        totals=DebateTotals.model_validate(asdict(reader.totals(chosen))) if asked.totals else None,
        unsearched=reader.search_lag() if asked.search else None,
    )


def _excerpt(found: dict[str, Excerpt], debate_id: str) -> dict[str, Any] | None:
    excerpt = found.get(debate_id)
    return None if excerpt is None else excerpt._asdict()


@router.get(
    "/{debate_id}",
    operation_id="readDebate",
    response_model=ServedResult,
    responses=error_responses(404, 422, 500, 503),
)
def read(
    service: ServiceDependency,
    debate_id: DebateId,
    at: Annotated[int | None, Query(ge=1, le=AT_MOST, description="The state after this event of the debate.")] = None,
) -> JSONResponse:
    """The result of a debate, as far as it has got."""
    require_debate(service, debate_id)
    reading = service.reader.history(debate_id)
    return JSONResponse({"version": len(reading.events[:at]), **result_of(reading, at).data(served=True)})


@router.get("/{debate_id}/events", operation_id="listEvents", responses=error_responses(404, 422, 500, 503))
def events(
    service: ServiceDependency,
    debate_id: DebateId,
    stream: Annotated[
        Literal["debate", "calls"], Query(description="Events of the debate, or its model calls.")
    ] = "debate",
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only events after this version.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Listing[LogEvent]:
    """The events of a debate as stored in the log, in order."""
    require_debate(service, debate_id)
    history = service.reader.history(debate_id)
    stored = (history.stored_exchanges if stream == "calls" else history.stored_events)[after:]
    rows = [_event_line(one) for one in stored[:limit]]
    more = f"/api/debates/{debate_id}/events?{urlencode({'stream': stream, 'after': after + limit, 'limit': limit})}"
    return Listing[LogEvent](rows=rows, next=more if len(stored) > limit else None)


@router.post("/{debate_id}/replay", operation_id="replayDebate", responses=error_responses(404, 422, 500, 503))
def replayed(service: ServiceDependency, debate_id: DebateId) -> ReplayResult:
    """Replay a debate from its recorded answers, and compare. No model is called."""
    require_debate(service, debate_id)
    found = service.reader.replay(debate_id)
    differences = [{**one._asdict(), "changes": [each._asdict() for each in one.changes]} for one in found.differences]
    return ReplayResult.model_validate({**found._asdict(), "differences": camel_case(differences)})


@router.post(
    "/{debate_id}/rescore", operation_id="rescoreDebate", responses=error_responses(404, 413, 415, 422, 500, 503)
)
def rescored(service: ServiceDependency, debate_id: DebateId, request: RescoreRequest) -> RescoreResult:
    """The result of a debate under other settings. No model is called, and nothing is written."""
    grid = grid_of(request.settings)
    require_debate(service, debate_id)
    rows: list[dict[str, Any]] = []
    for found in service.reader.rescore(debate_id, grid, request.mode):
        if isinstance(found, RescoreProblem):
            raise RequestRefused(
                500, f"debate {debate_id} cannot be rescored: {found.what}", f"jury verify {debate_id}"
            )
        rows.append(camel_case(found._asdict()))
    return RescoreResult(mode=request.mode, rows=rows)


def _event_line(stored: StoredEvent) -> LogEvent:
    table = stored._asdict()
    body = json.loads(table.pop("body"))
    number = table.pop("schema")
    at = moment(table.pop("recorded_at"), "microseconds")
    return LogEvent.model_validate(
        {**table, "schema_number": number, "recorded_at": at, "hash": hash_text(stored.hash), "body": body}
    )
