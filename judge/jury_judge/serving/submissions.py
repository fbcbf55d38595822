"""Evaluations and runs that clients submit to a server: they are opened debates of runs, and any server judges them.

What is submitted is acknowledged once its debates are opened. From then on the log alone says what is left: this
server, the next one or another one of the store goes on with every submitted run whose panel it has, that is not
cancelled and that no process executes.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from threading import Lock
from typing import Literal, NamedTuple
from weakref import WeakValueDictionary

from jury_actors.background import has_failed
from jury_cases.case_outlines import Fetch
from jury_debate.calibrated import judged_by
from jury_events.case import Case
from jury_events.errors import JuryError
from jury_events.ids import debate_id as id_of
from jury_events.ids import run_stream
from jury_events.nearest import did_you_mean
from jury_events.run_events import RunSubmission
from jury_events.run_facts import RunFacts
from jury_events.text import visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import PanelNotServed, RunRefused, RunUnfinished
from jury_judge.feed import Feed
from jury_judge.jury import Jury
from jury_judge.runs.cancelling import RunLog
from jury_judge.runs.case_stages import latest_stage
from jury_judge.runs.cases_once import recorded_cases
from jury_judge.runs.plan import ListedCases
from jury_judge.runs.run import CaseSource, fresh_run_id
from jury_store.debate_rows import RunRow
from jury_store.errors import Fenced, StoreError, StoreFailed, StoreLocked, StoreUnreachable, WrongVersion
from jury_store.event_store import EventStore
from jury_store.run_registry import RunHolder, RunRegistry, open_registry

_PAGE = 100


class SubmittedRun(NamedTuple):
    """A run that servers go on with by themselves.

    `panel` is the digest of what judges it (`Jury.panel_digest`), `version` that of its stream, `complete` whether its
    list is, `concurrency` what was asked for, `staged` whether it is by a ladder.
    """

    run_id: str
    panel: str
    version: int
    complete: bool
    concurrency: int | None
    staged: bool


class SubmittedRuns:
    """Reads the runs of a store; several threads may use it.

    Args:
        url: of the store; None where it is in memory.
    """

    def __init__(self, store: EventStore, url: str | None) -> None:
        self._store = store
        self._lock = Lock()
        self._registry: RunRegistry | None = None if url is None else open_registry(url)
        self._logs: dict[str, RunLog] = {}

    def facts(self, run_id: str) -> RunFacts | None:
        """The facts of a run now; None: it was not listed. Raises as `RunLog.look`."""
        return RunLog(self._store, run_id).look()

    def version(self, run_id: str) -> int:
        """The version of a run's stream now."""
        head = self._store.heads([run_stream(run_id)]).get(run_stream(run_id))
        return 0 if head is None else head.version

    def left(
        self, is_wanted: Callable[[SubmittedRun], bool], executed: Collection[str], *, most: int, staged: bool
    ) -> list[SubmittedRun]:
        """Those of which something is left, the oldest first, without cancelled ones and those that a process executes.

        Args:
            staged: whether there may be runs of ladders, of which a stage may be over and the next one not opened.
        """
        with self._lock:
            left = dict.fromkeys(self._store.runs_left())
            rows = self._store.runs() if staged else []
            names = list(left | {row.run_id: None for row in rows if row.total is None or row.ended < row.total})
            self._logs = {name: self._logs[name] for name in names if name in self._logs}
            found: list[SubmittedRun] = []
            wanted = [name for name in names if name not in executed]
            for start in range(0, len(wanted), _PAGE):
                page = wanted[start : start + _PAGE]
                chosen = [one for one in self._submitted(page) if (one.staged or one.run_id in left) and is_wanted(one)]
                holders = self._registry.holders([run.run_id for run in chosen]) if self._registry and chosen else {}
                found += [run for run in chosen if run.run_id not in holders]
                if len(found) >= most:
                    break
            return found[:most]

    def _submitted(self, run_ids: Sequence[str]) -> Iterator[SubmittedRun]:
        """Those that servers go on with and nobody cancelled; of a stream that is known only its head is read."""
        heads = self._store.heads([run_stream(run_id) for run_id in run_ids])
        for run_id in run_ids:
            head = heads.get(run_stream(run_id))
            if head is None:
                continue
            log = self._logs.setdefault(run_id, RunLog(self._store, run_id))
            facts = log.facts if log.facts is not None and log.facts.version == head.version else log.look()
            run = submitted_run(facts)
            if run is not None and facts is not None and facts.cancelled_by is None:
                yield run

    def holder(self, run_id: str) -> RunHolder | None:
        """The process that executes a run; None: there is none. Raises as `left`."""
        if self._registry is None:
            return None
        with self._lock:
            return self._registry.holders([run_id]).get(run_id)

    def close(self) -> None:
        """Close its connection."""
        if self._registry is not None:
            self._registry.close()


