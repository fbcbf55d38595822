"""Rows of Parquet files and Arrow streams and files, decoded a few megabytes at a time."""

import mmap
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from jury_cases.containers.arrow_values import converter, plain_type
from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line

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
