"""Reading events from the database, in the transaction of the connection."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from jury_events.envelope import StoredEvent
from jury_store.dialects import Dialect
from jury_store.driver_cursor import DriverCursor
from jury_store.errors import StoreDamaged
from jury_store.row_types import RowTypes
from jury_store.schema import EPOCH, POSITION

_TYPES = RowTypes.of("events")
_COUNTERS = RowTypes.of("counters")


def read_events(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[StoredEvent]:
    """The events that a statement of the dialect selects.

    Raises:
        StoreDamaged: a column contains a value of a wrong type.
    """
    rows = DriverCursor(connection).rows(statement, tuple(parameters))
    return list(map(StoredEvent._make, _TYPES.checked(rows)))


def read_unchecked_events(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[StoredEvent]:
    """The same for readers that go on without an event that cannot be read: verification and projections."""
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
    if len(rows) != 1:
        raise StoreDamaged(
            f"the counter {name!r} is missing or duplicated: the database was altered, so nothing more is written to "
            "it. Run jury verify --all, and restore a backup"
        )
    value: int = _COUNTERS.checked([(name, rows[0][0])])[0][1]
    return value
