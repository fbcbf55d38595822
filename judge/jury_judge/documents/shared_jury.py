"""A Jury that is open while a call uses it: the documents' classes have no `async with`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Generic, TypedDict, TypeVar

from jury_judge.jury import Jury
from jury_judge.runs.writing import Writing
from jury_judge.settings.budget import Budget
from jury_judge.settings.runtime import RuntimeSettings
from jury_judge.settings.sources import Sources

J = TypeVar("J", bound=Jury)


class JuryOptions(TypedDict, total=False):
    """Further options of the documents' classes; see `Jury`."""

    store: str | None
    runtime: RuntimeSettings
    budget: Budget
    sources: Sources
    environ: Mapping[str, str] | None
    concurrency: int
    writing: Writing


class _OpenJury(Generic[J]):
    def __init__(self, jury: J) -> None:
        self.jury = jury
        self.users = 0
        self.entering = asyncio.Lock()
        self.entered = False


class SharedJury(Generic[J]):
    """Opened by its first user in an event loop, closed by the last; all share its runtime.

    Args:
        make: creates the Jury; called again after it was closed, and in another event loop.
    """

    def __init__(self, make: Callable[[], J]) -> None:
        self._make = make
        self._open: dict[asyncio.AbstractEventLoop, _OpenJury[J]] = {}

    @asynccontextmanager
    async def use(self) -> AsyncIterator[J]:
        """The open Jury."""
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            opened = self._open[loop] = _OpenJury(self._make())
        opened.users += 1
        try:
            async with opened.entering:
                if not opened.entered:
                    await opened.jury.__aenter__()
                    opened.entered = True
            yield opened.jury
        finally:
            opened.users -= 1
            if not opened.users:
                del self._open[loop]
                # After a failed __aenter__, calling __aexit__ would hide its error.
                if opened.entered:
                    await asyncio.shield(opened.jury.__aexit__(None, None, None))
