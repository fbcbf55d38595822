"""Metrics in the formats that Prometheus reads."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from jury_actors.observation import tallies
from jury_actors.observation.tallies import HistogramCounts, Key, MetricTotals

T = TypeVar("T")


class MetricsPage(NamedTuple):
    """What a scrape gets."""

    content_type: str
    body: bytes


class MetricsExposition:
    """Renders `totals`, and the CPU, memory and files of this process, at each scrape."""

    def __init__(self, totals: MetricTotals) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_TotalsCollector(totals))
        ProcessCollector(registry=self._registry)

    def page(self, accept: str) -> MetricsPage:
        """The metrics now; `accept` is the header of the request, which may prefer OpenMetrics."""
        encode, content_type = choose_encoder(accept)
        return MetricsPage(content_type, encode(self._registry))


class _TotalsCollector(Collector):
    def __init__(self, totals: MetricTotals) -> None:
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        """Every metric of the list, those without a value too."""
        snapshot = self._totals.snapshot()
        counters, gauges = _by_name(snapshot.counters), _by_name(snapshot.gauges)
        histograms = _by_name(snapshot.histograms)
        for one in tallies.METRICS:
            match one.kind:
                case "counter":
                    counter = CounterMetricFamily(one.name, one.says, labels=one.labels)
                    for labels, value in counters[one.name]:
                        counter.add_metric(labels, value)
                    yield counter
                case "gauge":
                    gauge = GaugeMetricFamily(one.name, one.says, labels=one.labels)
                    for labels, value in gauges[one.name]:
                        gauge.add_metric(labels, value)
                    yield gauge
                case "histogram":
                    histogram = HistogramMetricFamily(one.name, one.says, labels=one.labels)
                    for labels, counted in histograms[one.name]:
                        histogram.add_metric(labels, _buckets(one.bounds, counted), counted.total)
                    yield histogram


def _by_name(values: Mapping[Key, T]) -> dict[str, list[tuple[tuple[str, ...], T]]]:
    found: dict[str, list[tuple[tuple[str, ...], T]]] = defaultdict(list)
    for (name, labels), value in sorted(values.items()):
        found[name].append((labels, value))
    return found


def _buckets(bounds: Iterable[float], counted: HistogramCounts) -> list[tuple[str, float]]:
    """Cumulative, as the format wants them."""
    found, below = [], 0
    for bound, count in zip((*map(str, bounds), "+Inf"), counted.counts, strict=True):
        below += count
        found.append((bound, float(below)))
    return found
