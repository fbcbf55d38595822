"""The connection slots of one HTTP client, shared among the adapters that call through it."""

import asyncio
from collections import deque


class ConnectionSlots:
    """At most `total` calls at once, of which each adapter has `reserved` that no other adapter can take.

    So a provider that does not answer delays its own calls, not those to the others.
    """

    def __init__(self, total: int, reserved: int) -> None:
        self._total = total
        self._reserved = reserved
        self._adapters: deque[AdapterSlots] = deque()

    def join(self) -> "AdapterSlots":
        slots = AdapterSlots(self)
        self._adapters.append(slots)
        return slots

    def leave(self, slots: "AdapterSlots") -> None:
        """The adapter makes no further calls."""
        self._adapters.remove(slots)
        self.grant()

    def grant(self) -> None:
        """Grant the free slots to waiting calls, the adapters in turn."""
        skipped = 0
        while skipped < len(self._adapters):
            slots = self._adapters[0]
            self._adapters.rotate(-1)
            skipped = 0 if self._has_free(slots) and slots.grant_next() else skipped + 1

    def _has_free(self, slots: "AdapterSlots") -> bool:
        others = len(self._adapters) - 1
        limit = max(self._reserved, self._total - others * self._reserved)
        return slots.in_use < limit and sum(each.in_use for each in self._adapters) < self._total


class AdapterSlots:
    """One adapter's slots: a call is made inside `async with slots`."""

    def __init__(self, pool: ConnectionSlots) -> None:
        self.in_use = 0
        self._pool = pool
        self._waiting: deque[asyncio.Future[None]] = deque()

    def grant_next(self) -> bool:
        """Grant a slot to the longest waiting call; False if none waits."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self.in_use += 1
                waiter.set_result(None)
                return True
        return False

    async def __aenter__(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._pool.grant()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # granted just before the cancellation
                await self.__aexit__()
            raise

    async def __aexit__(self, *_error: object) -> None:
        self.in_use -= 1
        self._pool.grant()
