"""One session of a run: from the locks and the look at its store to how it ended."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import ExitStack, aclosing, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jury_actors.admission.budget import BUDGET, BUDGET_LOST
from jury_actors.effects import Effects
from jury_actors.errors import Halted, Unsettled
from jury_actors.messages import Chunk
from jury_actors.observation.tallies import MetricTotals
from jury_actors.runtime import drive
from jury_events.case import of_label
from jury_events.ids import debate_stream, first_of, first_stage_of, stage_id
from jury_events.text import pluralize
from jury_judge.runs.cancelling import requester
from jury_judge.runs.case_stages import judged_again
from jury_judge.runs.execution import Driving, Line, RunExecution
from jury_judge.runs.panel_actors import Observation, Writing, announced_actors, in_process_for
from jury_judge.runs.plan import RunPlan
from jury_judge.runs.preflight import PREFLIGHT_SECONDS, PreflightReport, preflight
from jury_judge.runs.run import NoListener, ProgressListener, RunOutcome, RunProgress, stop_cause
from jury_judge.runs.run_budget import DebateReservations, run_budget
from jury_judge.runs.supervision import RunSupervision
from jury_judge.runs.usage import RunUsage, RunUsageWatch
from jury_judge.store_access.open_batches import waiting_line
from jury_judge.store_access.panel_standing import panel_standing
from jury_judge.store_access.stores import RunLocks, Say, open_or_create
from jury_providers.prices import Prices
from jury_providers.registry import check_models
from jury_store.errors import StoreError, StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_views.reasons import failed_calls

if TYPE_CHECKING:
    from jury_judge.feed import Feed
    from jury_judge.runs.batch_plan import BatchPlan
    from jury_judge.seals.stored_seals import Sealing


_USAGE_SECONDS = 5.0
"""How often the usage of a run is read."""

LOCK_SECONDS = 20
"""How long to wait for another writer of a SQLite store, or another process that executes the run."""

_SAID = "jury: "
"""What lines about key files begin with."""


_log = logging.getLogger(__name__)


@contextmanager
def judging_session(
    planned: RunPlan, say: Say, *, in_process: bool | None = None, detached: bool = False, keys: bool = True
) -> "Iterator[JudgingSession]":
    """The run, compared with its store; no other process may execute it meanwhile.

    Blocks while cases are read. A missing store is created after every case could be read.

    Args:
        in_process: where debates run if the settings do not say; None: as many debates as there are decide.
        detached: this process belongs to no terminal.
        keys: whether the providers' keys have to be here.
    """
    settings, url, loaded = planned.settings, planned.store_url, planned.loaded
    endpoints, run_id = loaded.endpoints, planned.run.run_id
    seconds = None if settings.strict or settings.relabel else PREFLIGHT_SECONDS
    settings.script(loaded.models)
    prices, today = settings.price_list(planned.environ).at_clouds(endpoints), datetime.now(UTC).date()
    settings.check_priced(loaded.models, prices, today)
    environ = os.environ if keys and settings.ray_address is None else None
    reopens = planned.cancellations()
    with RunLocks(url, run_id, wait=LOCK_SECONDS, say=say, detached=detached) as opened:
        # A generated id needs no lock: no other process knows it.
        if not planned.is_new:
            opened.lock()
        check_models(loaded.panel, endpoints)
        try:
            there: EventStore | None = opened.enter_context(closing(open_store(url, write=False)))
        except StoreMissing:
            there = None
        if there is not None and not planned.is_new:
            _judge_again(planned, there, say)
        checked = preflight(planned.run, there, seconds=seconds, endpoints=endpoints)
        _label_again(planned, there, checked, say)
        if checked.left:
            for panel in loaded.panels:
                check_models(panel, endpoints, environ)
        # A missing store is created once every case could be read: a mistake in them leaves no empty store behind.
        store = opened.enter_context(closing(open_or_create(url))) if there is None else there
        writer = opened.lone_writer() if checked.left and not planned.is_new else None
        if checked.left and (said := panel_standing(store, loaded, settings.require_drift_check)) is not None:
            say(said)
        # Where another process wrote meanwhile, what it ended and spent is not of this session.
        if writer is not None and store.last_position() != checked.stored.position:
            checked = preflight(planned.run, store, seconds=seconds, endpoints=endpoints, before=checked)
        asked = settings.asked_in_process
        yield JudgingSession(
            planned=planned,
            url=url,
            store=store,
            checked=checked,
            prices=prices,
            today=today,
            say=say,
            in_process=in_process if asked is None else asked,
            detached=detached,
            reopens=reopens,
            writer=writer,
        )


def _judge_again(planned: RunPlan, store: EventStore, say: Say) -> None:
    """The cases of the run that were judged again, and those that are to be now, count by their last debate."""
    again = planned.again
    found = judged_again(store, planned.run.run_id, again)
    planned.run = replace(planned.run, successors=found.successors, replacing=found.replacing)
    if again is not None:
        judged = pluralize(len(found.replacing), "case")
        say(f"{judged} that ended without an evaluation {'is' if len(found.replacing) == 1 else 'are'} judged again")


def _label_again(planned: RunPlan, store: EventStore | None, checked: PreflightReport, say: Say) -> None:
    """Record the labels of the cases that are not the recorded ones, for every debate of each case, where asked to."""
    changed = checked.changed
    if store is None or not planned.settings.relabel or not (changed.labels or changed.unlabelled):
        return
    from jury_judge.reviews.review_changes import NewLabel
    from jury_judge.reviews.review_recorder import ReviewRecorder

    run, labels = planned.run, changed.labels | changed.unlabelled
    stages = 1 if run.ladder is None else len(run.ladder.stages)
    found: dict[str, NewLabel] = {}
    for debate, case in labels.items():
        every = [stage_id(first_stage_of(first_of(debate)), number) for number in range(1, stages + 1)]
        new = NewLabel(case.label, of_label(case.metadata))
        found.update(dict.fromkeys((*every, *map(run.counts, every)), new))
    there = store.heads([debate_stream(one) for one in found])
    found = {one: label for one, label in found.items() if debate_stream(one) in there}
    asyncio.run(ReviewRecorder(planned.store_url, say=say).label_all(found, by=requester()))
    for of, what in ((changed.labels, "recorded; they count from now on"), (changed.unlabelled, "removed from now on")):
        if cases := {case.case_id for case in of.values()}:
            say(f"labels of {pluralize(len(cases), 'case')} are {what}")
        of.clear()


_MOST_READ = 50
"""Debates that could not go on whose calls are read to say why."""


def _is_of_a_provider(problem: BaseException | None) -> bool:
    if isinstance(problem, Halted):
        return problem.about not in {BUDGET, BUDGET_LOST}
    return isinstance(problem, Unsettled)


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


@dataclass(kw_only=True)
class JudgingSession:
    """One session of a run, in the context of `judging_session`: compared with its store, executed, and its outcome.

    Attributes:
        planned: the run as it was asked for.
        url: of the store.
        store: open for reading.
        checked: the report of the preflight.
        prices: of the models.
        today: the day of the prices.
        say: takes lines for the user.
        in_process: whether debates run in this process, else on Ray; None: as many as there are decide.
        detached: this process belongs to no terminal.
        reopens: how many cancellations of the run were known when it was asked for.
        writer: of a SQLite store, open until the actors write; None where others may write, or nothing is left.
    """

    planned: RunPlan
    url: str
    store: EventStore
    checked: PreflightReport
    prices: Prices
    today: date
    say: Say
    in_process: bool | None
    detached: bool
    reopens: int
    writer: EventStore | None = None

    def set_up(self, progress: ProgressListener | None = None, metrics: MetricTotals | None = None) -> None:
        """Set up what executes the run; says where debates run, who receives the cases, what is odd about the panel."""
        planned, run, settings = self.planned, self.planned.run, self.planned.settings
        is_new = self.checked.stored.row is None
        self._started, self._metrics = time.monotonic(), metrics
        self._state = RunProgress(self.checked.total, self.checked.size, progress or NoListener())
        self._watch = RunUsageWatch(self.store, run.run_id, is_new=is_new)
        self._batches: BatchPlan | None = None
        if settings.batch:
            from jury_judge.runs.batch_plan import batch_plan, live_lines, tier_lines

            self._batches = batches = batch_plan(settings, planned.loaded)
            live = live_lines(planned.loaded.models, planned.loaded.endpoints)
            tiers = (line for panel in planned.loaded.panels for line in tier_lines(panel, batches.providers))
            for line in chain(live, tiers):
                self.say(line)
        if planned.loaded.ladder is not None and planned.loaded.ladder.certificate is None:
            self.say("the ladder has no certificate: every case goes through every stage, to be calibrated on")
        self._sealing = sealing = None if settings.seal_key is None else self._sealed_by(settings.seal_key)
        if self.in_process is None and not settings.batch:
            self.in_process, line = in_process_for(self.checked.expected, self.checked.read)
            if self.checked.left:
                self.say(line)
        self.in_process = in_process = settings.batch or bool(self.in_process)
        if self.writer is not None and not in_process:
            self.writer.close()  # the writer is an actor's process
        budget = run_budget(self.store, run.run_id, self.prices, self.today, settings.bounds, is_new=is_new)
        asked = settings.model_copy(update={"in_process": in_process, "ray": not in_process, "prices": self.prices})
        self._actors = announced_actors(
            planned.loaded,
            self.url,
            self.say,
            environ=planned.environ,
            runtime=asked,
            budget=asked,
            run_budget=budget,
            writing=Writing(name=run.run_id, lock_wait=LOCK_SECONDS, patience=settings.store_patience, sealing=sealing),
            observation=Observation(say=self.say, metrics=metrics, otel=settings.otel),
        )
        self._reservations = None
        if budget.bounds.bounded:
            endpoints = planned.loaded.endpoints
            self._reservations = DebateReservations(
                budget, self.store, prices=self.prices, endpoints=endpoints, on=self.today
            )
        self._supervision = RunSupervision(
            self.url, run.run_id, detached=self.detached, reopens=self.reopens, say=self.say
        )

    @property
    def needs_ray(self) -> bool:
        """Whether a debate may be left to run, and that is on Ray."""
        return self.checked.left and not self.in_process

    @property
    def sealed(self) -> int | None:
        """How many events the last stored seal covers; None where there is none of this session."""
        return None if self._sealing is None else self._sealing.sealed

    @property
    def feed(self) -> "Feed":
        """A feed of the live events of the store."""
        from jury_judge.feed import Feed

        return Feed(self.store)

    async def execute(
        self,
        stopping: asyncio.Event | None = None,
        *,
        on_chunk: Callable[[Chunk], None] | None = None,
        on_usage: Callable[[RunUsage], None] | None = None,
    ) -> AsyncGenerator[Line, None]:
        """Run the debates that are left; yields the lines of all, in the order of the cases. See `RunExecution`.

        Args:
            stopping: once set, no new debate begins; those that run are finished.
            on_chunk: called with each chunk that a final judge writes.
            on_usage: called every few seconds with what was spent in this session.
        """
        async with self._usage_shown(on_usage), self._actors, _passed_on(stopping) as ending:
            execution = RunExecution(
                run=self.planned.run,
                checked=self.checked,
                store=self.store,
                actors=self._actors,
                state=self._state,
                stopping=ending,
                on_chunk=on_chunk,
                store_patience=self.planned.settings.store_patience,
                reservations=self._reservations,
                driving=drive if self._batches is None else self._waves(self._batches, ending, stopping),
                supervision=self._supervision,
            )
            async with aclosing(execution.lines()) as lines:
                async for line in lines:
                    yield line

    def _waves(self, batches: "BatchPlan", stopping: asyncio.Event, by_person: asyncio.Event | None) -> Driving:
        """Calls go through batches where a provider has any; debates that wait at the end yield no line."""
        from jury_judge.runs.wave_driving import WaveDriving
        from jury_judge.store_access.open_batches import WaveMetrics

        effects = Effects()
        return WaveDriving(
            self.planned.run,
            self.store,
            batches,
            stopping,
            prices=self.prices,
            say=self.say,
            metrics=WaveMetrics(self._metrics, effects.clock),
            cancelled_by=lambda: self._supervision.cancelled_by,
            interrupted=lambda: by_person is not None and by_person.is_set(),
            effects=effects,
        )

    async def waits_for(self) -> str:
        """What running debates wait for, as a phrase for people."""
        return await self._actors.waits_for()

    def result(self, debate_id: str) -> dict[str, Any] | None:
        """The result of a debate as data; None where it was not opened."""
        from jury_replay.intact import intact_history
        from jury_views.debate_results import result_of

        if not self.store.heads([debate_stream(debate_id)]):
            return None
        return result_of(intact_history(self.store, debate_id)).data()

    @asynccontextmanager
    async def _usage_shown(self, show: Callable[[RunUsage], None] | None) -> AsyncIterator[None]:
        """Call `show` every few seconds with what was spent in this session, if a debate is left to run."""
        if show is None or not self.checked.left:
            yield
            return
        over = asyncio.Event()

        async def watch() -> None:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), _USAGE_SECONDS)
                if over.is_set():
                    return
                with suppress(StoreError):
                    show(await asyncio.to_thread(self._watch.glance))

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
        run_id, reservations = self.planned.run.run_id, self._reservations
        spent = whole = waiting = None
        failed: tuple[str, ...] = ()
        with suppress(StoreError):  # what was judged is reported even if the store cannot be read any more
            spent = self._watch.look()
            waiting = waiting_line(self.store, run_id)
            whole = RunUsage.total(self.store, run_id, self.prices)
            failed = self._failed()
        return RunOutcome(
            interrupted,
            self._state.problems,
            self._state.total,
            self.checked.ended,
            self._state.ended,
            seconds,
            spent,
            whole,
            self._short(lines),
            None if reservations is None else reservations.bounds.words,
            self._supervision.cancelled_by,
            self.planned.cases.unreadable,
            waiting,
            lines,
            failed=failed,
        )

    def _failed(self) -> tuple[str, ...]:
        """How calls failed of debates that a provider stopped; of many debates, those of the first."""
        stopped = [one.debate_id for one in self._state.problems if _is_of_a_provider(one.problem)]
        histories = self.store.histories(stopped[:_MOST_READ])
        return tuple(map(str, failed_calls((one.exchanges, one.texts) for one in histories)))

    def _short(self, lines: int) -> str | None:
        reservations = self._reservations
        if reservations is None:
            return None
        halted = any(stop_cause(one) == "budget" for one in self._state.problems)
        if not (reservations.short or halted):
            return None
        return reservations.rest(None if self._state.total is None else self._state.total - lines)

    def _sealed_by(self, seal_key: Path) -> "Sealing":
        from jury_judge.seals.key_files import signer
        from jury_judge.seals.stored_seals import Sealing
        from jury_store.sealer import Sealer

        settings, store = self.planned.settings, self.store
        key, last = signer(
            seal_key,
            settings.seal_last,
            sealed=lambda: store.latest_seal() is not None,
            say=lambda line: self.say(line.removeprefix(_SAID)),
        )
        return Sealing(Sealer(store, key, Effects().clock, last), settings.seal_every, self.say)


async def judge_run(
    planned: RunPlan,
    take: Callable[[Line], None],
    *,
    progress: ProgressListener | None = None,
    stopping: asyncio.Event | None = None,
    say: Say = _log.warning,
) -> RunOutcome:
    """Judge what is left of a run, within its budget over all its sessions; the same again resumes it.

    Args:
        take: called with the result line of every debate, in the order of the cases.
        stopping: once set, no new debate begins; those that run are finished.
        say: takes lines for the user: where debates run, who receives the cases, a juror died …
    """
    with ExitStack() as stack:
        session = await asyncio.to_thread(stack.enter_context, judging_session(planned, say))
        await asyncio.to_thread(session.set_up, progress)
        lines = 0
        async with aclosing(session.execute(stopping)) as judged:
            async for line in judged:
                lines += 1
                take(line)
        interrupted = stopping is not None and stopping.is_set()
        return await asyncio.to_thread(session.outcome, interrupted=interrupted, lines=lines)
