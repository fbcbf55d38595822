"""The spans of a recorded debate: the debate, its phases, and their calls of models. Pure, and without any text.

Times and ids follow from the log alone, so that every export of a debate has the same spans. Attributes are those
of the GenAI semantic conventions of OpenTelemetry (1.41: `invoke_workflow`, `chat`), and `jury.…` for what is ours.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import (
    DebateCompleted,
    DebateOpened,
)
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
from jury_views.debate_fold import Ending, Phase, PhaseEvents, folded

Attribute = str | int | float | bool | Sequence[str]


_PROVIDERS = {"google": "gcp.gemini", "openai-responses": "openai", "mistral": "mistral_ai", "xai": "x_ai"}
"""Our names of providers whose names in the conventions differ."""


class SpanFact(NamedTuple):
    """One span.

    Attributes:
        key: unique in the debate: "" for the debate, a phase, or the id of an exchange.
        parent: the key of its parent; None for the debate.
        name: of few values over all debates.
        kind: client for a call of a model.
        start, end: nanoseconds since 1970 UTC.
        attributes: those that are None are left out.
        error: the type of the error with which it ended; None: it succeeded.
    """

    key: str
    parent: str | None
    name: str
    kind: Literal["internal", "client"]
    start: int
    end: int
    attributes: dict[str, Attribute | None]
    error: str | None = None


class SpanTree(NamedTuple):
    """The spans of a debate, parents before their children, and the 16 bytes that name the trace."""

    trace_id: bytes
    spans: tuple[SpanFact, ...]

    def span_id(self, key: str) -> bytes:
        """The 8 bytes that name a span."""
        return hashlib.sha256(b"jury-judge span 1\0" + self.trace_id + key.encode()).digest()[:8]


def span_tree(debate: Sequence[StoredEvent], calls: Iterable[StoredEvent]) -> SpanTree | None:
    """The spans of a debate that is over, from its beginning; None for one that is not, or that never began.

    Args:
        debate: the events of its stream `debate/`.
        calls: those of `calls/`.

    Raises:
        EventError: an event does not decode.
    """
    events = [_as_debate_event(stored) for stored in debate]
    if not events or not isinstance(events[0], DebateOpened):
        return None
    fold = folded(events)
    at = {stored.event_id: stored.recorded_at * 1000 for stored in debate}
    over, opened = fold.ending, fold.opened
    if not fold.phases or over is None:
        return None
    ids: dict[str, Attribute | None] = {"jury.run.id": opened.run_id, "jury.debate.id": opened.debate_id}
    root = SpanFact(
        "",
        None,
        f"invoke_workflow {opened.panel.name}",
        "internal",
        at[fold.phases[0].begun],
        at[over.event_id],
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": opened.panel.name,
            "gen_ai.conversation.id": opened.debate_id,
            **ids,
            **_ending(over),
        },
        None if isinstance(over, DebateCompleted) else over.type,
    )
    reused = set() if fold.forked is None else set(fold.forked.steps)
    asked = [_call(stored, ids) for stored in calls]
    spans = [
        root,
        *_phases(fold.phases, at, at[over.event_id], ids),
        *(one for one in asked if one.attributes["jury.step.id"] not in reused),
    ]
    named = f"{opened.debate_id}\0{at[opened.event_id]}"
    return SpanTree(hashlib.sha256(b"jury-judge trace 1\0" + named.encode()).digest()[:16], tuple(spans))


def _as_debate_event(stored: StoredEvent) -> DebateEvent:
    event = decode(stored)
    assert not isinstance(event, ExchangeRecorded)
    return event


def _ending(event: Ending) -> dict[str, Attribute | None]:
    if not isinstance(event, DebateCompleted):
        return {"jury.status": event.type.removeprefix("debate_")}
    return {
        "jury.status": "completed",
        "jury.verdict": event.outcome.verdict,
        "jury.score": event.outcome.score,
        "jury.rounds": event.total_rounds,
        "jury.end_reason": event.end_reason,
    }


def _phases(
    phases: Iterable[PhaseEvents], at: Mapping[str, int], end: int, ids: dict[str, Attribute | None]
) -> Iterable[SpanFact]:
    """Each from the event that begins it to the one that ends it, or to the end of the debate."""
    for one in phases:
        until = end if one.ended is None else at[one.ended]
        yield SpanFact(one.phase, "", one.phase, "internal", at[one.begun], until, {**ids, "jury.phase": one.phase})


def _call(stored: StoredEvent, ids: dict[str, Attribute | None]) -> SpanFact:
    exchange = decode(stored)
    assert isinstance(exchange, ExchangeRecorded)
    provider, _, model = exchange.model.partition("/")
    end = stored.recorded_at * 1000
    step = Step.parse(exchange.step)
    phase: Phase = "judgment" if step.round is None else "discussion" if step.round else "evaluation"
    usage, settings = exchange.usage, exchange.settings
    failed = None if exchange.outcome is CallOutcome.ANSWERED else exchange.outcome.value
    return SpanFact(
        exchange.event_id,
        phase,
        f"chat {model}",
        "client",
        end - round(exchange.latency_ms * 1_000_000),
        end,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model,
            "gen_ai.request.temperature": settings.temperature,
            "gen_ai.request.seed": settings.seed,
            "gen_ai.request.max_tokens": settings.max_output_tokens,
            "gen_ai.request.top_p": settings.top_p,
            "gen_ai.request.reasoning.level": settings.effort,
            "jury.tier": usage.service_tier or settings.tier,
            "gen_ai.response.model": exchange.model_version,
            "gen_ai.response.id": exchange.request_id,
            "gen_ai.response.finish_reasons": None if exchange.finish_reason is None else (exchange.finish_reason,),
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens or None,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
            "gen_ai.conversation.id": ids["jury.debate.id"],
            "error.type": failed,
            **ids,
            "jury.step.id": exchange.step,
            "jury.juror.id": exchange.juror_id,
            "jury.window": exchange.window,
            "jury.turn": exchange.turn,
            "jury.attempt": exchange.attempt,
            "jury.waited_ms": exchange.waited_ms,
            "jury.cost_dollars": exchange.cost,
            "jury.simulated": exchange.simulated,
        },
        failed,
    )
