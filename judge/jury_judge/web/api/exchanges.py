"""The model calls of a debate: listed, read with everything that was sent, and the answers as they were received."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse

from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream
from jury_events.parts import PartRef
from jury_judge.views.debate_record import text_in
from jury_judge.views.moments import moment
from jury_judge.web.api.forms import (
    MOST_ROWS,
    ExchangeLine,
    ExchangeMessage,
    ExchangePicture,
    ExchangeWhole,
    Rows,
    Usage,
)
from jury_judge.web.api.problems import Refused, described
from jury_judge.web.api.serving import DebateName, Limit, Serving, must_exist
from jury_store.debate_history import DebateHistory

router = APIRouter(prefix="/api/debates", tags=["debates"])

_PIECE = 64 * 1024

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Counts the debate's exchanges from 1.")]


@router.get("/{debate_id}/exchanges", operation_id="listExchanges", responses=described(404, 422, 500, 503))
def exchanges(
    service: Serving,
    debate_id: DebateName,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only those beyond this number.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Rows[ExchangeLine]:
    """The model calls of a debate in the order in which they were recorded."""
    must_exist(service, debate_id)
    history = _exchanges(service, debate_id, after)
    recorded = list(zip(history.stored_exchanges[:limit], history.exchanges[:limit], strict=True))
    refs = [one.answer for _, one in recorded if one.answer is not None]
    sizes = {ref: len(content) for ref, content in _texts(service, debate_id, refs).items()}
    rows = [ExchangeLine.model_validate(_exchange_table(debate_id, one, each, sizes)) for one, each in recorded]
    more = f"/api/debates/{debate_id}/exchanges?{urlencode({'after': after + limit, 'limit': limit})}"
    return Rows[ExchangeLine](rows=rows, next=more if len(history.exchanges) > limit else None)


@router.get("/{debate_id}/exchanges/{number}", operation_id="readExchange", responses=described(404, 422, 500, 503))
def exchange(service: Serving, debate_id: DebateName, number: Number) -> ExchangeWhole:
    """One model call with everything that was sent."""
    stored, recorded = _exchange(service, debate_id, number)
    answers = [] if recorded.answer is None else [recorded.answer]
    refs = [ref for message in recorded.request for ref in message.parts]
    refs += [image.content for message in recorded.request for image in message.images]
    texts = _texts(service, debate_id, [*answers, *refs])
    sizes = {ref: len(content) for ref, content in texts.items()}
    messages = [
        ExchangeMessage(
            role=one.role,
            text=_joined(one.parts, texts),
            images=[
                ExchangePicture(media_type=image.media_type, size=sizes.get(image.content.part)) for image in one.images
            ],
            call_id=one.call_id,
        )
        for one in recorded.request
    ]
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
    _, recorded = _exchange(service, debate_id, number)
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


def _exchange(service: Serving, debate_id: str, number: int) -> tuple[StoredEvent, ExchangeRecorded]:
    must_exist(service, debate_id)
    history = _exchanges(service, debate_id, number - 1)
    if not history.exchanges:
        raise Refused(404, f"debate {debate_id} has no exchange {number}", "list its exchanges")
    return history.stored_exchanges[0], history.exchanges[0]


def _exchanges(service: Serving, debate_id: str, after: int) -> DebateHistory:
    return DebateHistory.of_events(debate_id, service.store.read_stream(calls_stream(debate_id), after))


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
