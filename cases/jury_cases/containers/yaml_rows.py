"""Rows of a YAML document: one object, or a list of them. The whole document is in memory."""

import io
from collections.abc import Iterator

from jury_cases.containers.row import FileRow, RowSource, rows_of_list
from jury_cases.errors import CaseFileError
from jury_cases.yaml_values import decode_yaml

MAX_DOCUMENT = 64 * 1024 * 1024
"""Bytes of a document."""


def read_rows(stream: io.BufferedReader, origin: RowSource) -> Iterator[FileRow]:
    raw = stream.read(MAX_DOCUMENT + 1)
    if len(raw) > MAX_DOCUMENT:
        raise CaseFileError(f"{origin.name}: a YAML document larger than {MAX_DOCUMENT >> 20} MiB; write JSON lines")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{origin.name}: the byte 0x{raw[error.start]:02x} is not UTF-8") from error
    value = decode_yaml(text, origin.name)
    for number, data in enumerate(rows_of_list(value if isinstance(value, list) else [value], origin.name), start=1):
        yield origin.numbered(number, data)
