"""Endpoints for model calls: the list, one with its whole request, and raw answers."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import PartRef
from jury_events.text import moment
from jury_views.debate_fold import text_in
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas import CamelModel, DebateId, Limit, Listing, Moment, ServiceDependency, require_debate
from jury_web.list_parameters import MOST_ROWS
from jury_web.middleware import RootedPath
from jury_web.pages.page_request import content_response


class CacheWriteCount(CamelModel):
    """Tokens written to the provider's prompt cache."""

    lifetime: Literal["5m", "30m", "1h", "12h"]
    tokens: int


class TokenUsage(CamelModel):
    """Token counts of the provider, and the service tier, region and speed that it says it used.

    `cache_miss`: why nothing was read from its prompt cache. Tokens read from it, written to it and the
    others are all among the input tokens.
    """

    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None
    cache_writes: list[CacheWriteCount]
    reasoning_tokens: int | None
    service_tier: str | None
    region: str | None = None
    speed: str | None = None
    cache_miss: str | None = None


class ExchangeSummary(CamelModel):
    """One attempt of a model call. They are numbered from 1 in the debate; `raw` is the path of the answer."""

    number: int
    exchange_id: str
    step: str
    juror_id: str | None
    model: str
    model_version: str | None
    turn: int
    attempt: int
    outcome: str
    finish_reason: str | None
    stripped: Annotated[list[str], Field(description="What stood around the answer and was taken off, by name.")]
    usage: TokenUsage
    cost: float | None
    latency_ms: Annotated[float, Field(description="0 of a call in a batch.")]
    waited_ms: float
    tool_calls: list[str]
    simulated: bool
    recorded_at: Moment
    answer_bytes: Annotated[int | None, Field(description="null where there is none, or it was erased.")]
    raw: Annotated[RootedPath | None, Field(description="Path of the answer; null where there is none.")]


class ExchangeImage(CamelModel):
    """An image after the text of a message; `size` in bytes, null where it was erased."""

    media_type: str
    size: int | None


class ExchangeMessage(CamelModel):
    """One message as sent, or a tool result; `text` is null where it was erased."""

    role: str
    text: str | None
    images: list[ExchangeImage]
    call_id: str | None


class ExchangeDetail(ExchangeSummary):
    """An exchange with everything that was sent."""

    request: list[ExchangeMessage]


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
    history = service.reader.history(debate_id)
    shown = slice(after, after + limit)
    recorded = zip(history.stored_exchanges[shown], history.exchanges[shown], strict=True)
    rows = [ExchangeSummary.model_validate(_exchange_table(history, one, each)) for one, each in recorded]
    more = f"/api/debates/{debate_id}/exchanges?{urlencode({'after': after + limit, 'limit': limit})}"
    return Listing[ExchangeSummary](rows=rows, next=more if len(history.exchanges) > after + limit else None)


@router.get(
    "/{debate_id}/exchanges/{number}", operation_id="readExchange", responses=error_responses(404, 422, 500, 503)
)
def exchange(service: ServiceDependency, debate_id: DebateId, number: Number) -> ExchangeDetail:
    """One model call with its whole request."""
    history, stored, recorded = _exchange(service, debate_id, number)
    messages = [
        ExchangeMessage(
            role=one.role,
            text=_joined(one.parts, history.texts),
            images=[
                ExchangeImage(media_type=image.media_type, size=_size(history, image.content)) for image in one.images
            ],
            call_id=one.call_id,
        )
        for one in recorded.request
    ]
    return ExchangeDetail.model_validate({**_exchange_table(history, stored, recorded), "request": messages})


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
    history, _, recorded = _exchange(service, debate_id, number)
    ref: PartRef | None = getattr(recorded, part)
    content = None if ref is None else history.texts.get(ref.part)
    if content is None:
        raise RequestRefused(
            404,
            f"exchange {number} of {debate_id} has no {part}, or it was erased",
            f"GET /api/debates/{debate_id}/exchanges/{number} shows what it has",
        )
    return content_response(content, name=f"{debate_id}-{number}-{part}.txt")


def _exchange(
    service: ServiceDependency, debate_id: str, number: int
) -> tuple[DebateHistory, StoredEvent, ExchangeRecorded]:
    require_debate(service, debate_id)
    history = service.reader.history(debate_id)
    if len(history.exchanges) < number:
        raise RequestRefused(
            404, f"debate {debate_id} has no exchange {number}", f"GET /api/debates/{debate_id}/exchanges lists them"
        )
    return history, history.stored_exchanges[number - 1], history.exchanges[number - 1]


def _exchange_table(history: DebateHistory, stored: StoredEvent, recorded: ExchangeRecorded) -> dict[str, Any]:
    size = _size(history, recorded.answer)
    same = ("step", "juror_id", "model", "model_version", "turn", "attempt", "finish_reason", "cost", "latency_ms")
    return {
        **{name: getattr(recorded, name) for name in (*same, "waited_ms", "simulated")},
        "number": stored.version,
        "exchange_id": stored.event_id,
        "outcome": recorded.outcome.value,
        "stripped": list(recorded.stripped or ()),
        "usage": TokenUsage.model_validate(recorded.usage.model_dump()),
        "tool_calls": [call.name for call in recorded.tool_calls],
        "recorded_at": moment(stored.recorded_at, "microseconds"),
        "answer_bytes": size,
        "raw": None if size is None else f"/api/debates/{history.debate_id}/exchanges/{stored.version}/raw",
    }


def _size(history: DebateHistory, ref: PartRef | None) -> int | None:
    content = None if ref is None else history.texts.get(ref.part)
    return None if content is None else len(content)


def _joined(refs: tuple[PartRef, ...], texts: Mapping[str, bytes]) -> str | None:
    pieces = [text_in(texts, ref) for ref in refs]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)
