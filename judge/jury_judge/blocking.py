"""Work that blocks, for callers with an event loop."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

from jury_replay.selection import no_network

P = ParamSpec("P")
T = TypeVar("T")
_END: Any = object()


class BlockingWork:
    """Does work that blocks.

    Args:
        threads: work in threads, so that the event loop goes on meanwhile. Without, work blocks the loop, and a Ctrl-C
            ends it at once: for a program that does nothing else, as the command.
    """

    def __init__(self, *, threads: bool = True) -> None:
        self._threads = threads

    async def _blocking(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work that blocks: in a thread, or here where the caller asked for that."""
        if self._threads:
            return await asyncio.to_thread(work, *args, **kwargs)
        return work(*args, **kwargs)

    async def _steps(
        self, work: Callable[P, Generator[T, None, None]], *args: P.args, **kwargs: P.kwargs
    ) -> AsyncGenerator[T, None]:
        """What a generator yields; each of its steps is work that blocks."""
        steps = work(*args, **kwargs)
        taking_turns = Lock()  # a step whose caller was cancelled still runs in its thread

        def step() -> T:
            with taking_turns:
                return next(steps, cast("T", _END))

        def close() -> None:
            with taking_turns:
                steps.close()

        try:
            while (one := await self._blocking(step)) is not _END:
                yield one
        finally:
            await self._blocking(close)

    def _offline(self) -> AbstractContextManager[None]:
        """Work on records without a network, where nothing else in this process needs one."""
        return nullcontext() if self._threads else no_network()
