"""The results of a run that another process executes, from the store alone, and how a session ended."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from jury_actors.admission.budget import BUDGET, BUDGET_LOST
from jury_actors.errors import Halted
from jury_actors.messages import Finished
from jury_cases.omissions import UnreadableRows
from jury_events.ids import replaced_id
from jury_judge.runs.cancelling import RunLog
from jury_judge.runs.case_stages import latest_stage
from jury_judge.runs.execution import Line
from jury_judge.runs.run import ProgressListener
from jury_judge.runs.spending import Spending
from jury_judge.runs.supervision import log_file
from jury_judge.stores.debates import result_lines
from jury_judge.stores.open_batches import waiting_line
from jury_providers.prices import Prices
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_store.run_registry import RunRegistry, open_registry

StopCause = Literal["budget", "budget_lost", "other"]


def stop_cause(finished: Finished) -> StopCause:
    """Why a debate could not go on: the budget is used up, its process was lost, or other."""
    problem = finished.problem
    if isinstance(problem, Halted) and problem.about in {BUDGET, BUDGET_LOST}:
        return "budget" if problem.about == BUDGET else "budget_lost"
    return "other"


class RunOutcome(NamedTuple):
    """How a session of a run ended.

    Attributes:
        interrupted: by a signal.
        problems: debates that could not go on.
        total: how many cases the run has; None if they were not all read.
        before: debates that ended in earlier sessions.
        now: debates that ended in this one.
        seconds: how long it took.
        spent: in this session; None if the store could not be read, or another process executes the run.
        run_spent: in all sessions of the run; None if the store could not be read.
        short: what is left, in words, if the budget did not cover it.
        bounds: of the budget, in words; None: there is none.
        cancelled_by: who cancelled the run meanwhile.
        unreadable: rows, traces and files that were left out, since they cannot be read; None if it is not known.
        waiting: what is in open batches, in words; None: nothing is.
        lines: how many results were given; a run has one for each of its debates, of a ladder for each of its cases.
        lost: why another process that executed the run did not come to its end, in words.
        failed: by model, how the calls failed of debates that could not go on, and what the provider said.
    """

    interrupted: bool
    problems: list[Finished]
    total: int | None
    before: int = 0
    now: int = 0
    seconds: float = 0.0
    spent: Spending | None = None
    run_spent: Spending | None = None
    short: str | None = None
    bounds: str | None = None
    cancelled_by: str | None = None
    unreadable: UnreadableRows | None = None
    waiting: str | None = None
    lines: int = 0
    lost: str | None = None
    failed: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the run came to its end: every debate has its result, and nothing is left to do or to wait for.

        Decided here for every door, and whatever the reason is: a reason that none of the other fields has is none for
        taking a part of a run for all of it.
        """
        stopped = self.interrupted or self.problems or self.short or self.waiting
        return not stopped and self.total is not None and self.lines >= self.total

    def after(self, earlier: "RunOutcome | None") -> "RunOutcome":
        """This session and the earlier ones of the same command as one; None: there was none."""
        if earlier is None:
            return self
        spent = None if self.spent is None or earlier.spent is None else earlier.spent + self.spent
        now, seconds = earlier.now + self.now, earlier.seconds + self.seconds
        return self._replace(before=earlier.before, now=now, seconds=seconds, spent=spent)

    @property
    def left_out(self) -> tuple[str, ...]:
        """`unreadable` as lines for people; empty if everything was read."""
        return () if self.unreadable is None else tuple(self.unreadable.lines())


_EVERY = 0.5
"""Seconds between two looks at a debate that is not over."""

_PAGE = 500


@contextmanager
def followed(url: str, run_id: str, progress: ProgressListener, prices: Prices | None = None) -> "Iterator[RunWatch]":
    """A run that another process executes."""
    with closing(open_store(url, write=False)) as store, closing(open_registry(url)) as registry:
        yield RunWatch(url, run_id, store, registry, progress, prices)


@dataclass
class RunWatch:
    """Of use in the context of `followed`."""

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
            run_spent=Spending.total(self.store, self.run_id, self.prices),
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
