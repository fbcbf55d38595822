"""Stores for the tests of the actors."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jury_migrations.upgrading import upgrade
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.courts import KeptStore


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store that holds nothing."""
    path = tmp_path_factory.mktemp("actors") / "empty.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(empty_database: Path, tmp_path: Path) -> str:
    """A fresh SQLite store."""
    shutil.copyfile(empty_database, tmp_path / "jury.db")
    return f"sqlite:///{tmp_path / 'jury.db'}"


@pytest.fixture
def new_sqlite(empty_database: Path, tmp_path: Path) -> Iterator[Callable[[], EventStore]]:
    """Makes fresh SQLite stores that outlive a court; they are closed when the test ends."""
    closes: list[Callable[[], None]] = []

    def make() -> EventStore:
        path = tmp_path / f"{len(closes)}.db"
        shutil.copyfile(empty_database, path)
        store = open_store(f"sqlite:///{path}", write=True)
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


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """One local cluster for all tests; its workers can import what tests bring along."""
    from jury_actors.ray_runtime import start_ray, stop_ray

    tests = str(Path(__file__).parents[1])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = tests if before is None else f"{tests}{os.pathsep}{before}"
    try:
        start_ray()
        yield
        stop_ray()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
