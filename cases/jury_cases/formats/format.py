"""The interface of a format, and how rows of a file are gathered that are one case."""

import pickle
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.kept_rows import temporary_database
from jury_cases.transcripts.json_values import as_text
from jury_events.text import shown_size, visible_line

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
                self._database = temporary_database(
                    "CREATE TABLE parts (number INTEGER PRIMARY KEY, key TEXT, data BLOB, row BLOB);", _CACHE_KIB
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


MAX_GATHERED = 256 * 1024 * 1024
"""Characters of the gathered rows of one file, which are in memory at once."""

MAX_CASE = 64 * 1024 * 1024
"""Bytes of the rows of one case, such as the spans of a trace, which are in memory at once."""

MAX_PARTS = 100_000
"""Rows of one case."""

_NAMED = 80
"""Characters of a key in errors."""


class GatheredRows(dict[str, Any]):
    """The rows of one case, and their key, as one row: what `Format.read` is given by a format that gathers."""


class GatheredCase(NamedTuple):
    """The rows of one case.

    Attributes:
        suffix: appended to the case's default id, which is the file's name and the first row's number.
        data: what `Format.read` takes; a CaseFileError: why it cannot be read.
        row: the first of its rows; errors of the case begin with its place.
        name: what errors call it, such as `trace 4bf92f35`; "" if it has no name.
    """

    suffix: str
    data: Any
    row: FileRow
    name: str = ""


class Gathering(ABC):
    """Gathers consecutive rows of one file. A format makes a new one for each file (`Format.gather`)."""

    def takes(self, data: Any) -> bool:  # noqa: ARG002  (most formats recognise every row)
        """Whether a later row of the file belongs to it, although the format does not recognise the row by itself."""
        return False

    @abstractmethod
    def add(self, row: FileRow) -> None:
        """Add a row."""

    @abstractmethod
    def cases(self) -> Iterator[GatheredCase]:
        """The cases, after the last row."""


class GatheredSize:
    """The size of the rows that are in memory."""

    def __init__(self, remedy: str) -> None:
        self._remedy = remedy
        self._size = 0

    def add(self, row: FileRow) -> None:
        first = not self._size
        try:
            self._size += row.size or len(as_text(row.data)) or 1
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error
        if self._size > MAX_GATHERED and not first:
            raise CaseFileError(f"more than {MAX_GATHERED >> 20} MiB of rows that are read together; {self._remedy}")


class RowsByKey(Gathering):
    """Gathers rows by a key, such as spans by their trace; cases are in the order of their first rows.

    Args:
        key: the key of a row; "" if it has none: such rows are one case.
        kind: what a key names in errors (`trace`, `session`).
    """

    def __init__(self, key: Callable[[Any], str], kind: str, data: Callable[[str, list[Any]], Any]) -> None:
        self._key = key
        self._kind = kind
        self._data = data
        self._parts = KeptParts()

    def add(self, row: FileRow) -> None:
        self.add_part(self._key(row.data), row.data, row)

    def add_part(self, key: str, part: Any, row: FileRow) -> None:
        """Add a part of a row under a key of its own."""
        try:
            self._parts.add(key, part, row)
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error

    def cases(self) -> Iterator[GatheredCase]:
        """One case a key; one that is too large has the error as its data (`GatheredCase`)."""
        for number, group in enumerate(self._parts.groups(), start=1):
            named = f"{self._kind} {visible_line(group.key, _NAMED)}" if group.key else ""
            yield GatheredCase(
                suffix=f"-{group.key or number}",
                data=_too_large(group, named or f"the {self._kind}") or self._data(group.key, list(group.parts)),
                row=group.row,
                name=named,
            )


def _too_large(group: KeptGroup, named: str) -> CaseFileError | None:
    """Why the rows of one case cannot be read together; None: they can."""
    if group.size <= MAX_CASE and group.many <= MAX_PARTS:
        return None
    size = f"{group.many:,} rows of {shown_size(group.size)}"
    most = f"{MAX_PARTS:,} of {shown_size(MAX_CASE)}"
    return CaseFileError(f"{named} has {size}, and at most {most} are read together; leave it out, or shorten it")


class Format(NamedTuple):
    """A format of rows.

    Attributes:
        name: in `--format`.
        recognises: whether a decoded row (an object, or a list of messages) has this format.
        read: the row's draft; raises CaseFileError.
        rows_path: the dotted path of the rows in a document of this format; None: not such a document.
        columns: the columns that it reads besides the default ones; None: not known by name.
        case_id: the id of a row's case as `read` finds it, without reading the rest (None: the row has none); None: ids
            need the whole row.
        cases: the cases in a row that has several, each of which is read as one; None: a row is a case.
        gather: makes a gathering for the rows of one file that together make cases; None: one row is one case.
        recognised_by: the same as `recognises` in words, for lists of formats; names of fields are in backticks.
        shows: in words, what is read of a row.
    """

    name: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any], CaseDraft]
    rows_path: Callable[[Mapping[str, Any]], str | None] = lambda _document: None
    gather: Callable[[], Gathering] | None = None
    cases: Callable[[Any], list[Any]] | None = None
    columns: frozenset[str] | None = None
    case_id: Callable[[Any], Any] | None = None
    recognised_by: str = ""
    shows: str = ""


WRAPPERS = ("request", "response", "body", "params", "result")
"""Columns of batches and request logs in which request and response are objects."""


def wraps(row: Mapping[str, Any]) -> bool:
    """Whether request and response are nested objects."""
    for name in WRAPPERS:  # noqa: SIM110  (called for every row: a loop takes a third of the time)
        if isinstance(row.get(name), dict):
            return True
    return False


Record = dict[str, Any]


class TraceGathering(Gathering):
    """Gathers records by trace.

    Args:
        trace_id: of a record; "" if it has none.
    """

    def __init__(self, expanded: Callable[[Any], Iterable[Record]], trace_id: Callable[[Record], str]) -> None:
        self._expanded = expanded
        self._trace_id = trace_id
        self._records = RowsByKey(
            trace_id, "trace", lambda trace, records: GatheredRows(trace_id=trace, records=records)
        )

    def add(self, row: FileRow) -> None:
        """Add the records of a row."""
        try:
            for record in self._expanded(row.data):
                self._records.add_part(self._trace_id(record), record, row)
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error

    def cases(self) -> Iterator[GatheredCase]:
        """One case a trace, in the order of their first records."""
        yield from self._records.cases()


def records_of(row: Any, expanded: Callable[[Any], Iterable[Record]]) -> tuple[str | None, list[Record]]:
    """The id and the records of a gathered trace, or of a row that comes from no file (its id is None)."""
    if isinstance(row, GatheredRows):
        return row["trace_id"] or None, row["records"]
    return None, list(expanded(row))


def rows_at(name: str, recognises: Callable[[Any], bool]) -> Callable[[Mapping[str, Any]], str | None]:
    """The `Format.rows_path` of documents that have the rows, one of which is recognised, in a list of this name."""

    def path(document: Mapping[str, Any]) -> str | None:
        listed = document.get(name)
        return name if isinstance(listed, list) and any(map(recognises, listed)) else None

    return path
