"""A file of text, such as Markdown: one row, whose only column is the text."""

import io
from collections.abc import Iterator

from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError

MAX_TEXT = 16 * 1024 * 1024
"""Bytes of a text."""


def read_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    raw = stream.read(MAX_TEXT + 1)
    if len(raw) > MAX_TEXT:
        raise CaseFileError(f"{origin.name}: a text larger than {MAX_TEXT >> 20} MiB; write JSON lines")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{origin.name}: the byte 0x{raw[error.start]:02x} is not UTF-8") from error
    if not text.strip():
        raise CaseFileError(f"{origin.name}: the file is empty; it must contain at least one JSON object")
    yield origin.row(1, 1, {"text": text.replace("\r\n", "\n")}, len(text))
