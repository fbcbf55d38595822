"""Results kept until they are acknowledged: the sending half of a mailbox.

One long poll stays open and returns whatever is there: natural batching, no head-of-line blocking, and the death of
the holder surfaces through the poll.
"""

import asyncio
from collections import deque
from typing import Generic, TypeVar

from jury_actors.messages import Delivery

T = TypeVar("T")


class Outbox(Generic[T]):
    """Numbered items; `poll` acknowledges up to a number and waits for more.

    Args:
        life: names this incarnation, so that a number acknowledged to an earlier one drops nothing.
        linger: seconds to wait for company once there is an item.
        batch: items in one delivery at most.
    """

    def __init__(self, life: str, *, linger: float = 0.0, batch: int = 512) -> None:
        self._life = life
        self._linger = linger
        self._batch = batch
        self._items: deque[tuple[int, T]] = deque()
        self._last = 0
        self._filled = asyncio.Event()

    def put(self, item: T) -> None:
        """Add an item."""
        self._last += 1
        self._items.append((self._last, item))
        self._filled.set()

    async def poll(self, life: str, ack: int) -> Delivery[T]:
        """The items after `ack`; waits until there is one.

        Whoever polled an earlier incarnation last is answered at once, with nothing: so it learns of the new one even
        where no call of its own failed.
        """
        if life == self._life:
            while self._items and self._items[0][0] <= ack:
                self._items.popleft()
        elif life:
            return Delivery(self._life, 0, [])
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
            if self._linger:
                await asyncio.sleep(self._linger)
        taken = [self._items[index] for index in range(min(len(self._items), self._batch))]
        return Delivery(self._life, taken[-1][0], [item for _, item in taken])
