"""The counts of all actors of a process's runtimes: those in this process, and on Ray those of others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from jury_actors.observation.metric_list import ACTORS_REPLACED, RUNTIMES
from jury_actors.observation.tallies import NOTHING_COUNTED, Tallies, TallySnapshot


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
            source: unique over runtimes and actors.
            actor: its name among the actors of a runtime, a label.
            incarnation: of the process; another one means that it was replaced.
            snapshot: what this incarnation counted so far.
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
