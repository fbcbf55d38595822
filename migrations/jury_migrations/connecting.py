"""Connections for reading and changing the schema."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, Engine

from jury_store.errors import StoreMissing
from jury_store.opening import connection_errors, database_path, parse_store_url, redacted_url
from jury_store.postgres import postgres_engine
from jury_store.sqlite import sqlite_engine


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A connection for reading the schema.

    Raises:
        StoreMissing: the SQLite file does not exist.
    """
    parsed = parse_store_url(url)
    if parsed.get_backend_name() == "sqlite":
        path = database_path(parsed)
        if not path.exists():
            raise StoreMissing(f"there is no store at {path}", redacted_url(parsed))
        engine = sqlite_engine(path, write=False)
    else:
        engine = postgres_engine(parsed)
    with errors_of(engine, parsed) as connection:
        yield connection


@contextmanager
def errors_of(engine: Engine, url: URL) -> Iterator[Connection]:
    try:
        with connection_errors(url), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
