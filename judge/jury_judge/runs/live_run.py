"""Runs under way, as other processes see them.

They come from the lists and the newest events of the log, so any process can read them while another executes the run.
What is only in the memory of that process (calls in flight, queues) is read from its file, where there is one.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, Literal, NamedTuple

from jury_actors.effects import Effects
from jury_events.batch_facts import BatchFacts
from jury_events.errors import DebateNotFound
from jury_events.text import moment
from jury_events.verdict import Verdict
from jury_judge.runs.recent_calls import RecentCalls, RecentEvents
from jury_judge.runs.supervision import ProcessFigures, read_status
from jury_judge.runs.usage import PacedTotals
from jury_judge.store_access.open_batches import open_batches
from jury_store.debate_rows import NOTHING_UNRECORDED, DebateFilter, RunRow, Totals, Unrecorded
from jury_store.event_store import EventStore
from jury_store.run_registry import RunHolder, RunRegistry, open_registry


@dataclass(frozen=True, kw_only=True)
class OpenWave:
    """The open batches of a run.

    `wave`: of the run, from 1. `calls`: by the stage of their batch (prepared, uploaded, waiting, running, cancelling,
    ended). `since`: when the oldest batch was prepared. `most`: what the calls can cost at most, in US dollars.
    """

    wave: int
    batches: int
    calls: dict[str, int]
    since: str
    most: float


def open_wave(store: EventStore, run_id: str) -> OpenWave | None:
    """What is in batches now; None: nothing is."""
    found: list[BatchFacts] = open_batches(store, run_id)
    if not found:
        return None
    calls: Counter[str] = Counter()
    for one in found:
        calls[one.stage] += one.prepared.items
    return OpenWave(
        wave=max(one.prepared.wave for one in found),
        batches=len(found),
        calls=dict(calls),
        since=moment(min(one.prepared_at for one in found)),
        most=sum(one.prepared.most or 0.0 for one in found),
    )


RunState = Literal["running", "complete", "incomplete", "unknown"]
"""`incomplete`: something is left, and no process executes the run. `unknown`: all debates are over,
and how many the run is to have is not known."""

PHASES = ("evaluating", "discussing", "judging", "unreadable")
"""The statuses of debates that are not over."""

_PAGE = 1000
_WAVE_MICROSECONDS = 10_000_000

NOT_RUNNING = "no process executes the run"
NOT_HERE = (
    "the process that executes the run is not of this machine and user, or does not write down what it does; "
    "only its own memory has these figures"
)


@dataclass(frozen=True, kw_only=True)
class LiveRun:
    """A run at one moment. A figure that cannot be had is None, and its `…_reason` says why.

    `row` has its counts. `totals` are sums over its debates; of a large run they may be older than `row`. `phases`
    counts the debates that are not over by status. `eta_seconds` assumes that debates go on ending as fast as in
    `recent`. `batches`: what is in them; None: nothing is.
    """

    row: RunRow
    totals: Totals
    at: str
    state: RunState
    holder: RunHolder | None
    phases: dict[str, int]
    recent: RecentCalls
    eta_seconds: float | None
    eta_reason: str | None
    process: ProcessFigures | None
    process_reason: str | None
    batches: OpenWave | None = None

    @property
    def not_begun(self) -> int | None:
        """Debates that did not begin yet, those that wait among them; None: unknown."""
        return None if self.row.total is None else self.row.total - self.row.debates

    @property
    def unrecorded(self) -> Unrecorded:
        """Calls that were sent and are not recorded, at most; while the run is executed, also those in flight."""
        return self.row.unrecorded(self.totals)


def live_object(live: LiveRun) -> dict[str, Any]:
    """The figures as a JSON object."""
    figures, recent = asdict(live), live.recent
    counts = figures.pop("row")
    for name in ("position", "first_at", "begun_at", "last_at", "calls_at_most", "cost_at_most"):
        del counts[name]
    return {
        **figures.pop("totals"),
        **counts,
        **figures,
        "holder": None if live.holder is None else live.holder._asdict(),
        "ended": live.row.ended,
        "not_begun": live.not_begun,
        "unrecorded_calls": live.unrecorded.calls,
        "unrecorded_cost": live.unrecorded.cost,
        "recent": {
            **figures["recent"],
            "debates_per_second": recent.debates_per_second,
            "calls_per_second": recent.calls_per_second,
            "slowest_provider": recent.slowest_provider,
        },
    }


class LiveRunReader:
    """Reads the figures of a run, again and again; close it after use. Not for several threads at once.

    Args:
        url: of the store; None where it is in memory: no other process executes its runs.
        clock: µs since 1970-01-01 UTC.
    """

    def __init__(
        self, store: EventStore, url: str | None, run_id: str, *, clock: Callable[[], int] = Effects().clock
    ) -> None:
        self._store = store
        self._url = url
        self._run_id = run_id
        self._clock = clock
        self._registry: RunRegistry | None = None
        self._recent = RecentEvents(store, run_id)
        self._wave: OpenWave | None = None
        self._wave_at: int | None = None
        self._totals = PacedTotals(store, DebateFilter(run_id=run_id, counted=None))

    def read(self) -> LiveRun:
        """The figures now."""
        holder = self._holder()
        row = self._store.run(self._run_id)
        if row is None and holder is None:
            raise DebateNotFound(f"there is no run {self._run_id!r} in this store; `jury runs` lists the runs")
        now = self._clock()
        row = row or _nothing_yet(self._run_id, now)
        status = None if holder is None or self._url is None else read_status(self._url, self._run_id)
        process = None if status is None else status.figures
        recent = self._recent.look(now, max(row.begun_at or row.first_at, 0 if status is None else status.began))
        phases = self._phases()
        state = run_state(row, holder, sum(phases.values()))
        eta, eta_reason = _eta(row, state, recent)
        return LiveRun(
            row=row,
            totals=self._totals.recent(),
            at=moment(now, "milliseconds"),
            state=state,
            holder=holder,
            phases=phases,
            recent=recent,
            eta_seconds=eta,
            eta_reason=eta_reason,
            process=process,
            process_reason=None if process is not None else NOT_RUNNING if holder is None else NOT_HERE,
            batches=self._read_wave(),
        )

    def close(self) -> None:
        """Close its connection; the store stays open."""
        if self._registry is not None:
            self._registry.close()

    def _holder(self) -> RunHolder | None:
        if self._url is None:
            return None
        self._registry = self._registry or open_registry(self._url)
        return self._registry.holders([self._run_id]).get(self._run_id)

    def _phases(self) -> dict[str, int]:
        counted: Counter[str] = Counter()
        after = 0
        while rows := self._store.debates(run_id=self._run_id, unfinished=True, limit=_PAGE, after=after):
            counted.update(row.status for row in rows)
            after = rows[-1].position
        return {phase: counted[phase] for phase in PHASES}

    def _read_wave(self) -> OpenWave | None:
        """Each stream of an open batch is read for it, so not at every look."""
        now = self._clock()
        if self._wave_at is None or now - self._wave_at > _WAVE_MICROSECONDS:
            self._wave = open_wave(self._store, self._run_id)
            self._wave_at = now
        return self._wave


def run_state(row: RunRow, holder: RunHolder | None, unfinished: int) -> RunState:
    """Whether a run is over.

    Args:
        row: its counts, of debates that count for their cases.
        unfinished: how many of all its debates are not over: audits are in no count of `row`.
    """
    if holder is not None:
        return "running"
    if unfinished or row.waiting or row.ended < row.debates or (row.total is not None and row.ended < row.total):
        return "incomplete"
    return "unknown" if row.total is None else "complete"


def _eta(row: RunRow, state: RunState, recent: RecentCalls) -> tuple[float | None, str | None]:
    if state != "running":
        return None, NOT_RUNNING
    if row.total is None:
        return None, "the cases are still being counted"
    if not recent.debates_per_second:
        return None, f"no debate ended in the last {recent.seconds:.0f} s"
    return (row.total - row.ended) / recent.debates_per_second, None


def _nothing_yet(run_id: str, now: int) -> RunRow:
    """A run whose first debate is not open yet."""
    counts: dict[str, Any] = dict.fromkeys(
        ("position", "debates", "waiting", "completed", "failed", "cancelled", *(verdict.value for verdict in Verdict)),
        0,
    )
    return RunRow(run_id=run_id, first_at=now, last_at=now, **counts)


FRESH = 1.0
"""Seconds for which figures are given again."""

_MOST = 16
"""Runs that are followed at once; beyond that the least recently requested one is dropped."""


class _Followed:
    """One run: its reader, which one thread uses at a time, and the last figures."""

    def __init__(self, reader: LiveRunReader) -> None:
        self.reader = reader
        self.lock = Lock()
        self.live: LiveRun | None = None
        self.read_at = 0.0


class LiveRuns:
    """The live figures of the runs of a store; may be used by several threads.

    Args:
        url: of the store; None where it is in memory.
        clock: seconds.
    """

    def __init__(self, store: EventStore, url: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._url = url
        self._clock = clock
        self._lock = Lock()
        self._followed: OrderedDict[str, _Followed] = OrderedDict()

    def read(self, run_id: str) -> LiveRun:
        """The figures of a run, at most `FRESH` seconds old."""
        one = self._follow(run_id)
        with one.lock:
            if one.live is None or self._clock() - one.read_at >= FRESH:
                one.live = one.reader.read()
                one.read_at = self._clock()
            return one.live

    def close(self) -> None:
        """Close their connections; the store stays open."""
        with self._lock:
            while self._followed:
                self._close_oldest()

    def _follow(self, run_id: str) -> _Followed:
        with self._lock:
            if run_id not in self._followed:
                while len(self._followed) >= _MOST:
                    self._close_oldest()
                self._followed[run_id] = _Followed(LiveRunReader(self._store, self._url, run_id))
            self._followed.move_to_end(run_id)
            return self._followed[run_id]

    def _close_oldest(self) -> None:
        _, one = self._followed.popitem(last=False)
        with one.lock:
            one.reader.close()


class ListedRun(NamedTuple):
    """A run; `totals` are those of its debates, `holder` the process that executes it.

    `batches`: what of it is in batches now; None: nothing is.
    """

    row: RunRow
    totals: Totals | None
    state: RunState
    holder: RunHolder | None
    batches: OpenWave | None = None

    @property
    def unrecorded(self) -> Unrecorded:
        """Calls that were sent and are not recorded, at most; while the run is executed, also those in flight."""
        return NOTHING_UNRECORDED if self.totals is None else self.row.unrecorded(self.totals)


def listed_runs(store: EventStore, registry: RunRegistry) -> list[ListedRun]:
    """Every run, the newest first."""
    rows = store.runs()
    holders = registry.holders([row.run_id for row in rows])
    totals = store.totals_by_run()
    return [
        ListedRun(row, of, run_state(row, holder, 0 if of is None else of.unfinished), holder, _open_wave(store, row))
        for row in reversed(rows)
        for holder, of in [(holders.get(row.run_id), totals.get(row.run_id))]
    ]


def _open_wave(store: EventStore, row: RunRow) -> OpenWave | None:
    return open_wave(store, row.run_id) if row.ended < row.debates else None
