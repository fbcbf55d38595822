"""The open batches of a run among the metrics of the process that follows them."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jury_actors.observation.metric_list import BATCH_AGE, BATCH_CALLS, BATCH_DOLLARS, WAVES
from jury_actors.observation.metric_totals import MetricTotals
from jury_actors.observation.tallies import Tallies
from jury_events.batch_facts import BatchFacts

_SECOND = 1_000_000


class WaveMetrics:
    """Of one run.

    Args:
        totals: take the values while `shown` is entered; None: nothing is counted.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, totals: MetricTotals | None, clock: Callable[[], int]) -> None:
        self._totals = totals
        self._clock = clock
        self._batches: dict[str, BatchFacts] = {}
        self._tallies = Tallies()
        self._tallies.add(WAVES, amount=0.0)
        self._tallies.read_at_snapshots(BATCH_CALLS, self._calls)
        self._tallies.read_at_snapshots(BATCH_AGE, lambda: [((), self._age())])
        self._tallies.read_at_snapshots(BATCH_DOLLARS, lambda: [((), self._dollars())])

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

    def _calls(self) -> list[tuple[tuple[str], float]]:
        calls: Counter[str] = Counter()
        for one in self._batches.values():
            calls[one.stage] += one.prepared.items
        return [((stage,), float(count)) for stage, count in calls.items()]

    def _age(self) -> float:
        oldest = min((one.prepared_at for one in self._batches.values()), default=None)
        return 0.0 if oldest is None else max(0.0, (self._clock() - oldest) / _SECOND)

    def _dollars(self) -> float:
        return sum(one.prepared.most or 0.0 for one in self._batches.values())