def submitted_run(facts: RunFacts | None) -> SubmittedRun | None:
    """The run, where it was submitted to a server of this store."""
    if facts is None or facts.imports:
        return None
    opened, submitted = facts.opened, facts.opened.submitted
    if submitted is None:
        return None
    return SubmittedRun(
        run_id=opened.run_id,
        panel=judged_by(opened.panel, opened.custom) if opened.ladder is None else opened.ladder.digest,
        version=facts.version,
        complete=facts.complete,
        concurrency=submitted.concurrency,
        staged=opened.ladder is not None,
    )


LOOK_SECONDS = 2.0
"""Between two looks for runs that no process executes."""

_REMEMBERED = 1000
"""Runs whose problems are still reported."""

_PASSING = (StoreLocked, Fenced, WrongVersion, StoreUnreachable, StoreFailed)
"""Another process is at work, or the store is away: it is tried again. Any other problem a person has to mend."""

_log = logging.getLogger(__name__)

MakeJury = Callable[[Callable[[str, str], None]], Jury]
"""Makes a Jury that passes on what final judges write: debate id and text."""

Kind = Literal["evaluation", "run"]


class Submission(NamedTuple):
    """What this server executes: the debates of a run that are not over, or `debate` of it alone.

    `concurrency`: debates at once; None: as many as the panel's Jury judges.
    """

    panel: str
    run_id: str
    debate: str | None = None
    complete: bool = True
    concurrency: int | None = None


class Problem(NamedTuple):
    """What stopped a run here, when its stream had this version."""

    error: BaseException
    version: int

    @property
    def passes(self) -> bool:
        """Whether this server tries again by itself."""
        return is_passing(self.error)


