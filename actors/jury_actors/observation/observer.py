"""What the actors report to an observer, and the observers that log and count."""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from jury_actors.observation import tallies as metrics
from jury_actors.observation.json_lines import log_event
from jury_actors.observation.tallies import Metric, ReadGauge, Tallies
from jury_debate.conversation import Call
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    CoordinatorResumed,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    JurorAbstained,
    RoundStarted,
)
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import CallOutcome


class Subject(NamedTuple):
    """What a report is about; `run_id` is None for a debate of no run."""

    debate_id: str
    run_id: str | None


class Observer:
    """Every method returns at once, and raises nothing."""

    def debate_recorded(self, subject: Subject, events: Sequence[DebateEvent]) -> None:
        """New events of a debate are durable."""

    def debate_stopped(self, subject: Subject, problem: BaseException) -> None:
        """A debate stopped unfinished."""

    def call_began(self, model: str) -> None:
        """A provider is called now; the end is reported too, whatever it is."""

    def call_ended(self, model: str) -> None:
        """See `call_began`."""

    def call_recorded(self, subject: Subject, exchange: ExchangeRecorded, following: Call | None) -> None:
        """A call is durable; `following` is what the step asks next, None: nothing."""

    def permit_granted(self, model: str, seconds: float) -> None:
        """A call waited so long for its permit."""

    def committed(self, events: int, seconds: float) -> None:
        """A commit stored so many events; called in the thread that commits."""

    def gauge(self, metric: Metric, read: ReadGauge) -> None:
        """Offer a value that can be read at any time."""


UNOBSERVED = Observer()


