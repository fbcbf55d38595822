"""Opening a store by URL, with an answer to everything that can be wrong with it."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from jury_events.regular_files import open_regular
from jury_store.disk_trouble import disk_trouble
from jury_store.errors import (
    MayNotWrite,
    NotAStore,
    StoreMissing,
    StoreOutdated,
    StoreTooNew,
    StoreUnreachable,
    UnsupportedStore,
)
from jury_store.postgres_engine import postgres_engine
from jury_store.postgres_role import WRITER_ROLE, DatabaseUser, database_user
from jury_store.schema import REVISION
from jury_store.sql_store import SqlEventStore
from jury_store.sqlite_lock import SqliteLock

SUPPORTED = "sqlite:///PATH and postgresql://USER@HOST/DATABASE"
_BUSY_SECONDS = 30
_HIDDEN = "***"
_TOLD = frozenset(
    {
        *("host", "hostaddr", "port", "dbname", "user", "service", "application_name", "client_encoding"),
        *("connect_timeout", "sslmode", "sslrootcert", "gssencmode", "channel_binding", "target_session_attrs"),
    }
)
"""Parameters of a URL that hold no secret (PostgreSQL, 34.1.2)."""

_SQLITE_HEADER = b"SQLite format 3\0"


def open_store(url: str, *, write: bool, run: str = "", wait: float = 20.0) -> SqlEventStore:
    """The store at `url`, ready for use.

    Args:
        url: `sqlite:///PATH` or `postgresql://...`.
        write: open for appending. A SQLite store has one writing process at a time.
        run: who writes, for the message that another writer gets.
        wait: seconds to wait for another SQLite writer that is about to end.

    Raises:
        UnsupportedStore, StoreMissing, StoreOutdated, StoreTooNew, StoreUnreachable, MayNotWrite, NotAStore,
        StoreLocked: each message says what to do.
    """
    parsed = store_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed, write=write, run=run, wait=wait)
    return _open_postgres(parsed, write=write)


def store_url(url: str) -> URL:
    """`url` with the driver that is used, checked.

    Raises:
        UnsupportedStore: it is no URL, or names another database or driver.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise UnsupportedStore(f"this is no database URL; supported are {SUPPORTED}") from None
    if "@" in (parsed.host or ""):
        # What stands before it would be part of the password, and is not shown.
        raise UnsupportedStore("this database URL has more than one @; write one that is part of the password as %40")
    if parsed.drivername in {"postgresql", "postgresql+psycopg", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in {"sqlite", "sqlite+pysqlite"}:
        if parsed.database in {None, "", ":memory:"}:
            raise UnsupportedStore(f"{shown(parsed)}: a store is a file, not memory; supported are {SUPPORTED}")
        return parsed.set(drivername="sqlite+pysqlite")
    raise UnsupportedStore(f"{shown(parsed)}: {parsed.drivername} is not supported; supported are {SUPPORTED}")


def shown(url: URL) -> str:
    """The URL for messages, as a person would write it, with *** for its password and for what may be one.

    Of the parameters after `?` those are shown that are known to hold no secret: a misspelt `passwrd` is none of them.
    """
    ours = url.set(drivername=url.get_backend_name()) if url.get_backend_name() in {"sqlite", "postgresql"} else url
    told = {name: value if name in _TOLD else _HIDDEN for name, value in ours.query.items()}
    return ours.set(query=told).render_as_string(hide_password=True).replace(quote_plus(_HIDDEN), _HIDDEN)


def cause_of(error: DBAPIError, url: URL) -> str:
    """What a database says of a connection to `url`, in one line, without the URL's secrets."""
    said = (str(error.orig).strip().splitlines() or ["no answer"])[0]
    values = [values for name, values in url.query.items() if name not in _TOLD]
    for secret in (url.password, *(one for value in values for one in ([value] if isinstance(value, str) else value))):
        said = said.replace(secret, _HIDDEN) if secret else said
    return said


def database_path(url: URL) -> Path:
    """The file of a SQLite URL, symbolic links resolved, so that one database has one lock."""
    return Path(url.database or "").expanduser().resolve()


def sqlite_engine(path: Path, *, write: bool) -> Engine:
    """An engine on a SQLite file: one connection that writes, or several that cannot."""
    address = f"file:{quote(os.fspath(path))}?mode={'rw' if write else 'ro'}"
    if not write and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # An archived store: nobody writes to it, and SQLite may not make the files by which readers and writers agree.
        address += "&immutable=1"

    def connect() -> sqlite3.Connection:
        # Transactions are begun by us, below: the driver's own way never begins one for reading.
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
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine


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


def _open_sqlite(url: URL, *, write: bool, run: str, wait: float) -> SqlEventStore:
    name, path = shown(url), database_path(url)
    _check_file(name, path)
    lock = SqliteLock.acquire(path, run=run, wait=wait) if write else None
    reader, writer = sqlite_engine(path, write=False), sqlite_engine(path, write=True) if write else None

    def give_back() -> None:
        if lock is not None:
            _fold_in_the_write_ahead_log(path)
            lock.release()

    try:
        _check_revision(name, writer or reader)
    except BaseException:
        reader.dispose()
        if writer is not None:
            writer.dispose()
        give_back()
        raise
    return SqlEventStore(name=name, reader=reader, writer=writer, on_close=give_back)


def _fold_in_the_write_ahead_log(path: Path) -> None:
    """So that the file alone is the store, and can be copied: a reader that is still open would keep SQLite from it."""
    with closing(sqlite3.connect(path, timeout=0)) as connection, suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _check_file(name: str, path: Path) -> None:
    try:
        with open_regular(path) as file:
            start = file.read(len(_SQLITE_HEADER))
    except FileNotFoundError:
        raise StoreMissing(f"there is no store at {path} yet; make it with: jury db upgrade --store {name}") from None
    except OSError as error:
        raise StoreUnreachable(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from None
    if start and start != _SQLITE_HEADER:
        raise NotAStore(f"{path} is not a SQLite database; name another file, and check what this one is")


def _open_postgres(url: URL, *, write: bool) -> SqlEventStore:
    name = shown(url)
    engine = postgres_engine(url, pool_size=5, max_overflow=20)
    try:
        _check_revision(name, engine)
        with engine.connect() as connection:
            user = database_user(connection)
        if write:
            _check_writer(name, user)
        if user.role is not None:
            # The connection of the checks was made without the role.
            engine.dispose()

            @event.listens_for(engine, "connect")
            def _set_role(connection: Any, _record: Any) -> None:
                connection.execute(f"SET ROLE {user.role}")
                connection.commit()

    except BaseException:
        engine.dispose()
        raise
    # A list is read in several queries, which must see one moment.
    reader = engine.execution_options(isolation_level="REPEATABLE READ")
    writer = engine if write else None
    return SqlEventStore(name=name, reader=reader, writer=writer, user=user, on_close=_nothing)


def _check_writer(name: str, user: DatabaseUser) -> None:
    if not user.may_write:
        raise MayNotWrite(
            f"{name}: the user {user.name} may read this store and not write to it; use the writer's login, or let the "
            f"owner run: GRANT {WRITER_ROLE} TO {user.name}"
        )


def _nothing() -> None:
    """Connections are all that a PostgreSQL store holds."""


def _check_revision(name: str, engine: Engine) -> None:
    found = _guarded(name, engine.url, lambda: _revision(engine))
    if found is None:
        raise StoreMissing(f"{name} holds no store yet; make it with: jury db upgrade --store {name}")
    if found < REVISION:
        raise StoreOutdated(
            f"{name} has the schema {found}, this version of Jury Judge needs {REVISION}; "
            f"run: jury db upgrade --store {name}"
        )
    if found > REVISION:
        raise StoreTooNew(
            f"{name} has the schema {found}, this version of Jury Judge knows up to {REVISION}; upgrade jury-judge"
        )


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not engine.dialect.has_table(connection, "alembic_version"):
            return None
        row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
        return row[0] if row else None


def _guarded(name: str, url: URL, ask: Callable[[], str | None]) -> str | None:
    try:
        return ask()
    except DBAPIError as error:
        detail = cause_of(error, url)
        if isinstance(error.orig, sqlite3.DatabaseError) and "not a database" in detail:
            raise NotAStore(f"{name} is not a SQLite database, or is damaged; restore it from a backup") from None
        if (trouble := disk_trouble(error, name)) is not None:
            raise StoreUnreachable(f"{trouble}, then try again") from None
        raise StoreUnreachable(
            f"{name} cannot be reached: {detail}. Check that it runs and that you may use it"
        ) from None
