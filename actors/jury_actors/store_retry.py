"""Retries on a store that fails for a while: answers that were paid for stay in memory until it works again."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jury_actors.effects import Backoff
from jury_actors.notices import Notice, Say, say_nothing
from jury_store.errors import StoreFailed, StoreUnreachable

T = TypeVar("T")

STORE_PATIENCE = 60.0
"""Seconds for which a store that fails is tried again, unless a run sets another number."""

_TRIES = Backoff(base=0.1, cap=2.0)


class StoreRetry:
    """Retries operations on a store for a bounded time after its first failure. All users share one outage.

    Args:
        seconds: how long an outage may last; 0: nothing is tried again.
        say: takes one line when an outage begins, and one when it is over.
        clock: seconds.
    """

    def __init__(
        self,
        seconds: float = STORE_PATIENCE,
        say: Say = say_nothing,
        *,
        clock: Callable[[], float] = time.monotonic,
        tries: Backoff = _TRIES,
    ) -> None:
        self._seconds = seconds
        self._say = say
        self._clock = clock
        self._tries = tries
        self._since: float | None = None

    async def run(self, attempt: Callable[[], Awaitable[T]], *, reads: bool = False) -> tuple[T, bool]:
        """The result, and whether an earlier attempt failed: what that one was to store may be stored.

        A read that did not fail itself ends no outage: a disk that is full can still be read.
        """
        failures = 0
        while True:
            try:
                result = await attempt()
            except (StoreFailed, StoreUnreachable) as error:
                failures += 1
                now = self._clock()
                if self._since is None:
                    self._since = now
                    if self._seconds:
                        says = f"{error}; it is tried again for {self._seconds:g} s, and answers are kept meanwhile"
                        self._say(Notice(says, "store_unavailable"))
                if now - self._since >= self._seconds:
                    raise
                await asyncio.sleep(self._tries.delay(failures + 1, jitter=1.0, retry_after=None))
            else:
                if self._since is not None and (failures or not reads):
                    self._since = None
                    self._say(Notice("the store can be used again; the run goes on", "store_available"))
                return result, bool(failures)
