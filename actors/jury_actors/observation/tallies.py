"""Counts of one process, and snapshots of them, which can be added."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from threading import Lock
from typing import NamedTuple

from jury_actors.observation.metric_list import Metric

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
