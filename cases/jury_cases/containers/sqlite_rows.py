"""Rows of a SQLite database: of the table that `--rows` names, else of the first that a format of its own knows."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.text import visible_line

_SHOWN = 12


def read_rows(
    path: Path, origin: RowSource, table: str | None, is_known: Callable[[dict[str, Any]], bool]
) -> Iterator[FileRow]:
    """The rows of a table in their order. The file is opened for reading, and nothing is written beside it.

    Args:
        table: the table's name; None: the first whose first row `is_known`, else the only one.
    """
    try:
        # Without a log of changes beside it the file is complete, and nothing need be written to read it.
        mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
        database = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, check_same_thread=False)
        try:
            database.row_factory = sqlite3.Row
            yield from _rows(database, origin, table, is_known)
        finally:
            database.close()
    except sqlite3.Error as error:
        raise CaseFileError(
            f"{origin.name}: the SQLite file cannot be read: {visible_line(str(error), 160)}"
        ) from error


def _rows(
    database: sqlite3.Connection, origin: RowSource, asked: str | None, is_known: Callable[[dict[str, Any]], bool]
) -> Iterator[FileRow]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    names = [row["name"] for row in database.execute(query)]
    shown = ", ".join(visible_line(name, 60) for name in names[:_SHOWN]) or "none"
    if asked is not None and asked not in names:
        raise CaseFileError(f"{origin.name}: --rows {visible_line(asked, 60)}: no such table; the tables are {shown}")
    found = asked or next((name for name in names if is_known(_first(database, name))), None)
    if found is None:
        if len(names) != 1:
            raise CaseFileError(f"{origin.name}: no table of a known format; --rows TABLE names one of {shown}")
        found = names[0]
    for number, row in enumerate(database.execute(f"SELECT * FROM {_quoted(found)}"), start=1):  # noqa: S608
        yield origin.numbered(number, dict(row), f"{visible_line(found, 60)} row {number}")


def _first(database: sqlite3.Connection, table: str) -> dict[str, Any]:
    row = database.execute(f"SELECT * FROM {_quoted(table)} LIMIT 1").fetchone()  # noqa: S608
    return {} if row is None else dict(row)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
