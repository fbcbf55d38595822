"""Watches the head of a Ray cluster while a runtime uses the cluster.

Actors reach each other without it, so its end is noticed by no call: Ray is silent for a minute, and then ends the
process.
"""

import asyncio

from jury_actors.errors import ClusterLost

_EVERY = 0.5
"""Seconds between two connections to the head."""

_ANSWERS_WITHIN = 10.0
"""Seconds that a busy machine has to take a connection."""


class HeadWatch:
    """Sets `ClusterLost` on `gone` and `ended` once the head has refused connections for long enough.

    Args:
        head: where the head listens, as `host:port`.
        ended: the runtime's end, which may have other causes.
        patience: seconds in which a head that refuses connections may come back.
        every: seconds between two connections.
    """

    def __init__(self, head: str, ended: "asyncio.Future[None]", *, patience: float, every: float = _EVERY) -> None:
        self._head = head
        self._ended = ended
        self._patience = patience
        self._every = every
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        clock = asyncio.get_running_loop().time
        seen = clock()
        while clock() - seen <= self._patience:
            await asyncio.sleep(self._every)
            if await self._listens():
                seen = clock()
        for future in (self.gone, self._ended):
            if not future.done():
                future.set_exception(ClusterLost(f"its head at {self._head} is gone"))
                future.exception()  # marks it as retrieved: there may be no further call

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
