"""What a database says when its disk is full or cannot be written, in words that lead to the remedy."""

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError

_FULL = "SQLITE_FULL"
_IO_ERROR = "SQLITE_IOERR"
"""SQLite's name for most of what a full disk does to the files beside the database."""

_DISK_FULL = "53100"
"""PostgreSQL's state for a full disk (appendix A)."""


def disk_trouble(error: DBAPIError, name: str) -> str | None:
    """What is wrong with the disk, then behind a semicolon what to do; None where the error is another.

    Args:
        error: as the driver raised it.
        name: the store's URL as it is shown, without secrets.
    """
    if isinstance(error.orig, sqlite3.Error):
        kind = getattr(error.orig, "sqlite_errorname", "")
        path = Path(name.removeprefix("sqlite:///")).expanduser().resolve()
        if kind == _FULL:
            return f"{path}: the disk is full; make room on the disk of {path.parent}"
        if kind.startswith(_IO_ERROR):
            return (
                f"{path}: the disk is full or cannot be written ({error.orig}); make room on the disk of "
                f"{path.parent}, or see to it that the folder can be written"
            )
    if getattr(error.orig, "sqlstate", None) == _DISK_FULL:
        return f"{name}: the disk of the PostgreSQL server is full; make room there"
    return None
