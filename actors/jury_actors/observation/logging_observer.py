"""Logs what actors report."""

import logging
from collections.abc import Sequence
from typing import Any

from jury_actors.observation.json_lines import log_event
from jury_actors.observation.observer import Observer, Subject
from jury_debate.conversation import Call
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    CoordinatorResumed,
    DebateBegun,
    DebateCompleted,
    DebateFailed,
    JurorAbstained,
    RoundStarted,
)
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import CallOutcome

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
