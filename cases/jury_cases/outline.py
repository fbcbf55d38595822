"""Cases named without being built, so that a long run resumes quickly; duplicate ids; cases of an iterator, kept."""

import sqlite3
import threading
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import Protocol, Self, TypeVar, runtime_checkable

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_events.case import Case
from jury_events.text import visible_line

Skip = Callable[[Sequence[str]], Container[str]]
"""Takes the ids of the next cases, and returns those of which the id is enough."""

Fetch = Callable[[Case], bool]
"""Whether to read the records that a case's URIs refer to."""

BATCH = 64
"""How many rows of a file are looked up at once, at first: a source may be slow."""

MOST = 1024
"""The most rows that are looked up at once. They are in memory."""

BUILT = 8
"""The same of cases that are built already, whose source may be slow."""

BATCH_BYTES = 4_000_000
"""The next cases are as many as have this size, as far as it is known; one at least."""

T = TypeVar("T")


@runtime_checkable
class OutlinedCases(Protocol):
    """A source of cases that can name some without building them."""

    def outline(self, skip: Skip, fetch: Fetch) -> Iterator[Case | str]:
        """The cases in their order; where `skip` chose a case, its id alone."""
        ...


def outline_of(
    source: OutlinedCases | Callable[[Fetch], Iterable[Case]], skip: Skip, fetch: Fetch
) -> Iterator[Case | str]:
    return source.outline(skip, fetch) if isinstance(source, OutlinedCases) else outlined(source(fetch), skip)


def outlined(cases: Iterable[Case], skip: Skip) -> Iterator[Case | str]:
    """The same for cases that are built already."""
    for batch in batches(cases, most=BUILT):
        skipped = skip([case.case_id for case in batch])
        yield from (case.case_id if case.case_id in skipped else case for case in batch)


def batches(
    items: Iterable[T], size: Callable[[T], int] = lambda _item: 0, *, first: int = BATCH, most: int = MOST
) -> Iterator[list[T]]:
    """Items in lists that grow twofold; an error of the iterator is raised after the items before it.

    Args:
        items: are drawn as they are needed.
        size: of an item, in bytes.
    """
    full = min(first, most)
    batch: list[T] = []
    total = 0
    try:
        for one in items:
            batch.append(one)
            total += size(one)
            if len(batch) >= full or total >= BATCH_BYTES:
                yield batch
                batch, total, full = [], 0, min(2 * full, most)
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


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


class RecordedCases:
    """Iterates the cases from the first at each call; the iterator is advanced only when a reader needs its next case.

    Several readers may read at once, in several threads. The file is deleted with the object.
    """

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._lock = threading.Lock()
        self._file = TemporaryFile(prefix="jury-cases-")  # noqa: SIM115  (as long as the object)
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._error: Exception | None = None

    def __iter__(self) -> Iterator[Case]:
        position = 0
        while True:
            with self._lock:
                if position == self._end and not self._advance():
                    return
                self._file.seek(position)
                line = self._file.readline()
            position += len(line)
            yield Case.model_validate_json(line)

    def _advance(self) -> bool:
        """Keep the next case; False at the end."""
        if self._error is not None:
            raise self._error
        try:
            case = next(self._cases, None)
            if case is None:
                return False
            self._keep(case)
        except Exception as error:
            self._error = error
            raise
        return True

    def _keep(self, case: Case) -> None:
        try:
            self._file.seek(self._end)
            self._file.write(line := case.model_dump_json().encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise CaseFileError(
                f"the cases cannot be kept in a temporary file: {error.strerror or error}; make room, or set TMPDIR"
            ) from error
        self._end += len(line)
