"""Reads the rows of case files of any format, which their content determines; here also of texts, YAML and SQLite."""

import io
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from jury_cases.containers import json_rows
from jury_cases.containers.byte_streams import GZIP, ZSTD, decompressed, peekable
from jury_cases.containers.row import FileRow, RowSelection, RowSource, nested_rows, rows_of_list
from jury_cases.containers.sources import (
    CSV_ENDINGS,
    JSON_ENDINGS,
    TAB_ENDINGS,
    TEXT_ENDINGS,
    YAML_ENDINGS,
    Source,
    shown,
    sources_of,
)
from jury_cases.errors import CaseFileError
from jury_events.regular_files import open_regular
from jury_events.text import visible_line

STDIN = "-"

_PARQUET = b"PAR1"
_ARROW_FILE = b"ARROW1"
_ARROW_STREAM = b"\xff\xff\xff\xff"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SQLITE = b"SQLite format 3\0"
_SCOUT = ("scout://", "scout+")
_LANGFUSE = "langfuse://"
_SEEKABLE = {
    _PARQUET: "Parquet",
    _ARROW_FILE: "an Arrow file",
    _ARROW_STREAM: "an Arrow stream",
    _ZIP[0]: "a zip archive",
    _ZIP[1]: "a zip archive",
}
_UNKNOWN_COMPRESSION = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x04\x22\x4d\x18": "lz4"}
_NO_JSON = (
    "; a text is read from a file whose name ends in .txt or .md, a table from one that ends in .csv; lines that are "
    "no JSON are left out with --skip-unreadable"
)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_rows(
    paths: Iterable[str | Path], selection: RowSelection | None = None, *, stdin: BinaryIO | None = None
) -> Iterator[FileRow]:
    """The rows of the files in order, streamed.

    Args:
        paths: files, folders and globs; `-` is standard input (JSON, JSONL or CSV, compressed or not); `scout://FOLDER`
            and `scout+SOURCE:…`, see `inspect_files`; `langfuse://traces…`, see `langfuse_traces`.
        selection: of rows; None: all.
        stdin: the stream for `-`; None: the process's. It is not closed.
    """
    chosen = selection or RowSelection()
    for path in paths:
        count = 0
        left_out = 0

        def leave_out(error: CaseFileError) -> None:
            nonlocal left_out
            left_out += 1
            chosen.leave_out(error)

        for row in _rows_of(path, chosen._replace(leave_out=leave_out), stdin):
            count += 1
            yield row
        if not (count or left_out):
            chosen.leave_out(CaseFileError(f"{shown(path)}: contains no row; it must contain at least one"))


def _rows_of(path: str | Path, selection: RowSelection, stdin: BinaryIO | None) -> Iterator[FileRow]:
    if str(path) == STDIN:
        with _os_errors("stdin"):
            stream = peekable(sys.stdin.buffer if stdin is None else stdin)
            yield from _streamed(stream, RowSource("stdin", "stdin"), "", selection)
        return
    if str(path).startswith(_SCOUT):
        from jury_cases.containers import inspect_files

        yield from inspect_files.read_transcripts(str(path))
        return
    if str(path).startswith(_LANGFUSE):
        from jury_cases.containers import langfuse_traces

        yield from langfuse_traces.read_rows(str(path))
        return
    with _os_errors(shown(path)):
        sources = sources_of(path, selection.split)
    for source in sources:
        try:
            with _os_errors(source.origin.name):
                yield from _rows_of_file(source, selection)
        except CaseFileError as error:
            selection.leave_out(error)


