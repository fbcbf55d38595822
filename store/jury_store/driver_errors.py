"""Messages for errors of the database drivers."""

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError, StatementError

_SQLITE_FULL = "SQLITE_FULL"
_SQLITE_IO_ERROR = "SQLITE_IOERR"
"""Begins SQLite's name for most failures of a full disk with the files beside the database."""

_SQLITE_CORRUPT = "SQLITE_CORRUPT"
"""Begins SQLite's names for a damaged file."""

_NO_TABLE = ("no such table: ", "no such column: ")
"""Of SQLite's message, which has no code of its own."""

_POSTGRES_DISK_FULL = "53100"
"""SQLSTATE (PostgreSQL, appendix A)."""

_POSTGRES_DAMAGED = frozenset({"42P01", "42703", "XX001", "XX002"})
"""Undefined table, undefined column, data corrupted, index corrupted."""


def first_line(error: Exception) -> str:
    """The first line of the driver's message."""
    origin = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]


def describe_disk_error(error: DBAPIError, name: str) -> str | None:
    """The disk error and, after a semicolon, the remedy; None for any other error.

    Args:
        error: as the driver raised it.
        name: the store's URL without secrets.
    """
    if isinstance(error.orig, sqlite3.Error):
        kind = getattr(error.orig, "sqlite_errorname", "")
        path = Path(name.removeprefix("sqlite:///")).expanduser().resolve()
        if kind == _SQLITE_FULL:
            return f"{path}: the disk is full; make room on the disk of {path.parent}"
        if kind.startswith(_SQLITE_IO_ERROR):
            return (
                f"{path}: the disk is full or cannot be written ({error.orig}); make room on the disk of "
                f"{path.parent}, or make the folder writable"
            )
    if getattr(error.orig, "sqlstate", None) == _POSTGRES_DISK_FULL:
        return f"{name}: the disk of the PostgreSQL server is full; make room there"
    return None


def describe_damage(error: DBAPIError, name: str) -> str | None:
    """What is damaged, and the remedy; None for any other error: statements name only what every store has.

    Arguments as of `describe_disk_error`.
    """
    what = first_line(error)
    if isinstance(error.orig, sqlite3.Error):
        damaged = getattr(error.orig, "sqlite_errorname", "").startswith(_SQLITE_CORRUPT) or what.startswith(_NO_TABLE)
    else:
        damaged = getattr(error.orig, "sqlstate", None) in _POSTGRES_DAMAGED
    if not damaged:
        return None
    return f"{name}: {what}: the database is damaged, or was altered. Run jury verify --all, and restore a backup"
