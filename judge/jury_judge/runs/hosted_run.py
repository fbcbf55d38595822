"""A run whose cases come one after another, from many callers at once: they share the actors and one budget."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from types import TracebackType
from typing import Self

from jury_actors.admission.budget import BUDGET
from jury_actors.errors import Halted
from jury_actors.messages import Finished
from jury_actors.runtime import drive
from jury_events.case import Case
from jury_events.ids import debate_id as id_of
from jury_judge.errors import RunUnfinished
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.callbacks import Callbacks, OnEvent
from jury_judge.runs.case_stages import latest_stage
from jury_judge.runs.execution import RunExecution
from jury_judge.runs.panel_actors import Observation, PanelActors, Writing, announced_actors
from jury_judge.runs.plan import OneCase, RunPlan
from jury_judge.runs.preflight import preflight
from jury_judge.runs.run import RunInput, RunProgress
from jury_judge.runs.run_budget import DebateReservations, run_budget
from jury_judge.runs.session import LOCK_SECONDS
from jury_judge.runs.shared_context import SharedContext
from jury_judge.runs.supervision import RunSupervision
from jury_judge.settings.jury import RuntimeSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_judge.store_access.panel_standing import panel_standing
from jury_judge.store_access.stores import RunLocks, Say, open_or_create
from jury_providers.registry import check_models
from jury_store.event_store import EventStore


class HostedRun:
    """Judges cases into one run, any number at once in this process, within its budget over all its sessions.

    Each case is listed when it comes, so that the list of the run stays open.

    While nothing is judged the store is free for other processes.

    Args:
        settings: of the run, with its id; debates run in this process.
        loaded: the panel, or the first stage of a ladder.
        environ: where settings are read; None is `os.environ`.
    """

    def __init__(
        self, settings: RunSettings, loaded: LoadedPanel, say: Say, environ: Mapping[str, str] | None = None
    ) -> None:
        self._planned = partial(RunPlan, settings=settings, loaded=loaded, adopt=(), environ=environ)
        self._listing = Lock()
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._sessions = SharedContext(lambda: _Session(settings, loaded, say, environ))

    async def judge(self, case: Case, store: EventStore, on_event: OnEvent | None = None) -> str:
        """Judge a case to the end of its debate, unless that was done before; returns the debate's id.

        By a ladder stage by stage, its audit included; returns the id of the debate that counts. Cancelling stops the
        debate where it is, and no other; the same call goes on with it.

        Args:
            case: with an id that no other case of the run has.
            on_event: called with each live event (`docs/reference/live-events.md`) of a debate that runs,
                of no audit.
        """
        run = replace(self._planned(OneCase(case)).run, whole=False, listing=self._listing)
        checked = await asyncio.to_thread(preflight, run, store, seconds=None)
        if checked.left:
            async with self._slots, self._sessions.use() as session:
                await session.judge(run, on_event)
        counts = await asyncio.to_thread(latest_stage, store, id_of(run.run_id, case.case_id))
        assert counts is not None, "the debate was judged"
        return counts.debate_id


class _Session:
    """One session of the run: the lock of its store, its budget and its actors, in `async with`."""

    def __init__(self, settings: RunSettings, loaded: LoadedPanel, say: Say, environ: Mapping[str, str] | None) -> None:
        assert settings.run_id is not None, "the run has an id"
        self._settings, self._loaded, self._say = settings, loaded, say
        self._run_id = settings.run_id
        self._environ = os.environ if environ is None else environ
        self._ended = asyncio.Event()
        self._reservations: DebateReservations | None = None

    async def __aenter__(self) -> Self:
        """Wait for the store, and open it."""
        url = load_settings(self._environ, store_url=self._settings.store_url).store_url
        locks = RunLocks(url, self._run_id, wait=LOCK_SECONDS, say=self._say)
        opening = asyncio.create_task(asyncio.to_thread(self._open, url, locks))
        try:
            self._actors = await asyncio.shield(opening)
            async with AsyncExitStack() as stack:
                stack.callback(locks.close)
                stack.push_async_callback(self._feed.close)
                await stack.enter_async_context(self._actors)
                self._closing = stack.pop_all()
        except asyncio.CancelledError:
            # The thread cannot be cancelled: what it still locks must be released.
            opening.add_done_callback(lambda _: locks.close())
            raise
        return self

    async def judge(self, run: RunInput, on_event: OnEvent | None) -> None:
        """Judge the one case of `run`, which is a part of the run; raises as `HostedRun.judge`."""
        while True:
            ended = self._ended
            supervision = RunSupervision(self._actors.config.store_url, run.run_id, say=self._say)
            checked = await asyncio.to_thread(preflight, run, self._store, seconds=None)
            state = RunProgress(checked.total, checked.size)
            execution = RunExecution(
                run=run,
                checked=checked,
                store=self._store,
                actors=self._actors,
                state=state,
                store_patience=self._settings.store_patience,
                reservations=self._reservations,
                driving=drive if on_event is None else self._called_back(on_event).drive,
                supervision=supervision,
            )
            try:
                async with aclosing(execution.lines()) as judged:
                    lines = [line async for line in judged]
            finally:
                self._ended.set()
                self._ended = asyncio.Event()
            self._check(state.problems, supervision)
            if lines or not (await asyncio.to_thread(preflight, run, self._store, seconds=None)).left:
                return
            if self._reservations is None or self._reservations.short:
                left = "" if self._reservations is None else f": {self._reservations.rest(1)}"
                raise Halted(f"the case was not judged{left}", about=BUDGET)
            await ended.wait()  # for the budget that a debate leaves that runs now

    def _called_back(self, on_event: OnEvent) -> Callbacks:
        return Callbacks(self._feed, lambda _debate, event: on_event(event))

    def _check(self, problems: list[Finished], supervision: RunSupervision) -> None:
        for finished in problems:
            if finished.problem is not None:
                raise finished.problem
        if supervision.cancelled_by is not None:
            raise RunUnfinished(
                f"run {self._run_id} is cancelled by {supervision.cancelled_by}: jury resume {self._run_id} reopens it",
                {},
            )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Debates that still run stop where they are; the store is free."""
        await self._closing.__aexit__(kind, error, trace)

    def _open(self, url: str, locks: RunLocks) -> PanelActors:
        """Lock the store, then count what earlier sessions spent: no other process spends meanwhile."""
        from jury_judge.feed import Feed

        settings, loaded, environ = self._settings, self._loaded, self._environ
        today = datetime.now(UTC).date()
        for panel in loaded.panels:
            check_models(panel, loaded.endpoints, os.environ)
        self._store = store = open_or_create(url)
        locks.callback(store.close)
        self._feed = Feed(store)
        try:
            panel_standing(store, loaded, settings.require_drift_check)
            locks.lock()
            locks.lone_writer()
        except BaseException:
            locks.close()
            raise
        prices = settings.price_list(environ).at_clouds(loaded.endpoints)
        budget = run_budget(store, self._run_id, prices, today, settings.bounds)
        if budget.bounds.bounded:
            self._reservations = DebateReservations(budget, store, prices=prices, endpoints=loaded.endpoints, on=today)
        return announced_actors(
            loaded,
            url,
            self._say,
            environ=environ,
            runtime=RuntimeSettings(in_process=True, simulate=settings.simulate),
            budget=settings.model_copy(update={"prices": prices}),
            run_budget=budget,
            writing=Writing(name=self._run_id, lock_wait=LOCK_SECONDS, patience=settings.store_patience),
            observation=Observation(say=self._say, otel=settings.otel),
        )
