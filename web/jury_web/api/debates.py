"""Endpoints that list, read, replay and rescore debates."""

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from jury_events.codec import decode
from jury_events.conditions import Condition, parse_conditions
from jury_events.envelope import StoredEvent
from jury_events.ids import RUN_ID, calls_stream, debate_stream
from jury_events.text.timestamps import moment
from jury_events.verdict import Verdict
from jury_judge.comparisons.excerpts import Excerpt, excerpts
from jury_judge.replays.grids import grid_of
from jury_judge.stores.debates import read_debate
from jury_replay.replay import replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import RescoreProblem as RowProblem
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import DebateFilter
from jury_store.debate_status import DebateStatus
from jury_store.list_order import SORT_COLUMNS, BadCursor, SortOrder
from jury_views.events_view import hash_text
from jury_views.result_lines import collaborative_result
from jury_views.review_objects import reasons_in
from jury_web.api.camel_case import camel_case
from jury_web.api.dependencies import AT_MOST, DebateId, Limit, ServiceDependency, require_debate, row_table
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas import (
    MOST_ROWS,
    DebateListing,
    DebateResult,
    DebateSummary,
    DebateTotals,
    Listing,
    LogEvent,
    ReplayResult,
    RescoreRequest,
    RescoreResult,
)
from jury_web.api.strict_body import StrictRoute
from jury_web.pages.list_query import MOST_CONDITION, MOST_CONDITIONS

router = APIRouter(prefix="/api/debates", tags=["debates"], route_class=StrictRoute)


@router.get("", operation_id="listDebates", responses=error_responses(422, 503))
def listed(
    service: ServiceDependency,
    *,
    search: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00-\x1f\x7f]+$",
            description="Words in jurors' texts, or part of a debate id or case id.",
        ),
    ] = None,
    verdict: Verdict | None = None,
    status: DebateStatus | None = None,
    run: Annotated[str | None, Query(pattern=f"^{RUN_ID}$")] = None,
    simulated: bool | None = None,
    where: Annotated[
        list[Annotated[str, Query(max_length=MOST_CONDITION)]],
        Query(max_length=MOST_CONDITIONS, description="Conditions on the cases (docs/filtering.md); all must hold."),
    ] = [],  # noqa: B006  (FastAPI copies it)
    label: Verdict | None = None,
    model: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Of a seat or the final judge.")
    ] = None,
    quorum: Literal["met", "lost"] | None = None,
    min_cost: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False, description="US dollars.")] = None,
    max_cost: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False, description="US dollars.")] = None,
    unfinished: bool = False,
    disposition: Annotated[
        Verdict | None, Query(description="The last human verdict where there is one, else the jury's.")
    ] = None,
    reviewed: Annotated[bool | None, Query(description="Whether a person gave a verdict.")] = None,
    sort: Annotated[
        Literal[tuple(SORT_COLUMNS)],  # type: ignore[valid-type]
        Query(description="Unknown values sort as the smallest."),
    ] = "opened",
    order: Literal["asc", "desc"] = "desc",
    totals: Annotated[bool, Query(description="Add up all matching debates; reads each of them.")] = False,
    after: Annotated[str | None, Query(max_length=2000, description="From `next` of the page before.")] = None,
    limit: Limit = MOST_ROWS,
) -> DebateListing:
    """Debates, newest first or in another order, in pages."""
    conditions = parse_conditions(where)
    label_condition = () if label is None else (Condition("label", "=", label),)
    wanted = DebateFilter(
        run,
        status,
        verdict,
        simulated,
        search,
        conditions + label_condition,
        model=model,
        quorum=None if quorum is None else quorum == "met",
        min_cost=min_cost,
        max_cost=max_cost,
        unfinished=unfinished,
        disposition=disposition,
        reviewed=reviewed,
    )
    sorting = SortOrder(sort, order == "desc")
    try:
        rows = service.store.list_debates(
            wanted, sorting, limit=limit, after=None if after is None else sorting.decode_cursor(after)
        )
    except BadCursor as error:
        raise RequestRefused(422, f"after: {error}", "start again without it") from None
    following = None
    if len(rows) == limit:
        query: dict[str, Any] = {"search": search, "verdict": verdict, "status": status, "run": run}
        query |= {"simulated": None if simulated is None else str(simulated).lower(), "where": conditions}
        query |= {"label": label, "model": model, "quorum": quorum, "min_cost": min_cost, "max_cost": max_cost}
        query |= {"unfinished": "true" if unfinished else None, "disposition": disposition}
        query |= {"reviewed": None if reviewed is None else str(reviewed).lower()}
        query |= {"sort": None if sort == "opened" else sort, "order": None if order == "desc" else order}
        query |= {"after": sorting.encode_cursor(sorting.cursor(asdict(rows[-1]))), "limit": limit}
        parameters = {name: value for name, value in query.items() if value is not None}
        following = "/api/debates?" + urlencode(parameters, doseq=True)
    found = excerpts(service.store, [row.debate_id for row in rows], search) if search else {}
    return DebateListing(
        rows=[
            DebateSummary.model_validate({**row_table(row), "excerpt": _excerpt(found, row.debate_id)}) for row in rows
        ],
        next=following,
        totals=DebateTotals.model_validate(asdict(service.store.totals(wanted))) if totals else None,
        unsearched=service.store.search_lag() if search else None,
    )