class Observers(Observer):
    """Passes every report to several observers."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    def debate_recorded(self, subject: Subject, events: Sequence[DebateEvent]) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.debate_recorded(subject, events)

    def debate_stopped(self, subject: Subject, problem: BaseException) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.debate_stopped(subject, problem)

    def call_began(self, model: str) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.call_began(model)

    def call_ended(self, model: str) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.call_ended(model)

    def call_recorded(self, subject: Subject, exchange: ExchangeRecorded, following: Call | None) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.call_recorded(subject, exchange, following)

    def permit_granted(self, model: str, seconds: float) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.permit_granted(model, seconds)

    def committed(self, events: int, seconds: float) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.committed(events, seconds)

    def gauge(self, metric: Metric, read: ReadGauge) -> None:
        """See `Observer`."""
        for one in self._observers:
            one.gauge(metric, read)


_log = logging.getLogger(__name__)


class LoggingObserver(Observer):
    """Debates, abstentions and failed calls at level info; answered calls, rounds and commits at level debug."""

    def debate_recorded(self, subject: Subject, events: Sequence[DebateEvent]) -> None:
        """See `Observer`."""
        for event in events:
            match event:
                case DebateBegun():
                    self._debate(subject, "debate_begun", "begins")
                case CoordinatorResumed():
                    self._debate(
                        subject,
                        "debate_resumed",
                        f"goes on after the loss of a {event.cause}; {len(event.repeated_steps)} steps are asked again",
                        cause=event.cause,
                        repeated_steps=len(event.repeated_steps),
                    )
                case RoundStarted():
                    self._debate(
                        subject, "round_started", f"begins round {event.round}", logging.DEBUG, round=event.round
                    )
                case JurorAbstained():
                    self._debate(
                        subject,
                        "juror_abstained",
                        f"juror {event.juror_id} abstains ({event.reason.value})",
                        step=event.step,
                        juror=event.juror_id,
                        reason=event.reason.value,
                    )
                case DebateCompleted():
                    outcome = event.outcome
                    score = "no score" if outcome.score is None else f"{outcome.score}/100"
                    self._debate(
                        subject,
                        "debate_completed",
                        f"says {outcome.verdict}, {score}",
                        verdict=outcome.verdict,
                        score=outcome.score,
                        rounds=event.total_rounds,
                        end_reason=event.end_reason,
                    )
                case DebateFailed():
                    self._debate(subject, "debate_failed", f"failed ({event.reason})", reason=event.reason)
                case _:
                    pass

    def debate_stopped(self, subject: Subject, problem: BaseException) -> None:
        """See `Observer`."""
        name = type(problem).__name__
        self._debate(subject, "debate_stopped", f"stopped unfinished ({name})", problem=name)

    def call_recorded(self, subject: Subject, exchange: ExchangeRecorded, following: Call | None) -> None:
        """See `Observer`."""
        answered = exchange.outcome is CallOutcome.ANSWERED
        level = logging.DEBUG if answered else logging.INFO
        if not _log.isEnabledFor(level):
            return
        provider, _, model = exchange.model.partition("/")
        log_event(
            _log,
            level,
            "call_answered" if answered else "call_failed",
            f"debate {subject.debate_id}, {exchange.event_id}: {exchange.outcome.value}",
            run=subject.run_id,
            debate=subject.debate_id,
            step=exchange.step,
            provider=provider,
            model=model,
            outcome=exchange.outcome.value,
            turn=exchange.turn,
            attempt=exchange.attempt,
            latency_ms=exchange.latency_ms,
            asked_again=following is not None,
        )

    def committed(self, events: int, seconds: float) -> None:
        """See `Observer`."""
        if _log.isEnabledFor(logging.DEBUG):
            milliseconds = round(seconds * 1000, 3)
            says = f"{events} events committed in {milliseconds} ms"
            log_event(_log, logging.DEBUG, "committed", says, events=events, milliseconds=milliseconds)

    @staticmethod
    def _debate(
        subject: Subject, event: str, says: str, level: int = logging.INFO, *, step: str | None = None, **more: Any
    ) -> None:
        if _log.isEnabledFor(level):
            message = f"debate {subject.debate_id} {says}"
            log_event(_log, level, event, message, run=subject.run_id, debate=subject.debate_id, step=step, **more)


_HALTING = frozenset({CallOutcome.AUTHENTICATION, CallOutcome.QUOTA})
"""After these the step waits for a person: its next call is no retry of this session."""


class CountingObserver(Observer):
    """Counts in `tallies`."""

    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies
        self._calling: dict[str, int] = {}
        tallies.read_at_snapshots(
            metrics.CALLS_IN_FLIGHT, lambda: [((name,), float(count)) for name, count in list(self._calling.items())]
        )

    def debate_recorded(self, _subject: Subject, events: Sequence[DebateEvent]) -> None:
        """See `Observer`."""
        add = self._tallies.add
        for event in events:
            match event:
                case DebateBegun():
                    add(metrics.DEBATES_STARTED, ("begun",))
                case CoordinatorResumed():
                    if event.cause == "coordinator":
                        add(metrics.DEBATES_STARTED, ("resumed",))
                    add(metrics.STEPS_REPEATED, (), len(event.repeated_steps))
                case JurorAbstained():
                    add(metrics.ABSTENTIONS, (event.reason.value,))
                case DebateCompleted():
                    add(metrics.DEBATES_FINISHED, ("completed", event.final_verdict.value))
                case DebateFailed():
                    add(metrics.DEBATES_FINISHED, ("failed", ""))
                case DebateCancelled():
                    add(metrics.DEBATES_FINISHED, ("cancelled", ""))
                case _:
                    pass

    def debate_stopped(self, _subject: Subject, problem: BaseException) -> None:
        """See `Observer`."""
        self._tallies.add(metrics.DEBATES_STOPPED, (type(problem).__name__,))

    def call_began(self, model: str) -> None:
        """See `Observer`."""
        provider = model.partition("/")[0]
        self._calling[provider] = self._calling.get(provider, 0) + 1

    def call_ended(self, model: str) -> None:
        """See `Observer`."""
        self._calling[model.partition("/")[0]] -= 1

    def call_recorded(self, _subject: Subject, exchange: ExchangeRecorded, following: Call | None) -> None:
        """See `Observer`."""
        provider, _, model = exchange.model.partition("/")
        labels = provider, model
        tallies, usage = self._tallies, exchange.usage
        tallies.add(metrics.CALLS, (*labels, exchange.outcome.value))
        if exchange.via is None:
            tallies.observe(metrics.CALL_SECONDS, exchange.latency_ms / 1000, labels)
        for kind, count in (
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cached_input", usage.cached_input_tokens),
            ("cache_write", usage.written_tokens or None),
            ("reasoning", usage.reasoning_tokens),
        ):
            if count is not None:
                tallies.add(metrics.TOKENS, (*labels, kind), count)
        if exchange.cost is None:
            tallies.add(metrics.CALLS_UNPRICED, labels)
        else:
            tallies.add(metrics.COST, labels, exchange.cost)
        followed = _followed_by(exchange, following)
        if followed is not None:
            tallies.add(followed, labels)

    def permit_granted(self, model: str, seconds: float) -> None:
        """See `Observer`."""
        self._tallies.observe(metrics.PERMIT_SECONDS, seconds, (model.partition("/")[0],))

    def committed(self, events: int, seconds: float) -> None:
        """See `Observer`."""
        self._tallies.observe(metrics.COMMIT_SECONDS, seconds)
        self._tallies.observe(metrics.COMMIT_EVENTS, events)

    def gauge(self, metric: Metric, read: ReadGauge) -> None:
        """See `Observer`."""
        self._tallies.read_at_snapshots(metric, read)


def _followed_by(exchange: ExchangeRecorded, following: Call | None) -> Metric | None:
    """Which counter has the call that follows: none for the next turn after tools, and for a halted step."""
    if following is None or exchange.outcome in _HALTING:
        return None
    if following.model != exchange.model:
        return metrics.FALLBACKS
    if following.attempt > 1:
        return metrics.RETRIES
    return None if exchange.tool_calls and exchange.tools else metrics.REPAIRS
