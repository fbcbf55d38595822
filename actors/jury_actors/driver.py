"""Drives debates through a runtime: jobs go in while there is room, results come out as debates end."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing

from jury_actors.errors import ClusterLost
from jury_actors.messages import Chunk, Finished, Job
from jury_actors.runtime import Runtime

MAX_BYTES = 64 * 1024 * 1024
"""Case bytes in flight at most, however many debates that is; one debate is always admitted."""

_DRAWING_SECONDS = 0.005
"""A thread draws jobs for so long before the first of them start: a visit of the thread costs more than most jobs."""


async def _always(_job: Job) -> bool:
    return True


async def drive(
    runtime: Runtime,
    jobs: Iterator[Job | None],
    *,
    concurrency: int,
    on_chunk: Callable[[Chunk], None] = lambda _chunk: None,
    admits: Callable[[Job], Awaitable[bool]] = _always,
) -> AsyncGenerator[Finished, None]:
    """Run the debates of `jobs`, at most `concurrency` at once, and yield each as it ends.

    Close the generator (`aclosing`) where it may be left early: its debates then stop where they are.

    Args:
        runtime: may be used by several drivers at once.
        jobs: drawn, in a thread, only when there is room for a debate; to start no new ones, let the iterator end.
            None: there is no job now, and there may be one once a debate has ended and was yielded.
        concurrency: debates at once.
        on_chunk: called with the pieces of watched answers as they arrive.
        admits: a job that it refuses waits until another debate has ended; with none running, it is the last drawn.
    """
    window = _Window(jobs, concurrency, admits)
    fresh = await window.fill()
    if not fresh:
        return
    inbox = _Inbox()

    def take(item: Finished | Chunk) -> None:
        if isinstance(item, Chunk) or window.remove(item.debate_id):
            inbox.put(item)

    async with runtime.client(
        on_item=take, on_loss=lambda _unconfirmed: list(window.running.values()), on_error=inbox.put
    ) as coordinator:
        while window.running or inbox.items:
            coordinator.send(*fresh)
            for item in await inbox.take():
                if isinstance(item, Chunk):
                    on_chunk(item)
                elif isinstance(item, Finished):
                    if isinstance(item.problem, ClusterLost):
                        runtime.problem = runtime.problem or item.problem
                    yield item
                else:
                    if isinstance(item, ClusterLost):
                        runtime.fail(item)
                    raise item
            fresh = await window.fill(lambda: not inbox.items)


async def drive_one(runtime: Runtime, job: Job, on_chunk: Callable[[Chunk], None]) -> BaseException | None:
    """Run one debate; returns why it could not go on."""
    async with aclosing(drive(runtime, iter([job]), concurrency=1, on_chunk=on_chunk)) as driven:
        (problem,) = [finished.problem async for finished in driven]
    return problem


class _Inbox:
    """What arrived and was not taken yet."""

    def __init__(self) -> None:
        self.items: list[Finished | Chunk | Exception] = []
        self._filled = asyncio.Event()

    def put(self, item: Finished | Chunk | Exception) -> None:
        self.items.append(item)
        self._filled.set()

    async def take(self) -> list[Finished | Chunk | Exception]:
        await self._filled.wait()
        self._filled.clear()
        items, self.items = self.items, []
        return items


class _Window:
    """The debates in flight, bounded in number and bytes."""

    def __init__(self, jobs: Iterator[Job | None], most: int, admits: Callable[[Job], Awaitable[bool]]) -> None:
        self.running: dict[str, Job] = {}
        self._admits = admits
        self._drawn: deque[Job | _End] = deque()
        self._jobs: Iterator[Job | None] | None = jobs
        self._most = most
        self._size = 0

    async def fill(self, all_yielded: Callable[[], bool] = lambda: True) -> list[Job]:
        """Draw jobs while there is room for them.

        `all_yielded`: every debate that ended was yielded. Only then a job that is refused with none running stays
        refused: what admits jobs knows of an end once it was yielded.
        """
        fresh: list[Job] = []
        while self._jobs is not None and (room := self._room()):
            if not self._drawn:
                # In a thread: a job may have to be read, or its records fetched, while the others go on.
                drawn = await asyncio.to_thread(_draw, self._jobs, room, MAX_BYTES - self._size)
                # That there was none is not kept: an end may have brought one when it would be looked at.
                self._drawn += (job for job in drawn if job is not None)
                if not self._drawn:
                    break
            job = self._drawn.popleft()
            if isinstance(job, _End):
                self._jobs = None
                break
            if not await self._admits(job):
                self._drawn.appendleft(job)
                if not self.running and all_yielded():
                    self._jobs = None
                break
            self.running[job.debate_id] = job
            self._size += len(job.case)
            fresh.append(job)
        return fresh

    def _room(self) -> int:
        return self._most - len(self.running) if self._size < MAX_BYTES or not self.running else 0

    def remove(self, debate_id: str) -> bool:
        """The debate ended; returns whether it was running."""
        job = self.running.pop(debate_id, None)
        if job is not None:
            self._size -= len(job.case)
        return job is not None


class _End:
    """After the last job."""


def _draw(jobs: Iterator[Job | None], most: int, size: int) -> list[Job | _End | None]:
    """The next jobs, at least one, at most `most`, and none after `size` bytes; or None, where there is none now."""
    drawn: list[Job | _End | None] = []
    until = time.monotonic() + _DRAWING_SECONDS
    while not drawn or (len(drawn) < most and size > 0 and time.monotonic() < until):
        job = next(jobs, _End())
        drawn.append(job)
        if job is None or isinstance(job, _End):
            break
        size -= len(job.case)
    return drawn
