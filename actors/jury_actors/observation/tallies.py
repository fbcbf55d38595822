"""The metrics: their list, their counts in a process, and their sums over processes.

`docs/reference/metrics.md` is made of them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Literal, NamedTuple

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
_SHORT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_BATCH = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


class Metric(NamedTuple):
    """One metric.

    Attributes:
        name: without the suffixes that Prometheus adds to counters and histograms.
        kind: a counter only grows; a gauge is read when it is asked for.
        labels: their names, in the order of the values that are passed with each count.
        says: what it counts, and the unit.
        bounds: upper bounds of a histogram's buckets, ascending; the last bucket, without a bound, is implied.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    says: str
    bounds: tuple[float, ...] = ()


_MODEL = ("provider", "model")

DEBATES_STARTED = Metric(
    "jury_debates_started", "counter", ("how",), "Debates that were begun here: how is begun or resumed."
)
DEBATES_FINISHED = Metric(
    "jury_debates_finished",
    "counter",
    ("status", "verdict"),
    "Debates that ended here: completed with a verdict, or failed without one.",
)
DEBATES_STOPPED = Metric(
    "jury_debates_stopped",
    "counter",
    ("problem",),
    "Debates that stopped unfinished, by the type of the error; the same run resumes them.",
)
DEBATES_IN_FLIGHT = Metric(
    "jury_debates_in_flight",
    "gauge",
    ("phase",),
    "Debates that run now: opening, evaluation, discussion or judgment.",
)
ABSTENTIONS = Metric("jury_abstentions", "counter", ("reason",), "Seats without a usable answer for a step.")
STEPS_REPEATED = Metric(
    "jury_steps_repeated", "counter", (), "Steps that may be asked twice, because a juror or a coordinator was lost."
)
CALLS = Metric("jury_calls", "counter", (*_MODEL, "outcome"), "Recorded calls of models, by outcome.")
CALL_SECONDS = Metric("jury_call_seconds", "histogram", _MODEL, "Duration of a recorded call, in seconds.", _SECONDS)
CALLS_IN_FLIGHT = Metric("jury_calls_in_flight", "gauge", ("provider",), "Calls that providers are answering now.")
TOKENS = Metric(
    "jury_tokens",
    "counter",
    (*_MODEL, "kind"),
    "Tokens as providers counted them: input, output, and of these cached_input, cache_write and reasoning.",
)
COST = Metric("jury_cost_dollars", "counter", _MODEL, "Cost of recorded calls whose cost is known, in US dollars.")
CALLS_UNPRICED = Metric("jury_calls_unpriced", "counter", _MODEL, "Recorded calls whose cost is unknown.")
RETRIES = Metric("jury_call_retries", "counter", _MODEL, "Calls that are made again after a failed attempt.")
REPAIRS = Metric(
    "jury_call_repairs", "counter", _MODEL, "Answers that were refused, after which the model is asked again."
)
FALLBACKS = Metric(
    "jury_call_fallbacks", "counter", _MODEL, "Models that were given up for the next one of their seat."
)
PERMIT_SECONDS = Metric(
    "jury_permit_wait_seconds",
    "histogram",
    ("provider",),
    "Wait for the permit of a call that a limit or the budget rules, in seconds.",
    _SECONDS,
)
COMMIT_SECONDS = Metric("jury_commit_seconds", "histogram", (), "Duration of a commit, in seconds.", _SHORT_SECONDS)
COMMIT_EVENTS = Metric("jury_commit_events", "histogram", (), "Events of a commit.", _BATCH)
QUEUE_LENGTH = Metric(
    "jury_queue_length",
    "gauge",
    ("queue",),
    "What waits: appends and appends_bytes (answers and events for the clerk), steps (being executed by jurors), "
    "permits (calls that limits or the budget delay).",
)
ACTORS_REPLACED = Metric(
    "jury_actors_replaced", "counter", ("actor",), "Processes of actors that were lost and replaced, on Ray."
)
RUNTIMES = Metric("jury_runtimes", "gauge", (), "Sets of actors that are open now.")
WAVES = Metric("jury_waves", "counter", (), "Waves of calls that were sent in batches.")
BATCH_CALLS = Metric(
    "jury_batch_calls",
    "gauge",
    ("stage",),
    "Calls in open batches, by the stage of their batch: prepared, uploaded, waiting, running, cancelling or ended.",
)
BATCH_AGE = Metric(
    "jury_batch_oldest_seconds", "gauge", (), "Since the oldest open batch was prepared, in seconds; 0 without one."
)
BATCH_DOLLARS = Metric(
    "jury_batch_reserved_dollars", "gauge", (), "What the calls in open batches can cost at most, in US dollars."
)

DRIFT_E = Metric(
    "jury_drift_e_value", "gauge", ("baseline", "watched"), "Evidence of drift after the last check, as an e-value."
)
DRIFT_FOUND = Metric("jury_drift_found", "gauge", ("baseline",), "1 if the last drift check found something, else 0.")
DRIFT_AGE = Metric("jury_drift_check_age_seconds", "gauge", ("baseline",), "Since the last drift check, in seconds.")

METRICS = (
    DEBATES_STARTED,
    DEBATES_FINISHED,
    DEBATES_STOPPED,
    DEBATES_IN_FLIGHT,
    ABSTENTIONS,
    STEPS_REPEATED,
    CALLS,
    CALL_SECONDS,
    CALLS_IN_FLIGHT,
    TOKENS,
    COST,
    CALLS_UNPRICED,
    RETRIES,
    REPAIRS,
    FALLBACKS,
    PERMIT_SECONDS,
    COMMIT_SECONDS,
    COMMIT_EVENTS,
    QUEUE_LENGTH,
    ACTORS_REPLACED,
    RUNTIMES,
    WAVES,
    BATCH_CALLS,
    BATCH_AGE,
    BATCH_DOLLARS,
    DRIFT_E,
    DRIFT_FOUND,
    DRIFT_AGE,
)


