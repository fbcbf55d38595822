"""One event loop in a thread of this process, where every jury of its tools runs.

Tools call from threads, from event loops that come and go, and from processes that they fork. A jury lives in one loop.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_STARTING = threading.Lock()
_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}
"""By process id: a fork inherits the loop of its parent, and not the thread that runs it."""


def submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Begin work in the loop of this process; cancelling what it returns cancels the work."""
    with _STARTING:
        loop = _LOOPS.get(os.getpid())
        if loop is None:
            loop = _LOOPS[os.getpid()] = asyncio.new_event_loop()
            # A daemon: what is recorded stays when the process ends in the middle, and the same call goes on with it.
            threading.Thread(target=loop.run_forever, name="jury", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, loop)
