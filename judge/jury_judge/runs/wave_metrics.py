"""Open batches among the metrics: of a run in the process that follows it, of a store in its server."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from jury_actors.observation.tallies import BATCH_AGE, BATCH_CALLS, BATCH_DOLLARS, WAVES, MetricTotals, Tallies
from jury_events.batch_facts import CLOSED, BatchFacts, batch_facts
from jury_events.errors import EventError
from jury_events.ids import batch_stream
from jury_store.errors import StoreError
from jury_store.event_store import EventStore


class RecordedBatches:
    """Of batches that are closed only the ids are kept."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._closed: set[str] = set()
        self._facts: dict[str, BatchFacts] = {}

    def open(self) -> list[BatchFacts]:
        """Those that may be answered still."""
        streams = {batch_stream(one): one for one in self._store.batch_ids() if one not in self._closed}
        heads = self._store.heads(streams) if streams else {}
        for stream, head in heads.items():
            self._read(streams[stream], stream, head.version)
        return [one for one in self._facts.values() if one.open]

    def _read(self, name: str, stream: str, version: int) -> None:
        known = self._facts.get(name)
        if known is None and self._store.read_stream(stream, after=version - 1)[-1].type == CLOSED:
            self._closed.add(name)  # thousands of items before are of no account
        elif known is None or known.version < version:
            facts = batch_facts(self._store.read_stream(stream, after=0 if known is None else known.version), known)
            if facts.closed is None:
                self._facts[name] = facts
            else:
                self._facts.pop(name, None)
                self._closed.add(name)


_SECOND = 1_000_000


class WaveMetrics:
    """Of one run.

    Args:
        totals: take the values while `shown` is entered; None: nothing is counted.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, totals: MetricTotals | None, clock: Callable[[], int]) -> None:
        self._totals = totals
        self._batches: dict[str, BatchFacts] = {}
        self._tallies = _gauges(lambda: tuple(self._batches.values()), clock)
        self._tallies.add(WAVES, amount=0.0)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the values in this context."""
        if self._totals is None:
            yield
            return
        with self._totals.counted(self._tallies):
            yield

    def follow(self, *batches: BatchFacts) -> None:
        """Show batches as they are now."""
        for one in batches:
            self._batches[one.prepared.batch_id] = one
        self._batches = {name: one for name, one in self._batches.items() if one.open}

    def wave_sent(self) -> None:
        """Count a wave."""
        self._tallies.add(WAVES)


class StoreBatchMetrics:
    """Of all runs of a store, whatever process follows them.

    Args:
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, store: EventStore, clock: Callable[[], int]) -> None:
        self._recorded = RecordedBatches(store)
        self._open: list[BatchFacts] = []
        self._tallies = _gauges(lambda: self._open, clock)

    @contextmanager
    def shown(self, totals: MetricTotals) -> Iterator[None]:
        """Show the values in this context."""
        with totals.counted(self._tallies):
            yield

    def look(self) -> None:
        """Read the log; where it cannot be read, the values stay as they are."""
        with suppress(StoreError, EventError):
            self._open = self._recorded.open()


def _gauges(batches: Callable[[], Collection[BatchFacts]], clock: Callable[[], int]) -> Tallies:

    def calls() -> list[tuple[tuple[str], float]]:
        counted: Counter[str] = Counter()
        for one in batches():
            counted[one.stage] += one.prepared.items
        return [((stage,), float(count)) for stage, count in counted.items()]

    def age() -> float:
        oldest = min((one.prepared_at for one in batches()), default=None)
        return 0.0 if oldest is None else max(0.0, (clock() - oldest) / _SECOND)

    tallies = Tallies()
    tallies.read_at_snapshots(BATCH_CALLS, calls)
    tallies.read_at_snapshots(BATCH_AGE, lambda: [((), age())])
    tallies.read_at_snapshots(BATCH_DOLLARS, lambda: [((), sum(one.prepared.most or 0.0 for one in batches()))])
    return tallies
