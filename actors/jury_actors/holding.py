"""The driver's end of a coordinator: debates go in as places become free, and come out as they end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Protocol

from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_store.seals.seal import Seal

MAX_BYTES = 64 * 1024 * 1024
"""Case bytes in flight at most, however many debates that is; one debate is always let in."""


class CoordinatorLost(Exception):
    """The coordinator's process died and another takes its place; it knows nothing of what it was sent."""


class CoordinatorPort(Protocol):
    """What a coordinator does for the driver, wherever it lives."""

    async def submit(self, jobs: Sequence[Job]) -> None:
        """Take debates to hold; sent again, one is not held twice."""
        ...

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """Debates that ended, after those acknowledged, and pieces of watched answers."""
        ...

    async def release(self, debate_ids: Sequence[str]) -> None:
        """Stop debates where they are: nobody waits for them any more. Sent again, they go on from there."""
        ...

    async def store_seal(self, seal: Seal) -> bool:
        """Have the log's writer store a seal that the driver made; False when there is one of its size."""
        ...

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """Have the log's writer note how many cases a run has; None: they are still being counted."""
        ...


async def _anything(_job: Job) -> bool:
    """Nothing is bounded."""
    return True


async def hold(
    port: CoordinatorPort,
    jobs: Iterator[Job],
    *,
    concurrency: int,
    heard: Callable[[Chunk], None] = lambda _chunk: None,
    admits: Callable[[Job], Awaitable[bool]] = _anything,
) -> AsyncIterator[Finished]:
    """Hold `jobs`, at most `concurrency` at once, and give each as it ends.

    `heard` is told the pieces of watched answers as they come. Jobs are drawn only when there is a place for them: to
    stop taking new ones, let the iterator end. One that `admits` refuses waits until another has ended; where none is
    held, it is the last that was drawn.
    """
    places = _Places(jobs, concurrency, admits)
    life, ack = "", 0
    while True:
        fresh = await places.fill()
        if not places.taken:
            return
        try:
            if fresh:
                await port.submit(fresh)
            delivery = await port.poll(life, ack)
            if life and delivery.life != life:
                raise CoordinatorLost  # noqa: TRY301  (it was replaced between two calls, and none of them failed)
        except CoordinatorLost:
            life, ack = "", 0
            await _submit_again(port, list(places.taken.values()))
            continue
        life, ack = delivery.life, delivery.upto
        for item in delivery.items:
            if isinstance(item, Chunk):
                heard(item)
            elif places.free(item.debate_id):
                yield item


class _Places:
    """The debates in flight, bounded in number and bytes."""

    def __init__(self, jobs: Iterator[Job], most: int, admits: Callable[[Job], Awaitable[bool]]) -> None:
        self.taken: dict[str, Job] = {}
        self._admits = admits
        self._next: Job | None = None
        self._jobs: Iterator[Job] | None = jobs
        self._most = most
        self._size = 0

    async def fill(self) -> list[Job]:
        """Draw jobs while there is a place for them."""
        fresh: list[Job] = []
        while self._jobs is not None and len(self.taken) < self._most and (self._size < MAX_BYTES or not self.taken):
            # In a thread: a job may have to be read, or its records fetched, while the others go on.
            job = self._next or await asyncio.to_thread(next, self._jobs, None)
            self._next = None
            if job is None:
                self._jobs = None
                break
            if not await self._admits(job):
                self._next = job
                if not self.taken:
                    self._jobs = None
                break
            self.taken[job.debate_id] = job
            self._size += len(job.case)
            fresh.append(job)
        return fresh

    def free(self, debate_id: str) -> bool:
        """The debate ended; whether it held a place."""
        job = self.taken.pop(debate_id, None)
        if job is not None:
            self._size -= len(job.case)
        return job is not None


async def _submit_again(port: CoordinatorPort, jobs: Sequence[Job]) -> None:
    """To the coordinator that takes over, however many of them die in a row."""
    while True:
        try:
            await port.submit(jobs)
        except CoordinatorLost:
            continue
        return
