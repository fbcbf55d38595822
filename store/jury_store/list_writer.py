"""Writing rows of the lists: one statement for all rows of a batch, executed by the driver."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table

from jury_store.dialects import Dialect
from jury_store.driver_cursor import DriverCursor
from jury_store.schema import JsonColumn

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def insert_rows(connection: Connection, dialect: Dialect, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, by column name."""
    if rows:
        columns = tuple(column.name for column in table.columns)
        DriverCursor(connection).execute_many(dialect.insert(table.name, columns), _parameters(table, columns, rows))


def update_rows(
    connection: Connection,
    dialect: Dialect,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    unchanged: Collection[str] = (),
) -> None:
    """Replace the rows that have the same primary key, which is one column.

    `unchanged` are columns in which they have the same values. SQLite writes an index again whenever one of its columns
    is named, whether its value changes or not.
    """
    if rows:
        (key,) = (column.name for column in table.primary_key)
        columns = (*(column.name for column in table.columns if column.name not in {key, *unchanged}), key)
        statement = dialect.update(table.name, columns[:-1], key)
        DriverCursor(connection).execute_many(statement, _parameters(table, columns, rows))


def _parameters(table: Table, columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    values, coded = _layout(table, columns)
    found = []
    for row in rows:
        one = list(values(row))
        for place in coded:
            one[place] = _text(one[place])
        found.append(one)
    return found


@lru_cache
def _layout(table: Table, columns: tuple[str, ...]) -> tuple[Callable[[Mapping[str, Any]], Any], list[int]]:
    """What takes the values of these columns from a row, and the places of those that are stored as JSON."""
    return itemgetter(*columns), [place for place, name in enumerate(columns) if _is_json(table, name)]


def _is_json(table: Table, name: str) -> bool:
    return isinstance(table.c[name].type, JsonColumn)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    return _json(value)
