"""The head of a Ray cluster watched while a court sits on the cluster.

Actors reach each other without it, so its end is noticed by no call: Ray is silent for a minute, and then ends the
process.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Self, TypeVar

from jury_actors.errors import ClusterLost
from jury_actors.holding import CoordinatorPort
from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_store.seals.seal import Seal

T = TypeVar("T")

_EVERY = 0.5
"""Seconds between two looks."""

_ANSWERS_WITHIN = 10.0
"""Seconds that a busy machine has to take a connection."""


class HeadWatchedPort:
    """A coordinator on a cluster whose head is watched; use it in `async with`. Once the head is gone, calls fail.

    Args:
        port: the coordinator.
        head: where the head listens, as `host:port`.
        patience: seconds in which a head that refuses connections may come back.

    Raises:
        ClusterLost: by every call, once the head is gone.
    """

    def __init__(self, port: CoordinatorPort, head: str, *, patience: float, every: float = _EVERY) -> None:
        self._port = port
        self._head = head
        self._patience = patience
        self._every = every

    async def __aenter__(self) -> Self:
        self._gone = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._gone.cancel()
        with suppress(asyncio.CancelledError):
            await self._gone

    @property
    def lost(self) -> bool:
        """Whether the head is gone."""
        return self._gone.done() and not self._gone.cancelled()

    async def submit(self, jobs: Sequence[Job]) -> None:
        """See `CoordinatorPort`."""
        await self.unless_lost(self._port.submit(jobs))

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """See `CoordinatorPort`."""
        return await self.unless_lost(self._port.poll(life, ack))

    async def release(self, debate_ids: Sequence[str]) -> None:
        """See `CoordinatorPort`."""
        await self.unless_lost(self._port.release(debate_ids))

    async def store_seal(self, seal: Seal) -> bool:
        """See `CoordinatorPort`."""
        return await self.unless_lost(self._port.store_seal(seal))

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `CoordinatorPort`."""
        await self.unless_lost(self._port.store_run_size(run_id, cases))

    async def unless_lost(self, call: Awaitable[T]) -> T:
        """What a call to an actor of the cluster gives, or ClusterLost once the head is gone."""
        answer = asyncio.ensure_future(call)
        try:
            await asyncio.wait([answer, self._gone], return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return await answer
        finally:
            answer.cancel()
        raise ClusterLost(f"its head at {self._head} is gone")

    async def _watch(self) -> None:
        """Returns once the head has refused connections for as long as the patience lasts."""
        clock = asyncio.get_running_loop().time
        seen = clock()
        while clock() - seen <= self._patience:
            await asyncio.sleep(self._every)
            if await self._listens():
                seen = clock()

    async def _listens(self) -> bool:
        host, _, port = self._head.rpartition(":")
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN):
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        except TimeoutError:
            return True  # too busy to answer; a machine that is gone is noticed by Ray
        except OSError:
            return False
        writer.close()
        return True
