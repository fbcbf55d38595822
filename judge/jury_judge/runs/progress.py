"""How far a run is while it is executed: which debates run, and the order of all. Bounded, however many there are."""

import asyncio
import json
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import NamedTuple, Protocol

from jury_actors.messages import Finished, Job
from jury_cases.errors import CaseFileError
from jury_events.ids import first_stage_of
from jury_judge.errors import RunRefused


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
