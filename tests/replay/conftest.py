"""One sealed store for the tests that change copies of it."""

import pytest

from support.sealed_store import SealedStore, sealed_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> SealedStore:
    """See `sealed_store`."""
    return sealed_store(tmp_path_factory.mktemp)
