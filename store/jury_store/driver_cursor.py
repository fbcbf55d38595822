"""Statements that the driver executes itself, in the transaction of a SQLAlchemy connection.

What SQLAlchemy does around a statement takes 0.1 ms, several times as long as SQLite takes for it: the statements of an
append, and the rows of the lists, are executed here.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

_T = TypeVar("_T")


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
        self._guarded(self._cursor.execute, statement, parameters)
        found: list[Any] = self._guarded(self._cursor.fetchall, statement)
        return found

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement once."""
        self._guarded(self._cursor.execute, statement, parameters)

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Execute a statement for each row of parameters; returns how many rows of the table it changed."""
        self._guarded(self._cursor.executemany, statement, rows)
        changed: int = self._cursor.rowcount
        return changed

    def _guarded(self, call: Callable[..., _T], statement: str, *parameters: Any) -> _T:
        try:
            return call(statement, *parameters) if parameters else call()
        except self._error as error:
            raise self._wrapped(error, statement) from error

    def _wrapped(self, error: Exception, statement: str) -> BaseException:
        dialect: Any = self._connection.dialect
        lost: bool = dialect.is_disconnect(error, self._connection.connection, self._cursor)
        if lost:
            self._connection.invalidate(error)
        return DBAPIError.instance(statement, None, error, self._error, connection_invalidated=lost, dialect=dialect)
