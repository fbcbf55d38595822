"""A store of each kind."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy import event as sa_event

from jury_store import DriverCursor, EventStore, open_store
from support.postgres import TEMPLATE, PostgresServer


@pytest.fixture
def store(url: str) -> Iterator[EventStore]:
    """A fresh store on each database, open for writing."""
    with closing(open_store(url, write=True, run="test")) as opened:
        yield opened


@pytest.fixture
def open_writer() -> Iterator[Callable[[str], EventStore]]:
    """Opens stores for writing, closed when the test ends."""
    opened: list[EventStore] = []

    def opens(url: str) -> EventStore:
        opened.append(open_store(url, write=True, run="test", wait=0))
        return opened[-1]

    yield opens
    for one in opened:
        one.close()


@pytest.fixture
def sql() -> Callable[[str, str], None]:
    """Runs a statement on the database behind a URL, as its owner."""

    def run(url: str, statement: str) -> None:
        engine = create_engine(url)
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(statement)
        finally:
            engine.dispose()

    return run


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Callable[[EventStore], list[str]]:
    """Records the SQL statements with which a store is read from now on."""

    def record(store: EventStore) -> list[str]:
        found: list[str] = []

        def take(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            found.append(statement)

        sa_event.listen(store._reader, "before_cursor_execute", take)
        executed = DriverCursor.rows

        def rows(cursor: DriverCursor, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
            found.append(statement)
            return executed(cursor, statement, parameters)

        monkeypatch.setattr(DriverCursor, "rows", rows)
        return found

    return record


@pytest.fixture
def new_postgres_url(postgres: PostgresServer) -> Iterator[Callable[[], str]]:
    """Makes fresh stores on PostgreSQL; gives their URLs."""
    names: list[str] = []

    def make() -> str:
        names.append(postgres.create_database(TEMPLATE))
        return postgres.url(names[-1])

    yield make
    for name in names:
        postgres.drop_database(name)
