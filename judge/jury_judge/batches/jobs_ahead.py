"""The debates of a run that are not begun, over all its waves: what one wave does not admit, the next is asked for."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

from jury_actors.messages import Job


class JobsAhead:
    """Jobs are drawn before it is decided whether they are admitted; those that were not come again.

    Args:
        jobs: of the debates that are left, drawn in a thread; None: there is none now (see `drive`).
        admits: whether a debate may begin now.
    """

    def __init__(self, jobs: Iterator[Job | None], admits: Callable[[Job], Awaitable[bool]]) -> None:
        self._jobs = jobs
        self._admits = admits
        self._drawn: dict[str, Job] = {}

    def after(self, begun: Iterable[Job]) -> Iterator[Job | None]:
        """For one wave: jobs of debates that begun earlier, which are always admitted; then those that are left."""
        yield from begun
        yield from list(self._drawn.values())
        for job in self._jobs:
            if job is not None:
                self._drawn[job.debate_id] = job
            yield job

    async def admits(self, job: Job) -> bool:
        """Whether a job of `after` may begin now."""
        if job.debate_id in self._drawn:
            if not await self._admits(job):
                return False
            self._drawn.pop(job.debate_id, None)
        return True
