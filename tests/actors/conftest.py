"""Stores for the tests of the actors."""

import pytest

from support.runtime_harness import KeptStore


@pytest.fixture
def store() -> KeptStore:
    """A store in memory that outlives a runtime."""
    return KeptStore()
