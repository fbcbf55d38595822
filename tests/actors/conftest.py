"""Stores for the tests of the actors."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jury_migrations.upgrading import upgrade
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.runtime_harness import KeptStore


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A fresh SQLite store."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    return url


@pytest.fixture
def new_sqlite(tmp_path: Path) -> Iterator[Callable[[], EventStore]]:
    """Makes fresh SQLite stores that outlive a court; they are closed when the test ends."""
    closes: list[Callable[[], None]] = []

    def make() -> EventStore:
        url = f"sqlite:///{tmp_path / f'{len(closes)}.db'}"
        upgrade(url)
        store = open_store(url, write=True)
        closes.append(store.close)
        store.close = lambda: None  # type: ignore[method-assign]
        return store

    yield make
    for close in closes:
        close()


@pytest.fixture
def store() -> KeptStore:
    """A store in memory that outlives a court."""
    return KeptStore()
