"""A run: its input, checks of what callers in Python give, how far it is while it is executed, and how a session of it
ended.
"""

import asyncio
import json
import math
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import TypeAdapter, ValidationError

from jury_actors.admission.budget import BUDGET, BUDGET_LOST
from jury_actors.errors import Halted
from jury_actors.messages import Finished, Job
from jury_cases.case_outlines import Fetch, Skip, outline_of
from jury_cases.errors import CaseFileError
from jury_cases.omissions import UnreadableRows
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS, first_stage_of, repeat_id
from jury_events.ids import debate_id as id_of
from jury_events.run_events import RunSubmission
from jury_events.text import condensed, visible_line
from jury_events.value import Label, NewDebateId, NewRunId
from jury_judge.errors import RunRefused
from jury_judge.panels.files import Ladder
from jury_judge.runs.usage import RunUsage
from jury_providers.endpoints import Endpoints
from jury_providers.registry import NO_ENDPOINTS
from jury_store.seals.keys import PublicKey

CaseSource = Callable[[Fetch], Iterable[Case]]
"""Returns the cases from the first on; called for each case whether to fetch the records behind its URIs.

Several threads may iterate at once.
"""


@dataclass(frozen=True, kw_only=True)
class RunInput:
    """The input of a run.

    Attributes:
        run_id: its name in the store.
        resolved: the panel, of a ladder that of the first stage.
        cases: see `CaseSource`; may be called several times.
        concurrency: debates at once.
        submission_id: the caller's name of its cases in live events.
        adopt: an imported debate counts as judged if its seal is signed by one of these keys.
        repeats: debates a case.
        operator_policy: the policy that was given for all cases without one; it is shown before the case.
        batched: calls go into batches; else a run with an open batch is refused.
        ladder: by which its cases are judged; None: by one panel.
        listing: taken while a page is listed; calls that list in one run at once share it.
        whole: its cases are all that it is to have; else a part of its list, as the store has it.
        endpoints: how its providers are reached.
        successors: by the id of a debate whose case is judged again, that of the debate that counts in its place.
        replacing: those of them that are recorded as replaced when their successors open.
        submitted: it was submitted to a server; None: a command or a call judges it.
    """

    run_id: str
    resolved: ResolvedPanel
    cases: CaseSource
    concurrency: int
    submission_id: str | None = None
    adopt: Collection[PublicKey] = ()
    repeats: int = 1
    operator_policy: str | None = None
    batched: bool = False
    ladder: Ladder | None = None
    listing: Lock = field(default_factory=Lock, compare=False)
    whole: bool = True
    endpoints: Endpoints = field(default_factory=lambda: NO_ENDPOINTS)
    successors: Mapping[str, str] = field(default_factory=dict)
    replacing: frozenset[str] = frozenset()
    submitted: RunSubmission | None = None

    def debate_ids(self, case: Case | str) -> tuple[str, ...]:
        """The ids of all debates of a case, or of a case id; by a ladder those of its first stage."""
        first = id_of(self.run_id, case if isinstance(case, str) else case.case_id)
        return tuple(map(partial(repeat_id, first), range(1, self.repeats + 1)))

    @property
    def pictures(self) -> bool:
        """Whether a stage of its ladder is sent pictures: the log keeps them from the first stage on."""
        if self.ladder is None:
            return False
        return any(place.images for stage in self.ladder.stages for place in stage.panel.seats_and_judge)

    def counts(self, debate: str) -> str:
        """The debate that counts in place of this one: itself, unless its case is judged again."""
        return self.successors.get(debate, debate)

    def outline(self, skip: Skip, fetch: Fetch) -> Iterator[Case | str]:
        """The cases in their order, without those that `skip` chose: of these the id alone."""
        return outline_of(self.cases, skip, fetch)


def fresh_run_id() -> str:
    """A new run id."""
    return _fresh("run")


