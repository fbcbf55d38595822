"""Endpoints for model calls: the list, one with its whole request, and raw answers."""

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse

from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import PartRef
from jury_events.text.timestamps import moment
from jury_views.events_by_phase import text_in
from jury_web.api.dependencies import DebateId, Limit, ServiceDependency, require_debate
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas.base import MOST_ROWS, Listing
from jury_web.api.schemas.exchanges import ExchangeDetail, ExchangeImage, ExchangeMessage, ExchangeSummary, TokenUsage
from jury_web.chunks import chunks

router = APIRouter(prefix="/api/debates", tags=["debates"])

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Exchanges of a debate are numbered from 1.")]


@router.get("/{debate_id}/exchanges", operation_id="listExchanges", responses=error_responses(404, 422, 500, 503))
def exchanges(
    service: ServiceDependency,
    debate_id: DebateId,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only exchanges after this number.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Listing[ExchangeSummary]:
    """The model calls of a debate, in the order of recording."""
    require_debate(service, debate_id)
    history = service.reader.exchanges(debate_id, after)
    recorded = list(zip(history.stored_exchanges[:limit], history.exchanges[:limit], strict=True))
    refs = [one.answer for _, one in recorded if one.answer is not None]
    sizes = {ref: len(content) for ref, content in service.reader.texts(debate_id, refs).items()}
    rows = [ExchangeSummary.model_validate(_exchange_table(debate_id, one, each, sizes)) for one, each in recorded]
    more = f"/api/debates/{debate_id}/exchanges?{urlencode({'after': after + limit, 'limit': limit})}"
    return Listing[ExchangeSummary](rows=rows, next=more if len(history.exchanges) > limit else None)


@router.get(
    "/{debate_id}/exchanges/{number}", operation_id="readExchange", responses=error_responses(404, 422, 500, 503)
)
def exchange(service: ServiceDependency, debate_id: DebateId, number: Number) -> ExchangeDetail:
    """One model call with its whole request."""
    stored, recorded = _exchange(service, debate_id, number)
    answers = [] if recorded.answer is None else [recorded.answer]
    refs = [ref for message in recorded.request for ref in message.parts]
    refs += [image.content for message in recorded.request for image in message.images]
    texts = service.reader.texts(debate_id, [*answers, *refs])
    sizes = {ref: len(content) for ref, content in texts.items()}
    messages = [
        ExchangeMessage(
            role=one.role,
            text=_joined(one.parts, texts),
            images=[
                ExchangeImage(media_type=image.media_type, size=sizes.get(image.content.part)) for image in one.images
            ],
            call_id=one.call_id,
        )
        for one in recorded.request
    ]
    return ExchangeDetail.model_validate({**_exchange_table(debate_id, stored, recorded, sizes), "request": messages})


@router.get(
    "/{debate_id}/exchanges/{number}/raw",
    operation_id="readRawAnswer",
    response_class=StreamingResponse,
    responses={
        **error_responses(404, 422, 500, 503),
        200: {"description": "The bytes as received.", "content": {"text/plain": {}}},
    },
)
def raw(
    service: ServiceDependency,
    debate_id: DebateId,
    number: Number,
    part: Annotated[
        Literal["answer", "response", "error"],
        Query(description="The model's text; the provider's whole response where it was stored; or the error."),
    ] = "answer",
) -> StreamingResponse:
    """The unparsed answer of a model, as a file."""
    _, recorded = _exchange(service, debate_id, number)
    ref: PartRef | None = getattr(recorded, part)
    content = None if ref is None else service.reader.texts(debate_id, [ref]).get(ref.part)
    if content is None:
        raise RequestRefused(
            404,
            f"exchange {number} of {debate_id} has no {part}, or it was erased",
            f"GET /api/debates/{debate_id}/exchanges/{number} shows what it has",
        )
    name = f"{debate_id}-{number}-{part}.txt"
    return StreamingResponse(
        chunks(content),
        media_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(len(content))},
    )


def _exchange(service: ServiceDependency, debate_id: str, number: int) -> tuple[StoredEvent, ExchangeRecorded]:
    require_debate(service, debate_id)
    history = service.reader.exchanges(debate_id, number - 1)
    if not history.exchanges:
        raise RequestRefused(
            404, f"debate {debate_id} has no exchange {number}", f"GET /api/debates/{debate_id}/exchanges lists them"
        )
    return history.stored_exchanges[0], history.exchanges[0]


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
        "usage": TokenUsage.model_validate(recorded.usage.model_dump()),
        "tool_calls": [call.name for call in recorded.tool_calls],
        "recorded_at": moment(stored.recorded_at, "microseconds"),
        "answer_bytes": size,
        "raw": None if size is None else f"/api/debates/{debate_id}/exchanges/{stored.version}/raw",
    }


def _joined(refs: tuple[PartRef, ...], texts: dict[str, bytes]) -> str | None:
    pieces = [text_in(texts, ref) for ref in refs]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)
