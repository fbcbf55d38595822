"""Rows of Parquet files and Arrow streams and files, decoded a few megabytes at a time."""

import math
import mmap
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.text import visible_line


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column is cast to before conversion.

    Times are truncated to microseconds, Python's resolution, and converted to UTC, which needs no time zone database.
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(index)) for index in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """The function that converts values of this type; None if they need no conversion."""
    if _is_plain(kind):
        return None
    if pa.types.is_floating(kind):
        return _finite
    return _plain


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_struct(kind):
        return all(_is_plain(kind.field(index).type) for index in range(kind.num_fields))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    if types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _finite(value: float | None) -> float | str | None:
    """None for NaN (a missing value in tables of floats); infinities, which JSON does not have, as text."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | bytes):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return _plain_list(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return _plain_decimal(value) if isinstance(value, Decimal) else str(value)


def _plain_list(values: list[Any]) -> Any:
    """A list; a map (a list of pairs) becomes an object if its keys are distinct texts."""
    if not values or not isinstance(values[0], tuple):
        return [_plain(value) for value in values]
    keys = [key for key, _ in values]
    if all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys):
        return {key: _plain(value) for key, value in values}
    return [[_plain(key), _plain(value)] for key, value in values]


def _plain_decimal(value: Decimal) -> int | float | str:
    """An integer, a float with the same decimal representation, or else the digits as text."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


MAX_COLUMNS = 10_000
_BATCH_BYTES = 4 << 20
"""Target size of a Parquet batch (estimated from the file's footer), and of the rows converted to Python at once."""
_BATCH_ROWS = 256
_REPEATED_BYTES = 64 << 20
"""Maximum size of a batch in which every row has the longest value of every column's dictionary."""
_READ_BYTES = 1 << 18
_MAPPED_BYTES = 32 << 20
_UNREADABLE = (pa.ArrowException, ValueError, OverflowError, MemoryError, OSError)


def parquet_rows(stream: BinaryIO, origin: RowSource) -> Iterator[FileRow]:
    """The rows of a Parquet file, which is open, in order."""
    # Arrow opens by name: this one is of the file that is open, whatever has its name by now.
    with pa.OSFile(f"/dev/fd/{stream.fileno()}") as source:
        try:
            file = pq.ParquetFile(source, pre_buffer=False, buffer_size=_READ_BYTES)
            groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
            schema = file.schema_arrow
        except _UNREADABLE as error:
            raise _damaged(origin, "Parquet file", error) from error
        _check_columns(schema, origin)
        begin = 0
        for index, group in enumerate(groups):
            size = _batch_size(group)
            batches = file.iter_batches(batch_size=size, row_groups=[index], use_threads=False)
            yield from _rows(batches, origin, "Parquet file", begin)
            begin += group.num_rows


def arrow_rows(stream: BinaryIO, origin: RowSource, *, is_stream: bool) -> Iterator[FileRow]:
    """The rows of a memory-mapped Arrow IPC stream or file in order."""
    kind = "Arrow stream" if is_stream else "Arrow file"
    mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    source = pa.BufferReader(pa.py_buffer(mapped))
    try:
        reader = pa.ipc.open_stream(source) if is_stream else pa.ipc.open_file(source)
        schema = reader.schema
    except _UNREADABLE as error:
        raise _damaged(origin, kind, error) from error
    _check_columns(schema, origin)
    batches = iter(reader) if is_stream else map(reader.get_batch, range(reader.num_record_batches))
    yield from _rows(_checked(batches, mapped), origin, kind, 0)


def _batch_size(group: Any) -> int:
    """Rows of a row group to read at once: few if they are long, or if each may repeat a long value.

    A value stored once in a column's dictionary is copied for every row that has it: a file of kilobytes can expand
    to gigabytes.
    """
    row_bytes = max(1, group.total_byte_size // max(1, group.num_rows))
    repeated = max(1, sum(_dictionary_bytes(group.column(index)) for index in range(group.num_columns)))
    rows: int = min(_BATCH_ROWS, _BATCH_BYTES // row_bytes, _REPEATED_BYTES // repeated)
    return max(1, rows)


def _dictionary_bytes(column: Any) -> int:
    begin = column.dictionary_page_offset
    if begin is None or column.total_compressed_size <= 0:
        return 0
    ratio = column.total_uncompressed_size / column.total_compressed_size
    return int(min(column.total_uncompressed_size, max(0, column.data_page_offset - begin) * ratio))


def _checked(batches: Iterator[Any], mapped: mmap.mmap) -> Iterator[Any]:
    """Validate batches before use: Arrow does not check offsets of mapped data, and invalid ones would crash."""
    passed = 0
    for batch in batches:
        batch.validate(full=True)
        passed += batch.nbytes
        if passed > _MAPPED_BYTES:
            # Read pages count as the process's memory until released; they can be read again.
            mapped.madvise(mmap.MADV_DONTNEED)
            passed = 0
        yield batch


def _rows(batches: Iterator[Any], origin: RowSource, kind: str, number: int) -> Iterator[FileRow]:
    """The rows of record batches, numbered from `number` + 1."""
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            step = max(1, min(_BATCH_ROWS, _BATCH_BYTES * batch.num_rows // max(1, batch.nbytes)))
        except _UNREADABLE as error:
            raise _damaged(origin, kind, error, number) from error
        for begin in range(0, batch.num_rows, step):
            try:
                decoded = _decoded(batch.slice(begin, step))
            except _UNREADABLE as error:
                raise _damaged(origin, kind, error, number) from error
            for data in decoded:
                number += 1
                yield origin.numbered(number, data)


def _decoded(batch: Any) -> list[dict[str, Any]]:
    names = batch.schema.names
    columns = []
    for column in batch.columns:
        kind = plain_type(column.type)
        values = (column if kind == column.type else column.cast(kind, safe=False)).to_pylist()
        convert = converter(kind)
        columns.append(values if convert is None else [convert(value) for value in values])
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _check_columns(schema: Any, origin: RowSource) -> None:
    names = schema.names
    if len(names) > MAX_COLUMNS:
        raise CaseFileError(f"{origin.name}: {len(names):,} columns; at most {MAX_COLUMNS:,} are read; leave some out")
    if not names:
        raise CaseFileError(f"{origin.name}: has no column")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CaseFileError(f"{origin.name}: two columns are named {visible_line(twice, 80)!r}; rename one of them")


def _damaged(origin: RowSource, kind: str, error: BaseException, number: int | None = None) -> CaseFileError:
    after = "" if number is None else f" after row {number}"
    cause = visible_line(str(error) or type(error).__name__, 160)
    return CaseFileError(f"{origin.name}: the {kind} is cut off or damaged{after}: {cause}; fetch or write it again")
