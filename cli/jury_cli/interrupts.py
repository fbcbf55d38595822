"""Ctrl-C in commands that run an event loop; SIGTERM does the same."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from jury_cli.signals import SIGNALS, exit_at_once, handled_by
from jury_cli.terminal import note
from jury_judge import end_own_processes

T = TypeVar("T")

WAIT_SECONDS = 10.0
"""Seconds from the first signal to the first note of what is waited for, and between two of them."""

_CANCELS = 2
"""The signal that cancels the work; the next one ends the process."""


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
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
    *,
    says: str | None = None,
    waits_for: Callable[[], Awaitable[str]] | None = None,
    every: float = WAIT_SECONDS,
) -> tuple[T | None, bool]:
    """Run `work(stopping)`; returns its result (None if it was cancelled) and whether a signal came.

    The first signal sets `stopping`, so that work can finish, and prints `says`. The second one cancels the work, a
    third one ends the process.

    Args:
        work: an event is given to it.
        says: the note at the first signal.
        waits_for: says what the work waits for, in words; asked and printed again and again after the first signal.
        every: seconds between two of these notes.
    """
    signals = 0
    stopping = asyncio.Event()
    task = asyncio.create_task(work(stopping))
    saying: list[asyncio.Task[None]] = []

    def interrupt() -> None:
        nonlocal signals
        signals += 1
        if signals > _CANCELS:
            end_own_processes()
            exit_at_once()
        if signals == _CANCELS:
            _cancel(saying)
            task.cancel()
            return
        stopping.set()
        if task.done():
            return
        if says is not None:
            note(says)
        if waits_for is not None:
            saying.append(asyncio.create_task(_say_again(waits_for, every)))

    result = None
    try:
        with _signals_taken(interrupt):
            result = await task
    except asyncio.CancelledError:
        if not signals:
            raise
    finally:
        _cancel(saying)
    return result, bool(signals)


async def _say_again(waits_for: Callable[[], Awaitable[str]], every: float) -> None:
    while True:
        await asyncio.sleep(every)
        note(f"jury: waiting for {await waits_for()}; Ctrl-C again stops at once")


def _cancel(tasks: Iterable["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()


def run_interruptibly(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()`; a signal cancels it."""
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
            result = loop.run(until_signalled())
    except asyncio.CancelledError:
        if not signalled:
            raise
    if signalled:
        raise KeyboardInterrupt
    return result


@contextmanager
def _signals_taken(take: Callable[[], object]) -> Iterator[None]:
    with handled_by(asyncio.get_running_loop(), take):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        yield
