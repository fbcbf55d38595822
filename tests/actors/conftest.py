"""Stores for the tests of the actors."""

from collections.abc import Iterator

import pytest

from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.runtime_harness import KeptStore


@pytest.fixture
def store() -> KeptStore:
    """A store in memory that outlives a runtime."""
    return KeptStore()


@pytest.fixture
def reader(sqlite_url: str) -> Iterator[EventStore]:
    """The store as another process reads it."""
    store = open_store(sqlite_url, write=False)
    yield store
    store.close()
