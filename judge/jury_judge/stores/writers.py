"""SQLite stores open for writing: one connection a process, shared by its runtimes.

The file's lock belongs to a process; within it, appends to one store take turns. A forked process does not use its
parent's connections: SQLite forbids that.
"""

import os
import threading
import time
from pathlib import Path
from typing import Any, cast

from jury_store.errors import StoreLocked
from jury_store.event_store import EventStore
from jury_store.opening import database_path, open_store, parse_store_url


class _SharedWriter:
    """An open store and the number of its users."""

    def __init__(self, store: EventStore) -> None:
        self.store = store
        self.users = 0


_POLL_SECONDS = 0.1

_LOCK = threading.Lock()
_OPEN: dict[tuple[int, Path], _SharedWriter] = {}
"""By process id and path: stores that a fork inherited stay open and unused."""


def lend_writer(url: str, *, run: str, wait: float) -> EventStore:
    """The store at `url`, open for writing; it is closed when its last user closes it.

    Raises:
        StoreError: as `open_store`; `StoreLocked` where another process writes to it.
    """
    parsed = parse_store_url(url)
    if parsed.get_backend_name() != "sqlite":
        return open_store(url, write=True, run=run, wait=wait)
    key = os.getpid(), database_path(parsed)
    until = time.monotonic() + wait
    while True:
        try:
            return _lent(key, url, run)
        except StoreLocked:
            # Between tries the others of this process can open and close their writers.
            if time.monotonic() >= until:
                raise
            time.sleep(_POLL_SECONDS)


def _lent(key: tuple[int, Path], url: str, run: str) -> EventStore:
    with _LOCK:
        shared = _OPEN.get(key)
        if shared is None:
            shared = _OPEN[key] = _SharedWriter(open_store(url, write=True, run=run, wait=0.0))
        shared.users += 1
    return cast("EventStore", _Writer(key, shared))


class _Writer:
    """The store, with a `close` of its own."""

    def __init__(self, key: tuple[int, Path], shared: _SharedWriter) -> None:
        self._key = key
        self._shared: _SharedWriter | None = shared
        self._store = shared.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def close(self) -> None:
        """Stop using it; may be called twice."""
        with _LOCK:
            shared, self._shared = self._shared, None
            if shared is None:
                return
            shared.users -= 1
            if not shared.users:
                del _OPEN[self._key]
                shared.store.close()
