"""What actors report while they work. The base class reports nothing: it is used where nothing is observed."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_actors.observation.tallies import Metric, ReadGauge
from jury_debate.conversation import Call
from jury_events.codec import DebateEvent
from jury_events.exchange import ExchangeRecorded


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
