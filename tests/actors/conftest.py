"""Stores for the tests of the actors."""

from collections.abc import Iterator

import pytest

from jury_store import EventStore, open_store
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
