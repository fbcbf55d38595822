"""Lists of debates and runs, and what they add up to."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_events.conditions import admitted
from jury_events.drift_facts import DriftFacts
from jury_events.errors import DebateNotFound
from jury_events.ids import debate_stream, is_run_id, run_stream
from jury_events.run_facts import RunFacts, run_facts
from jury_judge.records.open_store import OpenStore, Where, conditions_of, log_line
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow, RunRow, Totals
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.run_registry import open_registry

if TYPE_CHECKING:
    from jury_judge.comparisons.comparison import Excerpt
    from jury_judge.comparisons.run_comparison import Group
    from jury_judge.live.feed import Beginning
    from jury_judge.runs.cancelling import Cancelled
    from jury_judge.runs.live_run import ListedRun, LiveRun
    from jury_judge.stores.stores import Say


_EVERY = 1.0
"""Seconds between two readings of a run's figures."""

_PAGE = 1000
_TEXTS = 50
"""Debates whose texts are read together: the first lines should not wait for those of a whole page."""


class ListedDebate(NamedTuple):
    """A row of a list.

    Attributes:
        row: the columns.
        excerpt: the text in which a search found its words; None without one.
        result: the result line of the debate, which says why; None where it was not asked for, or the debate has no
            verdict, or was altered.
    """

    row: DebateRow
    excerpt: "Excerpt | None" = None
    result: dict[str, Any] | None = None


