"""Sealing the log during a run: the driver signs, and the run's one writer stores the seals.

The key stays in this process: no actor and no file of the cluster has it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from jury_actors.runtime import Runtime
from jury_store.sealer import Sealer


class Sealing:
    """Makes a seal every `every` seconds and one at the end; a failure is reported once, and the debates go on.

    `sealed` is the number of events that the last stored seal covers, None before there is one.
    """

    def __init__(self, sealer: Sealer, every: float, say: Callable[[str], None]) -> None:
        self._sealer = sealer
        self._every = every
        self._say = say
        self._failed = False
        self.sealed: int | None = None

    def around(
        self, open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]]
    ) -> Callable[[], AbstractAsyncContextManager[Runtime]]:
        """The same runtime; the log is sealed while it is open, and once before it closes."""

        @asynccontextmanager
        async def sealed() -> AsyncIterator[Runtime]:
            async with open_runtime() as runtime:
                task = asyncio.create_task(self._keep_sealing(runtime))
                try:
                    yield runtime
                finally:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    await self._seal(runtime)

        return sealed

    async def _keep_sealing(self, runtime: Runtime) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self._seal(runtime)

    async def _seal(self, runtime: Runtime) -> None:
        try:
            seal = await asyncio.to_thread(self._sealer.next)
            if seal is None:
                return
            await runtime.clerk.store_seal(seal)
            self.sealed = seal.tree_size
        except Exception as error:  # noqa: BLE001  (a log that cannot be sealed must not stop the debates)
            if not self._failed:
                self._failed = True
                self._say(f"jury: the log could not be sealed, the debates go on: {error}")
