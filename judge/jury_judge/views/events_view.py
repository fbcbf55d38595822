"""The events of a debate, one line each: where it can be branched, and what happened when."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateForked,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    RoundStarted,
    StatementMade,
    TextsErased,
)
from jury_events.envelope import StoredEvent
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_judge.views.counted import counted
from jury_judge.views.moments import moment
from jury_judge.views.page import Page


class EventLine(NamedTuple):
    """One event. `stream` is `debate` or `calls`, `recorded_at` in ISO 8601, `said` what it says in a few words."""

    stream: str
    version: int
    position: int
    recorded_at: str
    event_id: str
    type: str
    said: str


def hash_text(value: object) -> str:
    """A stored hash in hexadecimal; what is none, because somebody put it there, as Python writes it."""
    return value.hex() if isinstance(value, bytes) else ascii(value)[:80]


def event_lines(stored: Iterable[StoredEvent]) -> list[EventLine]:
    """The events of both streams of a debate in the order in which they were recorded.

    Raises:
        EventError: a stored body does not decode.
    """
    return [_line(one) for one in sorted(stored, key=lambda one: one.position)]


def events_page(lines: Iterable[EventLine]) -> Page:
    """A table of them; the number of an event is the one in its stream."""
    page = Page()
    rows = [(f"{one.stream}/ {one.version}", one.recorded_at, one.event_id, one.said) for one in lines]
    page.table([("event", "recorded at", "id", ""), *rows])
    return page


def _line(stored: StoredEvent) -> EventLine:
    event = decode(stored)
    return EventLine(
        stream=stored.stream.partition("/")[0],
        version=stored.version,
        position=stored.position,
        recorded_at=moment(stored.recorded_at, "milliseconds"),
        event_id=stored.event_id,
        type=stored.type,
        said=_call(event) if isinstance(event, ExchangeRecorded) else _said(event),
    )


def _call(call: ExchangeRecorded) -> str:
    words: list[Any] = [call.outcome.value]
    words += [f"called {', '.join(tool.name for tool in call.tool_calls)}"] if call.tool_calls else []
    words += [f"{call.usage.output_tokens} tokens"] if call.usage.output_tokens is not None else []
    words += [f"${call.cost:.4f}"] if call.cost else []
    return ", ".join((*words, f"{call.latency_ms / 1000:.1f} s", *(("simulated",) if call.simulated else ())))


def _said(event: DebateEvent) -> str:
    match event:
        case JurorEvaluated():
            return _view(event.evaluation)
        case StatementMade():
            changed = ", position changed" if event.statement.position_changed else ""
            return _view(event.statement.evaluation) + changed
        case JurorAbstained():
            refusal = f", {event.refusal}" if event.refusal else ""
            return f"abstained: {event.reason}{refusal}" + ("; its earlier evaluation stands" if event.stale else "")
        case ConsensusChecked():
            check = event.check
            position = f" {check.majority_position}" if check.majority_position else ""
            after = "a round follows" if event.end_reason is None else f"discussion over: {event.end_reason}"
            return f"{check.status}{position} {check.largest}/{check.seats}; {after}"
        case RoundStarted():
            return f"speakers: {', '.join(event.speaker_order)}"
        case JudgmentRendered():
            return f"{event.judgment.verdict} {event.judgment.score}/100 by {event.judgment.decided_by}"
        case DebateCompleted():
            rounds = counted(event.total_rounds, "round")
            return f"{event.final_verdict} {event.final_score}/100 after {rounds}: {event.end_reason}"
        case _:
            return _kept(event)


def _kept(event: DebateEvent) -> str:
    """What is no step of a discussion."""
    match event:
        case DebateOpened():
            return f"panel {event.panel.name}, {len(event.panel.seats)} seats, rules {event.rules}"
        case DebateForked():
            return f"branches off {event.origin} after event {event.version}; steps reused: {len(event.steps)}"
        case CoordinatorResumed():
            return f"asked again: {', '.join(event.asked_again) or 'nothing'}"
        case TextsErased():
            return f"{counted(len(event.parts), 'text')} of {event.scope}, by {event.by}: {event.reason}"
        case DebateFailed():
            return event.reason
        case DebateCancelled():
            return f"by {event.by}"
        case _:
            return ""


def _view(evaluation: Evaluation) -> str:
    return f"{evaluation.verdict} {evaluation.overall:g}/100" + (", blocked: neutral" if evaluation.synthetic else "")
