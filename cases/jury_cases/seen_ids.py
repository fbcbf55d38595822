"""The ids of the cases read so far: an id that comes twice is refused with both of its places."""

import sqlite3
from hashlib import blake2b

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_events.text import visible_line

_CACHE_KIB = 8 * 1024
_DIGEST_BYTES = 16
"""Of an id's hash: among 10^9 cases a collision has a probability of 10^-21."""


class SeenIds:
    """The ids, with the positions of their rows, on disk where they are many."""

    def __init__(self) -> None:
        # An empty name: SQLite keeps the database in memory until it outgrows the cache, then in an anonymous
        # temporary file, deleted with the connection.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(
            f"PRAGMA cache_size = -{_CACHE_KIB}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, place TEXT, name TEXT, line INT, number INT) WITHOUT ROWID;"
            "BEGIN"
        )

    def close(self) -> None:
        """Forget them."""
        self._database.close()

    def add(self, case_id: str, row: FileRow) -> None:
        """Take the id of a row; raises CaseFileError where an earlier one has it."""
        digest = blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        try:
            self._database.execute(
                "INSERT INTO seen VALUES (?, ?, ?, ?, ?)", (digest, row.place, row.name, row.line, row.number)
            )
        except sqlite3.IntegrityError as error:
            found = self._database.execute("SELECT place, name, line, number FROM seen WHERE digest = ?", (digest,))
            raise CaseFileError(_duplicate(visible_line(case_id, 120), row, found.fetchone())) from error
        except sqlite3.Error as error:
            raise CaseFileError(
                f"{row.place}: the case ids cannot be kept in a temporary file: {error}; make room, or set TMPDIR"
            ) from error


def _duplicate(case_id: str, row: FileRow, first: tuple[str, str, int, int]) -> str:
    place, name, line, number = first
    if not name:
        return f"{row.place}: its id {case_id!r} is also the id of {place}; give each case a different id"
    if (name, number) == (row.name, row.number):
        return f"{row.place}: the file is named twice; name it once"
    if name != row.name:
        return f"{row.place}: case id {case_id!r} is also at {place}; give each case a different id"
    rows = f"rows {number} and {row.number}"
    if line == row.line:
        rows = f"in {rows} of the file"
    elif place == f"{name}:{line}":
        rows = f"on lines {line} and {row.line}"
    else:
        rows = f"in {rows}"
    return f"{row.place}: case id {case_id!r} is {rows}; give each case a different id"
