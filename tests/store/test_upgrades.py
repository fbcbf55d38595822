"""Upgrading a store of an older version with its content."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from jury_events import parse_conditions
from jury_migrations import check, upgrade
from jury_replay import verify
from jury_store import (
    REVISION,
    Append,
    MemoryEventStore,
    Seal,
    StoreOutdated,
    open_store,
    parse_store_url,
)
from support.debates import DebateScript
from support.old_stores import at_revision
from support.postgres import PostgresServer

pytestmark = pytest.mark.full_for("postgresql")


def _write(url: str, log: MemoryEventStore, debate_id: str) -> None:
    """Insert the rows of a debate in `log`: a store of an older schema cannot be opened."""
    (record,) = log.histories([debate_id])
    engine = create_engine(parse_store_url(url))
    mark = "?" if engine.dialect.name == "sqlite" else "%s"
    with engine.begin() as connection:

        def insert(table: str, *values: object) -> None:
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({', '.join([mark] * len(values))})", values)

        for event in log.read_all():
            insert("events", *event)
        for stream, head in record.heads.items():
            insert("streams", stream, *head)
        for part in record.parts.values():
            insert("parts", debate_id, *part)
        connection.exec_driver_sql(f"UPDATE counters SET value = {log.last_position()} WHERE name = 'position'")
        connection.exec_driver_sql("UPDATE counters SET value = 1 WHERE name = 'epoch'")
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, without a store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'old.db'}"
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.url(postgres.create_database())


def test_a_store_of_the_first_schema_keeps_its_events_and_can_be_sealed(empty_url: str) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    log.append([Append(script.stream, script.whole(), 0, log.next_epoch()), Append(script.calls, (script.exchange(),))])
    at_revision(empty_url, "0001")
    _write(empty_url, log, "d")
    with pytest.raises(StoreOutdated, match="jury db upgrade"):
        open_store(empty_url, write=False)

    reached = upgrade(empty_url)

    assert REVISION == reached
    assert check(empty_url) == []
    store = open_store(empty_url, write=True)
    assert log.read_all() == store.read_all()
    assert log.histories(["d"]) == store.histories(["d"])
    assert verify(store).ok
    assert store.store_seal(Seal(1, bytes(32), bytes(32), b"note", 1))
    store.append([Append(script.stream, (), 0, store.next_epoch())], atomic=True, origin=b"seal")
    assert store.origin("d") == b"seal"
    store.close()


def test_a_store_of_the_second_schema_has_its_lists_rebuilt(empty_url: str, sql: Callable[[str, str], None]) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    first, *rest = script.whole()
    opened = script.opened(tags=("a",), cluster="c", metadata={"level": 3})
    log.append([Append(script.stream, (opened._replace(recorded_at=first.recorded_at), *rest), 0, log.next_epoch())])
    at_revision(empty_url, "0002")
    _write(empty_url, log, "d")
    sql(empty_url, f"UPDATE projections SET position = {log.last_position()}")
    where = parse_conditions(["tags=a", "cluster=c", "metadata.level=3"])

    upgrade(empty_url)

    store = open_store(empty_url, write=True)
    assert store.project() == 0
    assert log.debates() == store.debates(where=where)
    assert log.runs() == store.runs()
    store.close()
