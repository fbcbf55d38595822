"""Rows in a Parquet file, written atomically."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from jury_replay.output_path import check_output_path
from jury_replay.rescoring.rows import RescoreRow
from jury_replay.table_file import TableFile, replacing

GROUP = 20_000
"""Rows that are kept in memory until they are written, as one row group."""

_BEGINS = b"PAR1"

_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES: dict[str, Any] = {
    "setting": _WORD,
    "mode": _WORD,
    "debate_id": pa.string(),
    "run_id": pa.string(),
    "case_id": pa.string(),
    "label": _WORD,
    "status": _WORD,
    "reason": pa.string(),
    "undetermined_step": pa.string(),
    "flipped": pa.bool_(),
    "old_verdict": _WORD,
    "new_verdict": _WORD,
    "old_label": _WORD,
    "new_label": _WORD,
    "old_score": pa.int8(),
    "new_score": pa.int8(),
    "old_total_rounds": pa.int16(),
    "new_total_rounds": pa.int16(),
    "old_end_reason": _WORD,
    "new_end_reason": _WORD,
    "old_decided_by": _WORD,
    "new_decided_by": _WORD,
    "beyond_record": pa.bool_(),
    "assumes": _WORD,
    "cluster": _WORD,
    "tags": pa.list_(pa.string()),
    # As JSON text: names and types of values differ from case to case.
    "metadata": pa.string(),
    "not_shown": pa.int32(),
}
_REQUIRED = frozenset({"setting", "mode", "debate_id", "case_id", "status", "reason", "tags", "metadata", "not_shown"})
SCHEMA = pa.schema([pa.field(name, _TYPES[name], nullable=name not in _REQUIRED) for name in RescoreRow._fields])


class RowFile:
    """A context manager that writes rows to `path`, in place of an older file; after an error nothing is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()
        self._rows: list[RescoreRow] = []

    def __enter__(self) -> Self:
        check_output_path(self._path, _BEGINS)
        part = self._open.enter_context(replacing(self._path))
        self._file = self._open.enter_context(TableFile(part, None, SCHEMA, compression="snappy", buffer=0))
        return self

    def take(self, rows: Iterable[RescoreRow]) -> None:
        """The next rows."""
        self._rows += rows
        if len(self._rows) >= GROUP:
            self._write()

    def _write(self) -> None:
        arrays = [_array(column, field) for column, field in zip(zip(*self._rows, strict=True), SCHEMA, strict=True)]
        self._file.write(pa.Table.from_arrays(arrays, schema=SCHEMA))
        self._rows = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._open.__exit__(kind, error, at)
            return
        with self._open:
            if self._rows:
                self._write()


def _array(column: Iterable[Any], field: Any) -> Any:
    if field.name == "metadata":
        column = [json.dumps(one, ensure_ascii=False) for one in column]
    return pa.array(column, field.type)
