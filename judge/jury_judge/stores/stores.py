"""Where a store is created, and where one is opened for writing."""

import threading
from collections.abc import Callable
from typing import TypeVar

from jury_judge.stores.writers import lend_writer
from jury_store.errors import StoreLocked, StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import open_store, parse_store_url, redacted_url
from jury_store.run_registry import RunLock

T = TypeVar("T")

Say = Callable[[str], None]

_CREATING = threading.Lock()
"""A store is locked while it is created: another thread that opens it at that moment would get an error."""


def open_or_create(url: str) -> EventStore:
    """The store at `url`, open for reading, created where there is none.

    Raises:
        StoreError: it cannot be opened or created.
    """
    return _created(url, lambda: open_store(url, write=False))


def writer_or_created(url: str, *, run: str, wait: float) -> EventStore:
    """The store at `url` for writing, created where there is none; arguments and errors as of `open_writer`."""
    return _created(url, lambda: lend_writer(url, run=run, wait=wait))


def _created(url: str, opened: Callable[[], EventStore]) -> EventStore:
    with _CREATING:
        try:
            return opened()
        except StoreMissing:
            # A tenth of the start of a command, which seldom creates a store.
            from jury_migrations.upgrading import upgrade  # noqa: PLC0415  (as said above)

            upgrade(url)
            return opened()


def open_writer(url: str, *, run: str, wait: float, say: Say) -> EventStore:
    """The store at `url` for writing, shared by the writers of this process.

    Args:
        url: of the store.
        run: named in the store's lock.
        wait: seconds to wait for another process that writes to it.
        say: takes a line when it has to wait.

    Raises:
        StoreLocked: another process writes to it, and did not end in time.
    """
    return _waiting(lambda seconds: lend_writer(url, run=run, wait=seconds), wait, say)


def lock_run(url: str, run_id: str, *, wait: float, say: Say, detached: bool = False) -> RunLock | None:
    """The lock of a run on PostgreSQL; None for other stores, whose writer's lock is enough. As `open_writer`.

    `detached`: this process belongs to no terminal.

    Raises:
        StoreLocked: another process executes the run, and did not end in time.
    """
    return _waiting(lambda seconds: RunLock.acquire(url, run_id, wait=seconds, detached=detached), wait, say)


def shown_url(store_url: str) -> str:
    """The URL of a store as it may be shown: without a password."""
    return redacted_url(parse_store_url(store_url))


def _waiting(take: Callable[[float], T], wait: float, say: Say) -> T:
    try:
        return take(0)
    except StoreLocked as error:
        if not wait:
            raise
        say(f"waiting up to {wait:g} s: {error}")
        return take(wait)