def fresh_debate_id(case: Case) -> str:
    """A new id for a debate that belongs to no run."""
    return id_of(_fresh("debate"), case.case_id)


def _fresh(kind: str) -> str:
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


_RUN_ID = TypeAdapter(NewRunId)
_DEBATE_ID = TypeAdapter(NewDebateId)
_NAME = TypeAdapter(Label)


def check_ids(run_id: str | None, debate_id: str | None = None, submission_id: str | None = None) -> None:
    """Refuse ids that no event can have."""
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
            raise SettingError(f"{name}: {shown} is invalid ({condensed(error)})") from error


def check_bounds(**bounds: tuple[Any, int]) -> None:
    """Refuse numbers below their minimum, NaN, infinity, and values of other types."""
    for name, (value, least) in bounds.items():
        if value is not None and not (isinstance(value, int | float) and least <= value < math.inf):
            raise SettingError(f"{name}: must be a number from {least}, not {visible_line(repr(value), 40)}")


def check_repeat(repeat: Any) -> None:
    """Refuse a number of debates that a case cannot have."""
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS:
        shown = visible_line(repr(repeat), 40)
        raise SettingError(f"repeat: must be a whole number from 1 to {MOST_REPEATS}, not {shown}")


class ProgressListener(Protocol):
    """Callbacks of a run."""

    def begin(self, total: int | None, stored: int) -> None:
        """`total` cases (None: not known yet), `stored` of them judged before."""
        ...

    def total_known(self, total: int) -> None:
        """The last case was read: the run has `total` cases."""
        ...

    def goes_on(self, stage: int) -> None:
        """A case goes on to this stage of its ladder."""
        ...

    def ended(self, finished: Finished) -> None:
        """A debate that counts for its case ended, or one could not go on."""
        ...


class NoListener:
    """A `ProgressListener` that ignores everything."""

    def begin(self, total: int | None, stored: int) -> None:
        """Ignored."""

    def total_known(self, total: int) -> None:
        """Ignored."""

    def goes_on(self, stage: int) -> None:
        """Ignored."""

    def ended(self, finished: Finished) -> None:
        """Ignored."""


