"""Sealing the log while a run lasts: the driver signs, and the run's one writer keeps what it signed.

The key stays in this process; neither an actor nor a file of the cluster ever holds it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from jury_actors.holding import CoordinatorLost, CoordinatorPort
from jury_store.seals.sealer import Sealer

_TRIES = 5
"""How often a seal is handed over again to a coordinator that takes another's place."""


class Sealing:
    """A seal every `every` seconds, and one at the end; a failure is said once and harms no debate.

    `sealed` is how many events the last seal covers that was kept, None before there is one.
    """

    def __init__(self, sealer: Sealer, every: float, say: Callable[[str], None]) -> None:
        self._sealer = sealer
        self._every = every
        self._say = say
        self._failed = False
        self.sealed: int | None = None

    def around(
        self, court: Callable[[], AbstractAsyncContextManager[CoordinatorPort]]
    ) -> Callable[[], AbstractAsyncContextManager[CoordinatorPort]]:
        """The same court, its log sealed for as long as it sits; for the last time before it is let go."""

        @asynccontextmanager
        async def sealed() -> AsyncIterator[CoordinatorPort]:
            async with court() as port:
                task = asyncio.create_task(self._keep_sealing(port))
                try:
                    yield port
                finally:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    await self._seal(port)

        return sealed

    async def _keep_sealing(self, port: CoordinatorPort) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self._seal(port)

    async def _seal(self, port: CoordinatorPort) -> None:
        try:
            seal = await asyncio.to_thread(self._sealer.next)
            if seal is None:
                return
            for left in reversed(range(_TRIES)):
                try:
                    await port.store_seal(seal)
                    break
                except CoordinatorLost:
                    if not left:
                        raise
            self.sealed = seal.tree_size
        except Exception as error:  # noqa: BLE001  (whatever it is, the debates go on)
            if not self._failed:
                self._failed = True
                what = str(error) or "the coordinator was lost again and again"
                self._say(f"jury: the log could not be sealed, the debates go on: {what}")
