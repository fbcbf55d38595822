"""Opening a store by URL, with an error message for each way in which that fails, and the revision that it has."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from sqlalchemy import URL, Connection, Engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from jury_store.append_requests import AppendTaker
from jury_store.errors import (
    DamagedFile,
    MayNotWrite,
    NotAStore,
    StoreBeforeRelease,
    StoreMissing,
    StoreOutdated,
    StoreTooNew,
    StoreUnreachable,
    UnsupportedStore,
)
from jury_store.postgres import WRITER_ROLE, DatabaseUser, database_user, postgres_engine
from jury_store.schema import REVISION, SEARCH_SHADOWS, metadata
from jury_store.sql_dialects import describe_damage, describe_disk_error, first_line
from jury_store.sql_store import SqlEventStore
from jury_store.sqlite import SqliteLock, check_database_file, sqlite_engine

SUPPORTED = "sqlite:///PATH and postgresql://USER@HOST/DATABASE"
_REDACTED = "***"
_NO_SECRETS = frozenset(
    {
        *("host", "hostaddr", "port", "dbname", "user", "service", "application_name", "client_encoding"),
        *("connect_timeout", "sslmode", "sslrootcert", "gssencmode", "channel_binding", "target_session_attrs"),
    }
)
"""Parameters of a URL that contain no secret (PostgreSQL, 34.1.2)."""


def open_store(url: str, *, write: bool, run: str = "", wait: float = 20.0) -> SqlEventStore:
    """The store at `url`.

    Args:
        url: `sqlite:///PATH` or `postgresql://...`.
        write: open for appending. A SQLite store has one writing process at a time.
        run: of the writer, for the message that another writer gets.
        wait: seconds to wait for another SQLite writer to end.
    """
    parsed = parse_store_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed, write=write, run=run, wait=wait)
    return _open_postgres(parsed, write=write)


def parse_store_url(url: str) -> URL:
    """`url`, validated, with the driver in use."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise UnsupportedStore(f"this is not a database URL; supported are {SUPPORTED}") from None
    if "@" in (parsed.host or ""):
        # The text before it would be part of the password, so the URL is not printed.
        raise UnsupportedStore("this database URL has more than one @; write one that is part of the password as %40")
    if parsed.drivername in {"postgresql", "postgresql+psycopg", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in {"sqlite", "sqlite+pysqlite"}:
        if parsed.database in {None, "", ":memory:"}:
            raise UnsupportedStore(f"{redacted_url(parsed)}: a store is a file, not memory; supported are {SUPPORTED}")
        return parsed.set(drivername="sqlite+pysqlite")
    raise UnsupportedStore(f"{redacted_url(parsed)}: {parsed.drivername} is not supported; supported are {SUPPORTED}")


def redacted_url(url: URL) -> str:
    """The URL for messages, with *** for its password and for parameters that may be secret.

    Only parameters known to contain no secret are shown: a misspelt `passwrd` is redacted too.
    """
    ours = url.set(drivername=url.get_backend_name()) if url.get_backend_name() in {"sqlite", "postgresql"} else url
    query = {**ours.query, **dict.fromkeys(ours.query.keys() - _NO_SECRETS, _REDACTED)}
    return ours.set(query=query).render_as_string(hide_password=True).replace(quote_plus(_REDACTED), _REDACTED)


def database_path(url: URL) -> Path:
    """The file of a SQLite URL, symbolic links resolved, so that one database has one lock."""
    return Path(url.database or "").expanduser().resolve()


@contextmanager
def connection_errors(url: URL) -> Iterator[None]:
    """Convert driver errors of a connection to `url`; messages contain no secret of the URL."""
    try:
        yield
    except DBAPIError as error:
        name = redacted_url(url)
        detail = _without_secrets(first_line(error), url)
        if isinstance(error.orig, sqlite3.DatabaseError) and "not a database" in detail:
            raise NotAStore(
                f"{name} is not a SQLite database, or is damaged; name another file, or restore it from a backup"
            ) from None
        if (disk_error := describe_disk_error(error, name)) is not None:
            raise StoreUnreachable(f"{disk_error}, then try again") from None
        if (damage := describe_damage(error, name)) is not None:
            raise DamagedFile(damage) from None
        raise StoreUnreachable(
            f"{name} cannot be reached: {detail}. Check that it is running and that you have access"
        ) from None


def _without_secrets(text: str, url: URL) -> str:
    values = [values for name, values in url.query.items() if name not in _NO_SECRETS]
    for secret in (url.password, *(one for value in values for one in ([value] if isinstance(value, str) else value))):
        text = text.replace(secret, _REDACTED) if secret else text
    return text


def _open_sqlite(url: URL, *, write: bool, run: str, wait: float) -> SqlEventStore:
    name, path = redacted_url(url), database_path(url)
    try:
        check_database_file(path, write=False)
    except FileNotFoundError:
        raise StoreMissing.at(path, name) from None
    except OSError as error:
        raise StoreUnreachable(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from None
    reader = sqlite_engine(path, write=False)
    lock: SqliteLock | None = None
    writer: Engine | None = None

    def release() -> None:
        if lock is not None:
            _checkpoint_wal(path)
            lock.release()

    try:
        _check_size(url, reader, path)
        _check_revision(url, reader)  # before the lock, whose file would be left beside one that is no database
        if write:
            lock = SqliteLock.acquire(path, run=run, wait=wait)
            writer = sqlite_engine(path, write=True)
            _check_revision(url, writer)
    except BaseException:
        reader.dispose()
        if writer is not None:
            writer.dispose()
        release()
        raise
    store = SqlEventStore(name=name, reader=reader, writer=writer, on_close=release)
    if write:
        taker = AppendTaker(path, store.append)
        store.before_close = taker.stop
        taker.start()
    return store


def _check_size(url: URL, engine: Engine, path: Path) -> None:
    """Refuse a file of another length than its header says: SQLite itself does not notice that the file is longer."""
    wal = path.with_name(f"{path.name}-wal")

    for _ in range(3):  # between the two figures a writer may have extended the file
        with suppress(FileNotFoundError):
            if wal.stat().st_size:
                return  # the last pages may be there
        with connection_errors(url), engine.connect() as connection:
            pages: int = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            size: int = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        if not pages or pages * size == path.stat().st_size:
            return
    raise DamagedFile(f"{redacted_url(url)}: the file has another length than its header says: it was cut or altered")


def _checkpoint_wal(path: Path) -> None:
    """Make the file alone the store, so that it can be copied: SQLite itself doesn't while a reader is open."""
    with closing(sqlite3.connect(path, timeout=0)) as connection, suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _open_postgres(url: URL, *, write: bool) -> SqlEventStore:
    name = redacted_url(url)
    engine = postgres_engine(url, pool_size=5, max_overflow=20)
    try:
        _check_revision(url, engine)
        with engine.connect() as connection:
            user = database_user(connection)
        if write:
            _check_writer(name, user)
        if user.role is not None:
            # The connection of the checks was opened without the role.
            engine.dispose()

            @event.listens_for(engine, "connect")
            def _set_role(connection: Any, _record: Any) -> None:
                connection.execute(f"SET ROLE {user.role}")
                connection.commit()

    except BaseException:
        engine.dispose()
        raise
    # A list is read in several queries, which need one snapshot.
    reader = engine.execution_options(isolation_level="REPEATABLE READ")
    return SqlEventStore(name=name, reader=reader, writer=engine if write else None, user=user)


def _check_writer(name: str, user: DatabaseUser) -> None:
    if not user.may_write:
        raise MayNotWrite(
            f"{name}: the user {user.name} may read this store and not write to it; use the writer's login, or let the "
            f"owner run: GRANT {WRITER_ROLE} TO {user.name}"
        )


def _check_revision(url: URL, engine: Engine) -> None:
    name = redacted_url(url)
    with connection_errors(url), engine.connect() as connection:
        found = stored_revision(connection)
        if found == REVISION:
            return
        fault = revision_fault(connection) if has_store(connection) else None
    from shlex import quote  # noqa: PLC0415  (most stores are as they should be)

    if found is not None and is_before_release(found):
        raise StoreBeforeRelease(name, found)
    if fault is not None:
        raise DamagedFile(
            f"{name}: {fault}: the database was altered",
            f"run jury db upgrade --store {quote(name)}, which sets the revision right where the tables are as this "
            "version declares them; else restore a backup",
        )
    if found is None:
        raise StoreMissing(f"{name} contains no store", name)
    if found < REVISION:
        raise StoreOutdated(
            f"{name} has the schema {found}, this version of Jury Judge needs {REVISION}; "
            f"run: jury db upgrade --store {quote(name)}"
        )
    raise StoreTooNew(
        f"{name} has the schema {found}, this version of Jury Judge supports up to {REVISION}; upgrade jury-judge"
    )


_FORM = re.compile("log_[0-9]{4}")
_BEFORE_RELEASE = re.compile("[0-9]{4}")


def stored_revision(connection: Connection) -> str | None:
    """The revision, of any form; None where it is not one text."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    rows = connection.exec_driver_sql("SELECT version_num FROM alembic_version").all()
    found = rows[0][0] if len(rows) == 1 else None
    return found if isinstance(found, str) else None


def is_before_release(revision: str | None) -> bool:
    """Whether a program wrote it that was never released: its logs have another mark."""
    return revision is not None and _BEFORE_RELEASE.fullmatch(revision) is not None


def has_store(connection: Connection) -> bool:
    """Whether the database has the tables of a store, of the first revision or later."""
    return {"events", "streams", "parts"} <= set(inspect(connection).get_table_names())


def revision_fault(connection: Connection) -> str | None:
    """Why the revision of a store cannot be true: it was altered. None: it can be true.

    An older revision is a fault where the database has all tables and columns of today.
    """
    found = stored_revision(connection)
    if found is None:
        return "its table alembic_version does not name one revision"
    if not _FORM.fullmatch(found):
        return f"its table alembic_version names {found[:40]!r}, which is no revision"
    if found < REVISION and _is_of_today(connection):
        return f"its table alembic_version names {found}, and its tables are those of {REVISION}"
    return None


def _is_of_today(connection: Connection) -> bool:
    inspector = inspect(connection)
    if not metadata.tables.keys() <= set(inspector.get_table_names()) - SEARCH_SHADOWS:
        return False
    for table in metadata.sorted_tables:
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        if columns != set(table.columns.keys()) or not {index.name for index in table.indexes} <= indexes:
            return False
    return True