class Submissions:
    """The submissions of this process, in one event loop.

    Args:
        panels: makes the Jury of each panel, by the name in requests; the first is the default.
        store_url: of the store, to ask which process executes a run; None where it is in memory.
        most: evaluations and runs that are executed at once.
    """

    def __init__(
        self,
        panels: Mapping[str, MakeJury],
        store: EventStore,
        feed: Feed,
        *,
        store_url: str | None,
        most: int,
    ) -> None:
        self.panels = tuple(panels)
        self.runs = SubmittedRuns(store, store_url)
        self._make = dict(panels)
        self._feed = feed
        self._most = most
        self._made: dict[str, Jury] = {}
        self._opening: dict[str, asyncio.Task[Jury]] = {}
        self._open = AsyncExitStack()
        self._listing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Of runs whose requests are listed now, until they are begun."""
        self._executed: dict[tuple[str, str | None], asyncio.Task[None]] = {}
        self._problems: OrderedDict[str, Problem] = OrderedDict()
        self._logs: OrderedDict[str, RunLog] = OrderedDict()
        """Of runs of requests, so that the stream of one with many requests is not read anew for each."""
        self._done: dict[str, int] = {}
        """Runs that this server has executed as far as they go, with the version of their stream before."""
        self._ours: set[str] = set()
        """Runs of requests to this server that it has not begun yet."""
        self._freed = asyncio.Event()

    def executes(self, run_id: str, debate: str | None) -> bool:
        """Whether this server executes a run, or a debate of it."""
        return (run_id, None) in self._executed or (run_id, debate) in self._executed

    def problem(self, run_id: str) -> Problem | None:
        """What stopped a run here; None: nothing did."""
        return self._problems.get(run_id)

    def serves(self, run: SubmittedRun) -> bool:
        """Whether this server has the panel of a run."""
        return self._panel_of(run) is not None

    def scale(self, panel: str | None) -> VerdictScale | None:
        """The scale in whose words a panel judges; None: the three verdicts."""
        return self._jury(self._panel(panel)).panel.scale

    @property
    def running(self) -> int:
        """How many are executed."""
        return len(self._executed)

    async def evaluate(self, case: Case, *, panel: str | None, run_id: str | None, submission_id: str | None) -> str:
        """List one case in a run, of its own by default, and judge it; returns the id of the debate."""
        name = run_id or fresh_run_id()
        wanted = Submission(self._panel(panel), name, id_of(name, case.case_id), complete=run_id is None)
        await self._list(wanted, [case], submission_id)
        return id_of(name, case.case_id)

    async def run(
        self, cases: Sequence[Case], *, panel: str | None, run_id: str | None, concurrency: int | None
    ) -> str:
        """List cases in a run, and judge them; returns the run's id."""
        wanted = Submission(self._panel(panel), run_id or fresh_run_id(), concurrency=concurrency)
        await self._list(wanted, cases)
        return wanted.run_id

    async def look(self) -> int:
        """Begin submitted runs that no process executes; returns how many this server did not list itself."""
        if not self.panels:
            return 0
        begun, executed = 0, {*self._listing, *(run_id for run_id, _ in self._executed)}
        staged = any(len(jury.panels) > 1 for jury in self._served().values())
        left = partial(self.runs.left, self._may_begin, most=self._most - len(self._executed), staged=staged)
        for run in await asyncio.to_thread(left, executed):
            problem, panel = self._problems.get(run.run_id), self._panel_of(run)
            if panel is None or len(self._executed) >= self._most:
                break
            if run.run_id in self._listing:
                continue  # a request lists it, and begins it
            wanted = Submission(panel, run.run_id, None, run.complete, run.concurrency)
            try:
                await (await self._opened(panel)).clerk()
            except JuryError as error:
                self._stopped(wanted, error, run.version)
                if isinstance(error, StoreError):
                    break
                continue
            begun += problem is None and run.run_id not in self._ours
            self._begin(wanted)
        return begun

    async def freed(self) -> None:
        """Wait until a place is free, or for a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._freed.wait()
        self._freed.clear()

    async def close(self) -> None:
        """Stop what is executed, and close the juries."""
        tasks = list(self._executed.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Who waited for a Jury may have been cancelled; what it opens must be there to be closed.
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await self._open.aclose()
        await asyncio.to_thread(self.runs.close)

    def _may_begin(self, run: SubmittedRun) -> bool:
        """Whether this server has the panel of a run, and something is new since it stopped here or went to its end."""
        problem = self._problems.get(run.run_id)
        stays = problem is not None and not problem.passes and problem.version == run.version
        return not stays and self._done.get(run.run_id) != run.version and self._panel_of(run) is not None

    def _panel(self, name: str | None) -> str:
        if not self.panels:
            raise PanelNotServed("this server is read-only; start jury serve without --read-only")
        if name is None:
            return self.panels[0]
        if name not in self._make:
            shown = f"{visible_line(name, 80)!r} here{did_you_mean(name, self.panels)}"
            raise PanelNotServed(f"there is no panel {shown}; panels are {', '.join(self.panels)}")
        return name

    def _panel_of(self, run: SubmittedRun) -> str | None:
        return next((name for name, jury in self._served().items() if jury.panel_digest == run.panel), None)

    def _served(self) -> dict[str, Jury]:
        """The Jury of each panel that can be made now."""
        for name in self.panels:
            with suppress(JuryError):
                self._jury(name)
        return self._made

    def _jury(self, panel: str) -> Jury:
        if panel not in self._made:
            self._made[panel] = self._make[panel](self._feed.add_chunk)
        return self._made[panel]

    async def _opened(self, panel: str) -> Jury:
        """The Jury of a panel, opened once."""
        opening = self._opening.get(panel)
        if opening is None or has_failed(opening):
            opening = asyncio.create_task(self._open.enter_async_context(self._jury(panel)))
            self._opening[panel] = opening
        return await asyncio.shield(opening)

    async def _list(self, wanted: Submission, cases: Sequence[Case], submission_id: str | None = None) -> None:
        jury = await self._opened(wanted.panel)
        asked = RunSubmission(concurrency=wanted.concurrency)
        # Of two requests under one name the second one is compared with what the first one listed.
        async with self._listing.setdefault(wanted.run_id, asyncio.Lock()):
            log = self._logs.setdefault(wanted.run_id, RunLog(jury.store, wanted.run_id))
            await jury.list_cases(
                cases, wanted.run_id, asked, submission_id=submission_id, complete=wanted.complete, log=log
            )
            while len(self._logs) > _REMEMBERED:
                self._logs.popitem(last=False)
            self._problems.pop(wanted.run_id, None)
            self._done.pop(wanted.run_id, None)
            here = any(run_id == wanted.run_id for run_id, _ in self._executed)
            elsewhere = not here and await asyncio.to_thread(self.runs.holder, wanted.run_id) is not None
            if elsewhere or len(self._executed) >= self._most:
                self._ours.add(wanted.run_id)
            else:
                self._begin(wanted)

    def _begin(self, wanted: Submission) -> None:
        key = (wanted.run_id, wanted.debate)
        self._ours.discard(wanted.run_id)
        if key not in self._executed:
            self._executed[key] = asyncio.create_task(self._execute(wanted))

    async def _execute(self, wanted: Submission) -> None:
        version = 0
        try:
            jury = await self._opened(wanted.panel)
            if wanted.debate is not None and not wanted.complete and len(jury.panels) == 1:
                version = await asyncio.to_thread(self.runs.version, wanted.run_id)
                await jury.judge_debate(wanted.run_id, wanted.debate)
            else:
                version, cases = await asyncio.to_thread(self._stored, wanted, jury.store)
                await jury.judge_listed(
                    wanted.run_id,
                    cases,
                    concurrency=wanted.concurrency,
                    complete=wanted.complete,
                    lone=wanted.debate is not None,
                )
        except RunUnfinished as unfinished:
            if unfinished.cancelled_by is None:
                self._stopped(wanted, unfinished, version)
        except Exception as error:  # noqa: BLE001  (reported)
            self._stopped(wanted, error, version)
        else:
            self._problems.pop(wanted.run_id, None)
            if wanted.debate is None:
                self._done[wanted.run_id] = version
        finally:
            del self._executed[wanted.run_id, wanted.debate]
            if self._ours:
                self._freed.set()

    def _stored(self, wanted: Submission, store: EventStore) -> tuple[int, CaseSource]:
        version = self.runs.version(wanted.run_id)
        if wanted.debate is None:
            return version, ListedCases(store, wanted.run_id)
        return version, partial(_case, store, wanted.debate)

    def _stopped(self, wanted: Submission, error: BaseException, version: int) -> None:
        before, problem = self._problems.get(wanted.run_id), Problem(error, version)
        self._problems[wanted.run_id] = problem
        while len(self._problems) > _REMEMBERED:
            self._problems.popitem(last=False)
        what = f"run {wanted.run_id}" if wanted.debate is None else f"evaluation {wanted.debate}"
        if not isinstance(error, JuryError):
            _log.error("%s stopped, and waits in the store: %s", what, error, exc_info=error)
        elif problem.passes:
            if before is None or str(before.error) != str(error):
                _log.warning("%s waits, and is tried again by itself: %s", what, error)
        else:
            _log.warning("%s stopped, and waits in the store: %s", what, error)


def is_passing(problem: BaseException) -> bool:
    """Whether what stopped a run is tried again by itself; of several debates each has to be."""
    if isinstance(problem, RunUnfinished):
        return bool(problem.problems) and all(map(is_passing, problem.problems.values()))
    return isinstance(problem, _PASSING)


def _case(store: EventStore, debate: str, _fetch: Fetch) -> Iterator[Case]:
    """The case of one debate; none where it was erased."""
    yield from recorded_cases(store, [debate]).values()


class SubmissionState(NamedTuple):
    """The state of an evaluation or a run.

    running: this server executes it, or `process` does. waiting: it goes on by itself; `problem` says for what it waits
    where that is not a free place. finished: nothing is left to do. stopped: `problem` stopped it. unfinished: no
    server goes on with it by itself. `listed` debates are in the list of a run, which is `complete` or open; None of an
    evaluation, and of a run without a list.
    """

    state: Literal["running", "waiting", "finished", "stopped", "unfinished"]
    problem: BaseException | None = None
    process: str | None = None
    listed: int | None = None
    complete: bool | None = None


class SubmissionStates:
    """Reads states; several threads may use it."""

    def __init__(self, submissions: Submissions, store: EventStore) -> None:
        self._submissions = submissions
        self._store = store

    def read(self, kind: Kind, name: str) -> SubmissionState | None:
        """The state of a submission; None: the log does not know it."""
        if kind == "run":
            row, facts = self._store.run(name), self._submissions.runs.facts(name)
            found = None if row is None else self._of_run(row, facts)
            return (
                found
                if found is None or facts is None
                else found._replace(listed=facts.listed, complete=facts.complete)
            )
        debate = latest_stage(self._store, name)
        if debate is None:
            return None
        if debate.has_ended and debate.aside != "escalated":
            return SubmissionState("finished")
        if debate.run_id is None:
            return SubmissionState("unfinished")
        return self._left(debate.run_id, name, self._submissions.runs.facts(debate.run_id))

    def latest_debate(self, name: str) -> str:
        """The debate of an evaluation; by a ladder that of the last stage that was opened, audits left out."""
        found = latest_stage(self._store, name)
        return name if found is None else found.debate_id

    def _of_run(self, row: RunRow, facts: RunFacts | None) -> SubmissionState:
        over = row.ended == row.debates
        if over and facts is not None and facts.cancelled_by is not None:
            return SubmissionState("finished")  # what was not begun is not left to do
        if over and not row.waiting and (row.total is None or row.ended >= row.total):
            return SubmissionState("finished")
        return self._left(row.run_id, None, facts)

    def _left(self, run_id: str, debate: str | None, facts: RunFacts | None) -> SubmissionState:
        """The state of what is not over."""
        here = self._submissions
        if here.executes(run_id, debate):
            return SubmissionState("running")
        if (holder := here.runs.holder(run_id)) is not None:
            return SubmissionState("running", process=f"process {holder.process}")
        if facts is not None and facts.cancelled_by is not None:
            said = f"run {run_id} was cancelled by {facts.cancelled_by}; the same request goes on with it"
            return SubmissionState("stopped", RunRefused(said))
        problem, run = here.problem(run_id), submitted_run(facts)
        if problem is not None:
            return SubmissionState("waiting" if problem.passes else "stopped", problem.error)
        return SubmissionState("waiting" if run is not None and here.serves(run) else "unfinished")
