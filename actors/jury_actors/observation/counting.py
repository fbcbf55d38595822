"""Counts what actors report."""

from collections.abc import Sequence

from jury_actors.observation import tallies as metrics
from jury_actors.observation.observer import Observer, Subject
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
)
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import CallOutcome

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
