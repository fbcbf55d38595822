"""Ctrl-C in commands that run an event loop; SIGTERM does the same."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from jury_judge.cli.signals import SIGNALS, handled_by
from jury_judge.cli.terminal import note

T = TypeVar("T")


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """An event loop for `until_interrupted`.

    Signals wait until work begins: an exception while asyncio sets the loop up would leave it half made.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        with asyncio.Runner() as runner:
            yield runner
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def until_interrupted(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, says: str | None = None
) -> tuple[T | None, bool]:
    """Run `work(stopping)`; returns its result (None if it was cancelled) and whether a signal came.

    The first signal sets `stopping`, so that work can finish, and prints `says`. The second one cancels the work.
    """
    signalled = False
    stopping = asyncio.Event()
    task = asyncio.create_task(work(stopping))

    def interrupt() -> None:
        nonlocal signalled
        if signalled:
            task.cancel()
            return
        signalled = True
        stopping.set()
        if says is not None:
            note(says)

    with _signals_taken(interrupt):
        try:
            return await task, signalled
        except asyncio.CancelledError:
            if not signalled:
                raise
            return None, True


def run_interruptibly(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()`; a signal cancels it.

    Raises:
        KeyboardInterrupt: a signal came.
    """
    signalled = False

    async def until_signalled() -> T:
        task = asyncio.create_task(work())

        def interrupt() -> None:
            nonlocal signalled
            signalled = True
            task.cancel()

        with _signals_taken(interrupt):
            return await task

    try:
        with event_loop() as loop:
            return loop.run(until_signalled())
    except asyncio.CancelledError:
        if signalled:
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _signals_taken(take: Callable[[], object]) -> Iterator[None]:
    with handled_by(asyncio.get_running_loop(), take):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        yield
