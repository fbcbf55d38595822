"""Test clients of the application, over stores with recorded debates."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from jury_judge import Jury, Service
from jury_store import open_store
from jury_web import AccessPolicy, create_app
from support.browser import chromium
from support.runtime_harness import a_case_with_records
from support.stores import filled

if TYPE_CHECKING:  # importing Playwright takes longer than most tests
    from playwright.async_api import Browser

GATE = AccessPolicy(frozenset({"jury.test"}))
BASE = "http://jury.test"


@pytest.fixture(scope="session", autouse=True)
def _one_event_loop() -> Iterator[None]:
    """Test clients share an event loop: one of its own for each request costs three times the request."""
    with start_blocking_portal("asyncio") as portal, pytest.MonkeyPatch.context() as patched:
        patched.setattr(TestClient, "portal", portal)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator["Browser"]:
    """One start of Chromium a module."""
    async with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A read-only store with the debates d0 and d1 of no run, whose jurors called tools."""
    path = tmp_path_factory.mktemp("web") / "jury.db"
    filled(path, debates=2, case=a_case_with_records)
    return f"sqlite:///{path}"


@pytest.fixture
def api_client(recorded: str) -> Iterator[TestClient]:
    """A client of a read-only server."""
    with TestClient(create_app(Service(open_store(recorded, write=False)), GATE), base_url=BASE) as client:
        yield client


@pytest.fixture
def jury_client(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server that accepts submissions, with simulated jurors."""
    with jury_client_of(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        yield client


def jury_client_of(url: str, gate: AccessPolicy = GATE, **panels: str) -> TestClient:
    """A client of a server that accepts submissions under these panels."""
    from jury_migrations import upgrade

    upgrade(url)
    made = {
        name: _maker(partial(Jury, panel, store=url)) for name, panel in (panels or {"usual": "independent"}).items()
    }
    database = Path(url.removeprefix("sqlite:///"))
    return TestClient(create_app(Service(open_store(url, write=False), made, database=database), gate), base_url=BASE)


def _maker(make: Callable[..., Jury]) -> Callable[[Callable[[str, str], None]], Jury]:
    return lambda on_chunk: make(on_chunk=on_chunk)
