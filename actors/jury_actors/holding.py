"""The driver's end of a coordinator: debates go in as places become free, and come out as they end."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Protocol

from jury_actors.messages import Delivery, Finished, Job

MAX_BYTES = 64 * 1024 * 1024
"""Case bytes in flight at most, however many debates that is; one debate is always let in."""


class CoordinatorLost(Exception):
    """The coordinator's process died and another takes its place; it knows nothing of what it was sent."""


class CoordinatorPort(Protocol):
    """What a coordinator does for the driver, wherever it lives."""

    async def submit(self, jobs: Sequence[Job]) -> None:
        """Take debates to hold; sent again, one is not held twice."""
        ...

    async def poll(self, life: str, ack: int) -> Delivery[Finished]:
        """Debates that ended, after those acknowledged."""
        ...


async def hold(port: CoordinatorPort, jobs: Iterator[Job], *, concurrency: int) -> AsyncIterator[Finished]:
    """Hold `jobs`, at most `concurrency` at once, and give each as it ends.

    Jobs are drawn only when there is a place for them: to stop taking new ones, let the iterator end.
    """
    held: dict[str, Job] = {}
    size = 0
    life, ack = "", 0
    more = True
    while True:
        fresh: list[Job] = []
        while more and len(held) < concurrency and (size < MAX_BYTES or not held):
            # In a thread: a job may have to be read, or its records fetched, while the others go on.
            job = await asyncio.to_thread(next, jobs, None)
            if job is None:
                more = False
                break
            held[job.debate_id] = job
            size += len(job.case)
            fresh.append(job)
        if not held:
            return
        try:
            if fresh:
                await port.submit(fresh)
            delivery = await port.poll(life, ack)
            if life and delivery.life != life:
                raise CoordinatorLost  # noqa: TRY301  (it was replaced between two calls, and none of them failed)
        except CoordinatorLost:
            life, ack = "", 0
            await _submit_again(port, list(held.values()))
            continue
        life, ack = delivery.life, delivery.upto
        for finished in delivery.items:
            job = held.pop(finished.debate_id, None)
            if job is not None:
                size -= len(job.case)
                yield finished


async def _submit_again(port: CoordinatorPort, jobs: Sequence[Job]) -> None:
    """To the coordinator that takes over, however many of them die in a row."""
    while True:
        try:
            await port.submit(jobs)
        except CoordinatorLost:
            continue
        return