@dataclass
class RunProgress:
    """The state of a run; the jobs and the lines are each read in a thread of their own.

    By a ladder a case is named by its first debate, whichever of its debates runs.

    Attributes:
        total: how many debates its cases have; None: they are not all read.
        size: the same with those of earlier calls over other cases.
        listener: hears what happens.
        ended: how many debates that count for their cases ended now.
        problems: debates that could not go on, audits too; no line is given for them.
        running: debates whose jobs were drawn, and that have not ended.
        auditing: likewise, where the case has its verdict and is audited.
        failed: debates that could not go on.
        begun: whether a debate ended, or none is left: lines of earlier debates would delay the first calls before.
        over: no debate runs, and none begins any more.
        unreadable: why no more cases are read.
        changed: set whenever a line may be ready, in the loop of `follow`.
    """

    total: int | None = None
    size: int | None = None
    listener: ProgressListener = field(default_factory=NoListener)
    ended: int = 0
    problems: list[Finished] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    auditing: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    begun: bool = False
    over: bool = False
    unreadable: CaseFileError | RunRefused | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None

    def follow(self, stored: int) -> None:
        """The lines are taken in the running loop; `stored` of the debates are over."""
        self._loop = asyncio.get_running_loop()
        self.listener.begin(self.total, stored)

    def moved(self) -> None:
        """A line may be ready; called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.changed.set)

    def count(self, total: int, size: int) -> None:
        """The last case was read."""
        self.total, self.size = total, size
        self.listener.total_known(total)

    def draw(self, job: Job) -> None:
        """A job was drawn."""
        audit = job.stage is not None and job.stage.audit
        (self.auditing if audit else self.running).add(first_stage_of(job.debate_id))

    def end(self, finished: Finished, following: Job | None, *, begins: bool) -> None:
        """A debate ended, or could not go on; `following`, of the next stage of its case, begins unless it stops."""
        first = first_stage_of(finished.debate_id)
        if following is not None and following.stage is not None and not following.stage.audit:
            self.listener.goes_on(following.stage.number)
        elif finished.problem is not None or first not in self.auditing:
            self.ended += finished.problem is None
            self.listener.ended(finished)
        if finished.problem is not None:
            self.problems.append(finished)
            if first not in self.auditing:
                self.failed.add(first)
        self.auditing.discard(first)
        self.running.discard(first)
        if following is not None and begins:
            self.draw(following)
        self.begun = True
        self.moved()


StopCause = Literal["budget", "budget_lost", "other"]


def stop_cause(finished: Finished) -> StopCause:
    """Why a debate could not go on: the budget is used up, its process was lost, or other."""
    problem = finished.problem
    if isinstance(problem, Halted) and problem.about in {BUDGET, BUDGET_LOST}:
        return "budget" if problem.about == BUDGET else "budget_lost"
    return "other"


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
    spent: RunUsage | None = None
    run_spent: RunUsage | None = None
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

    def after(self, earlier: "RunOutcome | None") -> "RunOutcome":
        """This session and the earlier ones of the same command as one; None: there was none."""
        if earlier is None:
            return self
        spent = None if self.spent is None or earlier.spent is None else earlier.spent + self.spent
        now, seconds = earlier.now + self.now, earlier.seconds + self.seconds
        return self._replace(before=earlier.before, now=now, seconds=seconds, spent=spent)

    @property
    def left_out(self) -> tuple[str, ...]:
        """`unreadable` as lines for people; empty if everything was read."""
        return () if self.unreadable is None else tuple(self.unreadable.lines())


_BLOCK = 4096
"""Entries that are kept in memory before they are written, and that are read at once."""

_OVER, _LEFT = "+", "-"

_IN_MEMORY = 1024 * 1024
"""Bytes."""


class OrderedDebate(NamedTuple):
    """A debate at its place; `over`: it had ended before this call."""

    debate_id: str
    over: bool


class DebateOrder:
    """Written by the thread that reads the cases, and read by the one that gives the lines."""

    def __init__(self) -> None:
        self._blocks = SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="jury-order-")  # noqa: SIM115  (closed below)
        weakref.finalize(self, self._blocks.close)
        self._ends: list[int] = [0]
        self._last: list[str] = []
        self._unread: deque[str] = deque()
        self._read = 0
        self._lock = threading.Lock()

    def add(self, debate_id: str, *, over: bool) -> None:
        """The next debate."""
        with self._lock:
            self._last.append(f"{_OVER if over else _LEFT}{debate_id}")
            if len(self._last) == _BLOCK:
                self._blocks.seek(self._ends[-1])
                written = self._blocks.write(json.dumps(self._last).encode())
                self._ends.append(self._ends[-1] + written)
                self._last = []

    def first(self) -> OrderedDebate | None:
        """The first debate that was not removed; None: none was added since."""
        with self._lock:
            if not self._unread:
                block, place = divmod(self._read, _BLOCK)
                self._unread.extend(self._block(block)[place:])
            found = self._unread[0] if self._unread else None
        return None if found is None else OrderedDebate(found[1:], found[0] == _OVER)

    def remove(self) -> None:
        """Go on to the next debate."""
        with self._lock:
            self._unread.popleft()
            self._read += 1

    def __iter__(self) -> Iterator[str]:
        """The ids of all debates, from the first on."""
        block = 0
        while True:
            with self._lock:
                found = self._block(block)
            yield from (one[1:] for one in found)
            if len(found) < _BLOCK:
                return
            block += 1

    def _block(self, number: int) -> list[str]:
        if number == len(self._ends) - 1:
            return self._last
        start, end = self._ends[number : number + 2]
        self._blocks.seek(start)
        found: list[str] = json.loads(self._blocks.read(end - start))
        return found
