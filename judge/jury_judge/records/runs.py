"""Runs: listed, watched while any process executes them, cancelled; debates as they open; baselines of drift checks."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from jury_events.conditions import Condition, admitted
from jury_events.drift_facts import DriftFacts
from jury_events.ids import debate_stream, is_run_id, run_stream
from jury_events.run_facts import RunFacts, run_facts
from jury_judge.records.open_store import OpenStore, Where, conditions_of, log_line
from jury_store.debate_rows import DebateRow, RunRow
from jury_store.event_store import EventStore
from jury_store.run_registry import open_registry

if TYPE_CHECKING:
    from jury_judge.live.feed import Beginning
    from jury_judge.running.cancelling import Cancelled
    from jury_judge.running.live_run import ListedRun, LiveRun
    from jury_judge.stores.stores import Say

_EVERY = 1.0
"""Seconds between two readings of a run's figures."""


class RunRecords(OpenStore):
    """Runs of the store, whichever process executes them."""

    async def runs(self) -> "list[ListedRun]":
        """Every run, the newest first: its counts, its cost, and the process that executes it.

        Raises:
            StoreError: the store cannot be read.
        """
        return await self._read(_listed, self.store_url)

    async def run_counts(self, run_id: str) -> RunRow | None:
        """The counts of a run; None where no debate of it was opened."""
        return await self._read(_run_counts, run_id)

    async def recorded_runs(self) -> dict[str, RunFacts]:
        """What the streams of runs say, by id: who judges, how much is listed, who cancelled it, its end.

        Raises:
            EventError: an event does not decode.
            StoreError: the store cannot be read.
        """
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
            run_id: the run.
            every: seconds between two readings.

        Raises:
            DebateNotFound: there is no such run.
            StoreError: the store cannot be read.
        """
        from jury_judge.running.live_run import LiveRunReader

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
            run_id: only those of this run.
            where: conditions on the cases (docs/filtering.md); all must be met.

        Raises:
            BadCondition: not a valid condition.
            StoreError: the log cannot be read.
        """
        conditions = conditions_of(where)
        found: asyncio.Queue[str] = asyncio.Queue()
        known: set[str] = set()

        def begins(beginning: "Beginning") -> None:
            if run_id in {None, beginning.run_id} and admitted(conditions, beginning.values):
                found.put_nowait(beginning.debate_id)

        async with self.feed.beginnings(begins):
            after = 0
            while rows := await self._read(_unfinished, run_id, conditions, after):
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
            run_id: the run.
            by: who cancels it, for the record; None: the login name.
            say: takes a line for the user when another process has to do it; by default the log does.

        Raises:
            SettingsRefused: `by` is not a name in one line of at most 30 bytes.
            DebateNotFound: there is no such run.
            StoreLocked: another process writes to the SQLite store without executing the run, or cancels it already.
            RunRefused: the process that executed the run ended, and another one took it up meanwhile.
        """
        from jury_judge.running.cancelling import cancel_run, canceller

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


def _listed(store: EventStore, url: str) -> "list[ListedRun]":
    from jury_judge.running.live_run import listed_runs

    with closing(open_registry(url)) as registry:
        return listed_runs(store, registry)


def _run_counts(store: EventStore, run_id: str) -> RunRow | None:
    return store.run(run_id)


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


def _unfinished(store: EventStore, run_id: str | None, where: tuple[Condition, ...], after: int) -> list[DebateRow]:
    return store.debates(run_id=run_id, unfinished=True, where=where, after=after)
