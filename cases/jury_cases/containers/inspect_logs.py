"""Inspect logs (`.eval`): zip archives with a header and one JSON document per sample."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from jury_cases.containers.nested_rows import with_eval
from jury_cases.containers.row import FileRow, RowSource, kind_of
from jury_cases.containers.zip_members import ZipMembers
from jury_cases.errors import CaseFileError
from jury_events.text.strict_json import JsonRefused, decode_text
from jury_events.text.visible_text import visible_line

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"

_HEADERS = ("header.json", "_journal/start.json")
"""The log of an unfinished evaluation has only the second."""
_SAMPLES = "samples/"
_DIGITS = re.compile(r"([0-9]+)")


def read_rows(stream: BinaryIO, origin: RowSource) -> Iterator[FileRow]:
    """The samples of a log in the natural order of their names (2 before 10), each with the header's `eval` object.

    NaN, which Inspect writes for missing scores, is read as None.
    """
    members = ZipMembers(stream, origin.name)
    header = next((name for name in _HEADERS if name in members.infos), None)
    if header is None and not any(name.startswith("_journal/") for name in members.infos):
        if "xl/workbook.xml" in members.infos:
            raise CaseFileError(f"{origin.name}: this is a workbook of Excel; save the sheet as CSV (UTF-8)")
        raise CaseFileError(f"{origin.name}: this is a zip archive, and no log of Inspect; unpack it first")
    log = None if header is None else _decoded(members, header, origin)
    names = [name for name in members.infos if name.startswith(_SAMPLES) and name.endswith(".json")]
    if not names:
        raise CaseFileError(
            f"{origin.name}: the log contains no sample; the evaluation stopped before the first one ended"
        )
    for number, name in enumerate(sorted(names, key=_natural), start=1):
        sample = _decoded(members, name, origin)
        if not isinstance(sample, dict):
            raise CaseFileError(f"{origin.name}: {visible_line(name)}: must be a JSON object, not {kind_of(sample)}")
        yield origin.numbered(number, with_eval(sample, log), _place(sample, name))


def _decoded(members: ZipMembers, name: str, origin: RowSource) -> Any:
    content = members.read(name)
    place = f"{origin.name}: {visible_line(name)}"
    try:
        return decode_text(content.decode("utf-8"), nan_as_null=True)
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{place}: byte {error.start + 1} is not UTF-8; write the log anew") from error
    except JsonRefused as error:
        raise CaseFileError(f"{place}: {error}") from error


def _place(sample: dict[str, Any], name: str) -> str:
    sample_id, epoch = sample.get("id"), sample.get("epoch")
    if not isinstance(sample_id, str | int) or not isinstance(epoch, int):
        return f"sample {visible_line(name)}"
    return f"sample {visible_line(str(sample_id))} (epoch {epoch})"


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key that compares digits as numbers: by length without leading zeros, then by value."""
    pieces = _DIGITS.split(name)
    return [
        (len(piece.lstrip("0")), piece.lstrip("0")) if index % 2 else (0, piece) for index, piece in enumerate(pieces)
    ]
