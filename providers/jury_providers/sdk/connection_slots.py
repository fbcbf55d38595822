"""The places of one HTTP client, shared out among the adapters that call through it."""

import asyncio
from collections import deque


class Places:
    """At most `most` calls at once, of which every adapter keeps `kept` that no other takes.

    So a provider that answers nobody holds up its own calls, not those to the others.
    """

    def __init__(self, most: int, kept: int) -> None:
        self._most = most
        self._kept = kept
        self._shares: deque[Share] = deque()

    def share(self) -> "Share":
        """A part for one adapter more."""
        share = Share(self)
        self._shares.append(share)
        return share

    def leave(self, share: "Share") -> None:
        """The adapter calls no more."""
        self._shares.remove(share)
        self.give_out()

    def give_out(self) -> None:
        """Let those in whom there is a place for; the shares take turns."""
        passed = 0
        while passed < len(self._shares):
            share = self._shares[0]
            self._shares.rotate(-1)
            passed = 0 if self._has_room(share) and share.let_in() else passed + 1

    def _has_room(self, share: "Share") -> bool:
        others = len(self._shares) - 1
        own = max(self._kept, self._most - others * self._kept)
        return share.taken < own and sum(one.taken for one in self._shares) < self._most


class Share:
    """One adapter's part: a call is made within it, `async with share`."""

    def __init__(self, places: Places) -> None:
        self.taken = 0
        self._places = places
        self._waiting: deque[asyncio.Future[None]] = deque()

    def let_in(self) -> bool:
        """Let the one in that waits longest; whether there was one."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self.taken += 1
                waiter.set_result(None)
                return True
        return False

    async def __aenter__(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._places.give_out()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # it was let in a moment before
                await self.__aexit__()
            raise

    async def __aexit__(self, *_error: object) -> None:
        self.taken -= 1
        self._places.give_out()
