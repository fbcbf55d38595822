"""Driving the debates of a run by waves of calls, each wave a provider's batch.

No debate waits in memory: each is read from the log, goes on as far as it can, and is forgotten.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from jury_actors.admission.budget import BudgetService
from jury_actors.batches.batch_lifecycle import BatchLifecycle
from jury_actors.batches.batch_log import BatchLog
from jury_actors.batches.batch_steps import OtherAccount, poll_gap
from jury_actors.batches.wave_spool import FilledSpool, WaveSpool
from jury_actors.effects import Effects
from jury_actors.errors import Halted
from jury_actors.messages import Chunk, Finished, Job
from jury_actors.notices import Say
from jury_actors.runtime import Runtime, drive
from jury_events.batch_facts import BatchFacts
from jury_events.text import pluralize
from jury_judge.runs.batch_plan import BatchPlan
from jury_judge.runs.cancelling import RunLog, cancel_recorded, unfinished_debates
from jury_judge.runs.run import RunInput
from jury_judge.store_access.open_batches import WaveMetrics
from jury_providers.prices import Prices
from jury_store.event_store import EventStore

_AT_ONCE = 128
"""Debates that are drawn in one go of a thread, while they are listed."""


class DebatesLeft:
    """The debates of a run that are left, for one wave after the other.

    Jobs are drawn before it is decided whether they are admitted; those that were not come again. Cases of debates that
    wait are not kept: they are in the log.

    Args:
        jobs: of the debates that are left, drawn in a thread; None: there is none now (see `drive`).
        admits: whether a debate may begin now.
        stopping: once set, no debate goes on.
    """

    def __init__(
        self, jobs: Iterator[Job | None], admits: Callable[[Job], Awaitable[bool]], stopping: asyncio.Event
    ) -> None:
        self._jobs = jobs
        self._admits = admits
        self._stopping = stopping
        self._waiting: dict[str, Job] = {}
        self._drawn: dict[str, Job] = {}
        self._shared: dict[tuple[int, bool], Job] = {}

    async def list_all(self) -> int:
        """Draw the jobs that there are, whose debates are opened by that; returns how many were opened now."""
        opened = 0
        while (drawn := await asyncio.to_thread(self._draw)) is not None:
            opened += drawn
        return opened

    def _draw(self) -> int | None:
        """None: there are no more."""
        opened = found = 0
        for job in islice(self._jobs, _AT_ONCE):
            if job is None:
                break
            found += 1
            opened += job.known is not None
            self._drawn[job.debate_id] = self._on_record(job)
        return opened if found else None

    def of_wave(self) -> Iterator[Job | None]:
        """Debates that wait for answers of the last wave, which are always admitted; then the others."""
        for waiting in (self._waiting, self._drawn):
            for debate, job in list(waiting.items()):
                if self._stopping.is_set():
                    return
                yield job._replace(debate_id=debate)
        for drawn in self._jobs:
            if drawn is not None:
                self._drawn[drawn.debate_id] = drawn
            yield drawn

    async def admits(self, job: Job) -> bool:
        """Whether a job of `of_wave` may begin now."""
        if job.debate_id in self._drawn:
            if not await self._admits(job):
                return False
            self._drawn.pop(job.debate_id, None)
        return True

    def wait(self, job: Job) -> None:
        """The debate waits for answers of the wave."""
        self._waiting[job.debate_id] = self._on_record(job)

    def end(self, debate_id: str) -> None:
        """The debate ended, or cannot go on."""
        self._waiting.pop(debate_id, None)

    def _on_record(self, job: Job) -> Job:
        """How a debate goes on that the log has; many share one."""
        return self._shared.setdefault((id(job.context), job.adopted), Job("", b"", job.context, adopted=job.adopted))


_T = TypeVar("_T")

_GRACE = 5.0
"""Seconds that a provider has to answer what it was asked, once the run is stopped."""

_LAST_LOOKS = 4
_WINDING_UP = 10.0
"""So often, and for so many seconds, the batches of a cancelled run are looked at before its process ends."""

_LAPSES = 2
"""So often batches may fail to answer a call before it is made live."""


class WaveDriving:
    """Drives the debates of a run as `drive` does.

    Args:
        stopping: once set, no further wave is sent.
        cancelled_by: who cancelled the run, if anyone; then no call is made any more, and open batches are ended.
        interrupted: whether a person stopped the run: what a wave has gathered is not sent. A used up budget stops a
            run too, and what it covered is sent.
    """

    def __init__(
        self,
        run: RunInput,
        store: EventStore,
        plan: BatchPlan,
        stopping: asyncio.Event,
        *,
        prices: Prices,
        say: Say,
        metrics: WaveMetrics,
        cancelled_by: Callable[[], str | None] = lambda: None,
        interrupted: Callable[[], bool] = lambda: False,
        effects: Effects = Effects(),
    ) -> None:
        self._cancelled_by = cancelled_by
        self._interrupted = interrupted
        self._metrics = metrics
        self._run = run
        self._store = store
        self._plan = plan
        self._stopping = stopping
        self._prices = prices
        self._say = say
        self._effects = effects
        self._wave = 0
        self._sent = 0
        self._stopped_at: float | None = None

    async def __call__(
        self,
        runtime: Runtime,
        jobs: Iterator[Job | None],
        *,
        concurrency: int,
        on_chunk: Callable[[Chunk], None],
        admits: Callable[[Job], Awaitable[bool]],
    ) -> AsyncGenerator[Finished, None]:
        """Yields each debate as it ends, or cannot go on; those that still wait at the end are not yielded."""
        driving = partial(drive, runtime, concurrency=concurrency, on_chunk=on_chunk)
        with self._metrics.shown():
            async with aclosing(self._waves(runtime, jobs, driving, admits)) as ended:
                async for finished in ended:
                    yield finished

    async def _waves(
        self,
        runtime: Runtime,
        jobs: Iterator[Job | None],
        driving: Callable[..., AsyncGenerator[Finished, None]],
        admits: Callable[[Job], Awaitable[bool]],
    ) -> AsyncGenerator[Finished, None]:
        log = BatchLog(self._store, runtime.clerk, self._effects)
        lifecycle = self._lifecycle(log, runtime)
        known = await log.of_run(self._run.run_id)
        self._wave = max((one.prepared.wave for one in known), default=0)
        left = DebatesLeft(jobs, admits, self._stopping)
        followed, first, polls = known, True, 0
        while True:
            looked = await self._looked(lifecycle, followed)
            polls = polls + 1 if looked == followed else 0
            followed = [one for one in looked if one.open]
            waits = bool(followed)
            if first and not (waits or self._stopping.is_set()):
                await self._list(left)
            if not (waits or self._stopping.is_set()):
                self._wave += 1
                self._sent = 0
                with TemporaryDirectory(prefix="jury-wave-") as folder:
                    spool = await self._spool(Path(folder), log, lifecycle, runtime.budget, interrupted=first)
                    async with aclosing(self._driven(driving, left, spool)) as driven:
                        async for finished in driven:
                            yield finished
                first, polls = False, 0
                followed = [one for one in await log.of_run(self._run.run_id) if one.open]
                waits = bool(spool.taken)
                if self._sent:
                    batches = pluralize(len(followed), "batch", "batches")
                    self._say(f"wave {self._wave}: {pluralize(self._sent, 'call')} in {batches}")
                    self._metrics.wave_sent()
            if (by := self._cancelled_by()) is not None:
                await self._wind_up(runtime, lifecycle, log, by)
                return
            if not waits:
                return
            staying = any(one.prepared.batch_id in lifecycle.staying for one in followed)
            if self._stopping.is_set() or (self._plan.once and not staying):
                self._stopping.set()
                return
            await self._unless_stopped(self._plan.sleep(poll_gap(polls)), grace=0.0)

    async def _list(self, left: DebatesLeft) -> None:
        """Before the first wave of a session: one pass lists every case; else full batches are sent meanwhile."""
        facts = await asyncio.to_thread(RunLog(self._store, self._run.run_id).look)
        if facts is None or not facts.complete:
            sent = "when every case is listed" if self._plan.once else "once full, or when every case is listed"
            self._say(f"listing the cases: batches are sent {sent}")
        if self._plan.once and (listed := await left.list_all()):
            self._say(f"{pluralize(listed, 'debate')} listed")

    async def _looked(self, lifecycle: BatchLifecycle, followed: Sequence[BatchFacts]) -> list[BatchFacts]:
        """The batches as they are now; as they were where the run is stopped meanwhile. Raises as `_advanced`."""
        return await self._advanced(followed, lambda one: self._unless_stopped(lifecycle.advance(one)))

    async def _advanced(
        self, batches: Sequence[BatchFacts], advance: Callable[[BatchFacts], Awaitable[BatchFacts | None]]
    ) -> list[BatchFacts]:
        """The open ones of some batches after a look at each; one is as it was where `advance` returns None."""
        looked: list[BatchFacts] = []
        stopped: OtherAccount | Halted | None = None
        for one in batches:
            if one.open:
                try:
                    looked.append(await advance(one) or one)
                except (OtherAccount, Halted) as error:
                    stopped = stopped or error
        self._metrics.follow(*looked)
        if stopped is not None:
            raise stopped
        return looked

    async def _wind_up(self, runtime: Runtime, lifecycle: BatchLifecycle, log: BatchLog, by: str) -> None:
        """End the debates of a cancelled run at once, and then its batches, as far as their providers do it soon.

        What they answered until then is billed; a later pass records what is not recorded here.
        """
        left = await asyncio.to_thread(unfinished_debates, self._store, self._run.run_id)
        await cancel_recorded(runtime.clerk, left, by)
        followed = [
            await lifecycle.cancel(one, by=by) if one.open and one.cancel_requested is None else one
            for one in await log.of_run(self._run.run_id)
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(_WINDING_UP):
                for looks in range(_LAST_LOOKS):
                    followed = [one for one in await self._advanced(followed, lifecycle.advance) if one.open]
                    if not followed or self._plan.once:
                        return
                    await self._plan.sleep(poll_gap(looks))

    def _lifecycle(self, log: BatchLog, runtime: Runtime) -> BatchLifecycle:
        return BatchLifecycle(
            self._run.run_id,
            log,
            runtime.clerk,
            self._plan.providers,
            patience=self._plan.patience,
            prices=self._prices,
            effects=self._effects,
            say=self._say,
            same_account=self._plan.same_account,
            budget=runtime.budget,
            sleep=self._plan.sleep,
            monotonic=self._plan.monotonic,
        )

    async def _spool(
        self,
        folder: Path,
        log: BatchLog,
        lifecycle: BatchLifecycle,
        budget: BudgetService | None,
        *,
        interrupted: bool,
    ) -> WaveSpool:
        lapses: Counter[tuple[str, str]] = Counter()
        for facts in await log.of_run(self._run.run_id):
            calls = await log.calls(facts.prepared.batch_id) if facts.unanswered and not facts.free else ()
            if not calls:
                continue
            lapses.update(
                (calls[number - 1][0].debate_id, calls[number - 1][0].exchange) for number in facts.unanswered
            )
        return WaveSpool(
            folder,
            self._plan.providers,
            partial(self._launched, lifecycle),
            asked_live=frozenset(call for call, count in lapses.items() if count >= _LAPSES),
            interrupted=interrupted,
            prices=self._prices,
            budget=budget,
            effects=self._effects,
        )

    async def _launched(self, lifecycle: BatchLifecycle, spool: FilledSpool) -> None:
        if self._cancelled_by() is not None or self._interrupted():
            return
        self._sent += len(spool.calls)
        sent = await self._unless_stopped(lifecycle.launch(spool, self._wave))
        if sent is None:
            self._say(
                f"a batch of {pluralize(len(spool.calls), 'call')} was being sent to {spool.provider} when the run was "
                "stopped: it is looked for there before anything is sent again"
            )
        else:
            self._metrics.follow(sent)

    async def _driven(
        self,
        driving: Callable[..., AsyncGenerator[Finished, None]],
        left: DebatesLeft,
        spool: WaveSpool,
    ) -> AsyncGenerator[Finished, None]:
        sent: dict[str, Job] = {}
        jobs = (None if job is None else self._spooled(job, spool, sent) for job in left.of_wave())
        driven = driving(jobs, admits=left.admits)
        try:
            async with aclosing(driven):
                async for finished in driven:
                    job = sent.pop(finished.debate_id)
                    if finished.status == "waiting":
                        left.wait(job)
                    else:
                        left.end(finished.debate_id)
                        yield finished
            await spool.flush()
        finally:
            spool.discard()

    def _spooled(self, job: Job, spool: WaveSpool, sent: dict[str, Job]) -> Job:
        sent[job.debate_id] = job
        return job._replace(context=job.context._replace(spool=spool))

    async def _unless_stopped(self, work: Awaitable[_T], *, grace: float = _GRACE) -> _T | None:
        """What `work` returns; None: the run was stopped, and `grace` seconds later it was not done.

        A provider may not answer for hours. What it was asked is recorded before it is asked.
        """
        now = asyncio.get_running_loop().time
        task, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._stopped_at = self._stopped_at or now()
                await asyncio.wait({task}, timeout=max(0.0, self._stopped_at + grace - now()))
            return task.result() if task.done() else None
        finally:
            for one in (task, stopped):
                one.cancel()
            await asyncio.gather(task, stopped, return_exceptions=True)
