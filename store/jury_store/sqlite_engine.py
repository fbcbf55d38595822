"""Connections to a SQLite file: one that writes, or several that only read."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from jury_store.driver_cursor import DriverCursor

_BUSY_SECONDS = 30
_WRITER_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",
    "foreign_keys=ON",
    "recursive_triggers=ON",
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "cache_size=-32768",
)
_READER_PRAGMAS = ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON")


def sqlite_engine(path: Path, *, write: bool) -> Engine:
    """An engine on a SQLite file, with one writing connection or a pool of read-only ones."""
    address = f"file:{quote(os.fspath(path))}?mode={'rw' if write else 'ro'}"
    if not write and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # An archived store without a writer: SQLite may not create the files that readers and writers share.
        address += "&immutable=1"

    def connect() -> sqlite3.Connection:
        # Transactions are begun below: the driver's own mode begins none for reading.
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in _WRITER_PRAGMAS if write else _READER_PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").close()
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine(
        "sqlite+pysqlite://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=1 if write else 5,
        max_overflow=0 if write else 50,
    )
    begin = "BEGIN IMMEDIATE" if write else "BEGIN"

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        DriverCursor(connection).execute(begin)

    return engine
