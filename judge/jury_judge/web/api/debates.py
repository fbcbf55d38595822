"""Debates: listed, read, their events, replayed and rescored."""

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
from jury_events.verdict import Verdict
from jury_judge.debates import read_debate
from jury_judge.excerpts import Excerpt, excerpts
from jury_judge.grids import grid_of
from jury_judge.views.events_view import hash_text
from jury_judge.views.moments import moment
from jury_judge.views.result import collaborative_result
from jury_judge.web.api.forms import (
    MOST_ROWS,
    DebateLine,
    DebateResult,
    DebateRows,
    EventLine,
    ListTotals,
    ReplayResult,
    RescoringAsked,
    RescoringResult,
    Rows,
)
from jury_judge.web.api.problems import Refused, described
from jury_judge.web.api.serving import AT_MOST, DebateName, Limit, Serving, must_exist, row_table
from jury_judge.web.api.spelling import camel
from jury_judge.web.api.strict_body import StrictRoute
from jury_judge.web.pages.list_query import MOST_CONDITION, MOST_CONDITIONS
from jury_replay.replay import replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import Problem as RowProblem
from jury_replay.selection import Selection
from jury_store.debate_rows import DebateFilter
from jury_store.debate_status import DebateStatus
from jury_store.list_order import SORT_COLUMNS, BadCursor, SortOrder

router = APIRouter(prefix="/api/debates", tags=["debates"], route_class=StrictRoute)


@router.get("", operation_id="listDebates", responses=described(422, 503))
def listed(
    service: Serving,
    *,
    search: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00-\x1f\x7f]+$",
            description="Words that a juror wrote, or a piece of a debate's or case's id.",
        ),
    ] = None,
    verdict: Verdict | None = None,
    status: DebateStatus | None = None,
    run: Annotated[str | None, Query(pattern=f"^{RUN_ID}$")] = None,
    simulated: bool | None = None,
    where: Annotated[
        list[Annotated[str, Query(max_length=MOST_CONDITION)]],
        Query(
            max_length=MOST_CONDITIONS, description="Conditions on the cases (docs/filtering.md), all of which hold."
        ),
    ] = [],  # noqa: B006  (FastAPI copies it)
    label: Verdict | None = None,
    model: Annotated[str | None, Query(min_length=1, max_length=200, description="That sits, or judges.")] = None,
    quorum: Literal["met", "lost"] | None = None,
    min_cost: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False, description="US dollars.")] = None,
    max_cost: Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False, description="US dollars.")] = None,
    unfinished: bool = False,
    sort: Annotated[
        Literal[tuple(SORT_COLUMNS)],  # type: ignore[valid-type]
        Query(description="What is not known is less than anything that is."),
    ] = "opened",
    order: Literal["asc", "desc"] = "desc",
    totals: Annotated[bool, Query(description="Add up all debates that fit; looks at each.")] = False,
    after: Annotated[str | None, Query(max_length=2000, description="As `next` has it: where a page ended.")] = None,
    limit: Limit = MOST_ROWS,
) -> DebateRows:
    """Debates, the newest first or in another order, page by page."""
    conditions = parse_conditions(where)
    labelled = () if label is None else (Condition("label", "=", label),)
    wanted = DebateFilter(
        run,
        status,
        verdict,
        simulated,
        search,
        conditions + labelled,
        model=model,
        quorum=None if quorum is None else quorum == "met",
        min_cost=min_cost,
        max_cost=max_cost,
        unfinished=unfinished,
    )
    sorting = SortOrder(sort, order == "desc")
    try:
        rows = service.store.list_debates(
            wanted, sorting, limit=limit, after=None if after is None else sorting.decode_cursor(after)
        )
    except BadCursor as error:
        raise Refused(422, f"after: {error}", "begin again without it") from None
    following = None
    if len(rows) == limit:
        asked: dict[str, Any] = {"search": search, "verdict": verdict, "status": status, "run": run}
        asked |= {"simulated": None if simulated is None else str(simulated).lower(), "where": conditions}
        asked |= {"label": label, "model": model, "quorum": quorum, "min_cost": min_cost, "max_cost": max_cost}
        asked |= {"unfinished": "true" if unfinished else None}
        asked |= {"sort": None if sort == "opened" else sort, "order": None if order == "desc" else order}
        asked |= {"after": sorting.encode_cursor(sorting.cursor(asdict(rows[-1]))), "limit": limit}
        given = {name: value for name, value in asked.items() if value is not None}
        following = "/api/debates?" + urlencode(given, doseq=True)
    said = excerpts(service.store, [row.debate_id for row in rows], search) if search else {}
    return DebateRows(
        rows=[DebateLine.model_validate({**row_table(row), "excerpt": _excerpt(said, row.debate_id)}) for row in rows],
        next=following,
        totals=ListTotals.model_validate(asdict(service.store.totals(wanted))) if totals else None,
        unsearched=service.store.search_lag() if search else None,
    )


