"""What observes the actors of a process, by the settings."""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, NamedTuple

from jury_actors.observation.json_lines import FIELDS, PID, PROCESS, LineHandler, is_own, message_of
from jury_actors.observation.observer import UNOBSERVED, CountingObserver, LoggingObserver, Observer, Observers
from jury_actors.observation.tallies import MetricTotals, Tallies, TallySnapshot

ACTORS = "jury_actors"
"""The logger whose level decides what actors log."""


class ObservationSettings(NamedTuple):
    """Off unless it is asked for.

    Attributes:
        metrics: whether actors count.
        log_level: of the records that actors in other processes send to the driver, as in `logging`; None: none.
    """

    metrics: bool = False
    log_level: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is anything to fetch from an actor."""
        return self.metrics or self.log_level is not None


NO_OBSERVATION = ObservationSettings()


def wanted_log_level() -> int | None:
    """The level of this process's configuration; None where it shows warnings only, as without any configuration."""
    level = logging.getLogger(ACTORS).getEffectiveLevel()
    return level if level < logging.WARNING else None


@contextmanager
def observed_here(totals: MetricTotals | None) -> Iterator[Observer]:
    """The observer of a runtime in this process.

    Args:
        totals: get its counts; None: nothing is counted.
    """
    observers: list[Observer] = [] if wanted_log_level() is None else [LoggingObserver()]
    if totals is None:
        yield Observers(observers) if observers else UNOBSERVED
        return
    tallies = Tallies()
    observers.append(CountingObserver(tallies))
    with totals.counted(tallies), totals.runtime_open():
        yield observers[0] if len(observers) == 1 else Observers(observers)


def observation_settings(totals: MetricTotals | None) -> ObservationSettings:
    """What actors in other processes are to observe for this one."""
    return ObservationSettings(totals is not None, wanted_log_level())


MOST_RECORDS = 10_000
"""Log records that wait for the driver; of more, the oldest are dropped here, and stay in the process's own stderr."""


class Observed(NamedTuple):
    """What a driver is sent: all counts, and the log records after the number that it has.

    Attributes:
        incarnation: of the process.
        upto: the number of the last record.
        records: attributes of log records, for `logging.makeLogRecord`.
        snapshot: None where nothing is counted.
    """

    incarnation: str
    upto: int
    records: list[dict[str, Any]]
    snapshot: TallySnapshot | None


class ActorObservation:
    """Counts, and takes the log of this process."""

    def __init__(self, name: str, settings: ObservationSettings) -> None:
        self._incarnation = token_hex(8)
        self._tallies = Tallies() if settings.metrics else None
        self._waiting = _WaitingRecords(name)
        observers: list[Observer] = []
        if self._tallies is not None:
            observers.append(CountingObserver(self._tallies))
        if settings.log_level is not None:
            observers.append(LoggingObserver())
            root = logging.getLogger()
            # Not below: other packages log requests and answers at lower levels.
            for handler in (LineHandler(name), self._waiting):
                root.addHandler(handler)
            for package in ("jury_actors", "jury_store", "jury_providers"):
                logging.getLogger(package).setLevel(settings.log_level)
        self.observer: Observer = UNOBSERVED if not observers else Observers(observers)

    def since(self, incarnation: str, number: int) -> Observed:
        """The counts, and the records after `number` of that incarnation: a successor begins again at 1."""
        records, upto = self._waiting.since(number if incarnation == self._incarnation else 0)
        return Observed(self._incarnation, upto, records, None if self._tallies is None else self._tallies.snapshot())


class _WaitingRecords(logging.Handler):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._last = 0
        self._records: deque[tuple[int, dict[str, Any]]] = deque(maxlen=MOST_RECORDS)
        self.addFilter(lambda record: is_own(record) or record.levelno >= logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it; an exception's traceback stays in this process's own stderr."""
        self._last += 1
        sent = {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
            "created": record.created,
            "filename": record.filename,
            "lineno": record.lineno,
            "msg": message_of(record),
            FIELDS: getattr(record, FIELDS, {}),
            PROCESS: self._name,
            PID: record.process,
        }
        self._records.append((self._last, sent))

    def since(self, number: int) -> tuple[list[dict[str, Any]], int]:
        """Those after `number`, which are kept until they are acknowledged by a later call."""
        self.acquire()
        try:
            while self._records and self._records[0][0] <= number:
                self._records.popleft()
            return [record for _, record in self._records], self._last
        finally:
            self.release()
