"""Stores that are created, or opened for writing: one connection a process, shared by its runtimes.

The file's lock belongs to a process; within it, appends to one store take turns. A forked process does not use its
parent's connections: SQLite forbids that.
"""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, cast

from jury_store.errors import StoreLocked, StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import database_path, open_store, parse_store_url, redacted_url
from jury_store.run_registry import RunLock

_POLL_SECONDS = 0.1

_LOCK = threading.Lock()
_OPEN: dict[tuple[int, Path], EventStore] = {}
"""By process id and path: stores that a fork inherited stay open and unused."""
_USERS: Counter[tuple[int, Path]] = Counter()


Say = Callable[[str], None]

WRITER_WAIT = 20.0
"""Seconds to wait for another process that writes to a SQLite store."""


def open_writer(url: str, *, run: str, wait: float, say: Say | None = None) -> EventStore:
    """The store at `url` for writing, shared by the writers of this process: its last user closes it.

    Args:
        run: named in the store's lock.
        wait: seconds to wait for another process that writes to it.
        say: takes a remark while it is waited for.
    """
    parsed = parse_store_url(url)
    if parsed.get_backend_name() != "sqlite":
        return open_store(url, write=True, run=run, wait=wait)
    key = os.getpid(), database_path(parsed)
    until, waits = time.monotonic() + wait, False
    while True:
        try:
            with _LOCK:
                if key not in _OPEN:
                    _OPEN[key] = open_store(url, write=True, run=run, wait=0.0)
                return cast("EventStore", _Writer(key))
        except StoreLocked as error:
            # Between tries the others of this process can open and close their writers.
            if time.monotonic() >= until:
                raise
            if say is not None and not waits:
                say(_waiting(error, wait))
            waits = True
            time.sleep(_POLL_SECONDS)


def _waiting(error: StoreLocked, wait: float) -> str:
    return f"waiting up to {wait:g} s: {error}"


class _Writer:
    """The store, with a `close` of its own; made and closed by one thread at a time."""

    def __init__(self, key: tuple[int, Path]) -> None:
        self._key = key
        self._store = _OPEN[key]
        self._closed = False
        _USERS[key] += 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def close(self) -> None:
        """Stop using it; may be called twice."""
        with _LOCK:
            if self._closed:
                return
            self._closed = True
            _USERS[self._key] -= 1
            if not _USERS[self._key]:
                del _USERS[self._key], _OPEN[self._key]
                self._store.close()


_CREATING = threading.Lock()
"""A store is locked while it is created: another thread that opens it at that moment would get an error."""


_for_reading = partial(open_store, write=False)


def open_or_create(url: str, opened: Callable[[str], EventStore] = _for_reading) -> EventStore:
    """The store at `url`, created where there is none; `opened` opens it: for reading, or as `open_writer` does."""
    with _CREATING:
        try:
            return opened(url)
        except StoreMissing:
            # A tenth of the start of a command, which seldom creates a store.
            from jury_migrations.upgrading import upgrade

            upgrade(url)
            return opened(url)


def lock_run(url: str, run_id: str, *, wait: float, say: Say, detached: bool = False) -> RunLock | None:
    """The lock of a run on PostgreSQL; None for other stores, whose writer's lock is enough. As `open_writer`.

    `detached`: this process belongs to no terminal.
    """
    try:
        return RunLock.acquire(url, run_id, wait=0, detached=detached)
    except StoreLocked as error:
        if not wait:
            raise
        say(_waiting(error, wait))
        return RunLock.acquire(url, run_id, wait=wait, detached=detached)


class RunLocks(ExitStack):
    """What one session of a run holds until it ends, in `with`.

    Args:
        wait: seconds to wait for another process; `say` gets a remark meanwhile.
        detached: this process belongs to no terminal.
    """

    def __init__(self, url: str, run_id: str, *, wait: float, say: Say, detached: bool = False) -> None:
        super().__init__()
        self._url, self._run_id, self._wait, self._say, self._detached = url, run_id, wait, say, detached

    def lock(self) -> None:
        """Lock the run: no other process executes it meanwhile."""
        lock = lock_run(self._url, self._run_id, wait=self._wait, say=self._say, detached=self._detached)
        if lock is not None:
            self.callback(lock.release)

    def writer(self) -> EventStore:
        """The store, open for writing: on SQLite no other process writes meanwhile."""
        return self.enter_context(closing(open_writer(self._url, run=self._run_id, wait=self._wait, say=self._say)))

    def lone_writer(self) -> EventStore | None:
        """The same on SQLite; None where others may write."""
        return self.writer() if parse_store_url(self._url).get_backend_name() == "sqlite" else None


def shown_url(store_url: str) -> str:
    """The URL of a store as it may be shown: without a password."""
    return redacted_url(parse_store_url(store_url))


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
