"""A SQLite store changed behind its back, its guards in place again afterwards."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from jury_store import MemoryEventStore


@contextmanager
def unguarded(store: Path | MemoryEventStore) -> Iterator[sqlite3.Connection]:
    """A connection that may change everything, as an attacker with the file has; each statement is kept."""
    address = store.address if isinstance(store, MemoryEventStore) else f"file:{quote(str(store))}"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, made in guards:
            connection.execute(made)
