"""Rows of the log as the drivers return them: executed without SQLAlchemy's result objects, their types checked.

SQLite stores any type of value in any column. PostgreSQL enforces the types of columns.

What SQLAlchemy does around a statement takes 0.1 ms, several times as long as SQLite takes for it: the statements of an
append, and the rows of the lists, are executed here.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Table
from sqlalchemy.exc import DBAPIError

from jury_events.envelope import StoredEvent
from jury_events.parts import Digest
from jury_store.errors import StoreDamaged
from jury_store.schema import POSITION, metadata
from jury_store.sql_dialects import Dialect

_R = TypeVar("_R", bound=Sequence[Any])
_M = TypeVar("_M", bound=Mapping[Any, Any])

REBUILT = frozenset({"debates", "debate_fields", "runs", "ballots", "search_texts", "projections", "run_leases"})
"""The tables in which `jury db rebuild` leaves no damaged row."""

_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}
"""SQLite's names for the types of values, by the types that its driver returns."""

_PYTHON_TYPES = {"integer": int, "real": float, "text": str, "blob": bytes, "null": type(None)}


def storage_classes(column: Column[Any]) -> tuple[str, ...]:
    """SQLite's names for the types of values that a column may contain."""
    declared = column.type
    allowed: tuple[str, ...] = ("text",)
    if isinstance(declared, LargeBinary):
        allowed = ("blob",)
    elif isinstance(declared, Integer | Boolean):
        allowed = ("integer",)
    elif isinstance(declared, Float):
        allowed = ("real",)
    return (*allowed, "null") if column.nullable else allowed


class RowTypes(NamedTuple):
    """Columns in the order in which a query returns them, and the Python types that each of them may contain.

    Columns of `JsonColumn` are those of a query that returns their text.
    """

    columns: tuple[Column[Any], ...]
    kinds: tuple[frozenset[type], ...]

    @classmethod
    def of(cls, table: str, *names: str, outer: bool = False) -> Self:
        """These columns of a table; all, if none is named.

        Args:
            outer: whether the query joins the table so that a row of it may be missing.
        """
        declared = metadata.tables[table].columns
        columns = tuple(map(declared.__getitem__, names or declared.keys()))
        kinds = []
        for column in columns:
            allowed: set[type] = {type(None)} if outer else set()
            allowed.update(map(_PYTHON_TYPES.__getitem__, storage_classes(column)))
            if isinstance(column.type, Boolean):
                allowed = allowed - {int} | {bool}
            kinds.append(frozenset(allowed))
        return cls(columns, tuple(kinds))

    def joined(self, other: "RowTypes") -> "RowTypes":
        """These columns, then those of `other`."""
        return RowTypes(self.columns + other.columns, self.kinds + other.kinds)

    def checked(self, rows: Sequence[_R]) -> Sequence[_R]:
        """The same rows."""
        # By column, which takes a fifth of the time that it takes by row.
        for kinds, values in zip(self.kinds, zip(*rows, strict=True), strict=True) if rows else ():
            if not kinds.issuperset(map(type, values)):
                raise next(damage for row in rows if (damage := self._damage(row)) is not None)
        return rows

    def checked_row(self, row: _M) -> _M:
        """The same row, by column name; raises as `checked`."""
        self.checked([tuple(row[column.name] for column in self.columns)])
        return row

    def fit(self, row: Mapping[Any, Any]) -> bool:
        """Whether every column of a row, by column name, contains a value of its type."""
        return self._damage([row[column.name] for column in self.columns]) is None

    def _damage(self, row: Sequence[Any]) -> StoreDamaged | None:
        for column, kinds, value in zip(self.columns, self.kinds, row, strict=True):
            if type(value) not in kinds:
                names = (one.name for one in self.columns)
                stored = _NAMES.get(type(value), type(value).__name__)
                fault = f"column {column.name} contains {stored}, not {' or '.join(storage_classes(column))}"
                return damaged_row(column.table, dict(zip(names, row, strict=True)), fault)
        return None


def damaged_row(table: Table, row: Mapping[str, Any], fault: str) -> StoreDamaged:
    """The error for a row that no program of this project stored; `row` has at least a part of its key, by column."""
    remedy = "jury db rebuild makes the lists again from the log" if table.name in REBUILT else "restore a backup"
    key = ", ".join(_shown(row[one.name]) for one in table.primary_key.columns if one.name in row)
    return StoreDamaged(f"table {table.name}, row {key}: {fault}: the database was altered", remedy)


def _shown(value: object) -> str:
    return (value.hex() if isinstance(value, bytes) else str(value))[:80]


class PartRow(NamedTuple):
    """A row of the table `parts`."""

    debate_id: str
    digest: Digest
    salt: bytes
    content: bytes


class DriverCursor:
    """One cursor of the driver. Errors are SQLAlchemy's, as everywhere else; a lost connection leaves the pool."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cursor: Any = connection.connection.cursor()
        dbapi = connection.dialect.loaded_dbapi
        assert dbapi is not None
        self._error: type[Exception] = dbapi.Error

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """The rows that a query finds."""
        try:
            self._cursor.execute(statement, parameters)
            found: list[Any] = self._cursor.fetchall()
        except self._error as error:
            raise self._wrapped(error, statement) from error
        return found

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement once."""
        try:
            self._cursor.execute(statement, parameters)
        except self._error as error:
            raise self._wrapped(error, statement) from error

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Execute a statement for each row of parameters; returns how many rows of the table it changed."""
        try:
            self._cursor.executemany(statement, rows)
        except self._error as error:
            raise self._wrapped(error, statement) from error
        changed: int = self._cursor.rowcount
        return changed

    def _wrapped(self, error: Exception, statement: str) -> BaseException:
        dialect: Any = self._connection.dialect
        lost: bool = dialect.is_disconnect(error, self._connection.connection, self._cursor)
        if lost:
            self._connection.invalidate(error)
        return DBAPIError.instance(statement, None, error, self._error, connection_invalidated=lost, dialect=dialect)


_TYPES = RowTypes.of("events")
_COUNTERS = RowTypes.of("counters")


def read_events(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[StoredEvent]:
    """The events that a statement of the dialect selects."""
    rows = DriverCursor(connection).rows(statement, tuple(parameters))
    return list(map(StoredEvent._make, _TYPES.checked(rows)))


def read_unchecked_events(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[StoredEvent]:
    """The same for readers that go on without an event that cannot be read: verification and projections."""
    return list(map(StoredEvent._make, DriverCursor(connection).rows(statement, tuple(parameters))))


def by_stream(events: list[StoredEvent]) -> dict[str, list[StoredEvent]]:
    """Events grouped by stream, in their order."""
    found: dict[str, list[StoredEvent]] = defaultdict(list)
    for event in events:
        found[event.stream].append(event)
    return dict(found)


def last_position(connection: Connection, dialect: Dialect) -> int:
    """The value of the position counter."""
    return the_counter(DriverCursor(connection).rows(dialect.last_position), POSITION)


def the_counter(rows: Sequence[Sequence[Any]], name: str) -> int:
    """The value of a counter, from the rows that have it."""
    if len(rows) != 1:
        raise StoreDamaged(
            f"the counter {name!r} is missing or duplicated: the database was altered, so nothing more is written to it"
        )
    value: int = _COUNTERS.checked([(name, rows[0][0])])[0][1]
    return value
