"""Drift checks among the metrics of a server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from jury_actors.observation.tallies import DRIFT_AGE, DRIFT_E, DRIFT_FOUND, Metric, MetricTotals, Tallies
from jury_events.drift_facts import DriftFacts, drift_facts
from jury_events.errors import EventError
from jury_events.ids import drift_stream
from jury_store.errors import StoreError
from jury_store.event_store import EventStore

_SECOND = 1_000_000


class StoreDriftMetrics:
    """The last check of each baseline of a store.

    Args:
        store: open for reading.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, store: EventStore, clock: Callable[[], int]) -> None:
        self._store, self._clock = store, clock
        self._known: dict[str, DriftFacts] = {}
        self._tallies = Tallies()
        self._tallies.read_at_snapshots(DRIFT_E, self._evidence)
        self._show(
            DRIFT_FOUND, lambda facts: float(facts.ended[-1].ended.decision.found if facts.ended[-1].ended else 0)
        )
        self._show(DRIFT_AGE, lambda facts: max(0.0, (self._clock() - facts.ended[-1].ended_at) / _SECOND))

    @contextmanager
    def shown(self, totals: MetricTotals) -> Iterator[None]:
        """Show the values in this context."""
        with totals.counted(self._tallies):
            yield

    def look(self) -> None:
        """Read the baselines that changed; where the log cannot be read, the values stay as they are."""
        with suppress(StoreError, EventError):
            streams = {drift_stream(one): one for one in self._store.drift_ids()}
            for stream, head in self._store.heads(list(streams)).items():
                known = self._known.get(streams[stream])
                if known is None or known.version != head.version:
                    facts = drift_facts(self._store.read_stream(stream))
                    if facts is not None:
                        self._known[streams[stream]] = facts

    def _show(self, metric: Metric, value: Callable[[DriftFacts], float]) -> None:
        self._tallies.read_at_snapshots(
            metric, lambda: [((name,), value(facts)) for name, facts in self._known.items() if facts.ended]
        )

    def _evidence(self) -> list[tuple[tuple[str, ...], float]]:
        return [
            ((name, one.name), one.e)
            for name, facts in self._known.items()
            for check in facts.ended[-1:]
            if check.ended is not None
            for one in check.ended.decision.watched
        ]
