"""The one writer of result tables: Parquet files, which are replaced by newer ones of the same table only."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import ENOENT
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from jury_replay.errors import OutputPathTaken
from jury_replay.output_path import check_output_path

_MADE_BY = b"jury_judge.table"
"""The key of the file's metadata that contains the name of the table."""

_ROWS = 2000
_BUFFER = 8_000_000
"""Rows that are kept before they become a table, and bytes before a group of rows is written."""


def check_table_path(path: Path, name: str) -> None:
    """Refuse to replace what is no older file of the same table: other Parquet files are data of their own."""
    check_output_path(path, b"PAR1")
    if not path.exists() or not path.stat().st_size:
        return
    try:
        made_by = (pq.read_schema(path).metadata or {}).get(_MADE_BY)
    except pa.ArrowException:
        made_by = None
    if made_by != name.encode():
        raise OutputPathTaken(
            f"{path}: is a Parquet file that this command did not write, and is not replaced; write to another path, "
            "or move it away"
        )


def check_new_table(path: Path, name: str) -> None:
    """The same, before the work whose result the file is to have."""
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "the folder of this file does not exist", str(path))
    check_table_path(path, name)


def replace_table(path: Path, name: str, table: pa.Table, metadata: Mapping[bytes, bytes] | None = None) -> None:
    """Write a file with one table; an older file of this table is replaced at once.

    Args:
        table: with the columns that the file is to have.
        metadata: of the file, beside the name of the table.
    """
    check_table_path(path, name)
    with replacing(path) as part, TableFile(part, name, table.schema, metadata) as file:
        file.write(table)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` whose file takes its place at the end; after an error nothing is changed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class TableFile:
    """A Parquet file of one table, written in groups of rows.

    Args:
        name: of the table, for the file's metadata; None: the file does not name it.
        metadata: of the file, beside the name of the table.
        buffer: bytes that are kept before a group of rows is written; 0: each table that is written is a group.
    """

    def __init__(
        self,
        path: Path,
        name: str | None,
        schema: pa.Schema,
        metadata: Mapping[bytes, bytes] | None = None,
        *,
        compression: str = "zstd",
        buffer: int = _BUFFER,
    ) -> None:
        kept = {} if name is None else {_MADE_BY: name.encode()}
        kept |= metadata or {}
        self._schema = schema.with_metadata(kept) if kept else schema.remove_metadata()
        self._buffer = buffer
        self._writer = pq.ParquetWriter(os.fspath(path), self._schema, compression=compression)
        self._rows: list[Mapping[str, Any]] = []
        self._tables: list[pa.Table] = []
        self._bytes = 0
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def describe(self, metadata: Mapping[bytes, bytes]) -> None:
        """Say more of the file, once its rows are known."""
        self._writer.add_key_value_metadata(metadata)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= _ROWS or self._bytes >= self._buffer:
            self._collect()

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        self._tables.append(table.replace_schema_metadata(self._schema.metadata))
        self.rows += table.num_rows
        if sum(one.nbytes for one in self._tables) >= self._buffer:
            self._flush()

    def _collect(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        if rows:
            self.write(pa.Table.from_pylist(rows, self._schema))

    def _flush(self) -> None:
        if self._rows:
            self._collect()
        tables, self._tables = self._tables, []
        if tables:
            self._writer.write_table(pa.concat_tables(tables))
