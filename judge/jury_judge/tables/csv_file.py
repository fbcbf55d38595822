"""Tables as CSV (RFC 4180, UTF-8), for spreadsheets and for programs without Parquet.

A null is an empty cell, an empty text `""`: every text is quoted, nothing else is. Spreadsheets compute a cell that
begins like a formula, whether it is quoted or not: such a text has an apostrophe before it, which a reader takes away
again (docs/reference/tables.md). https://owasp.org/www-community/attacks/CSV_Injection
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa

from jury_events.text import moment
from jury_replay.output_path import check_output_path

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""What a text begins with that gets an apostrophe. One that has apostrophes before such a sign gets one more, so that
the text can be read back."""

_RECOGNISED = 3
"""Columns by which a file is known to be an older one of the same table."""

_ROWS = 2000


def check_csv_path(path: Path, schema: pa.Schema) -> None:
    """Refuse to replace a file that is not an older one of the same table."""
    check_output_path(path, ",".join(schema.names[:_RECOGNISED]).encode())


class CsvFile:
    """A table as CSV, written row by row.

    Args:
        out: takes the bytes; it is not closed.
        schema: of the table; the heading has its names.
    """

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        self._out = out
        self._schema = schema
        self._rows: list[Mapping[str, Any]] = []
        self.rows = 0
        self._write_lines([",".join(schema.names)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._flush()

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        self._flush()
        for batch in table.to_batches(_ROWS):
            self._write(pa.Table.from_batches([batch]))

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._write(pa.Table.from_pylist(rows, self._schema))

    def _write(self, table: pa.Table) -> None:
        self.rows += table.num_rows
        self._write_lines([",".join(row) for row in zip(*map(_cells, table.columns), strict=True)])

    def _write_lines(self, lines: list[str]) -> None:
        self._out.write("".join(f"{line}\r\n" for line in lines).encode())


def _cells(column: pa.ChunkedArray) -> Iterable[str]:
    if not pa.types.is_timestamp(column.type):
        return map(_cell, column.to_pylist())
    # Python has no time after the year 9999, and an altered log may.
    times = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()
    return ("" if one is None else _time(moment(one, "microseconds")) for one in times)


def _time(said: str) -> str:
    return _quoted(said) if " " in said else said  # it says that it is none


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return _quoted(value)
        case bool():
            return "true" if value else "false"
        case list():
            return _quoted(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    guard = "'" if _FORMULA.match(text) else ""
    return f'"{guard}{text.replace(chr(34), chr(34) * 2)}"'
