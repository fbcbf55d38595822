"""Removing the bytes of deleted texts from the database's files, on a connection outside a transaction."""

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from jury_store.errors import ScrubRefused, StoreFailed, TextsRemain
from jury_store.sql_dialects import first_line

_POLL_SECONDS = 0.1

_WITH_TEXTS = ("parts", "search_texts")
"""Tables that contain texts, or their terms."""

_AGAIN = "end the reader, then run the same command again"


def scrub(connection: Connection, name: str, wait: float) -> None:
    """See `EventStore.scrub`."""
    try:
        _SCRUBS[connection.dialect.name](connection, name, wait)
    except connection.dialect.loaded_dbapi.Error as error:
        raise StoreFailed(
            f"{name}: {first_line(error)}. The texts are deleted, but their bytes may remain in the database's files; "
            "fix the cause, then run the same command again"
        ) from error


def _scrub_sqlite(connection: Connection, name: str, wait: float) -> None:
    """The file is written anew from what is left, and the write-ahead log, which still contains the texts, emptied.

    SQLite overwrites deleted bytes where they were (`secure_delete`), but not copies that it left behind when it moved
    a row to another page. The full-text index only marks deleted terms; merging its segments removes them.
    """
    driver: Any = connection.connection.driver_connection
    driver.execute("INSERT INTO search_index (search_index) VALUES ('optimize')")
    if driver.in_transaction:
        driver.commit()
    driver.execute("VACUUM")
    (before,) = driver.execute("PRAGMA busy_timeout").fetchone()
    driver.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}").fetchone()
    try:
        (blocked, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        driver.execute(f"PRAGMA busy_timeout = {before}").fetchone()
    if blocked:
        raise TextsRemain(
            f"{name}: the texts are deleted, but another process is reading the store and keeps them in its "
            f"write-ahead log; {_AGAIN}"
        )


_OLDER_READERS = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND age(backend_xmin) > age(%s::text::xid)
"""


def _scrub_postgresql(connection: Connection, name: str, wait: float) -> None:
    """Deleted rows stay in the table until no transaction can see them, and in its free space until it is rewritten."""
    from psycopg import errors  # noqa: PLC0415  (a tenth of the start of a command on SQLite)

    driver: Any = connection.connection.driver_connection
    warnings: list[str] = []

    def on_notice(notice: Any) -> None:
        if notice.severity_nonlocalized == "WARNING":
            warnings.append(notice.message_primary)

    (role,) = driver.execute("SELECT current_user").fetchone()
    (now,) = driver.execute("SELECT pg_current_xact_id()::xid::text").fetchone()
    driver.commit()
    driver.autocommit = True
    driver.add_notice_handler(on_notice)
    try:
        until = time.monotonic() + wait
        while driver.execute(_OLDER_READERS, (now,)).fetchone() != (0,):
            if time.monotonic() >= until:
                raise TextsRemain(
                    f"{name}: the texts are deleted, but a transaction that began before keeps their rows in the "
                    f"table; {_AGAIN}"
                )
            time.sleep(_POLL_SECONDS)
        # The writer's role owns no table; the login may.
        driver.execute("RESET ROLE")
        driver.execute("SELECT set_config('lock_timeout', %s, false)", (str(int(wait * 1000) + 1),))
        for table in _WITH_TEXTS:
            driver.execute(f"VACUUM (FULL) {table}")
    except errors.LockNotAvailable:
        raise TextsRemain(
            f"{name}: the texts are deleted, but another session uses the table that contains their bytes; {_AGAIN}"
        ) from None
    finally:
        driver.execute("RESET lock_timeout")
        driver.execute(f'SET ROLE "{role}"')
        driver.remove_notice_handler(on_notice)
        driver.autocommit = False
    if warnings:
        raise ScrubRefused(
            f"{name}: the texts are deleted, but their bytes stay in the free space of the tables "
            f"{' and '.join(_WITH_TEXTS)} until their owner runs: VACUUM (FULL) {', '.join(_WITH_TEXTS)} "
            f"(PostgreSQL: {warnings[0]})"
        )


_SCRUBS: dict[str, Callable[[Connection, str, float], None]] = {
    "sqlite": _scrub_sqlite,
    "postgresql": _scrub_postgresql,
}
