"""A server's application in this process, over a store with recorded debates."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from jury_judge.app.jury import Jury
from jury_judge.web.app import Gate, create_app
from jury_judge.web.service import Service
from jury_store.opening import open_store
from support.courts import a_case_with_records
from support.stores import filled

GATE = Gate(frozenset({"jury.test"}))
BASE = "http://jury.test"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the debates d0 and d1 of no run, whose jurors called tools; for reading only."""
    path = tmp_path_factory.mktemp("web") / "jury.db"
    filled(path, debates=2, case=a_case_with_records)
    return f"sqlite:///{path}"


@pytest.fixture
def reading(recorded: str) -> Iterator[TestClient]:
    """A client of a server that only shows."""
    with TestClient(create_app(Service(open_store(recorded, write=False)), GATE), base_url=BASE) as client:
        yield client


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server that holds debates under simulated jurors."""
    with holding_client(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        yield client


def holding_client(url: str, gate: Gate = GATE, **panels: str) -> TestClient:
    """A client of a server that holds debates under these panels, by the name that requests use."""
    from jury_migrations.upgrading import upgrade

    upgrade(url)
    made = {
        name: _maker(partial(Jury, panel, store=url)) for name, panel in (panels or {"usual": "independent"}).items()
    }
    database = Path(url.removeprefix("sqlite:///"))
    return TestClient(create_app(Service(open_store(url, write=False), made, database=database), gate), base_url=BASE)


def _maker(make: Callable[..., Jury]) -> Callable[[Callable[[str, str], None]], Jury]:
    return lambda on_chunk: make(on_chunk=on_chunk)
