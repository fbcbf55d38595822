"""Connections to a SQLite database: one that writes, or several that only read."""

import os
import sqlite3
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Dialect, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.util import LRUCache

from jury_store.driver_cursor import DriverCursor

_BUSY_SECONDS = 30
_MOST_STATEMENTS = 1000
_URL = make_url("sqlite+pysqlite://")
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
    return engine_at(address, write=write)


def engine_at(address: str, *, write: bool) -> Engine:
    """The same on the database that a URI names."""

    def connect() -> Any:
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

    dialect, statements = _compiled()
    pool = QueuePool(connect, pool_size=1 if write else 5, max_overflow=0 if write else 50, dialect=dialect)
    engine = Engine(pool, dialect, _URL, execution_options={"compiled_cache": statements})
    begin = "BEGIN IMMEDIATE" if write else "BEGIN"

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        DriverCursor(connection).execute(begin)

    return engine


@cache
def _compiled() -> tuple[Dialect, MutableMapping[Any, Any]]:
    """The dialect and the compiled statements, shared by all engines: compiling one takes longer than executing it."""
    engine = create_engine(_URL)
    engine.connect().close()  # the dialect takes notice of the driver
    return engine.dialect, LRUCache(_MOST_STATEMENTS)
