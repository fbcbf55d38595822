"""A run: many cases before one panel. The same run again goes on where it stopped and asks nothing twice."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Any, Protocol

from jury_actors.errors import ClusterLost, Halted
from jury_actors.holding import CoordinatorLost, CoordinatorPort, hold
from jury_actors.messages import Chunk, Docket, Finished, Job
from jury_actors.patience import Patience
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import described
from jury_events.case import Case
from jury_events.ids import debate_id as id_of
from jury_events.ids import debate_stream
from jury_events.panel import Panel
from jury_events.parts import part_digest
from jury_judge.adoption import adopted, not_set_aside
from jury_judge.allowance import Allowance
from jury_judge.cases.losses import LossReport
from jury_judge.debates import events_gone, panel_changes
from jury_judge.errors import CaseFileError, RunRefused
from jury_judge.views.result import line_of_stream
from jury_store.debate_rows import CaseRow
from jury_store.errors import AppendRefused, Fenced, StoreError
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey

SURVEY_SECONDS = 3.0
"""How long cases are read before the first of them is judged."""

_LINES_AT_ONCE = 200

_ENDED = ("completed", "failed", "cancelled")

Line = dict[str, Any]


CaseSource = Callable[[Callable[[Case], bool]], Iterable[Case]]


def fresh_run_id() -> str:
    """A name for a run; another one each time."""
    return _fresh("run")


def fresh_debate_id(case: Case) -> str:
    """An id for a debate that belongs to no run; another one each time."""
    return id_of(_fresh("debate"), case.case_id)


def _fresh(kind: str) -> str:
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


class Progress(Protocol):
    """Told how a run goes."""

    def begin(self, total: int | None, stored: int) -> None:
        """`total` cases (None: not known yet), `stored` of them judged before."""
        ...

    def counted(self, total: int) -> None:
        """The last case was read: there are so many."""
        ...

    def ended(self, finished: Finished) -> None:
        """A debate ended, or could not go on."""
        ...


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run is made of.

    Attributes:
        run_id: names it in the store.
        resolved: the panel.
        cases: gives the cases from the start, each time that it is called; asked of each case whether to read the
            records that its URIs lead to.
        concurrency: debates at once.
        submission_id: what the caller calls a case in live events.
        adopt: an imported debate counts as held here if its seal is signed by one of these keys.
    """

    run_id: str
    resolved: ResolvedPanel
    cases: CaseSource
    concurrency: int
    submission_id: Callable[[Case], str | None] = lambda _case: None
    adopt: Collection[PublicKey] = ()

    def debate_id(self, case: Case) -> str:
        """Where the case's debate is in the store."""
        return id_of(self.run_id, case.case_id)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A run as the store knows it, checked against what it is to be now.

    Attributes:
        read: how many cases were read and checked, from the first on.
        total: how many cases there are; None where reading them all would take too long before anything is done.
        stored: what the store has of them, by debate id; of all debates of the run where `total` is None.
        losses: what of the cases that were read no juror is shown.
        adopted: imported debates that count as held here.
        elsewhere: how many debates the run has over cases that are none of these.
    """

    read: int
    total: int | None
    stored: dict[str, CaseRow]
    losses: LossReport
    adopted: frozenset[str] = frozenset()
    elsewhere: int = 0

    @property
    def ended(self) -> int:
        """How many of the debates are over."""
        return sum(row.status in _ENDED for row in self.stored.values())

    @property
    def cases(self) -> int | None:
        """How many cases the run has: those of now, and those that it judged at another call; None as for `total`."""
        return None if self.total is None else self.total + self.elsewhere

    @property
    def left(self) -> bool:
        """Whether a debate may be left to hold."""
        return self.total is None or self.ended < self.total

    def is_over(self, debate: str) -> bool:
        """Whether nothing is left to do in a debate."""
        row = self.stored.get(debate)
        return row is not None and row.status in _ENDED


def survey(run: Run, store: EventStore, *, seconds: float | None = SURVEY_SECONDS) -> Survey:
    """Read the cases once and compare the run with what the store holds of it.

    Args:
        run: what is to be held.
        store: open for reading.
        seconds: how long reading may take; the rest is read and compared while the run lasts. None: all are read.

    Raises:
        RunRefused: the run was begun with another panel, or a case's content changed; the message says what differs.
            Or a debate of the run was imported and is not adopted, or cannot be read; the message names it.
        CaseFileError: a case cannot be read.
    """
    recorded = store.cases_of_run(run.run_id)
    taken_over = adopted(store, f"run {run.run_id!r}", recorded, run.adopt)
    if (first := next((one for one, row in recorded.items() if row.quarantined is None), None)) is not None:
        _compare_panels(run, store, first)
    losses = loss_report(run.resolved.panel)
    ours: dict[str, CaseRow] = {}
    end = None if seconds is None else time.monotonic() + seconds
    for case in run.cases(lambda _case: False):
        losses.add(case)
        debate = run.debate_id(case)
        row = recorded.get(debate)
        if row is not None:
            ours[debate] = row
            _check_case(run, case, row, store)
        if end is not None and time.monotonic() > end:
            return Survey(read=losses.cases, total=None, stored=recorded, losses=losses, adopted=taken_over)
    elsewhere = sum(row.quarantined is None for row in recorded.values()) - len(ours)
    return Survey(
        read=losses.cases, total=losses.cases, stored=ours, losses=losses, adopted=taken_over, elsewhere=elsewhere
    )


def sees_images(panel: Panel) -> bool:
    """Whether any juror, or the final judge, is sent pictures."""
    return any(place.images for place in panel.places)


def loss_report(panel: Panel) -> LossReport:
    """What a panel is not shown, before any case."""
    blind = [seat.juror_id for seat in panel.seats if not seat.images]
    judge = panel.final.judge
    return LossReport(
        images_seen=sees_images(panel), blind=[*blind, *(["the final judge"] if judge and not judge.images else [])]
    )


def _check_case(run: Run, case: Case, row: CaseRow, store: EventStore) -> None:
    not_set_aside(run.debate_id(case), row)
    if row.salt is not None and not _same_case(case, run.debate_id(case), row, row.salt, store):
        raise RunRefused(
            f"run {run.run_id!r} judged another case under the id {case.case_id!r}: its content has changed since "
            "(or what the panel file redacts of it); give the run another --run id, or the case its old content"
        )


def is_over(
    debate_id: str, case: Case, resolved: ResolvedPanel, store: EventStore, adopt: Collection[PublicKey] = ()
) -> bool | None:
    """Whether nothing is left to do in one debate; None where the store does not hold it.

    Raises:
        RunRefused: it was opened with another panel, or over another case; or it was imported and is not adopted
            (`adopt`: by these keys), is in quarantine, or cannot be read.
    """
    found = store.debate(debate_id)
    if found is None:
        return None
    not_set_aside(debate_id, found)
    row = CaseRow(found.case_id, found.status, found.case_part, None, found.imported)
    adopted(store, f"debate {debate_id}", {debate_id: row}, adopt)
    if different := panel_changes(store, debate_id, resolved):
        raise RunRefused(
            f"debate {debate_id} was opened with another panel: {described(different)}; "
            "use the panel that it was opened with, or another run or id"
        )
    part = store.parts(debate_id, [found.case_part]).get(found.case_part)
    row = row._replace(salt=None if part is None else part.salt)
    if row.salt is not None and not _same_case(case, debate_id, row, row.salt, store):
        raise RunRefused(
            f"debate {debate_id} judged another case under that id: its content has changed since (or what the panel "
            "file redacts of it); use another run or id, or give the case its old content"
        )
    return row.status in _ENDED


def _same_case(case: Case, debate: str, row: CaseRow, salt: bytes, store: EventStore) -> bool:
    """Records behind a URI were read when the debate opened: what counts is that it is the same URI.

    A case that an earlier version wrote is compared by what it says, as its bytes were others.
    """
    if part_digest(salt, case.to_part()) == row.case_part:
        return True
    recorded = Case.from_part(store.parts(debate, [row.case_part])[row.case_part].content)
    fetched = {
        f"{kind}_records": ()
        for kind, uri in (("security_gate", recorded.security_gate_uri), ("agent_card", recorded.agent_card_uri))
        if uri is not None
    }
    return case.to_part() == recorded.changed(**fetched).to_part()


@dataclass(kw_only=True)
class Docketed:
    """How far a run has come; `failed` are the debates that could not go on, `unreadable` why no more cases came.

    `cases` is how many the run has, once that is known and the store has not been told.
    """

    order: deque[str] = field(default_factory=deque)
    over: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    unreadable: CaseFileError | RunRefused | None = None
    cases: int | None = None


async def carry_out(
    run: Run,
    surveyed: Survey,
    store: EventStore,
    court: Callable[[], AbstractAsyncContextManager[CoordinatorPort]],
    *,
    progress: Progress,
    stopping: asyncio.Event,
    problems: list[Finished],
    heard: Callable[[Chunk], None] | None = None,
    store_patience: float = 0.0,
    allowance: Allowance | None = None,
) -> AsyncGenerator[Line, None]:
    """Hold what is not over yet, and give every debate's line in the order of the cases.

    Args:
        run: what to hold.
        surveyed: what the store knows of it.
        store: open for reading.
        court: sets up the actors; not called when nothing is left to hold.
        progress: told of every debate that ends.
        stopping: once set, no new debate begins; those that run are finished.
        problems: takes the debates that could not go on; no line is given for them.
        heard: watches final judges while they write.
        store_patience: seconds for which a store that cannot be read is tried again.
        allowance: of a bounded run: debates that were begun before come first, and others begin where it lets them.

    Raises:
        CaseFileError: a case, or what its URI leads to, could not be read any more; what ran was finished first.
        RunRefused: a case that the survey had not read is not the one that was judged before; likewise.
    """
    docketed = Docketed()
    patience = Patience(store_patience)  # silent: whoever writes to the store says that it is away
    progress.begin(surveyed.total, surveyed.ended)
    docket = Docket(run.run_id, run.resolved, watched=heard is not None)
    jobs = iter(
        _Jobs(
            run=run,
            docket=docket,
            surveyed=surveyed,
            docketed=docketed,
            stopping=stopping,
            store=store,
            progress=progress,
            begun_first=allowance is not None,
        )
    )
    bounds = _Bounds(allowance, stopping, patience)
    if surveyed.left:
        async with court() as port:
            await _note_size(port, run, surveyed.cases)
            held = hold(port, jobs, concurrency=run.concurrency, heard=heard or _nobody, admits=bounds.admits)
            async for finished in held:
                progress.ended(finished)
                await bounds.ended(finished)
                docketed.over.add(finished.debate_id)
                if finished.problem is not None:
                    problems.append(finished)
                    docketed.failed.add(finished.debate_id)
                    if _stops_the_run(finished.problem):
                        stopping.set()
                async for line in _lines(docketed, store, patience):
                    yield line
                await _note_counted(port, run, docketed, patience)
            await _note_counted(port, run, docketed, patience)
    if allowance is not None and allowance.short:
        stopping.set()
    await asyncio.to_thread(deque, jobs, 0)  # what was judged before and stands after the last job still gets its line
    docketed.order = deque(one for one in docketed.order if one in docketed.over)  # the last job may not have begun
    async for line in _lines(docketed, store, patience):
        yield line
    if docketed.unreadable is not None:
        raise docketed.unreadable


@dataclass(frozen=True)
class _Bounds:
    """The allowance of a run, where it has one, asked in a thread and with patience for the store that it reads."""

    allowance: Allowance | None
    stopping: asyncio.Event
    patience: Patience

    async def admits(self, job: Job) -> bool:
        """Whether a debate may begin now; one that had to wait until the run was stopped may not."""
        if self.allowance is None:
            return True
        if self.stopping.is_set():
            return False
        admitted, _ = await self.patience.see_through(partial(asyncio.to_thread, self.allowance.admits, job))
        return admitted

    async def ended(self, finished: Finished) -> None:
        """What was kept for a debate is free again."""
        if self.allowance is not None:
            ended = partial(self.allowance.ended, finished.debate_id, finished=finished.problem is None)
            await self.patience.see_through(partial(asyncio.to_thread, ended))


async def _note_size(port: CoordinatorPort, run: Run, cases: int | None) -> None:
    """Tell the store how many cases the run has, however many coordinators die in a row."""
    while True:
        try:
            await port.store_run_size(run.run_id, cases)
        except CoordinatorLost:
            continue
        return


async def _note_counted(port: CoordinatorPort, run: Run, docketed: Docketed, patience: Patience) -> None:
    """The same once all cases were read, where that took longer than the survey."""
    if docketed.cases is not None:
        await patience.see_through(partial(_note_size, port, run, docketed.cases))
        docketed.cases = None


def _stops_the_run(problem: BaseException) -> bool:
    """A person must act, the store or the cluster failed, or another coordinator took over.

    One debate's trouble concerns no other.
    """
    if isinstance(problem, Halted | ClusterLost):
        return True
    return isinstance(problem, StoreError) and (isinstance(problem, Fenced) or not isinstance(problem, AppendRefused))


def _nobody(_chunk: Chunk) -> None:
    """Nobody watches."""


@dataclass(frozen=True, kw_only=True)
class _Jobs:
    """The debates that are left to hold, and on the way the order of all lines."""

    run: Run
    docket: Docket
    surveyed: Survey
    docketed: Docketed
    stopping: asyncio.Event
    store: EventStore
    progress: Progress
    begun_first: bool

    def __iter__(self) -> Iterator[Job]:
        """A case that cannot be read ends the series: what runs is finished before that is told."""
        try:
            yield from self._readable()
        except (CaseFileError, RunRefused) as error:
            self.docketed.unreadable = error

    def _readable(self) -> Iterator[Job]:
        run, surveyed, docketed = self.run, self.surveyed, self.docketed
        ended = surveyed.ended
        number = there = 0
        early: set[str] = set()
        if self.begun_first:
            for job in self._begun():
                early.add(job.debate_id)
                yield job
        for number, case in enumerate(run.cases(self._is_wanted), start=1):
            debate = run.debate_id(case)
            row = surveyed.stored.get(debate)
            there += row is not None
            if row is not None and number > surveyed.read:
                _check_case(run, case, row, self.store)
            if surveyed.is_over(debate):
                docketed.order.append(debate)
                docketed.over.add(debate)
                ended -= 1
            elif debate in early:
                docketed.order.append(debate)
            elif not self.stopping.is_set():
                docketed.order.append(debate)
                yield self._job(case)
            elif not ended and surveyed.total is None:
                return  # every line that can be given is; the rest of a long file is for the next time
        if surveyed.total is None:
            self.progress.counted(number)
            others = sum(row.quarantined is None for row in surveyed.stored.values()) - there
            docketed.cases = number + others

    def _begun(self) -> Iterator[Job]:
        """The debates of earlier sessions that are not over."""
        left = {debate for debate in self.surveyed.stored if not self.surveyed.is_over(debate)}
        for case in self.run.cases(lambda _case: False) if left else ():
            if self.stopping.is_set() or not left:
                return
            debate = self.run.debate_id(case)
            if debate in left:
                left.discard(debate)
                _check_case(self.run, case, self.surveyed.stored[debate], self.store)
                yield self._job(case)

    def _job(self, case: Case) -> Job:
        debate = self.run.debate_id(case)
        content, taken_over = case.model_dump_json().encode(), debate in self.surveyed.adopted
        return Job(debate, content, self.docket, self.run.submission_id(case), adopted=taken_over)

    def _is_wanted(self, case: Case) -> bool:
        """Whether the records that its URIs lead to are needed."""
        return not self.stopping.is_set() and self.run.debate_id(case) not in self.surveyed.stored


async def _lines(docketed: Docketed, store: EventStore, patience: Patience) -> AsyncIterator[Line]:
    """The lines of the debates at the head of the order that are over."""
    while docketed.order and docketed.order[0] in docketed.over:
        ready: list[str] = []
        while docketed.order and docketed.order[0] in docketed.over and len(ready) < _LINES_AT_ONCE:
            debate = docketed.order.popleft()
            docketed.over.discard(debate)
            if debate not in docketed.failed:
                ready.append(debate)
        lines, _ = await patience.see_through(partial(asyncio.to_thread, _read_lines, store, ready))
        for line in lines:
            yield line


def _read_lines(store: EventStore, debates: list[str]) -> list[Line]:
    streams = store.read_streams([debate_stream(debate) for debate in debates])
    gone = next((debate for debate in debates if debate_stream(debate) not in streams), None)
    if gone is not None:
        raise events_gone(gone)
    return [line_of_stream(streams[debate_stream(debate)]) for debate in debates]


def _compare_panels(run: Run, store: EventStore, debate: str) -> None:
    different = panel_changes(store, debate, run.resolved)
    if different:
        raise RunRefused(
            f"run {run.run_id!r} was begun with another panel: {described(different)}; "
            "use the panel that it was begun with, or give the run another --run id"
        )
