"""`Jury`: the front door of Python. Everything that it judges is recorded, can be resumed, replayed and rescored."""

import asyncio
import logging
import math
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from jury_actors.admission.budget import Ceiling
from jury_actors.court import CourtPlan
from jury_actors.holding import CoordinatorPort, hold
from jury_actors.juror import ProviderFactory
from jury_actors.messages import Chunk, Docket, Finished, Job
from jury_actors.patience import STORE_PATIENCE
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_events.case import Case
from jury_events.ids import debate_id as id_of
from jury_events.panel import FinalMethod, Language, Panel
from jury_events.value import Label, NewDebateId, NewRunId
from jury_judge.budgets import check_priced
from jury_judge.cases.case_inputs import CaseInput, case_of, case_source, with_records
from jury_judge.courts import court_in_process, court_on_ray
from jury_judge.errors import JuryClosed, RunUnfinished, SettingError, condensed
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.variables import Overrides
from jury_judge.records import Records, while_open
from jury_judge.results import CollaborativeJuryResult
from jury_judge.runs import Run, carry_out, fresh_debate_id, fresh_run_id, is_over, survey
from jury_judge.settings import load_settings
from jury_judge.shared_court import SharedCourt
from jury_judge.telling import OnEvent, OnEventOf, Telling, ToldPort, check_callback, told
from jury_judge.views.counted import counted
from jury_judge.views.visible_text import visible_line
from jury_providers.catalogue import retirement_warnings
from jury_providers.prices import PRICES_ENV, Prices, load_prices
from jury_providers.registry import check_models, key_destinations
from jury_providers.simulated.script import NO_FAULTS, Script
from jury_store.event_store import EventStore
from jury_store.run_lock import RunLock
from jury_store.seals.keys import PublicKey

AnyPanel = str | os.PathLike[str] | PanelSpec | ResolvedPanel | LoadedPanel
"""A preset, the name of a jury that comes along, a panel file, or a panel as an object."""

_log = logging.getLogger(__name__)


