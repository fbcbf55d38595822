"""A run in waves: each takes the answers that are there, decides what follows, and sends the calls that are due then.

No debate waits in memory: each is read from the log, goes on as far as it can, and is forgotten.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from jury_actors.admission.budget_service import BudgetService
from jury_actors.batches.batch_errors import OtherAccount
from jury_actors.batches.batch_lifecycle import BatchLifecycle
from jury_actors.batches.batch_log import BatchLog
from jury_actors.batches.batch_steps import poll_gap
from jury_actors.batches.wave_spool import FilledSpool, WaveSpool
from jury_actors.driver import drive
from jury_actors.effects import Effects
from jury_actors.errors import Halted
from jury_actors.messages import Chunk, Finished, Job, RunContext
from jury_actors.notices import Say
from jury_actors.runtime import Runtime
from jury_events.batch_facts import BatchFacts
from jury_events.text.pluralize import pluralize
from jury_judge.batches.batch_plan import BatchPlan
from jury_judge.batches.wave_metrics import WaveMetrics
from jury_judge.runs.preflight import preflight
from jury_judge.runs.run import Run
from jury_judge.runs.run_jobs import RunJobs
from jury_judge.runs.run_progress import NoListener, RunProgress
from jury_providers.prices import Prices
from jury_store.event_store import EventStore

_LAPSES = 2
"""So often batches may fail to answer a call before it is made live."""


class WaveDriving:
    """Drives the debates of a run as `drive` does.

    Args:
        run: the input.
        store: open for reading.
        plan: how the calls go through batches.
        stopping: once set, no further wave is sent.
        metrics: show what is in batches.
        prices: of the models.
        cancelled_by: who cancelled the run, if anyone; then no call is made any more, and open batches are ended.
        say: takes a line for the user.
        effects: clock and entropy.
    """

    def __init__(
        self,
        run: Run,
        store: EventStore,
        plan: BatchPlan,
        stopping: asyncio.Event,
        *,
        prices: Prices,
        say: Say,
        metrics: WaveMetrics,
        cancelled_by: Callable[[], str | None] = lambda: None,
        effects: Effects = Effects(),
    ) -> None:
        self._cancelled_by = cancelled_by
        self._metrics = metrics
        self._run = run
        self._store = store
        self._plan = plan
        self._stopping = stopping
        self._prices = prices
        self._say = say
        self._effects = effects
        self._waiting: set[str] = set()
        self._wave = 0

    async def __call__(
        self,
        runtime: Runtime,
        jobs: Iterator[Job],
        *,
        concurrency: int,
        on_chunk: Callable[[Chunk], None],
        admits: Callable[[Job], Awaitable[bool]],
    ) -> AsyncGenerator[Finished, None]:
        """Yields each debate as it ends, or cannot go on; those that still wait at the end are not yielded.

        Raises:
            OtherAccount, Halted: a batch cannot be asked for.
            StoreError: the log cannot be read or written.
        """
        driving = partial(drive, runtime, concurrency=concurrency, on_chunk=on_chunk)
        with self._metrics.shown():
            async with aclosing(self._waves(runtime, jobs, driving, admits)) as ended:
                async for finished in ended:
                    yield finished

    async def _waves(
        self,
        runtime: Runtime,
        jobs: Iterator[Job],
        driving: Callable[..., AsyncGenerator[Finished, None]],
        admits: Callable[[Job], Awaitable[bool]],
    ) -> AsyncGenerator[Finished, None]:
        log = BatchLog(self._store, runtime.clerk, self._effects)
        lifecycle = self._lifecycle(log, runtime)
        known = await log.of_run(self._run.run_id)
        self._wave = max((one.prepared.wave for one in known), default=0)
        followed, first, polls = known, True, 0
        while True:
            looked = await self._advanced(lifecycle, followed)
            polls = polls + 1 if looked == followed else 0
            followed = [one for one in looked if one.closed is None]
            self._metrics.follow(*looked)
            if not any(one.open for one in followed):
                if self._stopping.is_set():
                    return
                self._wave += 1
                with TemporaryDirectory(prefix="jury-wave-") as folder:
                    spool = await self._spool(Path(folder), log, lifecycle, runtime.budget, interrupted=first)
                    # Debates that wait were admitted before.
                    begins = partial(driving, admits=admits) if first else driving
                    wave_jobs = jobs if first else await asyncio.to_thread(self._left)
                    async with aclosing(self._driven(begins, wave_jobs, spool)) as driven:
                        async for finished in driven:
                            yield finished
                if not spool.taken:
                    return
                first, polls = False, 0
                followed = [one for one in await log.of_run(self._run.run_id) if one.closed is None]
                batches = pluralize(sum(one.open for one in followed), "batch", "batches")
                self._say(f"wave {self._wave}: {pluralize(spool.taken, 'call')} in {batches}")
                self._metrics.wave_sent()
            if (by := self._cancelled_by()) is not None:
                followed = await self._cancelled(lifecycle, followed, by)
                if self._plan.once:
                    return
                await self._plan.sleep(poll_gap(polls))
                continue
            if self._plan.once and not any(one.prepared.batch_id in lifecycle.staying for one in followed):
                self._stopping.set()
            if self._stopping.is_set():
                return
            await self._pause(poll_gap(polls))

    @staticmethod
    async def _advanced(lifecycle: BatchLifecycle, batches: Sequence[BatchFacts]) -> list[BatchFacts]:
        """The open ones of some batches after a look at each.

        Raises:
            OtherAccount, Halted: of the first that a person has to act for. What the others have is recorded before.
            StoreError: the log cannot be written.
        """
        looked: list[BatchFacts] = []
        stopped: OtherAccount | Halted | None = None
        for one in batches:
            if one.closed is None:
                try:
                    looked.append(await lifecycle.advance(one))
                except (OtherAccount, Halted) as error:
                    stopped = stopped or error
        if stopped is not None:
            raise stopped
        return looked

    async def _cancelled(self, lifecycle: BatchLifecycle, batches: list[BatchFacts], by: str) -> list[BatchFacts]:
        """Have the providers end the batches; what they answer until then is billed, and recorded when they end."""
        asked = [
            await lifecycle.cancel(one, by=by) if one.open and one.cancel_requested is None else one for one in batches
        ]
        return batches if asked == batches else await self._advanced(lifecycle, asked)

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
            not_ours=self._plan.not_ours,
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
            all_turns=self._plan.all_turns,
            interrupted=interrupted,
            prices=self._prices,
            budget=budget,
            effects=self._effects,
        )

    async def _launched(self, lifecycle: BatchLifecycle, spool: FilledSpool) -> None:
        self._metrics.follow(await lifecycle.launch(spool, self._wave))

    async def _driven(
        self, driving: Callable[[Iterator[Job]], AsyncGenerator[Finished, None]], jobs: Iterator[Job], spool: WaveSpool
    ) -> AsyncGenerator[Finished, None]:
        """Let every debate go on as far as it can; what is due then is sent in batches."""
        driven = driving(job._replace(context=job.context._replace(spool=spool)) for job in jobs)
        try:
            async with aclosing(driven):
                async for finished in driven:
                    if finished.status == "waiting":
                        self._waiting.add(finished.debate_id)
                    else:
                        self._waiting.discard(finished.debate_id)
                        yield finished
            await spool.flush()
        finally:
            spool.discard()

    def _left(self) -> Iterator[Job]:
        """The debates that wait for answers of the last wave."""
        checked = preflight(self._run, self._store)
        resolved = self._run.resolved
        jobs = RunJobs(
            run=self._run,
            context=RunContext(
                self._run.run_id,
                resolved if checked.prompts is None else resolved._replace(prompts=checked.prompts),
                operator_policy=self._run.operator_policy,
            ),
            checked=checked,
            state=RunProgress(),
            stopping=self._stopping,
            store=self._store,
            index=self._store,
            progress=NoListener(),
            problems=[],
            begun_first=False,
        )
        return (job for job in jobs if job.debate_id in self._waiting)

    async def _pause(self, seconds: float) -> None:
        """Wait so long, or until the run is stopped."""
        waits = [asyncio.ensure_future(self._plan.sleep(seconds)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
