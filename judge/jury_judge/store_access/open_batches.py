"""Batches that may still be answered: the debates with which a run may not go on because of them, and their metrics.

Likewise debates that came from elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from jury_actors.batches.batch_log import batches_of, local_facts_of
from jury_actors.observation.tallies import BATCH_AGE, BATCH_CALLS, BATCH_DOLLARS, WAVES, MetricTotals, Tallies
from jury_events.batch_facts import CLOSED, BatchFacts, batch_facts, batched_calls
from jury_events.errors import EventError
from jury_events.ids import batch_stream
from jury_events.text import pluralize
from jury_judge.errors import RunRefused
from jury_store.debate_rows import CaseRow, DebateFilter, DebateRow
from jury_store.errors import StoreError
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST
from jury_store.seals.keys import PublicKey


def open_batches(store: EventStore, run_id: str) -> list[BatchFacts]:
    """The batches of a run whose calls must not be made otherwise, the oldest first."""
    return [one for one in batches_of(store, run_id) if one.open]


def check_no_open_batch(store: EventStore, run_id: str | None) -> None:
    """Check that no call of a run is in a batch that is to be made: made live too, it would be paid twice.

    A call of a debate that is over is made no more.
    """
    found = [] if run_id is None else [one for one in open_batches(store, run_id) if _may_go_on(store, one)]
    if found:
        calls, batches = sum(one.prepared.items for one in found), pluralize(len(found), "batch", "batches")
        raise RunRefused(
            f"{pluralize(calls, 'call')} of run {run_id!r} may be answered still in {batches}: "
            f"made live too, they would be paid twice. Go on with jury run … --run {run_id} --batch, where the batches "
            "were sent from; or cancel the run with jury cancel"
        )


def _may_go_on(store: EventStore, batch: BatchFacts) -> bool:
    """Whether a debate of a batch is not over, or not there."""
    calls = batched_calls(store.read_stream(batch_stream(batch.prepared.batch_id)))
    debates = {call.debate_id for _, call in calls}
    return len(store.ended_positions(debates)) < len(debates)


def waiting_line(store: EventStore, run_id: str) -> str | None:
    """What is in open batches of a run, in words; None: nothing is."""
    found = open_batches(store, run_id)
    if not found:
        return None
    calls = sum(one.prepared.items for one in found)
    return f"{pluralize(calls, 'call')} of run {run_id} wait in {pluralize(len(found), 'batch', 'batches')}"


_NAMED = 5


def check_run(store: EventStore, run_id: str, keys: Collection[PublicKey]) -> None:
    """Refuse a run with a debate that cannot be read, or that was imported where no key is trusted.

    With trusted keys, imported debates are checked one by one, as their cases come (`check_adopted`).
    """
    run = f"run {run_id!r}"
    if (unreadable := _some(store, DebateFilter(run_id, status="unreadable", counted=None))) is not None:
        raise _unreadable(run, *unreadable)
    if not keys and (imported := _some(store, DebateFilter(run_id, imported=True, counted=None))) is not None:
        raise _imported(run, *imported)


def check_batches(store: EventStore, run_id: str, keys: Collection[PublicKey]) -> None:
    """Refuse a run with a batch that was imported and is not adopted: nobody knows whether its calls were ever sent.

    One in quarantine is left out (`jury_actors.batches.batch_log.batches_of`).
    """
    batches = store.batch_ids(run_id)
    for batch, facts in local_facts_of(store, batches).items():
        if facts.imported is None or facts.quarantine is not None:
            continue
        fault = "no key is given that is trusted"
        if keys:
            from jury_replay.cassettes.provenance import adoption_fault

            (record,) = store.histories([batch])
            fault = adoption_fault(record, store.origin(batch), keys) or ""
        if fault:
            raise RunRefused(
                f"run {run_id!r}: the batch {batch} came in a cassette and is not adopted: {fault}. Give the run "
                "another id; or --adopt KEY.pub takes over what is sealed by a key that you trust; or, if its calls "
                f"were never sent, set it aside with: jury db quarantine {batch} --by WHO --reason WHY"
            )


def check_adopted(store: EventStore, run: str, debate_id: str, row: CaseRow, keys: Collection[PublicKey]) -> None:
    """Refuse one debate that cannot be read, or that was imported and does not count as judged.

    Args:
        debate_id: of the debate; it is not in quarantine.
        keys: an imported debate counts as judged if its seal is signed by one of them.
    """
    if row.status == "unreadable":
        raise _unreadable(run, debate_id, debate_id)
    if row.imported is None:
        return
    if not keys:
        raise _imported(run, debate_id, debate_id)
    from jury_replay.cassettes.provenance import adoption_fault

    (record,) = store.histories([debate_id])
    fault = adoption_fault(record, store.origin(debate_id), keys)
    if fault is not None:
        raise RunRefused(
            f"{run}: {debate_id} came in a cassette and is not adopted: {fault}. Give the run another id, or adopt "
            "with another key"
        )


def not_set_aside(debate_id: str, row: CaseRow | DebateRow) -> None:
    """Refuse a debate in quarantine: its id cannot be used for another one."""
    if row.quarantined is not None:
        raise RunRefused(
            f"debate {debate_id} is in quarantine ({row.quarantined}): take it back with: "
            f"jury db release {debate_id} --by WHO; or judge the case under another run id"
        )


def _some(store: EventStore, wanted: DebateFilter) -> tuple[str, str] | None:
    """The first debates of a list in words, and the first of all; None where there is none."""
    first = [row.debate_id for row in store.list_debates(wanted, OLDEST, limit=_NAMED + 1)]
    if not first:
        return None
    more = store.totals(wanted).debates - _NAMED if len(first) > _NAMED else 0
    return ", ".join(first[:_NAMED]) + (f" and {more} more" if more else ""), first[0]


def _unreadable(run: str, names: str, first: str) -> RunRefused:
    return RunRefused(
        f"{run}: what is recorded of {names} cannot be read (see `jury list`). Set it aside with: "
        f"jury db quarantine {first} --by WHO --reason WHY; or give the run another id"
    )


def _imported(run: str, names: str, _first: str) -> RunRefused:
    return RunRefused(
        f"{run}: {names} came in a cassette, so it does not count as judged. Give "
        "the run another id; or --adopt KEY.pub takes over what is sealed by a key that you trust"
    )


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
