"""A SQLite store opened for writing once a process, however many of its courts write to it.

The file's lock belongs to a process; within it, appends of one store take turns. A forked process has no part in what
its parent opened: SQLite connections must not be used on both sides of a fork.
"""

import os
import threading
from pathlib import Path
from typing import Any, cast

from jury_store.event_store import EventStore
from jury_store.opening import database_path, open_store, parse_store_url


class _Kept:
    """A store that is open, and how many use it."""

    def __init__(self, store: EventStore) -> None:
        self.store = store
        self.users = 0


_LOCK = threading.Lock()
_KEPT: dict[tuple[int, Path], _Kept] = {}
"""By process too: what was inherited stays open, and is not touched."""


def lend_writer(url: str, *, run: str, wait: float) -> EventStore:
    """The store at `url`, open for writing; closed, it is given back, and let go once nobody uses it.

    Raises:
        StoreError: as `open_store`; `StoreLocked` where another process writes to it.
    """
    parsed = parse_store_url(url)
    if parsed.get_backend_name() != "sqlite":
        return open_store(url, write=True, run=run, wait=wait)
    place = os.getpid(), database_path(parsed)
    with _LOCK:
        kept = _KEPT.get(place)
        if kept is None:
            kept = _KEPT[place] = _Kept(open_store(url, write=True, run=run, wait=wait))
        kept.users += 1
    return cast("EventStore", _Lent(place, kept))


class _Lent:
    """The store, but for its closing."""

    def __init__(self, place: tuple[int, Path], kept: _Kept) -> None:
        self._place = place
        self._kept: _Kept | None = kept
        self._store = kept.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def close(self) -> None:
        """Give it back; twice is allowed."""
        with _LOCK:
            kept, self._kept = self._kept, None
            if kept is None:
                return
            kept.users -= 1
            if not kept.users:
                del _KEPT[self._place]
                kept.store.close()
