"""Ctrl-C: once finishes what runs, twice stops at once; either way the run can be resumed."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from jury_judge.cli.terminal import note

T = TypeVar("T")


async def run_until_interrupted(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, says: str
) -> tuple[T | None, bool]:
    """Run `work(stopping)`; gives its result (None when it was stopped at once) and whether it was interrupted.

    SIGINT or SIGTERM sets `stopping` and prints `says`; a second one cancels the work. The handlers replace Ray's, so
    Ray must be started before.
    """
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    interrupted = False
    task = asyncio.create_task(work(stopping))

    def interrupt() -> None:
        nonlocal interrupted
        if interrupted:
            task.cancel()
            return
        interrupted = True
        stopping.set()
        note(says)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        return await task, interrupted
    except asyncio.CancelledError:
        if not interrupted:
            raise
        return None, True
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