class ListRecords(OpenStore):
    """Lists of debates and runs, whichever process executes them."""

    async def listed(
        self,
        chosen: DebateFilter = EVERY_DEBATE,
        sorted_by: SortOrder = NEWEST,
        *,
        limit: int | None = None,
        after: PageCursor | None = None,
        with_reasons: bool = False,
    ) -> AsyncGenerator[ListedDebate, None]:
        """The chosen debates in order, the newest first by default; read page by page.

        Args:
            chosen: which debates; those in quarantine are left out unless asked for.
            after: where an earlier list ended: `sorted_by.cursor` of its last row.
        """
        some_at_once = _TEXTS if chosen.search or with_reasons else _PAGE
        left = limit if limit is not None else 2**62
        while left and (
            rows := await self._read(EventStore.list_debates, chosen, sorted_by, limit=min(_PAGE, left), after=after)
        ):
            for start in range(0, len(rows), some_at_once):
                some = rows[start : start + some_at_once]
                for one in await self._read(_with_texts, some, chosen.search, with_reasons=with_reasons):
                    yield one
            left -= len(rows)
            after = sorted_by.cursor(asdict(rows[-1]))

    async def has_debates(self, chosen: DebateFilter = EVERY_DEBATE) -> bool:
        """Whether there is any such debate."""
        return bool(await self._read(EventStore.list_debates, chosen, NEWEST, limit=1))

    async def check_run(self, run_id: str) -> None:
        """Check that a run has a debate, in quarantine or not."""
        chosen = DebateFilter(run_id=run_id, waiting=None)
        if not await self.has_debates(chosen) and not await self.has_debates(chosen._replace(quarantined=True)):
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury list --runs` lists the runs")

    async def groups(self, by: str, chosen: DebateFilter = EVERY_DEBATE) -> "list[Group]":
        """The chosen debates counted by a field of their cases: numbers by size, then texts, then those without it.

        Args:
            by: the field, as `tags` or `metadata.level` (docs/filtering.md).
        """
        return await self._read(_groups, by, chosen)

    async def totals(self, chosen: DebateFilter = EVERY_DEBATE) -> Totals:
        """What the chosen debates add up to."""
        return await self._read(EventStore.totals, chosen)

    async def run_rows(self) -> list[RunRow]:
        """The counts of each run, the newest first."""
        return (await self._read(EventStore.runs))[::-1]

    async def search_lag(self) -> int:
        """How many of the newest events are not searched yet; 0: all are."""
        return await self._read(EventStore.search_lag)

    async def runs(self) -> "list[ListedRun]":
        """Every run, the newest first: its counts, its cost, and the process that executes it."""
        return await self._read(_listed, self.store_url)

    async def run_counts(self, run_id: str) -> RunRow | None:
        """The counts of a run; None where no debate of it was opened."""
        return await self._read(EventStore.run, run_id)

    async def recorded_runs(self) -> dict[str, RunFacts]:
        """What the streams of runs say, by id: who judges, how much is listed, who cancelled it, its end."""
        return await self._read(_recorded_runs)

    async def is_run(self, name: str) -> bool:
        """Whether a run has this name, also one that a process executes and whose first debate is not open yet."""
        return await self._read(_is_run, self.store_url, name)

    async def missing_debates(self, debate_ids: Sequence[str]) -> list[str]:
        """Those of these ids that no debate of the store has."""
        return await self._read(_missing, debate_ids)

    async def watch_run(self, run_id: str, *, every: float = _EVERY) -> "AsyncGenerator[LiveRun, None]":
        """The live figures of a run, again and again, until no process executes it; the last are those of its end.

        Args:
            every: seconds between two readings.
        """
        from jury_judge.runs.live_run import LiveRunReader

        with closing(LiveRunReader(self.store, self.store_url, run_id)) as reader:
            while True:
                live = await self._blocking(reader.read)
                yield live
                if live.state != "running":
                    return
                await asyncio.sleep(every)

    async def open_debates(self, *, run_id: str | None = None, where: Where = ()) -> AsyncGenerator[str, None]:
        """The ids of the debates that began and are not over, then of each that begins; it never ends by itself.

        Args:
            where: conditions on the cases (docs/filtering.md); all must be met.
        """
        conditions = conditions_of(where)
        found: asyncio.Queue[str] = asyncio.Queue()
        known: set[str] = set()

        def begins(beginning: "Beginning") -> None:
            if run_id in {None, beginning.run_id} and admitted(conditions, beginning.values):
                found.put_nowait(beginning.debate_id)

        async with self.feed.beginnings(begins):
            after = 0
            while rows := await self._read(
                EventStore.debates, run_id=run_id, unfinished=True, where=conditions, after=after
            ):
                for row in rows:
                    known.add(row.debate_id)
                    yield row.debate_id
                after = rows[-1].position
            while True:
                # One that began during the reading of the list is in both.
                if (debate_id := await found.get()) not in known:
                    yield debate_id

    async def cancel(self, run_id: str, *, by: str | None = None, say: "Say" = log_line) -> "Cancelled":
        """Cancel every debate of a run that is not over, also while another process executes it.

        Returns once all of them are over. Answers of calls in flight are still recorded.

        Args:
            by: who cancels it, for the record; None: the login name.
            say: takes a line for the user when another process has to do it; by default the log does.

        Raises:
            RunRefused: the process that executed the run ended, and another one took it up meanwhile.
        """
        from jury_judge.runs.cancelling import cancel_run, canceller

        return await cancel_run(self.store, self.store_url, run_id, canceller(by), say)

    async def drift(self, drift_id: str) -> DriftFacts:
        """A baseline of drift checks; each decision is computed again from the recorded votes.

        Raises:
            DebateNotFound: there is none of that id.
            MalformedBody: it was altered.
            StoreError: the store cannot be read.
        """
        return await self._read(_drift, drift_id)

    async def drifts(self) -> list[DriftFacts]:
        """All baselines, by id; raises as `drift`."""
        return await self._read(_drifts)


def _drift(store: EventStore, drift_id: str) -> DriftFacts:
    from jury_replay.drift_checks import intact_drift

    return intact_drift(store, drift_id).facts


def _drifts(store: EventStore) -> list[DriftFacts]:
    from jury_judge.stores.drift_checks import baselines

    return list(baselines(store))


def _with_texts(
    store: EventStore, rows: Sequence[DebateRow], search: str | None, *, with_reasons: bool
) -> list[ListedDebate]:
    said: Mapping[str, Excerpt] = {}
    if search:
        from jury_judge.comparisons.comparison import excerpts

        said = excerpts(store, [row.debate_id for row in rows], search)
    results = _results(store, rows) if with_reasons else {}
    return [ListedDebate(row, said.get(row.debate_id), results.get(row.debate_id)) for row in rows]


def _results(store: EventStore, rows: Sequence[DebateRow]) -> dict[str, dict[str, Any]]:
    """The result lines of those that have a verdict; what was altered shows no reason."""
    from jury_replay.intact import altered
    from jury_views.result_lines import line_of

    ended = [row.debate_id for row in rows if row.status == "completed"]
    histories = store.histories(ended)
    damaged = altered(store, histories)
    return {one.debate_id: line_of(one) for one in histories if one.debate_id not in damaged}


def _groups(store: EventStore, by: str, chosen: DebateFilter) -> "list[Group]":
    from jury_judge.comparisons.run_comparison import grouped

    return grouped(_rows(store, chosen), by)


def _rows(store: EventStore, chosen: DebateFilter) -> Iterable[DebateRow]:
    after: PageCursor | None = None
    while rows := store.list_debates(chosen, NEWEST, limit=_PAGE, after=after):
        yield from rows
        after = NEWEST.cursor(asdict(rows[-1]))


def _listed(store: EventStore, url: str) -> "list[ListedRun]":
    from jury_judge.runs.live_run import listed_runs

    with closing(open_registry(url)) as registry:
        return listed_runs(store, registry)


def _is_run(store: EventStore, url: str, name: str) -> bool:
    if not is_run_id(name):
        return False
    if store.run(name) is not None:
        return True
    with closing(open_registry(url)) as registry:
        return bool(registry.holders([name]))


def _recorded_runs(store: EventStore) -> dict[str, RunFacts]:
    found = {run_id: run_facts(store.read_stream(run_stream(run_id))) for run_id in store.run_ids()}
    return {run_id: facts for run_id, facts in found.items() if facts is not None}


def _missing(store: EventStore, debate_ids: Sequence[str]) -> list[str]:
    heads = store.heads([debate_stream(one) for one in debate_ids])
    return [one for one in debate_ids if debate_stream(one) not in heads]