def _excerpt(found: dict[str, Excerpt], debate_id: str) -> dict[str, Any] | None:
    excerpt = found.get(debate_id)
    return None if excerpt is None else excerpt._asdict()


@router.get(
    "/{debate_id}",
    operation_id="readDebate",
    response_model=DebateResult,
    responses=error_responses(404, 422, 500, 503),
)
def read(
    service: ServiceDependency,
    debate_id: DebateId,
    at: Annotated[int | None, Query(ge=1, le=AT_MOST, description="The state after this event of the debate.")] = None,
) -> JSONResponse:
    """The result of a debate, as far as it has got."""
    require_debate(service, debate_id)
    reading = read_debate(service.store, debate_id)
    events = reading.events[:at]
    found = collaborative_result(events, reading.texts, reading.reviews, reasons_in(reading))
    return JSONResponse(camel_case({"version": len(events), **found}))


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
    name = debate_stream(debate_id) if stream == "debate" else calls_stream(debate_id)
    stored = service.store.read_stream(name, after)
    rows = [_event_line(one) for one in stored[:limit]]
    more = f"/api/debates/{debate_id}/events?{urlencode({'stream': stream, 'after': after + limit, 'limit': limit})}"
    return Listing[LogEvent](rows=rows, next=more if len(stored) > limit else None)


@router.post("/{debate_id}/replay", operation_id="replayDebate", responses=error_responses(404, 422, 500, 503))
def replayed(service: ServiceDependency, debate_id: DebateId) -> ReplayResult:
    """Replay a debate from its recorded answers, and compare. No model is called."""
    require_debate(service, debate_id)
    (found,) = replay_chunk(service.store, [debate_id])
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
    for found in rescore(service.store, DebateSelection((debate_id,)), grid, mode=request.mode):
        if isinstance(found, RowProblem):
            raise RequestRefused(
                500, f"debate {debate_id} cannot be rescored: {found.what}", f"jury verify {debate_id}"
            )
        rows += [camel_case(row._asdict()) for row in found]
    return RescoreResult(mode=request.mode, rows=rows)


def _event_line(stored: StoredEvent) -> LogEvent:
    decode(stored)  # raises for an undecodable body
    table = stored._asdict()
    body = json.loads(table.pop("body"))
    number = table.pop("schema")
    at = moment(table.pop("recorded_at"), "microseconds")
    return LogEvent.model_validate(
        {**table, "schema_number": number, "recorded_at": at, "hash": hash_text(stored.hash), "body": body}
    )