def _excerpt(said: dict[str, Excerpt], debate_id: str) -> dict[str, Any] | None:
    found = said.get(debate_id)
    return None if found is None else found._asdict()


@router.get(
    "/{debate_id}",
    operation_id="readDebate",
    response_model=DebateResult,
    responses=described(404, 422, 500, 503),
)
def read(
    service: Serving,
    debate_id: DebateName,
    at: Annotated[int | None, Query(ge=1, le=AT_MOST, description="As it stood after this event of it.")] = None,
) -> JSONResponse:
    """What a debate came to, or has come to so far."""
    must_exist(service, debate_id)
    reading = read_debate(service.store, debate_id)
    events = reading.events[:at]
    found = collaborative_result(events, reading.texts)
    return JSONResponse(camel({"version": len(events), **found}))


@router.get("/{debate_id}/events", operation_id="listEvents", responses=described(404, 422, 500, 503))
def events(
    service: Serving,
    debate_id: DebateName,
    stream: Annotated[
        Literal["debate", "calls"], Query(description="What the jury did, or what the models said.")
    ] = "debate",
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only those beyond this version.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Rows[EventLine]:
    """The events of a debate as the log keeps them, in order."""
    must_exist(service, debate_id)
    name = debate_stream(debate_id) if stream == "debate" else calls_stream(debate_id)
    stored = service.store.read_stream(name, after)
    rows = [_event_line(one) for one in stored[:limit]]
    more = f"/api/debates/{debate_id}/events?{urlencode({'stream': stream, 'after': after + limit, 'limit': limit})}"
    return Rows[EventLine](rows=rows, next=more if len(stored) > limit else None)


@router.post("/{debate_id}/replay", operation_id="replayDebate", responses=described(404, 422, 500, 503))
def replayed(service: Serving, debate_id: DebateName) -> ReplayResult:
    """Hold a debate again from its recorded answers, and compare. No model is asked."""
    must_exist(service, debate_id)
    (found,) = replay_chunk(service.store, [debate_id])
    differences = [{**one._asdict(), "changes": [each._asdict() for each in one.changes]} for one in found.differences]
    return ReplayResult.model_validate({**found._asdict(), "differences": camel(differences)})


@router.post("/{debate_id}/rescore", operation_id="rescoreDebate", responses=described(404, 413, 415, 422, 500, 503))
def rescored(service: Serving, debate_id: DebateName, asked: RescoringAsked) -> RescoringResult:
    """Tell what a debate comes to under other settings. No model is asked, and nothing is written."""
    grid = grid_of(asked.settings)
    must_exist(service, debate_id)
    rows: list[dict[str, Any]] = []
    for found in rescore(service.store, Selection((debate_id,)), grid, mode=asked.mode):
        if isinstance(found, RowProblem):
            raise Refused(500, f"debate {debate_id} cannot be used: {found.what}", f"jury verify {debate_id}")
        rows += [camel(row._asdict()) for row in found]
    return RescoringResult(mode=asked.mode, rows=rows)


def _event_line(stored: StoredEvent) -> EventLine:
    decode(stored)  # what is no event is named, rather than sent half
    table = stored._asdict()
    body = json.loads(table.pop("body"))
    number = table.pop("schema")
    at = moment(table.pop("recorded_at"), "microseconds")
    return EventLine.model_validate(
        {**table, "schema_number": number, "recorded_at": at, "hash": hash_text(stored.hash), "body": body}
    )
