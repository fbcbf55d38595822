"""`Jury`: judges cases, and records every debate so that it can be resumed, replayed and rescored."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from jury_actors.clerk import ClerkInterface
from jury_actors.juror import ProviderFactory
from jury_actors.messages import Chunk, Job, RunContext
from jury_actors.runtime import drive, drive_one
from jury_actors.store_retry import StoreRetry
from jury_cases.case_inputs import CaseInput, case_of, case_source, given_case, with_records
from jury_cases.formats.registry import AskedFormat
from jury_debate.calibrated import judged_by
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.ids import debate_id as id_of
from jury_events.ladder import StagePlace
from jury_events.panel import Panel
from jury_events.run_events import RunSubmission
from jury_judge.errors import RunUnfinished
from jury_judge.panels.files import LoadedPanel
from jury_judge.panels.ladders import AnyPanel, any_panel
from jury_judge.panels.variables import NO_OVERRIDES, Overrides
from jury_judge.records.open_store import while_open
from jury_judge.records.records import Records
from jury_judge.runs.callbacks import Callbacks, OnEvent, OnEventOf, called_back, check_callback
from jury_judge.runs.cancelling import RunLog, cancellations
from jury_judge.runs.case_stages import judge_stages
from jury_judge.runs.execution import RunExecution
from jury_judge.runs.panel_actors import (
    ANYWHERE,
    PLAIN_WRITING,
    UNBOUNDED,
    UNOBSERVED,
    Observation,
    PanelActors,
    Writing,
    log_line,
)
from jury_judge.runs.preflight import is_over, preflight
from jury_judge.runs.run import (
    CaseSource,
    RunInput,
    RunProgress,
    check_bounds,
    check_ids,
    check_repeat,
    fresh_debate_id,
    fresh_run_id,
)
from jury_judge.runs.supervision import RunSupervision
from jury_judge.settings.jury import Budget, RuntimeSettings
from jury_judge.settings.store import ANY_SOURCE, Sources, load_settings
from jury_judge.store_access.stores import locked_run
from jury_store.event_store import EventStore
from jury_views.result_models import DebateResult

if TYPE_CHECKING:
    from jury_store.seals.keys import PublicKey

OnChunk = Callable[[str, str], None]
"""Takes a debate's id and the next chunk of what its final judge writes."""


