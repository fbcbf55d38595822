"""Bringing a store's schema to the newest revision, and saying which one it has."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import DBAPIError

from jury_migrations.role_rights import set_rights
from jury_store import listing, searching
from jury_store.dialects import DIALECTS
from jury_store.driver_errors import disk_trouble
from jury_store.errors import NotAStore, StoreMissing, StoreTooNew, StoreUnreachable
from jury_store.opening import cause_of, database_path, shown, sqlite_engine, store_url
from jury_store.postgres_engine import postgres_engine
from jury_store.schema import metadata
from jury_store.sqlite_lock import SqliteLock

_log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_ONE_UPGRADE = 0x6A757279
"""The advisory lock under which one upgrade at a time works on a PostgreSQL database."""

_AT_ONCE = 5000
"""Events that the lists are carried over in one transaction."""


def upgrade(url: str, *, wait: float = 20.0) -> str:
    """Make the store at `url`, or bring it to the newest schema; gives the revision that it has then.

    On PostgreSQL the roles of the log are given their rights, so that they may be made after the store.
    A SQLite store is locked meanwhile; `wait` is for how many seconds to wait for its writer to end.

    Raises:
        StoreLocked: a writer is at work on it.
        UnsupportedStore, StoreUnreachable: the URL leads nowhere.
        NotAStore: it is a database, or a file, of something else.
        StoreTooNew: a newer Jury Judge made it.
    """
    parsed = parse_store_url(url)
    name = shown(parsed)
    if parsed.get_backend_name() != "sqlite":
        with _connected(postgres_engine(parsed), name) as connection:
            return _upgrade(connection, name)
    path = database_path(parsed)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Texts of cases are in it: nobody else's to read.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreUnreachable(f"{path} cannot be written: {error.strerror}; check the path and its rights") from None
    if path.stat().st_size:
        # Before anything is written: opening for writing already marks the file.
        with _connected(sqlite_engine(path, write=False), name) as connection:
            _refuse_foreign(connection, name)
    lock = SqliteLock.acquire(path, run="db upgrade", wait=wait)
    try:
        with _connected(sqlite_engine(path, write=True), name) as connection:
            return _upgrade(connection, name)
    finally:
        lock.release()


def current(url: str) -> str | None:
    """The revision that the store at `url` has; None when there is none.

    Raises:
        UnsupportedStore, StoreUnreachable: the URL leads nowhere.
    """
    try:
        with connected(url) as connection:
            return MigrationContext.configure(connection).get_current_revision()
    except StoreMissing:
        return None


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A connection for looking at the schema.

    Raises:
        StoreMissing: a SQLite file that is not there.
    """
    parsed = parse_store_url(url)
    name = shown(parsed)
    if parsed.get_backend_name() == "sqlite":
        path = database_path(parsed)
        if not path.exists():
            raise StoreMissing(f"there is no store at {path} yet; make it with: jury db upgrade --store {name}")
        engine = sqlite_engine(path, write=False)
    else:
        engine = postgres_engine(parsed)
    with _connected(engine, name) as connection:
        yield connection


@contextmanager
def _connected(engine: Engine, name: str) -> Iterator[Connection]:
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        detail = cause_of(error, engine.url)
        if "not a database" in detail:
            raise NotAStore(f"{name} is not a SQLite database, or is damaged; name another file") from error
        if (trouble := disk_trouble(error, name)) is not None:
            raise StoreUnreachable(f"{trouble}, then try again") from error
        raise StoreUnreachable(f"{name}: {detail}. Check that it can be reached and that you may change it") from error
    finally:
        engine.dispose()


def _refuse_foreign(connection: Connection, name: str) -> None:
    """A database of somebody else's is not made a store: of SQLite, any with tables; of PostgreSQL, one with ours."""
    tables = set(inspect(connection).get_table_names())
    foreign = tables if connection.dialect.name == "sqlite" else tables & metadata.tables.keys()
    if foreign and "alembic_version" not in tables:
        raise NotAStore(f"{name} is a database of something else (it has the table {min(foreign)}); name another")


def _upgrade(connection: Connection, name: str) -> str:
    config = Config(attributes={"connection": connection})
    # The folder itself, and a literal percent sign in its path must not be read as an interpolation.
    config.set_main_option("script_location", os.fspath(_HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    driver = connection.connection.driver_connection
    if connection.dialect.name == "postgresql" and driver is not None:
        driver.add_notice_handler(lambda notice: _log.warning("%s", notice.message_primary))
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_ONE_UPGRADE,))
        _refuse_foreign(connection, name)
        before = MigrationContext.configure(connection).get_current_revision()
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            found = MigrationContext.configure(connection).get_current_revision()
            raise StoreTooNew(
                f"the store has the schema {found}, which this version of Jury Judge does not know; upgrade jury-judge"
            ) from error
        if connection.dialect.name == "postgresql":
            set_rights(connection)
        revision = MigrationContext.configure(connection).get_current_revision()
    if revision != before:
        _carry_lists(connection)
    return str(revision)


def _carry_lists(connection: Connection) -> None:
    """A revision may have the lists made anew, and a store that is only read would do it again at every look."""
    dialect = DIALECTS[connection.dialect.name]
    carried = 1
    while carried:
        with connection.begin():
            carried = listing.advance(connection, dialect, _AT_ONCE)
            carried += searching.advance(connection, dialect, _AT_ONCE)
