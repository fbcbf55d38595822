"""Detects duplicate case ids, with a temporary database on disk, so that a million ids need little memory."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Self

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line

_CACHE_KIB = 8 * 1024
_DIGEST_BYTES = 16
"""Of an id's hash: among 10^9 cases a collision has a probability of 10^-21."""

_INSERT = "INSERT INTO seen VALUES (?, ?, ?, ?, ?)"
_NOT_KEPT = "cannot be kept in a temporary file"


class SeenIds:
    """The ids of the cases read so far, with their positions."""

    def __init__(self) -> None:
        # An empty name: SQLite keeps the database in memory until it outgrows the cache, then in an anonymous
        # temporary file, deleted with the connection.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(
            f"PRAGMA cache_size = -{_CACHE_KIB}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, place TEXT, name TEXT, line INT, number INT) WITHOUT ROWID;"
            "BEGIN"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, case_id: str, row: FileRow) -> None:
        try:
            self._database.execute(_INSERT, _values(case_id, row))
        except sqlite3.IntegrityError as error:
            raise CaseFileError(self._duplicate(case_id, row)) from error
        except sqlite3.Error as error:
            raise CaseFileError(f"{row.place}: the case ids {_NOT_KEPT}: {error}; make room, or set TMPDIR") from error

    def add_all(self, rows: Sequence[tuple[str, FileRow]]) -> int:
        """Add the ids of rows up to the first that cannot be added (`add` says why); returns how many were added."""
        before = self._database.total_changes
        with suppress(sqlite3.Error):
            self._database.executemany(_INSERT, (_values(case_id, row) for case_id, row in rows))
        return self._database.total_changes - before

    def number_of(self, case_id: str, number: int) -> int | None:
        """The number under which the id was added before; None: it is added under this one."""
        try:
            self._database.execute("INSERT INTO seen (digest, number) VALUES (?, ?)", (_digest(case_id), number))
        except sqlite3.IntegrityError:
            query = "SELECT number FROM seen WHERE digest = ?"
            first: int = self._database.execute(query, (_digest(case_id),)).fetchone()[0]
            return first
        except sqlite3.Error as error:
            raise CaseFileError(f"the case ids {_NOT_KEPT}: {error}; make room, or set TMPDIR") from error
        return None

    def _duplicate(self, case_id: str, row: FileRow) -> str:
        place, name, line, number = self._database.execute(
            "SELECT place, name, line, number FROM seen WHERE digest = ?", (_digest(case_id),)
        ).fetchone()
        if (name, number) == (row.name, row.number):
            return f"{row.place}: the file is named twice; name it once"
        shown, remedy = visible_line(case_id, 120), "give each case a different id"
        if name != row.name:
            return f"{row.place}: case id {shown!r} is also at {place}; {remedy}"
        if line == row.line:
            return f"{row.place}: case id {shown!r} is in rows {number} and {row.number} of the file; {remedy}"
        if place == f"{name}:{line}":
            return f"{row.place}: case id {shown!r} is on lines {line} and {row.line}; {remedy}"
        return f"{row.place}: case id {shown!r} is in rows {number} and {row.number}; {remedy}"


def _values(case_id: str, row: FileRow) -> tuple[bytes, str, str, int, int]:
    return _digest(case_id), row.place, row.name, row.line, row.number


def _digest(case_id: str) -> bytes:
    return blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
