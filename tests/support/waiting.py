"""Waiting for a condition instead of for a time."""

import asyncio
import time
from collections.abc import Callable


async def until(what: Callable[[], object], seconds: float = 300.0) -> None:
    """Let the other tasks work until `what` is true; TimeoutError after the limit."""
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110  (what is waited for is any state of any fake)
            await asyncio.sleep(0)


def eventually(what: Callable[[], object], seconds: float = 300.0) -> None:
    """Poll until `what` is true, for the effects of other processes."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)


async def comes(what: Callable[[], object], seconds: float = 300.0) -> None:
    """The same, while this loop's tasks go on."""
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110  (other processes set no event)
            await asyncio.sleep(0.01)
