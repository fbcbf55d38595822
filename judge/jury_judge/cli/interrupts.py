"""Ctrl-C in commands that run an event loop; SIGTERM does the same."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from jury_judge.cli.signals import SIGNALS, handled_by
from jury_judge.cli.terminal import note

T = TypeVar("T")


def run_until_interrupted(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, says: str | None = None
) -> tuple[T | None, bool]:
    """Run `work(stopping)`: a signal lets it finish what runs, a second one stops it at once. It can be resumed.

    Gives its result (None when it was stopped at once) and whether it was interrupted. The first signal sets `stopping`
    and prints `says`; the second one cancels the work.
    """
    signalled = False

    async def until_interrupted() -> tuple[T | None, bool]:
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

    return _run(until_interrupted)


def run_interruptibly(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()`; a signal cancels it.

    Raises:
        KeyboardInterrupt: a signal came.
    """
    signalled = False

    async def until_interrupted() -> T:
        task = asyncio.create_task(work())

        def interrupt() -> None:
            nonlocal signalled
            signalled = True
            task.cancel()

        with _signals_taken(interrupt):
            return await task

    try:
        return _run(until_interrupted)
    except asyncio.CancelledError:
        if signalled:
            raise KeyboardInterrupt from None
        raise


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Signals wait until `_signals_taken`: an exception while asyncio sets the loop up would leave it half made."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        return asyncio.run(work())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _signals_taken(take: Callable[[], object]) -> Iterator[None]:
    with handled_by(asyncio.get_running_loop(), take):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        yield
