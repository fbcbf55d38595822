"""Reading events from the database, in the transaction of the connection."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from jury_events.envelope import StoredEvent
from jury_store.dialects import Dialect
from jury_store.driver_cursor import DriverCursor
from jury_store.errors import StoreDamaged
from jury_store.schema import EPOCH, POSITION


def read_events(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[StoredEvent]:
    """The events that a statement of the dialect selects."""
    return list(map(StoredEvent._make, DriverCursor(connection).rows(statement, tuple(parameters))))


def by_stream(events: list[StoredEvent]) -> dict[str, list[StoredEvent]]:
    """Events grouped by stream, in their order."""
    found: dict[str, list[StoredEvent]] = defaultdict(list)
    for event in events:
        found[event.stream].append(event)
    return dict(found)


def last_position(connection: Connection, dialect: Dialect) -> int:
    """The value of the position counter.

    Raises:
        StoreDamaged: the counter is missing.
    """
    return _counter(connection, dialect.last_position, POSITION)


def next_epoch(connection: Connection, dialect: Dialect) -> int:
    """Increment the epoch counter and return its new value.

    Raises:
        StoreDamaged: the counter is missing.
    """
    return _counter(connection, dialect.next_epoch, EPOCH)


def _counter(connection: Connection, statement: str, name: str) -> int:
    return the_counter(connection.exec_driver_sql(statement).all(), name)


def the_counter(rows: Sequence[Sequence[Any]], name: str) -> int:
    """The value of a counter, from the rows that have it.

    Raises:
        StoreDamaged: the counter is missing.
    """
    if len(rows) != 1 or not isinstance(rows[0][0], int):
        raise StoreDamaged(
            f"the counter {name!r} is missing or duplicated: the database was altered, so nothing more is written to "
            "it. Run jury verify --all, and restore a backup"
        )
    value: int = rows[0][0]
    return value
