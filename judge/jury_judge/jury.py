"""`Jury`: the front door of Python. Everything that it judges is recorded, can be resumed, replayed and rescored."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import UTC, date, datetime
from functools import partial
from secrets import token_hex
from types import TracebackType
from typing import Any, Self

from jury_actors.admission.budget import Ceiling
from jury_actors.court import CourtPlan
from jury_actors.holding import CoordinatorPort, hold
from jury_actors.juror import ProviderFactory
from jury_actors.messages import Chunk, Docket, Finished, Job
from jury_actors.prices import PRICES, Prices, load_prices
from jury_actors.providers.catalogue import warnings_of
from jury_actors.providers.registry import check_models
from jury_actors.providers.simulated.script import AS_USUAL, Script
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_events.case import Case
from jury_events.ids import debate_id as id_of
from jury_events.panel import FinalMethod, Language, Panel
from jury_judge.budgets import check_priced
from jury_judge.cases.given import Given, case_of, source_of, with_records
from jury_judge.courts import court_in_process, court_on_ray
from jury_judge.debates import DebateReading, read_debate
from jury_judge.documents.results import CollaborativeJuryResult, result_model
from jury_judge.errors import JuryClosed, RunUnfinished
from jury_judge.grids import grid_of
from jury_judge.live.feed import Feed
from jury_judge.live.forms import LIVE_EVENTS, LiveEvent
from jury_judge.live.points import START, parse_point
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.variables import Overrides
from jury_judge.runs import Run, carry_out, is_over, survey
from jury_judge.settings import load_settings
from jury_judge.shared_court import SharedCourt
from jury_judge.telling import OnEvent, OnEventOf, Telling, ToldPort, told
from jury_judge.views.counted import counted
from jury_judge.views.result import collaborative_result
from jury_judge.views.visible_text import visible_line
from jury_migrations.upgrading import upgrade
from jury_replay.replay import Replayed, replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import Problem, Row
from jury_replay.rescoring.settings import Mode
from jury_replay.selection import Selection
from jury_store.errors import StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import open_store

AnyPanel = str | os.PathLike[str] | PanelSpec | ResolvedPanel | LoadedPanel
"""A preset, the name of a jury that comes along, a panel file, or a panel as an object."""

_log = logging.getLogger(__name__)


class Jury:
    """A panel that judges cases, and the store where everything is recorded.

    Use it in `async with`, in one event loop. The store is opened for reading at once (and made where there is none),
    for writing at the first evaluation. Any number of evaluations may run at once. On leaving, those that still run stop
    where they are, and the same call goes on with them later.

    Args:
        panel: who sits, under which rules; None is the preset `parallel-rounds` with simulated jurors.
        store: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        in_process: hold debates in this process; else on Ray.
        ray_address: the cluster to join, as `host:port`; debates are held there.
        replicas: juror processes a seat, on Ray.
        concurrency: debates at once.
        simulate: latencies and faults of simulated jurors.
        prices: what models cost; None is `JURY_PRICES`, else the list prices.
        max_calls, max_cost: what this object may spend, in calls and US dollars.
        environ: where settings are read; None is `os.environ`. Keys are always the process's own.
        lock_wait: seconds to wait for another process that writes the same SQLite store.
        preset, language, max_rounds, threshold, method, judge_model: put over the panel, its file and the environment.

    Raises:
        PanelFileError, SettingError: the panel or a setting cannot be used.
        UnknownProvider: a model of the panel has no provider.
    """

    def __init__(
        self,
        panel: AnyPanel | None = None,
        *,
        store: str | None = None,
        in_process: bool = True,
        ray_address: str | None = None,
        replicas: int = 1,
        concurrency: int = 64,
        simulate: Script = AS_USUAL,
        prices: Prices | None = None,
        max_calls: int | None = None,
        max_cost: float | None = None,
        environ: Mapping[str, str] | None = None,
        lock_wait: float = 0.0,
        preset: str | None = None,
        language: Language | None = None,
        max_rounds: int | None = None,
        threshold: float | None = None,
        method: FinalMethod | None = None,
        judge_model: str | None = None,
    ) -> None:
        surroundings = os.environ if environ is None else environ
        overrides = Overrides(language, max_rounds, threshold, method, judge_model, preset)
        self._loaded = _loaded(panel, surroundings, overrides)
        self._settings = load_settings(surroundings, store_url=store)
        self._concurrency = concurrency
        check_models(self.panel, self._loaded.endpoints)
        known = prices or load_prices(surroundings.get(PRICES, "").strip() or None)
        if max_cost is not None:
            check_priced(self.panel.models, known, _today())
        for warning in warnings_of(self.panel.models, _today()):
            _log.warning("%s", warning)
        plan = CourtPlan(
            self.panel,
            self._settings.store_url,
            f"jury-{token_hex(4)}",
            simulate,
            replicas,
            self._loaded.endpoints,
            prices=known,
            ceiling=Ceiling(max_calls, max_cost),
        )
        if ray_address is None and in_process:
            court = court_in_process(plan, self._around, wait=lock_wait)
        else:
            court = court_on_ray(plan, ray_address)
        self._keyless = ray_address is not None
        self._court = SharedCourt(court)
        self._places = asyncio.Semaphore(concurrency)
        self._store: EventStore | None = None
        self._feed: Feed | None = None

    @property
    def panel(self) -> Panel:
        """Who sits, and under which rules, every default written out."""
        return self._loaded.panel

    @property
    def store_url(self) -> str:
        """Where everything is recorded."""
        return self._settings.store_url

    @property
    def store(self) -> EventStore:
        """The store, open for reading.

        Raises:
            JuryClosed: outside of `async with`.
        """
        if self._store is None:
            raise JuryClosed("a Jury is used inside of `async with Jury(...) as jury:`")
        return self._store

    @property
    def feed(self) -> Feed:
        """What debates of the store tell while they are held, whoever holds them.

        Raises:
            JuryClosed: outside of `async with`.
        """
        if self._feed is None:
            raise JuryClosed("a Jury is used inside of `async with Jury(...) as jury:`")
        return self._feed

    async def __aenter__(self) -> Self:
        """Open the store for reading.

        Raises:
            StoreError: it cannot be opened, or made.
        """
        self._store = await asyncio.to_thread(_opened, self.store_url)
        self._feed = Feed(self._store)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop what runs, and let go of the store."""
        closed = JuryClosed("the Jury was left while this debate was held; the same call goes on from where it stands")
        async with AsyncExitStack() as stack:
            if (store := self._store) is not None:
                stack.callback(store.close)
            if self._feed is not None:
                stack.push_async_callback(self._feed.close)
            await self._court.close(closed)
        self._store = self._feed = None

    async def evaluate(
        self,
        case: Given,
        *,
        run_id: str | None = None,
        debate_id: str | None = None,
        submission_id: str | None = None,
        on_event: OnEvent | None = None,
    ) -> CollaborativeJuryResult:
        """Judge one case, to the end of its debate.

        Args:
            case: a case, or a row as in a case file.
            run_id: the run that the debate belongs to, which then holds one debate a case: called again, it goes on
                where it stopped. None: a debate of its own, a new one each time.
            debate_id: its id, instead of one that is made; called again, it goes on where it stopped.
            submission_id: what the caller calls it in live events; None is the debate's id.
            on_event: told of each live event (`docs/live-events.md`), from the debate's first.

        Raises:
            CaseFileError: the case cannot be used.
            KeyMissing, Halted: a provider's key is missing or refused, a quota or the budget is used up.
            RunRefused: the debate was begun with another panel, or over another case.
            StoreLocked: another process writes to the store.
            JuryClosed: the Jury was left meanwhile.
        """
        store = self.store
        judged = self._loaded.redaction.case(case_of(case))
        named = debate_id or (fresh_debate_id(judged) if run_id is None else id_of(run_id, judged.case_id))
        async with self._places:
            over = await asyncio.to_thread(is_over, named, judged, self._loaded.resolved, store)
            async with told(self.feed, named, on_event):
                if not over:
                    job = partial(self._job, named, judged, run_id, submission_id, opened=over is not None)
                    await self._hold(await asyncio.to_thread(job))
        return await self.result(named)

    async def evaluate_many(
        self,
        cases: Iterable[Given] | str | os.PathLike[str],
        *,
        run_id: str | None = None,
        concurrency: int | None = None,
        on_event: OnEventOf | None = None,
    ) -> AsyncGenerator[CollaborativeJuryResult, None]:
        """Judge many cases, a debate each, and give the results in the order of the cases.

        The same call with the same `run_id` goes on where it stopped, and asks nothing twice.

        Args:
            cases: cases, rows as in a case file, or the path of one.
            run_id: names the run; None makes a name.
            concurrency: debates at once; None is the Jury's.
            on_event: told of each live event, with the debate's id before it.

        Raises:
            CaseFileError: a case cannot be read; what ran was finished first.
            RunRefused: the run was begun with another panel, or a case's content changed.
            RunUnfinished: some debates could not go on; raised after the results of all others.
            KeyMissing, StoreLocked, JuryClosed: as `evaluate`.
        """
        store = self.store
        run = Run(
            run_id=run_id or fresh_run_id(),
            resolved=self._loaded.resolved,
            cases=self._loaded.redaction.cases(source_of(cases, self._settings.artifact_hosts)),
            concurrency=concurrency or self._concurrency,
        )
        surveyed = await asyncio.to_thread(survey, run, store)
        if surveyed.ended < surveyed.total:
            self._check_keys()
        problems: list[Finished] = []
        lines = carry_out(
            run,
            surveyed,
            store,
            partial(self._told_court, on_event),
            progress=_Silent(),
            stopping=asyncio.Event(),
            problems=problems,
            heard=None if on_event is None else self._hear,
        )
        async with aclosing(lines):
            async for line in lines:
                yield await self.result(line["debate_id"])
        if problems:
            raise _unfinished(run.run_id, surveyed.total, problems)

    async def events(
        self, debate_id: str, after: str | None = None, *, follow: bool = True
    ) -> AsyncGenerator[LiveEvent, None]:
        """The live events of a debate, whoever holds it: those so far, then each as it happens, to its end.

        Args:
            debate_id: of the debate; one that is not opened yet is waited for.
            after: the id of the last event that was seen.
            follow: wait for more; else give those so far.

        Raises:
            BadPoint: `after` is no event's id.
            TooManyReaders: too many follow debates already.
        """
        point = START if after is None else parse_point(after)
        async with self.feed.follow(debate_id, LIVE_EVENTS, point) as reader:
            if not follow:
                for one in await reader.so_far():
                    yield one
                return
            async for one in reader:
                yield one

    async def read(self, debate_id: str) -> DebateReading:
        """Everything that the store holds of a debate: its events, its model calls, its texts.

        Raises:
            DebateNotFound: there is none of that id.
        """
        return await asyncio.to_thread(read_debate, self.store, debate_id)

    async def result(self, debate_id: str) -> CollaborativeJuryResult:
        """What a debate came to, or has come to so far.

        Raises:
            DebateNotFound: there is none of that id.
        """
        return await asyncio.to_thread(_result, self.store, debate_id)

    async def replay(self, debate_id: str) -> Replayed:
        """Whether what is recorded of a debate follows from what its models said; no model is asked.

        Raises:
            DebateMissing: there is none of that id.
        """
        return (await asyncio.to_thread(replay_chunk, self.store, [debate_id]))[0]

    async def rescore(
        self,
        debate_ids: str | Iterable[str] | None = None,
        *,
        settings: Mapping[str, Any],
        run_id: str | None = None,
        mode: Mode = "strict",
    ) -> list[Row | Problem]:
        """What recorded debates come to under other settings; no model is asked, nothing is written.

        Args:
            debate_ids: which debates; None is those of `run_id`, else all.
            settings: by key (`docs/rescoring.md`) a value, or a list of values to try; several keys make a grid.
            run_id: a run.
            mode: `strict`, or `recount`, which holds every recorded position fixed.

        Raises:
            SettingError, SettingRefused: a setting is not understood, or the mode cannot answer it.
            DebateMissing: there is none of that id.
        """
        ids = (debate_ids,) if isinstance(debate_ids, str) else None if debate_ids is None else tuple(debate_ids)
        selection = Selection(ids, run_id)
        grid = grid_of(settings)

        def rows() -> list[Row | Problem]:
            found = rescore(self.store, selection, grid, mode=mode)
            return [row for one in found for row in ([one] if isinstance(one, Problem) else one)]

        return await asyncio.to_thread(rows)

    def _around(self, providers: ProviderFactory) -> ProviderFactory:
        """What stands before the providers of a court in this process: nothing."""
        return providers

    def _check_keys(self) -> None:
        if not self._keyless:
            check_models(self.panel, self._loaded.endpoints, os.environ)

    def _job(self, debate_id: str, case: Case, run_id: str | None, submission_id: str | None, *, opened: bool) -> Job:
        """What a debate that is open already judges was read when it opened."""
        self._check_keys()
        if not opened:
            case = self._loaded.redaction.case(with_records(case, self._settings.artifact_hosts))
        docket = Docket(run_id, self._loaded.resolved, watched=True)
        return Job(debate_id, case.model_dump_json().encode(), docket, submission_id)

    async def _hold(self, job: Job) -> None:
        async with self._court.caller() as port:
            async for finished in hold(port, iter([job]), concurrency=1, heard=self._hear):
                if finished.problem is not None:
                    raise finished.problem

    def _hear(self, chunk: Chunk) -> None:
        self.feed.hear(chunk.debate_id, chunk.text)

    @asynccontextmanager
    async def _told_court(self, on_event: OnEventOf | None) -> AsyncIterator[CoordinatorPort]:
        async with self._court.caller() as port:
            if on_event is None:
                yield port
                return
            telling = Telling(self.feed, on_event)
            try:
                yield ToldPort(port, telling)
            finally:
                await telling.drop()


