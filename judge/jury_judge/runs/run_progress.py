"""The state of a run while it is executed: bounded by the debates at once, however many the run has."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

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


@dataclass(kw_only=True)
class RunProgress:
    """The state of a run; the jobs and the lines are each read in a thread of their own.

    By a ladder a case is named by its first debate, whichever of its debates runs.

    Attributes:
        moved: called, from any thread, whenever a line may be ready.
        running: debates whose jobs were drawn, and that have not ended.
        auditing: likewise, where the case has its verdict and is audited.
        failed: debates that could not go on.
        begun: whether a debate ended, or none is left: lines of earlier debates would delay the first calls before.
        over: no debate runs, and none begins any more.
        unreadable: why no more cases are read.
    """

    moved: Callable[[], None] = lambda: None
    running: set[str] = field(default_factory=set)
    auditing: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    begun: bool = False
    over: bool = False
    unreadable: CaseFileError | RunRefused | None = None

    def draw(self, job: Job) -> None:
        """A job was drawn."""
        audit = job.stage is not None and job.stage.audit
        (self.auditing if audit else self.running).add(first_stage_of(job.debate_id))

    def end(self, finished: Finished, following: Job | None = None) -> None:
        """A debate ended, or could not go on; `following` is that of the next stage of its case."""
        first = first_stage_of(finished.debate_id)
        if finished.problem is not None and first not in self.auditing:
            self.failed.add(first)
        self.auditing.discard(first)
        self.running.discard(first)
        if following is not None:
            self.draw(following)
        self.begun = True


def moves(event: asyncio.Event) -> Callable[[], None]:
    """Sets an event of the running loop, from any thread; nothing once the loop is closed."""
    loop = asyncio.get_running_loop()

    def moved() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    return moved
