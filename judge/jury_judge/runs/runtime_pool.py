"""One runtime for many callers: set up when it is first needed, replaced when it is lost."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from jury_actors.failing import has_failed
from jury_actors.runtime import Runtime
from jury_judge.running.waits import waits_text

_ANSWERS_WITHIN = 5.0
"""Seconds that the actors have to say what they do."""

OpenRuntime = Callable[[], AbstractAsyncContextManager[Runtime]]
"""Sets up the actors."""


class RuntimePool:
    """A runtime, open from its first caller until the pool is closed.

    Args:
        open_runtime: sets up the actors.
    """

    def __init__(self, open_runtime: OpenRuntime) -> None:
        self._open_runtime = open_runtime
        self._opening: asyncio.Task[_Opened] | None = None
        self._closed: Exception | None = None

    async def runtime(self) -> Runtime:
        """The runtime; a new one where there is none or its cluster was lost.

        Raises:
            StoreError, ActorError: it cannot be set up.
        """
        opening = self._opening
        if opening is not None and opening.done() and (has_failed(opening) or opening.result().runtime.problem):
            self._opening = None
            with suppress(Exception):  # a lost cluster cannot be closed in order
                await opening.result().context.__aexit__(None, None, None)
        if self._closed is not None:
            raise self._closed
        if self._opening is None:
            self._opening = asyncio.create_task(_Opened.open(self._open_runtime()))
        # Shared by all callers: one of them may be cancelled.
        return (await asyncio.shield(self._opening)).runtime

    async def waits_for(self) -> str:
        """What keeps the callers of the runtime waiting, as a phrase for people (see `waits_text`)."""
        if self._closed is not None:
            return "the actors to end"
        if self._opening is None:
            return "cases and results to be read"
        if not self._opening.done():
            return "the actors to start"
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN):
                return waits_text(await self._opening.result().runtime.coordinators.load(None))
        except Exception:  # noqa: BLE001  (whatever is wrong with the actors, their users report it)
            return "the coordinator, which does not answer now"

    async def close(self, problem: Exception) -> None:
        """Close the runtime; what runs stops where it is, and every caller that still waits gets `problem`."""
        self._closed = problem
        if self._opening is not None:
            with suppress(Exception):
                opened = await self._opening
                opened.runtime.fail(problem)
                await opened.context.__aexit__(None, None, None)


class _Opened:
    """An open runtime, and the context that closes it."""

    def __init__(self, runtime: Runtime, context: AbstractAsyncContextManager[Runtime]) -> None:
        self.runtime = runtime
        self.context = context

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[Runtime]) -> "_Opened":
        return cls(await context.__aenter__(), context)