class Jury(Records):
    """A panel that judges cases, and the store where everything is recorded.

    Use it in `async with`, in one event loop. The store is opened for reading at once (and made where there is none),
    for writing at the first evaluation. Any number of evaluations may run at once. On leaving, those that still run
    stop where they are, and the same call goes on with them later.

    Args:
        panel: who sits, under which rules; None is the preset `parallel-rounds` with simulated jurors.
        store: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        in_process: hold debates in this process; else on Ray.
        ray_address: the cluster to join, as `host:port`; debates are held there.
        ray_open_cluster: join it even where it requires no token (`docs/ray.md`).
        replicas: juror processes a seat, on Ray.
        concurrency: debates at once.
        simulate: latencies and faults of simulated jurors.
        prices: what models cost; None is `JURY_PRICES`, else the list prices.
        max_calls, max_cost: what this object may spend, in calls and US dollars.
        artifact_roots: folders in which the records of `…_uri` may lie, besides that of a case file. None: anywhere
            for cases and rows, which are the caller's own words, and for case files nowhere else.
        environ: where settings are read; None is `os.environ`. Keys are always the process's own.
        lock_wait: seconds to wait for another process that writes the same SQLite store, or holds the same run.
        preset, language, max_rounds, threshold, method, judge_model: put over the panel, its file and the environment.
        heard: told what final judges write while they write it: a debate's id, and the next piece.
        adopt: public keys (lines, as `jury seal keygen` writes them): an imported debate counts as held here if its
            seal is signed by one of them.
        store_patience: seconds for which a store that cannot be written is tried again, while answers are kept.

    Raises:
        PanelFileError, SettingError: the panel or a setting cannot be used, or a number is out of its range.
        BadSealKey: `adopt` holds something that is no public key.
        UnknownProvider: a model of the panel has no provider.
    """

    def __init__(
        self,
        panel: AnyPanel | None = None,
        *,
        store: str | None = None,
        in_process: bool = True,
        ray_address: str | None = None,
        ray_open_cluster: bool = False,
        replicas: int = 1,
        concurrency: int = 64,
        simulate: Script = NO_FAULTS,
        prices: Prices | None = None,
        max_calls: int | None = None,
        max_cost: float | None = None,
        artifact_roots: Iterable[str | os.PathLike[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        lock_wait: float = 0.0,
        preset: str | None = None,
        language: Language | None = None,
        max_rounds: int | None = None,
        threshold: float | None = None,
        method: FinalMethod | None = None,
        judge_model: str | None = None,
        heard: Callable[[str, str], None] | None = None,
        adopt: Iterable[str] = (),
        store_patience: float = STORE_PATIENCE,
    ) -> None:
        _check_bounds(
            concurrency=(concurrency, 1),
            replicas=(replicas, 1),
            max_calls=(max_calls, 0),
            max_cost=(max_cost, 0),
            store_patience=(store_patience, 0),
        )
        surroundings = os.environ if environ is None else environ
        overrides = Overrides(language, max_rounds, threshold, method, judge_model, preset)
        self._loaded = _loaded(panel, surroundings, overrides)
        self._settings = load_settings(surroundings, store_url=store)
        super().__init__(self._settings.store_url)
        self._roots = None if artifact_roots is None else tuple(map(Path, artifact_roots))
        self._concurrency = concurrency
        check_models(self.panel, self._loaded.endpoints)
        known = prices or load_prices(surroundings.get(PRICES_ENV, "").strip() or None)
        if max_cost is not None:
            check_priced(self.panel.models, known, _today())
        for line in key_destinations(self.panel, self._loaded.endpoints, os.environ):
            _say_once(line)
        for warning in retirement_warnings(self.panel.models, _today()):
            _say_once(warning)
        plan = CourtPlan(
            self.panel,
            self._settings.store_url,
            f"jury-{token_hex(4)}",
            simulate,
            replicas,
            self._loaded.endpoints,
            prices=known,
            ceiling=Ceiling(max_calls, max_cost),
            store_patience=store_patience,
        )
        if ray_address is None and in_process:
            court = court_in_process(plan, self._around, wait=lock_wait)
        else:
            court = court_on_ray(plan, ray_address, open_cluster=ray_open_cluster)
        self._keyless = ray_address is not None
        self._set_up = court
        self._heard = heard
        self._store_patience = store_patience
        self._lock_wait = lock_wait
        self._adopt = _keys(adopt)

    @property
    def panel(self) -> Panel:
        """Who sits, and under which rules, every default written out."""
        return self._loaded.panel

    async def __aenter__(self) -> Self:
        """See `Records`; it may be left and entered again, in another event loop too."""
        await super().__aenter__()
        self._court = SharedCourt(self._set_up)
        self._places = asyncio.Semaphore(self._concurrency)
        return self

    async def _let_go(self) -> None:
        await self._court.close(
            JuryClosed("the Jury was left while this debate was held; the same call goes on from where it stands")
        )
        await super()._let_go()

    async def evaluate(
        self,
        case: CaseInput,
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
            RunRefused: the debate was begun with another panel, or over another case; or it was imported, and is not
                adopted; or it is in quarantine, or cannot be read.
            StoreLocked: another process writes to the store.
            JuryClosed: the Jury was left meanwhile.
        """
        read = case_of(case)
        _check_ids(run_id, debate_id, submission_id)
        named = debate_id or (fresh_debate_id(read) if run_id is None else id_of(run_id, read.case_id))
        feed = self.feed
        async with self._places:
            over = await self._read(self._is_over, named, read)
            with while_open():
                async with told(feed, named, on_event):
                    if not over:
                        job = partial(self._job, named, read, run_id, submission_id, opened=over is not None)
                        await self._hold(await asyncio.to_thread(job))
        return await self.result(named)

    async def evaluate_many(
        self,
        cases: Iterable[CaseInput] | str | os.PathLike[str],
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
            RunRefused: the run was begun with another panel, or a case's content changed; or one of its debates was
                imported, and is not adopted; or one cannot be read.
            RunUnfinished: some debates could not go on; raised after the results of all others.
            StoreLocked: another process writes to the SQLite store, or holds the run (on PostgreSQL).
            KeyMissing, JuryClosed: as `evaluate`.
        """
        _check_ids(run_id)
        _check_bounds(concurrency=(concurrency, 1))
        check_callback(on_event)
        run = Run(
            run_id=run_id or fresh_run_id(),
            resolved=self._loaded.resolved,
            cases=self._loaded.redaction.cases(case_source(cases, self._settings.artifact_hosts, self._roots)),
            concurrency=concurrency or self._concurrency,
            adopt=self._adopt,
        )
        async with self._held_alone(run_id):
            surveyed = await self._read(partial(survey, run))
            if surveyed.left:
                self._check_keys()
            problems: list[Finished] = []
            lines = carry_out(
                run,
                surveyed,
                self.store,
                partial(self._told_court, on_event),
                progress=_Silent(),
                stopping=asyncio.Event(),
                problems=problems,
                heard=None if on_event is None and self._heard is None else self._hear,
                store_patience=self._store_patience,
            )
            with while_open():
                async with aclosing(lines):
                    async for line in lines:
                        yield await self.result(line["debate_id"])
            if problems:
                raise _unfinished(run.run_id, surveyed.total, problems)

    @asynccontextmanager
    async def _held_alone(self, run_id: str | None) -> AsyncIterator[None]:
        """No other process holds the run meanwhile; one that nobody named nobody else can name."""
        lock = None
        if run_id is not None:
            taking = asyncio.create_task(
                asyncio.to_thread(RunLock.acquire, self.store_url, run_id, wait=self._lock_wait)
            )
            try:
                lock = await asyncio.shield(taking)
            except asyncio.CancelledError:
                # The thread goes on, and may yet take what nobody would give back.
                taking.add_done_callback(_give_back)
                raise
        try:
            yield
        finally:
            if lock is not None:
                await asyncio.to_thread(lock.release)

    def _around(self, providers: ProviderFactory) -> ProviderFactory:
        """What stands before the providers of a court in this process: nothing."""
        return providers

    def _check_keys(self) -> None:
        if not self._keyless:
            check_models(self.panel, self._loaded.endpoints, os.environ)

    def _is_over(self, store: EventStore, debate_id: str, case: Case) -> bool | None:
        return is_over(debate_id, self._loaded.redaction.case(case), self._loaded.resolved, store, self._adopt)

    def _job(self, debate_id: str, case: Case, run_id: str | None, submission_id: str | None, *, opened: bool) -> Job:
        """What a debate that is open already judges was read when it opened."""
        self._check_keys()
        if not opened:
            case = with_records(case, self._settings.artifact_hosts, self._roots)
        case = self._loaded.redaction.case(case)
        docket = Docket(run_id, self._loaded.resolved, watched=True)
        # What is open already was looked at by `is_over`, which refuses what is not ours.
        return Job(debate_id, case.model_dump_json().encode(), docket, submission_id, adopted=opened)

    async def _hold(self, job: Job) -> None:
        async with self._court.caller() as port:
            async for finished in hold(port, iter([job]), concurrency=1, heard=self._hear):
                if finished.problem is not None:
                    raise finished.problem

    def _hear(self, chunk: Chunk) -> None:
        self.feed.hear(chunk.debate_id, chunk.text)
        if self._heard is not None:
            self._heard(chunk.debate_id, chunk.text)

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


def _loaded(panel: AnyPanel | None, environ: Mapping[str, str], overrides: Overrides) -> LoadedPanel:
    """A panel that is named is loaded as by the command; one that is an object is not changed by the environment."""
    if panel is None or isinstance(panel, str | os.PathLike):
        return load_panel(None if panel is None else os.fspath(panel), environ, overrides)
    loaded = (
        panel
        if isinstance(panel, LoadedPanel)
        else LoadedPanel(resolve(panel) if isinstance(panel, PanelSpec) else panel)
    )
    if overrides == Overrides():
        return loaded
    return loaded._replace(resolved=changed_panel(loaded.resolved, overrides))


def _keys(lines: Iterable[str]) -> tuple[PublicKey, ...]:
    if isinstance(lines, str):
        raise SettingError("adopt: must be a list of public keys, not one text")
    return tuple(PublicKey.parse(line) for line in lines)


_RUN_ID = TypeAdapter(NewRunId)
_DEBATE_ID = TypeAdapter(NewDebateId)
_NAME = TypeAdapter(Label)


def _check_ids(run_id: str | None, debate_id: str | None = None, submission_id: str | None = None) -> None:
    """Refuse here what no event could hold.

    Raises:
        SettingError: names the argument.
    """
    named = {
        "debate_id": (_DEBATE_ID, debate_id),
        "run_id": (_RUN_ID, run_id),
        "submission_id": (_NAME, submission_id),
    }
    for name, (form, value) in named.items():
        try:
            form.validate_python(value) if value is not None else None
        except ValidationError as error:
            shown = visible_line(repr(value), 80)
            raise SettingError(f"{name}: {shown} cannot be one ({condensed(error)})") from error


def _check_bounds(**bounds: tuple[Any, int]) -> None:
    """Refuse numbers below their least, and what is no number: NaN bounds nothing, and no place lets nobody in.

    Raises:
        SettingError: names the argument.
    """
    for name, (value, least) in bounds.items():
        if value is not None and not (isinstance(value, int | float) and least <= value < math.inf):
            raise SettingError(f"{name}: must be a number from {least}, not {visible_line(repr(value), 40)}")


def _give_back(taken: "asyncio.Task[RunLock | None]") -> None:
    if not taken.cancelled() and taken.exception() is None and (lock := taken.result()) is not None:
        lock.release()


def _unfinished(run_id: str, total: int | None, problems: list[Finished]) -> RunUnfinished:
    first = visible_line(str(problems[0].problem), 300)
    of_all = counted(len(problems), "debate") if total is None else f"{len(problems)} of the {counted(total, 'debate')}"
    return RunUnfinished(
        f"{of_all} of run {run_id} could not go on (the first: {first}); "
        f"mend the cause and call it again with run_id={run_id!r}: it goes on from where it stands",
        {one.debate_id: one.problem for one in problems if one.problem is not None},
    )


@cache
def _say_once(warning: str) -> None:
    _log.warning("%s", warning)


def _today() -> date:
    return datetime.now(UTC).date()


class _Silent:
    """Nobody is told how a run goes but by its results."""

    def begin(self, total: int | None, stored: int) -> None:
        """Nothing to say."""

    def counted(self, total: int) -> None:
        """Nothing to say."""

    def ended(self, finished: Finished) -> None:
        """Nothing to say."""
