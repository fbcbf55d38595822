"""What the tests of batches share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.batched import PROTOCOLS, BatchedModels, BatchProtocol, batched_models


@pytest.fixture(scope="module", params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> BatchProtocol:
    return PROTOCOLS[request.param]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(protocol: BatchProtocol, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BatchedModels]:
    async with batched_models(protocol, tmp_path_factory.mktemp("spools")) as running:
        yield running


@pytest.fixture
def models(served: BatchedModels) -> BatchedModels:
    """A server without batches, without faults."""
    served.begins_anew()
    return served
