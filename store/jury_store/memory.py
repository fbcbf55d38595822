"""A SQLite store without a file: it is empty at first, and is gone with the object."""

import sqlite3
import weakref
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from sqlalchemy import create_engine

from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.schema_statements import schema_statements
from jury_store.sql_store import SqlEventStore
from jury_store.sqlite import engine_at

_numbers = count(1)


class MemoryEventStore(SqlEventStore):
    """For estimates, benchmarks and tests. Any number of threads of one process may write and read.

    `address` is the URI of the database, for this process.
    """

    _most_behind = 0  # no writer's thread projects them

    def __init__(self) -> None:
        # Shared by the connections of this process that name it, until the last one is closed.
        self.address = f"file:/jury-{next(_numbers)}?vfs=memdb"
        first = sqlite3.connect(self.address, uri=True, check_same_thread=False)
        prepared = sqlite3.connect(":memory:")
        prepared.deserialize(_empty_store())
        prepared.backup(first)
        prepared.close()
        super().__init__(
            name="the store in memory",
            reader=engine_at(self.address, write=False),
            writer=engine_at(self.address, write=True),
        )
        weakref.finalize(self, first.close)

    def close(self) -> None:
        """Nothing more is written. What is written can still be read: no one could open it again."""
        with self._write_lock:
            self._writer = None

    def ballots(self, wanted: DebateFilter = EVERY_DEBATE, *, ended_only: bool = True) -> Iterator[list[DebateBallots]]:
        """All read first: a database in memory is not written while it is read."""
        yield from list(super().ballots(wanted, ended_only=ended_only))


@cache
def _empty_store() -> bytes:
    """The bytes of a database with the declared schema, made once: that takes a hundred times as long as a copy."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        for statement in schema_statements("sqlite"):
            connection.exec_driver_sql(statement)
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        found: bytes = driver.serialize()
    engine.dispose()
    return found
