"""Test clients of the application, over stores with recorded debates."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from jury_judge.jury import Jury
from jury_judge.serving import submissions
from jury_judge.serving.service import Service
from jury_store.opening import open_store
from jury_web.app import AccessPolicy, create_app
from support.runtime_harness import a_case_with_records
from support.stores import filled

GATE = AccessPolicy(frozenset({"jury.test"}))
BASE = "http://jury.test"


@pytest.fixture(autouse=True)
def _patient_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is answered when its first debate opens or fails, however slow the machine is."""
    monkeypatch.setattr(submissions, "_START_SECONDS", 300.0)


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
    from jury_migrations.upgrading import upgrade

    upgrade(url)
    made = {
        name: _maker(partial(Jury, panel, store=url)) for name, panel in (panels or {"usual": "independent"}).items()
    }
    database = Path(url.removeprefix("sqlite:///"))
    return TestClient(create_app(Service(open_store(url, write=False), made, database=database), gate), base_url=BASE)


def _maker(make: Callable[..., Jury]) -> Callable[[Callable[[str, str], None]], Jury]:
    return lambda on_chunk: make(on_chunk=on_chunk)