def fresh_debate_id(case: Case) -> str:
    """An id for a debate that belongs to no run; another one each time."""
    return id_of(_fresh("debate"), case.case_id)


def fresh_run_id() -> str:
    """A name for a run; another one each time."""
    return _fresh("run")


def _fresh(kind: str) -> str:
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(4)}"


def _loaded(panel: AnyPanel | None, environ: Mapping[str, str], overrides: Overrides) -> LoadedPanel:
    """A panel that is named is loaded as by the command; one that is an object is not changed by the environment."""
    if panel is None or isinstance(panel, str | os.PathLike):
        return load_panel(None if panel is None else os.fspath(panel), environ, overrides)
    loaded = panel if isinstance(panel, LoadedPanel) else LoadedPanel(
        resolve(panel) if isinstance(panel, PanelSpec) else panel
    )
    if overrides == Overrides():
        return loaded
    return loaded._replace(resolved=changed_panel(loaded.resolved, overrides))


def _opened(url: str) -> EventStore:
    """The store, open for reading; made where there is none."""
    try:
        return open_store(url, write=False)
    except StoreMissing:
        upgrade(url)
        return open_store(url, write=False)


def _result(store: EventStore, debate_id: str) -> CollaborativeJuryResult:
    reading = read_debate(store, debate_id)
    return result_model(collaborative_result(reading.events, reading.texts))


def _unfinished(run_id: str, total: int, problems: list[Finished]) -> RunUnfinished:
    first = visible_line(str(problems[0].problem), 300)
    return RunUnfinished(
        f"{len(problems)} of the {counted(total, 'debate')} of run {run_id} could not go on (the first: {first}); "
        f"mend the cause and call it again with run_id={run_id!r}: it goes on from where it stands",
        {one.debate_id: one.problem for one in problems if one.problem is not None},
    )


def _today() -> date:
    return datetime.now(UTC).date()


class _Silent:
    """Nobody is told how a run goes but by its results."""

    def begin(self, total: int, stored: int) -> None:
        """Nothing to say."""

    def ended(self, finished: Finished) -> None:
        """Nothing to say."""