class Jury(Records):
    """A panel that judges cases, and the store where everything is recorded.

    Use it in `async with`, in one event loop. The store is opened for reading at once (and created where there is
    none), for writing at the first evaluation. Any number of evaluations may run at once. On leaving, those that still
    run stop where they are; the same call resumes them later.

    Args:
        panel: the jurors and the rules, or the file of a ladder of stages (docs/stages.md); None is the preset
            `parallel-rounds` with simulated jurors.
        store: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        overrides: win over the panel, its file and the environment.
        runtime: where debates run; in this process if it asks for nothing else.
        budget: what this object may spend.
        sources: what it may read, besides its cases.
        environ: where settings are read; None is `os.environ`. Keys are always the process's own.
        concurrency: debates at once.
        writing: how it writes to the store.
        observation: who hears what it does.
        on_chunk: called while a final judge writes, with the debate's id and the next chunk of text.

    Raises:
        PanelFileError, SettingError: the panel or a setting cannot be used, or a number is out of its range.
        CalibrationUntrusted: no key of `sources.trust` signed the calibration of the panel.
        SettingsRefused: on judging: `sources.require_drift_check` is not met.
        BadSealKey: `sources.adopt` or `sources.trust` has an element that is not a public key.
        UnknownProvider: a model of the panel has no provider.
        SettingNotTaken: a seat has a setting that its model does not take, or whose price is unknown.
        ExtraMissing: `observation.otel` is set, and its packages are not installed.
    """

    def __init__(
        self,
        panel: AnyPanel | None = None,
        *,
        store: str | None = None,
        overrides: Overrides = NO_OVERRIDES,
        runtime: RuntimeSettings = ANYWHERE,
        budget: Budget = UNBOUNDED,
        sources: Sources = ANY_SOURCE,
        environ: Mapping[str, str] | None = None,
        concurrency: int = 64,
        writing: Writing = PLAIN_WRITING,
        observation: Observation = UNOBSERVED,
        on_chunk: OnChunk | None = None,
    ) -> None:
        check_bounds(concurrency=(concurrency, 1), patience=(writing.patience, 0))
        surroundings = os.environ if environ is None else environ
        self._loaded = any_panel(panel, surroundings, overrides, _keys(sources.trust))
        self._settings = load_settings(surroundings, store_url=store)
        super().__init__(self._settings.store_url)
        self._roots = None if sources.artifact_roots is None else tuple(map(Path, sources.artifact_roots))
        self._adopt = _keys(sources.adopt)
        self._within = sources.require_drift_check
        self._concurrency = concurrency
        self._on_chunk = on_chunk
        self._writing = writing
        self._say = observation.say or log_line
        self._actors = PanelActors(
            self._loaded,
            self.store_url,
            environ=surroundings,
            runtime=runtime,
            budget=budget,
            writing=writing,
            observation=observation,
            wrap_providers=self._wrap_providers,
        )

    @property
    def panel(self) -> Panel:
        """The jurors and the rules, with every default filled in; of a ladder those of the first stage."""
        return self._loaded.panel

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels of the stages of the ladder, from the first; without one, `panel` alone."""
        return self._loaded.panels

    @property
    def panel_digest(self) -> str:
        """64 hexadecimal digits of all that a panel judges by: seats, rules, prompts; not its name. Of a ladder its
        digest.
        """
        if self._loaded.ladder is not None:
            return self._loaded.ladder.digest
        return judged_by(self._loaded.panel, self._loaded.resolved.custom)

    def read_case(self, given: CaseInput, *, form: AskedFormat = None, policy: str | None = None) -> Case:
        """The case of a row as `evaluate` reads it, before redaction and without records behind URIs.

        Args:
            given: a case, which stays as it is, or a row as in a case file.
            form: the row's format: its name (`jury cases --help`), the path or the content of a format file; None:
                it is recognised.
            policy: the instructions of the judged agent, where the row has none.

        Raises:
            CaseFileError: a field is invalid, or there is nothing to judge.
        """
        return case_of(given, scale=self._loaded.panel.scale, form=form, policy=policy)

    async def __aenter__(self) -> Self:
        """See `Records`. A Jury that was left may be entered again, in another event loop too."""
        await super().__aenter__()
        await self._actors.__aenter__()
        self._slots = asyncio.Semaphore(self._concurrency)
        return self

    async def _close(self) -> None:
        await self._actors.__aexit__(None, None, None)
        await super()._close()

    async def evaluate(
        self,
        case: CaseInput | None = None,
        *,
        question: str | None = None,
        response: str | None = None,
        run_id: str | None = None,
        debate_id: str | None = None,
        submission_id: str | None = None,
        on_event: OnEvent | None = None,
    ) -> DebateResult:
        """Judge one case, to the end of its debate; by a ladder stage by stage, until one accepts its verdict.

        By a ladder the result is that of the debate that counts. An early exit that is audited is judged by the last
        stage too, before this returns; its verdict stands.

        Args:
            case: a case, or a row as in a case file.
            question: what the agent was asked, where no case is given.
            response: what it answered.
            run_id: the run that the debate belongs to; a run has one debate a case, which the same call resumes.
                None: a new debate each time, in no run.
            debate_id: its id, of a ladder that of the first stage, instead of a generated one; the same call resumes
                the debate.
            submission_id: the caller's name of the debate in live events; None is the debate's id.
            on_event: called with each live event (`docs/reference/live-events.md`), from the debate's first; by a
                ladder with those of each stage in turn, and none of an audit.

        Raises:
            SettingError: neither a case nor a question with its response was given, or both.
            CaseFileError: the case cannot be used.
            KeyMissing, Halted: a provider's key is missing or refused, a quota or the budget is used up.
            RunRefused: the debate was begun with another panel or ladder, or over another case; or it was imported and
                is not adopted; or it is in quarantine, or cannot be read.
            StoreLocked: another process writes to the store.
            JuryClosed: the Jury was left before the debate ended.
        """
        read = case_of(given_case(case, question, response), scale=self._loaded.panel.scale)
        check_ids(run_id, debate_id, submission_id)
        named = debate_id or (fresh_debate_id(read) if run_id is None else id_of(run_id, read.case_id))

        async def judge(debate: str, loaded: LoadedPanel, place: StagePlace | None) -> None:
            await self._judge(
                Job(debate, b"", RunContext(run_id, loaded.resolved, watched=True), submission_id, stage=place),
                read,
                None if place is not None and place.audit else on_event,
            )

        ladder, store = self._loaded.ladder, self.store
        async with self._slots:
            if ladder is None:
                await judge(named, self._loaded, None)
            else:
                named = await judge_stages(named, ladder, store, judge)
        return await self._result(named)

    async def _judge(self, job: Job, case: Case, on_event: OnEvent | None) -> None:
        """Judge a case in one debate, unless that was done; `job` is of a new debate, yet without the case."""
        feed = self.feed
        over = await self._read(self._is_over, job, case)
        with while_open():
            async with called_back(feed, job.debate_id, on_event):
                if not over:
                    await self._check_ready()
                    filled = await asyncio.to_thread(partial(self._job, job, case, opened=over is not None))
                    problem = await drive_one(await self._actors.runtime(), filled, self._take_chunk)
                    if problem is not None:
                        raise problem

    async def evaluate_many(
        self,
        cases: Iterable[CaseInput] | str | os.PathLike[str],
        *,
        run_id: str | None = None,
        concurrency: int | None = None,
        on_event: OnEventOf | None = None,
        repeat: int = 1,
    ) -> AsyncGenerator[DebateResult, None]:
        """Judge many cases, a debate each; yields the results in the order of the cases.

        By a ladder it is a debate a stage, and the result that of the debate that counts.

        The same call with the same `run_id` resumes the run; no call to a model is made twice.

        Args:
            cases: cases, rows as in a case file, or the path of one.
            run_id: names the run; None generates an id.
            concurrency: debates at once; None is the Jury's.
            on_event: called with a debate's id and each of its live events.
            repeat: debates a case, whose results follow each other; a larger number adds debates to a run.

        Raises:
            CaseFileError: a case cannot be read; raised after the running debates have ended.
            RunRefused: the run was begun with another panel or ladder, or a case's content changed; or one of its
                debates was imported and is not adopted; or one cannot be read.
            RunUnfinished: some debates could not go on, or a person cancelled the run; raised after the results of all
                others.
            StoreLocked: another process writes to the SQLite store, or executes the run (on PostgreSQL).
            KeyMissing, JuryClosed: as `evaluate`.
        """
        check_ids(run_id)
        check_bounds(concurrency=(concurrency, 1))
        check_repeat(repeat)
        check_callback(on_event)
        given = self._run(run_id or fresh_run_id(), self._sourced(cases), concurrency=concurrency, repeats=repeat)
        reopens = 0 if run_id is None else await self._read(cancellations, run_id)
        judged = self._judged(given, named=run_id is not None, reopens=reopens, on_event=on_event)
        async with aclosing(judged):
            async for debate in judged:
                yield await self._result(debate)

    async def list_cases(
        self,
        cases: Iterable[CaseInput],
        run_id: str,
        submitted: RunSubmission,
        *,
        submission_id: str | None = None,
        complete: bool = True,
        log: RunLog | None = None,
    ) -> None:
        """Open the debates of cases in a run that is submitted to a server, and ask no model; a cancelled run goes on.

        All cases are checked first. What is listed already stays as it is; where all is, nothing is written.

        Args:
            cases: cases, or rows as in a case file.
            submission_id: the caller's name of the debates in live events.
            complete: these are all cases of the run, as far as is known.
            log: of the run, where its stream was read before; one call uses it at a time.
        """
        from jury_judge.runs.listed_run import list_cases

        check_ids(run_id)
        await self._check_ready()
        run = self._run(run_id, self._sourced(cases), submitted=submitted, whole=complete)
        run = replace(run, submission_id=submission_id)
        with while_open():
            await list_cases(run, self.store, self.clerk, log or RunLog(self.store, run_id))

    async def judge_listed(
        self,
        run_id: str,
        cases: CaseSource,
        *,
        concurrency: int | None = None,
        complete: bool = True,
        lone: bool = False,
    ) -> None:
        """Judge debates of a run that are listed and not over, to their end.

        Args:
            cases: those of the debates, as they are listed.
            concurrency: debates at once; None is the Jury's.
            complete: they are all cases of the run.
            lone: it is one debate, which takes one of the places that `evaluate` has.
        """
        run = self._run(run_id, cases, concurrency=concurrency, whole=complete)
        async with (
            self._slots if lone else nullcontext(),
            aclosing(self._judged(run, named=True, listed=True)) as judged,
        ):
            async for _ in judged:
                pass

    async def judge_debate(self, run_id: str, debate_id: str) -> None:
        """Judge one debate of a run that is listed and not over, as one of those that `evaluate` judges at once.

        Without a ladder, in a run that further requests may add to: its end is not recorded.
        """
        supervision = RunSupervision(self.store_url, run_id, listed=True, say=self._say)
        # The debate has its opening event already, so the job needs no case.
        job = Job(debate_id, b"", RunContext(run_id, self._loaded.resolved, watched=True))
        locked = locked_run(self.store_url, run_id, wait=self._writing.lock_wait, say=self._say)
        async with self._slots, locked:
            self._actors.check_keys()
            runtime = await self._actors.runtime()
            with while_open():
                async with supervision.around(runtime, self.store, asyncio.Event()):
                    problem = await drive_one(runtime, job, self._take_chunk)
        if problem is not None and supervision.cancelled_by is None:
            raise problem

    async def clerk(self) -> ClerkInterface:
        """Writes the log, in this process or on the cluster."""
        return (await self._actors.runtime()).clerk

    def _sourced(self, cases: Iterable[CaseInput] | str | os.PathLike[str]) -> CaseSource:
        return self._loaded.redaction.cases(
            case_source(cases, self._settings.artifact_hosts, self._roots, self._loaded.panel.scale)
        )

    def _run(
        self,
        run_id: str,
        cases: CaseSource,
        *,
        concurrency: int | None = None,
        repeats: int = 1,
        submitted: RunSubmission | None = None,
        whole: bool = True,
    ) -> RunInput:
        return RunInput(
            run_id=run_id,
            resolved=self._loaded.resolved,
            cases=cases,
            concurrency=concurrency or self._concurrency,
            adopt=self._adopt,
            repeats=repeats,
            ladder=self._loaded.ladder,
            endpoints=self._loaded.endpoints,
            submitted=submitted,
            whole=whole,
        )

    async def _judged(
        self, run: RunInput, *, named: bool, reopens: int = 0, listed: bool = False, on_event: OnEventOf | None = None
    ) -> AsyncGenerator[str, None]:
        """Judge a run; yields the ids of the debates in the order of their lines.

        `named`: others may know its id. `reopens` and `listed`: as of `RunSupervision`. Raises as `evaluate_many`.
        """
        supervision = RunSupervision(self.store_url, run.run_id, reopens=reopens, listed=listed, say=self._say)
        lock, results = run.run_id if named else None, 0
        async with locked_run(self.store_url, lock, wait=self._writing.lock_wait, say=self._say):
            checked = await self._read(partial(preflight, run))
            if checked.left:
                await self._check_ready()
            state = RunProgress(checked.total, checked.size)
            execution = RunExecution(
                run=run,
                checked=checked,
                store=self.store,
                actors=self._actors,
                state=state,
                on_chunk=None if on_event is None and self._on_chunk is None else self._take_chunk,
                store_patience=self._writing.patience,
                driving=drive if on_event is None else Callbacks(self.feed, on_event).drive,
                supervision=supervision,
            )
            with while_open():
                async with aclosing(execution.lines()) as lines:
                    async for line in lines:
                        results += 1
                        yield line["debate_id"]
            if problems := [(one.debate_id, one.problem) for one in state.problems]:
                raise RunUnfinished.of(run.run_id, state.total, problems)
            if state.total is None or results < state.total:
                raise RunUnfinished.short(run.run_id, state.total, results, supervision.cancelled_by)

    async def _result(self, debate_id: str) -> DebateResult:
        """The result of a debate that is judged; a store that cannot be read for a moment is read again."""
        found, _ = await StoreRetry(self._writing.patience).run(partial(self.result, debate_id), reads=True)
        return found

    async def waits_for(self) -> str:
        """The work that running evaluations wait for, as a phrase: calls in flight by model, permits, appends."""
        return await self._actors.waits_for()

    def _wrap_providers(self, providers: ProviderFactory) -> ProviderFactory:
        """Wraps the providers of a runtime in this process; a subclass may change them."""
        return providers

    async def _check_ready(self) -> None:
        """The keys of the providers, and where one is required a drift check of the panel."""
        self._actors.check_keys()
        if self._within is not None:
            from jury_judge.store_access.panel_standing import panel_standing

            await self._read(panel_standing, self._loaded, self._within)

    def _is_over(self, store: EventStore, job: Job, case: Case) -> bool | None:
        redacted = self._loaded.redaction.case(case)
        context = job.context
        return is_over(
            job.debate_id, redacted, context.resolved, store, self._adopt, stage=job.stage, run_id=context.run_id
        )

    def _job(self, job: Job, case: Case, *, opened: bool) -> Job:
        """The job with its case; the records behind URIs are fetched for a new debate only."""
        if not opened:
            case = with_records(case, self._settings.artifact_hosts, self._roots)
        content = self._loaded.redaction.case(case).model_dump_json().encode()
        # An open debate passed `is_over`, which refuses imported debates that are not adopted.
        return job._replace(case=content, adopted=opened)

    def _take_chunk(self, chunk: Chunk) -> None:
        self.feed.add_chunk(chunk.debate_id, chunk.text)
        if self._on_chunk is not None:
            self._on_chunk(chunk.debate_id, chunk.text)


def _keys(lines: Iterable[str]) -> "tuple[PublicKey, ...]":
    from jury_store.seals.keys import PublicKey

    if isinstance(lines, str):
        raise SettingError("adopt: must be a list of public keys, not one text")
    return tuple(PublicKey.parse(line) for line in lines)
