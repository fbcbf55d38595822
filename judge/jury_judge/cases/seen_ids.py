"""Detects duplicate case ids, with a temporary database on disk, so that a million ids need little memory."""

import sqlite3
from hashlib import blake2b
from typing import Self

from jury_judge.cases.containers.row import FileRow
from jury_judge.errors import CaseFileError
from jury_judge.text.visible_text import visible_line

_CACHE_KIB = 8 * 1024
_DIGEST_BYTES = 16
"""Of an id's hash: among 10^9 cases a collision has a probability of 10^-21."""


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
        """Add a row's id.

        Raises:
            CaseFileError: another row has the same id, or the disk is full.
        """
        digest = blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        values = (digest, row.place, row.name, row.line, row.number)
        try:
            self._database.execute("INSERT INTO seen VALUES (?, ?, ?, ?, ?)", values)
        except sqlite3.IntegrityError as error:
            raise CaseFileError(self._duplicate(case_id, digest, row)) from error
        except sqlite3.Error as error:
            raise CaseFileError(
                f"{row.place}: the case ids cannot be kept in a temporary file: {error}; make room, or set TMPDIR"
            ) from error

    def _duplicate(self, case_id: str, digest: bytes, row: FileRow) -> str:
        place, name, line, number = self._database.execute(
            "SELECT place, name, line, number FROM seen WHERE digest = ?", (digest,)
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
