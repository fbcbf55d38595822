"""Files that are read whole: a text such as Markdown, a row with the one column `text`; a document of YAML."""

import io
from collections.abc import Iterator

from jury_cases.containers.row import FileRow, RowSource, rows_of_list
from jury_cases.errors import CaseFileError
from jury_cases.yaml_values import decode_yaml

_MOST = {"text": 16 << 20, "YAML document": 64 << 20}
"""Bytes of a file."""


def text_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    text = _whole(stream, origin, "text")
    if not text.strip():
        raise CaseFileError(f"{origin.name}: the file is empty; it must contain at least one JSON object")
    yield origin.row(1, 1, {"text": text.replace("\r\n", "\n")}, len(text))


def yaml_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    value = decode_yaml(_whole(stream, origin, "YAML document"), origin.name)
    for number, data in enumerate(rows_of_list(value if isinstance(value, list) else [value], origin.name), start=1):
        yield origin.numbered(number, data)


def _whole(stream: io.BufferedReader, origin: RowSource, kind: str) -> str:
    most = _MOST[kind]
    raw = stream.read(most + 1)
    if len(raw) > most:
        raise CaseFileError(f"{origin.name}: a {kind} larger than {most >> 20} MiB; write JSON lines")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{origin.name}: the byte 0x{raw[error.start]:02x} is not UTF-8") from error
