"""The requests that a process has in memory at once, bounded by their bytes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class RequestRoom:
    """Room for requests, given in the order in which it was asked for; one request is always admitted.

    Args:
        most: bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[None]:
        """Have room for a request of so many bytes; waits until there is."""
        given = asyncio.get_running_loop().create_future()
        self._waiting.append((size, given))
        self._give()
        try:
            await given
            yield
        finally:
            if given.done() and not given.cancelled():
                self._used -= size
            self._give()

    def _give(self) -> None:
        while self._waiting:
            size, given = self._waiting[0]
            if not given.cancelled():
                if self._used and self._used + size > self._most:
                    return
                self._used += size
                given.set_result(None)
            self._waiting.popleft()
