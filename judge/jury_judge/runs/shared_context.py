"""A context that is entered while a call uses it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, TypeVar

C = TypeVar("C", bound=AbstractAsyncContextManager[Any])


class _Entered(Generic[C]):
    def __init__(self, context: C) -> None:
        self.context = context
        self.users = 0
        self.entering = asyncio.Lock()
        self.entered = False


class SharedContext(Generic[C]):
    """Entered by its first user in an event loop, left by the last: a Jury of callers that have no `async with`.

    Args:
        make: creates the context; called again after it was left, and in another event loop. Entering it gives itself.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._open: dict[asyncio.AbstractEventLoop, _Entered[C]] = {}

    @asynccontextmanager
    async def use(self) -> AsyncIterator[C]:
        """The entered context."""
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            opened = self._open[loop] = _Entered(self._make())
        opened.users += 1
        try:
            async with opened.entering:
                if not opened.entered:
                    await opened.context.__aenter__()
                    opened.entered = True
            yield opened.context
        finally:
            opened.users -= 1
            if not opened.users:
                del self._open[loop]
                # After a failed __aenter__, calling __aexit__ would hide its error.
                if opened.entered:
                    await asyncio.shield(opened.context.__aexit__(None, None, None))
