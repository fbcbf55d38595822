"""Upgrading a store's schema to the newest revision; its current one, and how it differs from the declared one."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, inspect

from jury_store import listing, search_index
from jury_store.committed_events import CommittedEvents, OpenDebates
from jury_store.errors import DamagedFile, NotAStore, StoreBeforeRelease, StoreMissing, StoreTooNew, StoreUnreachable
from jury_store.opening import (
    connection_errors,
    database_path,
    has_store,
    is_before_release,
    parse_store_url,
    redacted_url,
    revision_fault,
    stored_revision,
)
from jury_store.postgres import postgres_engine
from jury_store.schema import REVISION, metadata
from jury_store.sql_dialects import DIALECTS
from jury_store.sqlite import SqliteLock, create_database_file, sqlite_engine


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
            raise StoreMissing.at(path, redacted_url(parsed))
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


_log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_UPGRADE_LOCK = 0x6A757279
"""The advisory lock of upgrades on a PostgreSQL database."""

_BATCH = 5000
"""Events projected in one transaction."""


def upgrade(url: str, *, wait: float = 20.0) -> str:
    """Create the store at `url`, or upgrade it to the newest schema; returns its revision.

    On PostgreSQL the roles of the log get their rights on new tables by `deploy/roles.sql`. A SQLite store is locked
    meanwhile.

    Args:
        url: of the store.
        wait: seconds to wait for the writer of a SQLite store to end.

    Raises:
        StoreLocked: a writer has the store open.
        UnsupportedStore, StoreUnreachable: the URL is not usable.
        NotAStore: it is another application's database or file.
        DamagedFile: its revision was altered, and its tables are not those of this version.
        StoreTooNew: it was upgraded by a newer Jury Judge.
        StoreBeforeRelease: it was made before version 1.0.0.
    """
    parsed = parse_store_url(url)
    name = redacted_url(parsed)
    if parsed.get_backend_name() != "sqlite":
        with errors_of(postgres_engine(parsed), parsed) as connection:
            return _upgrade(connection, name)
    path = database_path(parsed)
    try:
        create_database_file(path)
    except OSError as error:
        raise StoreUnreachable(
            f"{path} cannot be written: {error.strerror}; check the path and its permissions"
        ) from None
    if path.stat().st_size:
        # With a read-only connection: opening for writing already changes the file.
        with errors_of(sqlite_engine(path, write=False), parsed) as connection:
            _check_ownership(connection, name)
    lock = SqliteLock.acquire(path, run="db upgrade", wait=wait)
    try:
        with errors_of(sqlite_engine(path, write=True), parsed) as connection:
            return _upgrade(connection, name)
    finally:
        lock.release()


def current(url: str) -> str | None:
    """The revision of the store at `url`; None when there is none.

    Raises:
        UnsupportedStore, StoreUnreachable: the URL is not usable.
    """
    try:
        with connected(url) as connection:
            return stored_revision(connection)
    except StoreMissing:
        return None


def check(url: str) -> list[str]:
    """The differences between the store at `url` and the declared schema, one line each.

    Raises:
        StoreMissing, StoreUnreachable, UnsupportedStore: there is no store, or it cannot be reached.
    """
    from jury_migrations.schema_differences import schema_differences  # noqa: PLC0415  (slow to import)

    with connected(url) as connection:
        found = stored_revision(connection)
        revision = [] if found == REVISION else [f"the revision is {found or 'none'}, not {REVISION}"]
        return [*revision, *schema_differences(connection)]


def _check_ownership(connection: Connection, name: str) -> None:
    """Refuse another application's database: on SQLite any with tables, on PostgreSQL one with a store's tables."""
    tables = set(inspect(connection).get_table_names())
    foreign = tables if connection.dialect.name == "sqlite" else tables & metadata.tables.keys()
    if foreign and "alembic_version" not in tables and not metadata.tables.keys() <= tables:
        raise NotAStore(f"{name} is a database of another application (it has the table {min(foreign)}); name another")


def _upgrade(connection: Connection, name: str) -> str:
    config = Config(attributes={"connection": connection})
    # A percent sign in the path must not be read as an interpolation.
    config.set_main_option("script_location", os.fspath(_HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    driver = connection.connection.driver_connection
    if connection.dialect.name == "postgresql" and driver is not None:
        driver.add_notice_handler(lambda notice: _log.warning("%s", notice.message_primary))
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_UPGRADE_LOCK,))
        before = None
        if inspect(connection).get_table_names():
            _check_ownership(connection, name)
            before = stored_revision(connection)
            if before is not None and is_before_release(before):
                raise StoreBeforeRelease(name, before)
            _correct_revision(connection, name)
            before = stored_revision(connection)
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            found = stored_revision(connection)
            raise StoreTooNew(
                f"the store has the schema {found}, which this version does not support; upgrade jury-judge"
            ) from error
        revision = stored_revision(connection)
    if before is not None and revision != before:
        _project(connection)
    return str(revision)


def _correct_revision(connection: Connection, name: str) -> None:
    """Set a revision right that cannot be true, where the tables are as this version declares them."""
    if not has_store(connection) or (fault := revision_fault(connection)) is None:
        return
    from jury_migrations.schema_differences import schema_differences  # noqa: PLC0415  (few stores need it)

    if differences := list(schema_differences(connection)):
        raise DamagedFile(
            f"{name}: {fault}, and the tables are not those of {REVISION} ({differences[0]}): the database was altered"
        )
    if connection.dialect.has_table(connection, "alembic_version"):
        connection.exec_driver_sql("DELETE FROM alembic_version")
    # Else Alembic creates the table.
    MigrationContext.configure(connection).stamp(ScriptDirectory(os.fspath(_HERE)), REVISION)


def _project(connection: Connection) -> None:
    """Rebuild lists that a revision emptied: a read-only store would project the whole log at every read."""
    dialect = DIALECTS[connection.dialect.name]
    open_debates, recent = OpenDebates(), CommittedEvents(texts=False)
    projected = 1
    while projected:
        with connection.begin():
            projected = listing.advance(connection, dialect, _BATCH, open_debates, recent)
            projected += search_index.advance(connection, dialect, _BATCH, recent)