@contextmanager
def _os_errors(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise CaseFileError(f"{name}: there is no such file") from error
    except PermissionError as error:
        raise CaseFileError(f"{name}: you may not read this file") from error
    except OSError as error:
        raise CaseFileError(f"{name}: cannot be read: {error.strerror or error}") from error


def _rows_of_file(source: Source, selection: RowSelection) -> Iterator[FileRow]:
    path, origin, ending = source
    # Checked before opening: a pipe is refused with what to do instead.
    if not stat.S_ISREG(path.stat().st_mode):
        raise CaseFileError(f"{origin.name}: a pipe or device, and no file; name - to read standard input")
    with open_regular(path) as stream:
        head = stream.peek(len(_SQLITE))
        if head.startswith((_PARQUET, _ARROW_FILE, _ARROW_STREAM)):
            from jury_cases.containers import arrow_rows

            if head.startswith(_PARQUET):
                rows = arrow_rows.parquet_rows(stream, origin)
            else:
                rows = arrow_rows.arrow_rows(stream, origin, is_stream=head.startswith(_ARROW_STREAM))
            yield from nested_rows(rows, selection, of_json=False)
        elif head.startswith(_SQLITE):
            yield from _database_rows(path, origin, selection.rows_path, selection.is_known)
        elif head.startswith(_ZIP):
            from jury_cases.containers import inspect_files

            yield from nested_rows(inspect_files.read_rows(stream, origin), selection, of_json=False)
        else:
            yield from _streamed(stream, origin, ending, selection)


def _streamed(stream: io.BufferedReader, origin: RowSource, ending: str, selection: RowSelection) -> Iterator[FileRow]:
    head = stream.peek()
    within = ""
    if head.startswith((GZIP, ZSTD)):
        within = " in compressed data"
        stream = decompressed(stream, origin.name)
        head = stream.peek()
    _check_text(head, origin.name, within)
    if ending in YAML_ENDINGS:
        yield from nested_rows(_yaml_rows(stream, origin), selection, of_json=True)
    elif ending not in JSON_ENDINGS and _is_csv(head, ending):
        from jury_cases.containers import csv_rows

        rows = csv_rows.read_rows(stream, origin, tabs=ending in TAB_ENDINGS, leave_out=selection.leave_out)
        yield from nested_rows(rows, selection, of_json=False)
    elif ending in TEXT_ENDINGS and not head.removeprefix(json_rows.BOM).lstrip().startswith((b"{", b"[{")):
        yield from _text_rows(stream, origin)
    else:
        # NaN is allowed in documents of known shapes: Python's JSON writers produce it.
        rows = json_rows.read_rows(
            stream, origin, lambda value: _is_known(value, selection), leave_out=selection.leave_out, remedy=_NO_JSON
        )
        yield from nested_rows(rows, selection, of_json=True)


def _is_known(value: Any, selection: RowSelection) -> bool:
    return isinstance(value, dict) and selection.natural_rows(value) is not None


def _check_text(head: bytes, name: str, within: str) -> None:
    for magic, kind in _SEEKABLE.items():
        if head.startswith(magic):
            remedy = "decompress it first" if within else "save it to a file and name that"
            raise CaseFileError(f"{name}: this is {kind}{within}, which cannot be read from a stream; {remedy}")
    for magic, kind in _UNKNOWN_COMPRESSION.items():
        if head.startswith(magic):
            raise CaseFileError(f"{name}: this is {kind} data; decompress it first, or use gzip or Zstandard")
    if within and head.startswith((GZIP, ZSTD)):
        raise CaseFileError(f"{name}: is compressed twice; decompress it once")


def _is_csv(head: bytes, ending: str) -> bool:
    if head.startswith(_UTF_16):
        return False
    start = head.removeprefix(json_rows.BOM).lstrip(b"\x1e \t\r\n")
    if ending in CSV_ENDINGS:
        return not start.startswith((b'{"', b"[{"))
    if start.startswith((b"{", b"[")):
        return False
    from jury_cases.containers import csv_rows

    return csv_rows.looks_like_csv(start) and (ending not in TEXT_ENDINGS or csv_rows.has_rows(start))


_MOST_BYTES = {"text": 16 << 20, "YAML document": 64 << 20}
"""Bytes of a file."""


def _text_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    text = _whole(stream, origin, "text")
    if not text.strip():
        raise CaseFileError(f"{origin.name}: the file is empty; it must contain at least one JSON object")
    yield origin.row(1, 1, {"text": text.replace("\r\n", "\n")}, len(text))


def _yaml_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    from jury_cases.yaml_values import decode_documents

    documents = list(decode_documents(_whole(stream, origin, "YAML document"), origin.name))
    value = documents[0] if len(documents) == 1 else documents or None
    for number, data in enumerate(rows_of_list(value if isinstance(value, list) else [value], origin.name), start=1):
        yield origin.numbered(number, data)


def _whole(stream: io.BufferedReader, origin: RowSource, kind: str) -> str:
    most = _MOST_BYTES[kind]
    raw = stream.read(most + 1)
    if len(raw) > most:
        raise CaseFileError(f"{origin.name}: a {kind} larger than {most >> 20} MiB; write JSON lines")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{origin.name}: the byte 0x{raw[error.start]:02x} is not UTF-8") from error


_SHOWN_TABLES = 12


def _database_rows(
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
            yield from _table_rows(database, origin, table, is_known)
        finally:
            database.close()
    except sqlite3.Error as error:
        raise CaseFileError(
            f"{origin.name}: the SQLite file cannot be read: {visible_line(str(error), 160)}"
        ) from error


def _table_rows(
    database: sqlite3.Connection, origin: RowSource, asked: str | None, is_known: Callable[[dict[str, Any]], bool]
) -> Iterator[FileRow]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    names = [row["name"] for row in database.execute(query)]
    shown = ", ".join(visible_line(name, 60) for name in names[:_SHOWN_TABLES]) or "none"
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
