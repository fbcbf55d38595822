"""A run excludes other processes while it is executed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jury_judge.stores.stores import Say, lock_run
from jury_store.run_registry import RunLock


@asynccontextmanager
async def locked_run(store_url: str, run_id: str | None, *, wait: float, say: Say) -> AsyncIterator[None]:
    """Hold the lock of a run; a generated id (None) needs no lock.

    Args:
        wait: seconds to wait for another process.
        say: takes a remark while it is waited for.
    """
    lock = None
    if run_id is not None:
        locking = asyncio.create_task(asyncio.to_thread(lock_run, store_url, run_id, wait=wait, say=say))
        try:
            lock = await asyncio.shield(locking)
        except asyncio.CancelledError:
            # The thread cannot be cancelled: a lock that it still takes must be released.
            locking.add_done_callback(_release)
            raise
    try:
        yield
    finally:
        if lock is not None:
            await asyncio.to_thread(lock.release)


def _release(locking: "asyncio.Task[RunLock | None]") -> None:
    if not locking.cancelled() and locking.exception() is None and (lock := locking.result()) is not None:
        lock.release()
