"""One session of a run: executed by its Jury; its debates, time and spending are counted."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Literal, NamedTuple

from jury_actors.admission.budget import BUDGET, BUDGET_LOST
from jury_actors.errors import Halted, Unsettled
from jury_actors.messages import Chunk, Finished
from jury_cases.unreadable import UnreadableRows
from jury_events.ids import debate_stream
from jury_judge.batches.batch_plan import BatchPlan
from jury_judge.jury import Jury
from jury_judge.live.feed import Feed
from jury_judge.running.supervision import RunSupervision
from jury_judge.runs.allowance import Allowance
from jury_judge.runs.preflight import PreflightReport
from jury_judge.runs.run import Run
from jury_judge.runs.run_lines import Line
from jury_judge.runs.run_progress import ProgressListener
from jury_judge.runs.spending import Spending, SpendingWatch
from jury_judge.seals.sealing import Sealing
from jury_judge.stores.open_batches import waiting_line
from jury_providers.prices import Prices
from jury_replay.intact import intact_history
from jury_store.errors import StoreError
from jury_store.event_store import EventStore
from jury_views.debate_results import collaborative_result
from jury_views.failed_calls import failed_calls

_SPENDING_SECONDS = 5.0
"""How often the spending of a run is read."""


StopCause = Literal["budget", "budget_lost", "other"]


def stop_cause(finished: Finished) -> StopCause:
    """Why a debate could not go on: the budget is used up, its process was lost, or other."""
    problem = finished.problem
    if isinstance(problem, Halted) and problem.about in {BUDGET, BUDGET_LOST}:
        return "budget" if problem.about == BUDGET else "budget_lost"
    return "other"


_MOST_READ = 50
"""Debates that could not go on whose calls are read to say why."""


def _is_of_a_provider(problem: BaseException | None) -> bool:
    if isinstance(problem, Halted):
        return problem.about not in {BUDGET, BUDGET_LOST}
    return isinstance(problem, Unsettled)


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

    @property
    def left_out(self) -> tuple[str, ...]:
        """`unreadable` as lines for people; empty if everything was read."""
        return () if self.unreadable is None else tuple(self.unreadable.lines())


@asynccontextmanager
async def _passed_on(stopping: asyncio.Event | None) -> AsyncIterator[asyncio.Event]:
    """An event that is set with `stopping`, and that the run sets itself without saying that a person stopped it."""
    ending = asyncio.Event()
    if stopping is None:
        yield ending
        return

    async def pass_on(stopping: asyncio.Event) -> None:
        await stopping.wait()
        ending.set()

    passing = asyncio.create_task(pass_on(stopping))
    try:
        yield ending
    finally:
        passing.cancel()
        await asyncio.gather(passing, return_exceptions=True)


class RunSession:
    """A `ProgressListener` that counts, and passes everything on.

    Args:
        run: the input.
        checked: the report of its preflight.
        store: open for reading, until `outcome` was called.
        progress: called for what happens.
        jury: executes the run.
        allowance: of a run with a budget.
        in_process: whether debates run in this process, else on Ray.
        sealing: of the log, meanwhile.
        supervision: shows the run to other processes, which may cancel it.
        unreadable: of the files of the run.
        prices: of the models.
        batches: how calls go through them; None: they are made live.
    """

    def __init__(
        self,
        run: Run,
        checked: PreflightReport,
        store: EventStore,
        progress: ProgressListener,
        *,
        jury: Jury,
        allowance: Allowance | None = None,
        in_process: bool = True,
        sealing: Sealing | None = None,
        supervision: RunSupervision | None = None,
        unreadable: UnreadableRows | None = None,
        prices: Prices | None = None,
        batches: BatchPlan | None = None,
    ) -> None:
        self._batches = batches
        self._jury = jury
        self._allowance = allowance
        self.in_process = in_process
        self.total = checked.total
        self._run = run
        self._checked = checked
        self._sealing = sealing
        self._supervision = supervision
        self._unreadable = unreadable
        self._store = store
        self._progress = progress
        self._prices = prices
        self._watch = SpendingWatch(store, run.run_id)
        self._started = time.monotonic()
        self._ended_now = 0
        self._problems: list[Finished] = []

    @property
    def needs_ray(self) -> bool:
        """Whether a debate may be left to run, and that is on Ray."""
        return self._checked.left and not self.in_process

    @property
    def sealed(self) -> int | None:
        """How many events the last stored seal covers; None where there is none of this session."""
        return None if self._sealing is None else self._sealing.sealed

    @property
    def feed(self) -> Feed:
        """A feed of the live events of the store."""
        return Feed(self._store)

    async def execute(
        self,
        stopping: asyncio.Event | None = None,
        *,
        on_chunk: Callable[[Chunk], None] | None = None,
        on_spending: Callable[[Spending], None] | None = None,
    ) -> AsyncGenerator[Line, None]:
        """Run the debates that are left; yields the lines of all, in the order of the cases. See `Jury.execute`.

        Args:
            stopping: once set, no new debate begins; those that run are finished.
            on_chunk: called with each chunk that a final judge writes.
            on_spending: called every few seconds with what was spent in this session.
        """
        async with self._spending_shown(on_spending), self._jury, _passed_on(stopping) as ending:
            lines = self._jury.execute(
                self._run,
                self._checked,
                problems=self._problems,
                progress=self,
                stopping=ending,
                on_chunk=on_chunk,
                allowance=self._allowance,
                supervision=self._supervision,
                batches=self._batches,
            )
            async with aclosing(lines):
                async for line in lines:
                    yield line

    async def waits_for(self) -> str:
        """What running debates wait for, as a phrase for people."""
        return await self._jury.waits_for()

    def result(self, debate_id: str) -> dict[str, Any] | None:
        """The result of a debate as data; None where it was not opened."""
        if not self._store.heads([debate_stream(debate_id)]):
            return None
        record = intact_history(self._store, debate_id)
        return collaborative_result(record.events, record.texts)

    @asynccontextmanager
    async def _spending_shown(self, show: Callable[[Spending], None] | None) -> AsyncIterator[None]:
        """Call `show` every few seconds with what was spent in this session, if a debate is left to run."""
        if show is None or not self._checked.left:
            yield
            return
        over = asyncio.Event()

        async def watch() -> None:
            while not over.is_set():
                with suppress(StoreError):
                    show(await asyncio.to_thread(self._watch.glance))
                with suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), _SPENDING_SECONDS)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            # The thread must have left the watch before `outcome` reads it.
            over.set()
            await watching

    def outcome(self, *, interrupted: bool, lines: int) -> RunOutcome:
        """How the session ended; `lines` is how many result lines were taken."""
        seconds = time.monotonic() - self._started
        run_id, allowance = self._run.run_id, self._allowance
        spent = whole = waiting = None
        failed: tuple[str, ...] = ()
        with suppress(StoreError):  # what was judged is reported even if the store cannot be read any more
            spent = self._watch.look()
            waiting = waiting_line(self._store, run_id)
            whole = Spending.total(self._store, run_id, self._prices)
            failed = self._failed()
        return RunOutcome(
            interrupted,
            self._problems,
            self.total,
            self._checked.ended,
            self._ended_now,
            seconds,
            spent,
            whole,
            self._short(lines),
            None if allowance is None else allowance.bounds,
            None if self._supervision is None else self._supervision.cancelled_by,
            self._unreadable,
            waiting,
            lines,
            failed=failed,
        )

    def _failed(self) -> tuple[str, ...]:
        """How calls failed of debates that a provider stopped; of many debates, those of the first."""
        stopped = [one.debate_id for one in self._problems if _is_of_a_provider(one.problem)]
        histories = self._store.histories(stopped[:_MOST_READ])
        return tuple(map(str, failed_calls((one.exchanges, one.texts) for one in histories)))

    def _short(self, lines: int) -> str | None:
        allowance = self._allowance
        if allowance is None:
            return None
        halted = any(stop_cause(one) == "budget" for one in self._problems)
        if not (allowance.short or halted):
            return None
        return allowance.rest(None if self.total is None else self.total - lines)

    def begin(self, total: int | None, stored: int) -> None:
        """See `ProgressListener`."""
        self._progress.begin(total, stored)

    def total_known(self, total: int) -> None:
        """See `ProgressListener`."""
        self.total = total
        self._progress.total_known(total)

    def goes_on(self, stage: int) -> None:
        """See `ProgressListener`."""
        self._progress.goes_on(stage)

    def ended(self, finished: Finished) -> None:
        """See `ProgressListener`."""
        self._ended_now += finished.problem is None
        self._progress.ended(finished)
