"""The result lines of a run that another process executes, from the store alone."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from jury_actors.messages import Finished
from jury_events.ids import replaced_id
from jury_judge.runs.cancelling import RunLog
from jury_judge.runs.case_stages import latest_stage
from jury_judge.runs.execution import Line
from jury_judge.runs.run import ProgressListener, RunOutcome
from jury_judge.runs.supervision import log_file
from jury_judge.runs.usage import RunUsage
from jury_judge.store_access.debates import result_lines
from jury_judge.store_access.open_batches import waiting_line
from jury_providers.prices import Prices
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_store.run_registry import RunRegistry, open_registry

_EVERY = 0.5
"""Seconds between two looks at a debate that is not over."""

_PAGE = 500


@contextmanager
def followed(
    url: str, run_id: str, progress: ProgressListener, prices: Prices | None = None
) -> "Iterator[RunFollower]":
    """A run that another process executes."""
    with closing(open_store(url, write=False)) as store, closing(open_registry(url)) as registry:
        yield RunFollower(url, run_id, store, registry, progress, prices)


@dataclass
class RunFollower:
    """A run that another process executes; of use in the context of `followed`."""

    url: str
    run_id: str
    store: EventStore
    registry: RunRegistry
    progress: ProgressListener
    prices: Prices | None
    _started: float = field(default_factory=time.monotonic)
    _before: int = 0
    _now: int = 0

    async def lines(self) -> AsyncIterator[Line]:
        """The result line of each case, to the last of a complete list, or until the process ends."""
        log, after, alive, since = RunLog(self.store, self.run_id), 0, True, self.store.last_position()
        run = self.store.run(self.run_id)
        self._before = 0 if run is None else run.ended
        self.progress.begin(None if run is None else run.total, self._before)
        while True:
            facts = await asyncio.to_thread(log.look)
            # Looked at before the list is read on: what was listed last is not missed.
            ends = not alive or (facts is not None and facts.complete)
            rows = await asyncio.to_thread(self._listed, after)
            for row in rows:
                after = row.position
                if row.stage not in {None, 1} or replaced_id(row.debate_id) is not None:
                    continue
                while (counted := await asyncio.to_thread(self._counted, row)) is None and alive:
                    alive = await self._goes_on()
                if counted is not None:
                    (history,) = await asyncio.to_thread(self.store.event_histories, [counted.debate_id])
                    if history.stored_events[-1].position > since:
                        self._now += 1
                        self.progress.ended(Finished(counted.debate_id, "over"))
                    (line,) = await asyncio.to_thread(result_lines, self.store, [history])
                    yield line
            if not rows and ends:
                return
            if not rows:
                alive = await self._goes_on()

    def outcome(self, lines: int) -> RunOutcome:
        """How it ended; `lines` is how many result lines were taken."""
        row = self.store.run(self.run_id)
        total = None if row is None else row.total
        log = log_file(self.url, self.run_id)
        return RunOutcome(
            interrupted=False,
            problems=[],
            total=total,
            before=self._before,
            now=self._now,
            seconds=time.monotonic() - self._started,
            run_spent=RunUsage.total(self.store, self.run_id, self.prices),
            waiting=waiting_line(self.store, self.run_id),
            lines=lines,
            lost=None if lines == total else f"the process ended before the run did ({log} says why, on its machine)",
        )

    async def _goes_on(self) -> bool:
        await asyncio.sleep(_EVERY)
        return self.run_id in await asyncio.to_thread(self.registry.holders, [self.run_id])

    def _listed(self, after: int) -> list[DebateRow]:
        return self.store.debates(run_id=self.run_id, waiting=None, limit=_PAGE, after=after)

    def _counted(self, first: DebateRow) -> DebateRow | None:
        """The debate that counts for a case, once it is over."""
        row = latest_stage(self.store, first.debate_id)
        return row if row is not None and row.has_ended and row.aside is None else None
