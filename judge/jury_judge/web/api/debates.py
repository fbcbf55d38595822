"""Debates: listed, read, their events and model calls, replayed and rescored."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, StreamingResponse

from jury_events.codec import decode
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import PartRef
from jury_events.verdict import Verdict
from jury_judge.debates import DebateReading, read_debate
from jury_judge.grids import grid_of
from jury_judge.views.debate_record import text_in
from jury_judge.views.moments import moment
from jury_judge.views.result import collaborative_result
from jury_judge.web.api.forms import (
    MOST_ROWS,
    DebateLine,
    DebateResult,
    EventLine,
    ExchangeLine,
    ExchangeMessage,
    ExchangeWhole,
    ReplayResult,
    RescoringAsked,
    RescoringResult,
    Rows,
    Usage,
)
from jury_judge.web.api.problems import Refused, described
from jury_judge.web.api.serving import DebateName, Serving, must_exist, no_debate, row_table
from jury_judge.web.api.spelling import camel
from jury_judge.web.api.strict_body import StrictRoute
from jury_replay.replay import replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import Problem as RowProblem
from jury_replay.selection import Selection
from jury_store.debate_rows import DebateFilter, DebateStatus

router = APIRouter(prefix="/api/debates", tags=["debates"], route_class=StrictRoute)

_PIECE = 64 * 1024
_AT_MOST = 2**53 - 1
"""The largest number that every JSON reader keeps."""

Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
Position = Annotated[int | None, Query(ge=1, le=_AT_MOST)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Counts the debate's exchanges from 1.")]


@router.get("", operation_id="listDebates", responses=described(422, 503))
def listed(
    service: Serving,
    *,
    search: Annotated[
        str | None,
        Query(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", description="In debate and case ids."),
    ] = None,
    verdict: Verdict | None = None,
    status: DebateStatus | None = None,
    run: Annotated[str | None, Query(pattern=r"^[A-Za-z0-9._-]{1,100}$")] = None,
    simulated: bool | None = None,
    before: Position = None,
    limit: Limit = MOST_ROWS,
) -> Rows[DebateLine]:
    """Debates, the newest first, page by page."""
    wanted = DebateFilter(run, status, verdict, simulated, search)
    rows = service.store.latest(wanted, limit=limit, before=before)
    following = None
    if len(rows) == limit:
        asked = {"search": search, "verdict": verdict, "status": status, "run": run}
        asked |= {"simulated": None if simulated is None else str(simulated).lower()}
        asked |= {"before": str(rows[-1].position), "limit": str(limit)}
        following = "/api/debates?" + urlencode({name: value for name, value in asked.items() if value is not None})
    return Rows[DebateLine](rows=[DebateLine.model_validate(row_table(row)) for row in rows], next=following)


@router.get(
    "/{debate_id}",
    operation_id="readDebate",
    response_model=DebateResult,
    responses=described(404, 422, 500, 503),
)
def read(
    service: Serving,
    debate_id: DebateName,
    at: Annotated[int | None, Query(ge=1, le=_AT_MOST, description="As it stood after this event of it.")] = None,
) -> JSONResponse:
    """What a debate came to, or has come to so far."""
    reading = _reading(service, debate_id)
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


@router.get("/{debate_id}/exchanges", operation_id="listExchanges", responses=described(404, 422, 500, 503))
def exchanges(
    service: Serving,
    debate_id: DebateName,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only those beyond this number.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Rows[ExchangeLine]:
    """The model calls of a debate in the order in which they were recorded."""
    must_exist(service, debate_id)
    stored = service.store.read_stream(calls_stream(debate_id), after)
    recorded = [(one, _exchange(one)) for one in stored[:limit]]
    refs = [one.answer for _, one in recorded if one.answer is not None]
    sizes = {ref: len(content) for ref, content in _texts(service, debate_id, refs).items()}
    rows = [ExchangeLine.model_validate(_exchange_table(debate_id, one, each, sizes)) for one, each in recorded]
    more = f"/api/debates/{debate_id}/exchanges?{urlencode({'after': after + limit, 'limit': limit})}"
    return Rows[ExchangeLine](rows=rows, next=more if len(stored) > limit else None)


@router.get("/{debate_id}/exchanges/{number}", operation_id="readExchange", responses=described(404, 422, 500, 503))
def exchange(service: Serving, debate_id: DebateName, number: Number) -> ExchangeWhole:
    """One model call with everything that was sent."""
    stored = _stored_exchange(service, debate_id, number)
    recorded = _exchange(stored)
    answers = [] if recorded.answer is None else [recorded.answer]
    refs = [ref for message in recorded.request for ref in message.parts]
    texts = _texts(service, debate_id, [*answers, *refs])
    messages = [
        ExchangeMessage(role=one.role, text=_joined(one.parts, texts), call_id=one.call_id) for one in recorded.request
    ]
    sizes = {ref: len(content) for ref, content in texts.items()}
    return ExchangeWhole.model_validate({**_exchange_table(debate_id, stored, recorded, sizes), "request": messages})


@router.get(
    "/{debate_id}/exchanges/{number}/raw",
    operation_id="readRawAnswer",
    response_class=StreamingResponse,
    responses={
        **described(404, 422, 500, 503),
        200: {"description": "The bytes as they were received.", "content": {"text/plain": {}}},
    },
)
def raw(
    service: Serving,
    debate_id: DebateName,
    number: Number,
    part: Annotated[
        Literal["answer", "response", "error"],
        Query(description="The model's text; the provider's bytes where they are more; or what went wrong."),
    ] = "answer",
) -> StreamingResponse:
    """What a model answered, unparsed, as a file."""
    recorded = _exchange(_stored_exchange(service, debate_id, number))
    ref: PartRef | None = getattr(recorded, part)
    content = None if ref is None else _texts(service, debate_id, [ref]).get(ref.part)
    if content is None:
        raise Refused(404, f"exchange {number} of {debate_id} has no {part}, or it was erased", "look at the exchange")
    name = f"{debate_id}-{number}-{part}.txt"
    return StreamingResponse(
        _pieces(content),
        media_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(len(content))},
    )


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


def _reading(service: Serving, debate_id: str) -> DebateReading:
    must_exist(service, debate_id)
    reading = read_debate(service.store, debate_id)
    if not reading.events:
        raise no_debate(debate_id)
    return reading


def _event_line(stored: StoredEvent) -> EventLine:
    table = stored._asdict()
    body = json.loads(table.pop("body"))
    number = table.pop("schema")
    at = moment(table.pop("recorded_at"), "microseconds")
    return EventLine.model_validate(
        {**table, "schema_number": number, "recorded_at": at, "hash": stored.hash.hex(), "body": body}
    )


def _stored_exchange(service: Serving, debate_id: str, number: int) -> StoredEvent:
    must_exist(service, debate_id)
    stored = service.store.read_stream(calls_stream(debate_id), number - 1)
    if not stored:
        raise Refused(404, f"debate {debate_id} has no exchange {number}", "list its exchanges")
    return stored[0]


def _exchange(stored: StoredEvent) -> ExchangeRecorded:
    recorded = decode(stored)
    assert isinstance(recorded, ExchangeRecorded)
    return recorded


def _exchange_table(
    debate_id: str, stored: StoredEvent, recorded: ExchangeRecorded, sizes: dict[str, int]
) -> dict[str, Any]:
    size = None if recorded.answer is None else sizes.get(recorded.answer.part)
    same = ("step", "juror_id", "model", "model_version", "turn", "attempt", "finish_reason", "cost", "latency_ms")
    return {
        **{name: getattr(recorded, name) for name in (*same, "waited_ms", "simulated")},
        "number": stored.version,
        "exchange_id": stored.event_id,
        "outcome": recorded.outcome.value,
        "usage": Usage.model_validate(recorded.usage.model_dump()),
        "tool_calls": [call.name for call in recorded.tool_calls],
        "recorded_at": moment(stored.recorded_at, "microseconds"),
        "answer_bytes": size,
        "raw": None if size is None else f"/api/debates/{debate_id}/exchanges/{stored.version}/raw",
    }


def _texts(service: Serving, debate_id: str, refs: list[PartRef]) -> dict[str, bytes]:
    parts = service.store.parts(debate_id, {ref.digest for ref in refs}) if refs else {}
    return {ref.part: parts[ref.digest].content for ref in refs if ref.digest in parts}


def _joined(refs: tuple[PartRef, ...], texts: dict[str, bytes]) -> str | None:
    pieces = [text_in(texts, ref) for ref in refs]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
