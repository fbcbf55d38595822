"""Work that goes on beside the rest: a blocking call in a thread that nothing waits for, and tasks that several share.

A shared task that failed is started again by its next user.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """The result of a call that may block for as long as another process does not answer.

    Once cancelled, the call is abandoned. After `asyncio.to_thread`, the end of the event loop would wait for it.

    Raises:
        Exception: what the call raises.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(put: Callable[[Any], None], value: object) -> None:
        if not answer.done():
            put(value)

    def work() -> None:
        put: Callable[[Any], None] = answer.set_result
        value: object
        try:
            value = call()
        except Exception as error:  # noqa: BLE001  (it is raised where the call is awaited)
            put, value = answer.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: the call was abandoned
            loop.call_soon_threadsafe(settle, put, value)

    Thread(target=work, name="jury-blocking-call", daemon=True).start()
    return await answer


def has_failed(work: "asyncio.Future[Any]") -> bool:
    """Whether it ended with an error or was cancelled."""
    return work.done() and (work.cancelled() or work.exception() is not None)
