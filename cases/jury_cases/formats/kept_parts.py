"""Parts of rows by a key, in memory while they are few, else in a temporary database on disk.

A file's spans may be of any trace: which spans are of one is known at its end. So they are kept once, in the order of
the file, and indexed by their trace.
"""

import pickle
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError

_IN_MEMORY = 16 * 1024 * 1024
"""Bytes of parts that are kept in memory."""

_CACHE_KIB = 16 * 1024
_BATCH = 500
_NOT_KEPT = "its rows cannot be kept in a temporary file"


class KeptGroup(NamedTuple):
    """The parts of one key, in order.

    Attributes:
        key: of all.
        row: that of the first part, without its data.
        size: bytes of all.
        many: how many parts.
        parts: reads them.
    """

    key: str
    row: FileRow
    size: int
    many: int
    parts: Iterator[Any]


class KeptParts:
    """Keeps parts; groups are in the order of their first parts."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, bytes, bytes]] = []
        self._first: set[str] | None = set()
        self._size = 0
        # An empty name: SQLite keeps the database in memory until it outgrows the cache, then in an anonymous
        # temporary file, deleted with the connection.
        self._database: sqlite3.Connection | None = None

    def add(self, key: str, part: Any, row: FileRow) -> None:
        data = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
        self._waiting.append((key, data, pickle.dumps(row._replace(data={}))))
        self._size += len(data)
        if self._size > _IN_MEMORY or (self._database is not None and len(self._waiting) >= _BATCH):
            self._flush()

    def _flush(self) -> None:
        self._size = 0
        try:
            if self._database is None:
                self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                self._database.executescript(
                    f"PRAGMA cache_size = -{_CACHE_KIB}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                    "CREATE TABLE parts (number INTEGER PRIMARY KEY, key TEXT, data BLOB, row BLOB); BEGIN"
                )
            self._database.executemany("INSERT INTO parts (key, data, row) VALUES (?, ?, ?)", self._waiting)
        except sqlite3.Error as error:
            raise CaseFileError(f"{_NOT_KEPT}: {error}; make room, or set TMPDIR") from error
        self._waiting = []

    def groups(self) -> Iterator[KeptGroup]:
        if self._database is None:
            yield from self._groups_in_memory()
            return
        self._flush()
        try:
            self._database.execute("CREATE INDEX by_key ON parts (key, number, length(data))")
            yield from _groups_on_disk(self._database)
        except sqlite3.Error as error:
            raise CaseFileError(f"{_NOT_KEPT}: {error}; make room, or set TMPDIR") from error

    def _groups_in_memory(self) -> Iterator[KeptGroup]:
        found: dict[str, list[tuple[str, bytes, bytes]]] = {}
        for one in self._waiting:
            found.setdefault(one[0], []).append(one)
        for key, listed in found.items():
            size = sum(len(data) for _, data, _ in listed)
            yield KeptGroup(key, _loaded(listed[0][2]), size, len(listed), (_loaded(data) for _, data, _ in listed))


def _groups_on_disk(database: sqlite3.Connection) -> Iterator[KeptGroup]:
    groups = "SELECT key, min(number), sum(length(data)), count(*) FROM parts GROUP BY key ORDER BY min(number)"
    for key, number, size, count in database.execute(groups):
        (row,) = database.execute("SELECT row FROM parts WHERE number = ?", (number,)).fetchone()
        parts = database.execute("SELECT data FROM parts WHERE key = ? ORDER BY number", (key,))
        yield KeptGroup(key, _loaded(row), size, count, (_loaded(data) for (data,) in parts))


def _loaded(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301  (what `add` wrote, in memory or in a file that has no name)