Key = tuple[str, tuple[str, ...]]
"""A metric's name and the values of its labels."""

ReadGauge = Callable[[], Iterable[tuple[tuple[str, ...], float]]]
"""The values of a gauge now, with the values of their labels."""


class HistogramCounts(NamedTuple):
    """`counts` by bucket, the last one without a bound; `total` is the sum of all values."""

    counts: tuple[int, ...]
    total: float

    def plus(self, other: "HistogramCounts") -> "HistogramCounts":
        """Both together."""
        added = tuple(one + another for one, another in zip(self.counts, other.counts, strict=True))
        return HistogramCounts(added, self.total + other.total)


class TallySnapshot(NamedTuple):
    """The counts of a process at one moment; plain values, so that it pickles cheaply."""

    counters: dict[Key, float]
    histograms: dict[Key, HistogramCounts]
    gauges: dict[Key, float]

    def plus(self, other: "TallySnapshot") -> "TallySnapshot":
        """The sums of both."""
        counters, histograms, gauges = dict(self.counters), dict(self.histograms), dict(self.gauges)
        for key, value in other.counters.items():
            counters[key] = counters.get(key, 0.0) + value
        for key, value in other.gauges.items():
            gauges[key] = gauges.get(key, 0.0) + value
        for key, counted in other.histograms.items():
            histograms[key] = counted if (there := histograms.get(key)) is None else there.plus(counted)
        return TallySnapshot(counters, histograms, gauges)

    def without_gauges(self) -> "TallySnapshot":
        """What stays true after the process has ended."""
        return self._replace(gauges={})


NOTHING_COUNTED = TallySnapshot({}, {}, {})


class Tallies:
    """Counts of one process; any thread may count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counters: dict[Key, float] = {}
        self._histograms: dict[Key, tuple[list[int], list[float]]] = {}
        self._gauges: list[tuple[str, ReadGauge]] = []

    def add(self, metric: Metric, labels: tuple[str, ...] = (), amount: float = 1.0) -> None:
        """Count in a counter; a counter to which 0 was added is shown too."""
        key = metric.name, labels
        with self._lock:
            self._counters[key] = self._counters.get(key, 0.0) + amount

    def observe(self, metric: Metric, value: float, labels: tuple[str, ...] = ()) -> None:
        """Count a value in a histogram; a value on a bound belongs to the bucket below it."""
        key, index = (metric.name, labels), bisect_left(metric.bounds, value)
        with self._lock:
            found = self._histograms.get(key)
            if found is None:
                found = self._histograms[key] = ([0] * (len(metric.bounds) + 1), [0.0])
            found[0][index] += 1
            found[1][0] += value

    def read_at_snapshots(self, metric: Metric, read: ReadGauge) -> None:
        """Have a gauge read at each snapshot, in the thread that takes it."""
        self._gauges.append((metric.name, read))

    def snapshot(self) -> TallySnapshot:
        """The counts now."""
        gauges: dict[Key, float] = {}
        for name, read in self._gauges:
            for labels, value in read():
                gauges[name, labels] = gauges.get((name, labels), 0.0) + value
        with self._lock:
            histograms = {
                key: HistogramCounts(tuple(counts), total[0]) for key, (counts, total) in self._histograms.items()
            }
            return TallySnapshot(dict(self._counters), histograms, gauges)


class MetricTotals:
    """Sums that only grow: an actor that is replaced begins at zero, and what its predecessors counted is kept.

    Of a killed process, what it counted after its last snapshot is lost.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._ended = NOTHING_COUNTED
        self._received: dict[str, tuple[str, TallySnapshot]] = {}
        self._live: dict[int, Callable[[], TallySnapshot]] = {}
        self._own = Tallies()
        self._open = 0
        self._own.read_at_snapshots(RUNTIMES, lambda: [((), float(self._open))])

    @contextmanager
    def runtime_open(self) -> Iterator[None]:
        """Count a runtime as open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    @contextmanager
    def counted(self, tallies: Tallies) -> Iterator[None]:
        """Include the counts of actors in this process, read when the totals are; afterwards without their gauges."""
        with self._lock:
            self._live[id(tallies)] = tallies.snapshot
        try:
            yield
        finally:
            last = tallies.snapshot().without_gauges()
            with self._lock:
                del self._live[id(tallies)]
                self._ended = self._ended.plus(last)

    def receive(self, source: str, actor: str, incarnation: str, snapshot: TallySnapshot) -> None:
        """Take a snapshot of another process, which replaces the one before.

        Args:
            actor: its name among the actors of a runtime, a label.
            incarnation: of the process; another one means that it was replaced.
        """
        with self._lock:
            before = self._received.get(source)
            if before is not None and before[0] != incarnation:
                self._ended = self._ended.plus(before[1].without_gauges())
                self._own.add(ACTORS_REPLACED, (actor,))
            self._received[source] = incarnation, snapshot

    def end(self, source: str) -> None:
        """The process has ended: its gauges are shown no longer."""
        with self._lock:
            gone = self._received.pop(source, None)
            if gone is not None:
                self._ended = self._ended.plus(gone[1].without_gauges())

    def snapshot(self) -> TallySnapshot:
        """The sums now."""
        with self._lock:
            total = self._ended
            for read in (self._own.snapshot, *self._live.values()):
                total = total.plus(read())
            for _, received in self._received.values():
                total = total.plus(received)
        return total
