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
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from jury_store.errors import StoreLocked, StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import database_path, open_store, parse_store_url, redacted_url
from jury_store.run_registry import RunLock

_POLL_SECONDS = 0.1

_LOCK = threading.Lock()
_OPEN: dict[tuple[int, Path], EventStore] = {}
"""By process id and path: stores that a fork inherited stay open and unused."""
_USERS: Counter[tuple[int, Path]] = Counter()


WRITER_WAIT = 20.0
"""Seconds to wait for another process that writes to a SQLite store."""


def lend_writer(url: str, *, run: str, wait: float) -> EventStore:
    """The store at `url`, open for writing; it is closed when its last user closes it."""
    parsed = parse_store_url(url)
    if parsed.get_backend_name() != "sqlite":
        return open_store(url, write=True, run=run, wait=wait)
    key = os.getpid(), database_path(parsed)
    until = time.monotonic() + wait
    while True:
        try:
            with _LOCK:
                if key not in _OPEN:
                    _OPEN[key] = open_store(url, write=True, run=run, wait=0.0)
                return cast("EventStore", _Writer(key))
        except StoreLocked:
            # Between tries the others of this process can open and close their writers.
            if time.monotonic() >= until:
                raise
            time.sleep(_POLL_SECONDS)


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


T = TypeVar("T")

Say = Callable[[str], None]

_CREATING = threading.Lock()
"""A store is locked while it is created: another thread that opens it at that moment would get an error."""


def open_or_create(url: str) -> EventStore:
    """The store at `url`, open for reading, created where there is none."""
    return _created(url, partial(open_store, url, write=False))


def writer_or_created(url: str, *, run: str, wait: float) -> EventStore:
    """The store at `url` for writing, created where there is none; arguments and errors as of `open_writer`."""
    return _created(url, partial(lend_writer, url, run=run, wait=wait))


def _created(url: str, opened: Callable[[], EventStore]) -> EventStore:
    with _CREATING:
        try:
            return opened()
        except StoreMissing:
            # A tenth of the start of a command, which seldom creates a store.
            from jury_migrations.upgrading import upgrade

            upgrade(url)
            return opened()


def open_writer(url: str, *, run: str, wait: float, say: Say) -> EventStore:
    """The store at `url` for writing, shared by the writers of this process.

    Args:
        run: named in the store's lock.
        wait: seconds to wait for another process that writes to it.
    """
    return _waiting(partial(lend_writer, url, run=run), wait, say)


def lock_run(url: str, run_id: str, *, wait: float, say: Say, detached: bool = False) -> RunLock | None:
    """The lock of a run on PostgreSQL; None for other stores, whose writer's lock is enough. As `open_writer`.

    `detached`: this process belongs to no terminal.
    """
    return _waiting(partial(RunLock.acquire, url, run_id, detached=detached), wait, say)


def shown_url(store_url: str) -> str:
    """The URL of a store as it may be shown: without a password."""
    return redacted_url(parse_store_url(store_url))


def _waiting(take: Callable[..., T], wait: float, say: Say) -> T:
    try:
        return take(wait=0)
    except StoreLocked as error:
        if not wait:
            raise
        say(f"waiting up to {wait:g} s: {error}")
        return take(wait=wait)


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
