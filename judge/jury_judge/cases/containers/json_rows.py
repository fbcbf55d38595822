"""JSON objects in a file, one at a time: JSONL, one object, a list of objects, or objects one after the other.

The content decides, not the file's name: a first line that is a whole object makes it JSONL (streamed, however long);
anything else is one JSON document, which is read whole.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from jury_judge.cases.containers.strict_json import (
    JsonRefused,
    decode_text,
    decode_value,
    ends_inside_string,
    is_cut_short,
    skip_space,
)
from jury_judge.errors import CaseFileError

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line."""
MAX_DOCUMENT = 256 * 1024 * 1024
"""Bytes of a file that is one JSON document."""

_BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x1f\x8b": "gzip data; decompress it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1": "a Parquet file; convert it to JSONL first",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


class JsonRow(NamedTuple):
    """An object of a file. `place` is `file:line`; `number` the line in JSONL, else the object's number, from 1."""

    place: str
    line: int
    number: int
    data: dict[str, Any]


def read_rows(stream: BinaryIO, name: str) -> Iterator[JsonRow]:
    """The objects of `stream` in order; `name` is what messages call it.

    Raises:
        CaseFileError: a line or the document is not what it must be; OSError passes through.
    """
    numbered = _lines(stream, name)
    first = next(numbered, None)
    if first is None:
        raise CaseFileError(f"{name}: the file is empty; it must hold at least one JSON object")
    number, text = first
    if text.lstrip().startswith("[") or (is_cut_short(text) and not ends_inside_string(text) and _has_more(stream)):
        yield from _document(_whole(stream, name, number, text), name)
        return
    yield _row(name, number, text)
    for number, text in numbered:
        yield _row(name, number, text)


def _lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            for magic, meaning in _MAGIC.items():
                if raw.startswith(magic):
                    raise CaseFileError(f"{name}: this is {meaning}")
            raw = raw.removeprefix(_BOM)
        if len(raw) > MAX_LINE:
            raise CaseFileError(f"{name}:{number}: the line is longer than {MAX_LINE >> 20} MiB; split the case")
        if raw.strip():
            yield number, _utf8(raw, f"{name}:{number}")


def _utf8(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaseFileError(
            f"{place}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; save the file as UTF-8"
        ) from error


def _has_more(stream: BinaryIO) -> bool:
    """Whether a further byte can be read; a stream that cannot tell is taken to have one."""
    peek = getattr(stream, "peek", None)
    return bool(peek(1)) if peek is not None else True


def _row(name: str, line: int, text: str) -> JsonRow:
    place = f"{name}:{line}"
    try:
        value = decode_text(text)
    except JsonRefused as error:
        if is_cut_short(text):
            cause = "the file was cut off" if not text.endswith("\n") else "a case must be on one line"
            raise CaseFileError(f"{place}: the line ends inside a JSON value; {cause} ({error})") from error
        raise CaseFileError(f"{place}: {error}") from error
    return JsonRow(place, line, line, _object(value, place))


def _whole(stream: BinaryIO, name: str, number: int, text: str) -> str:
    """The document, its first non-blank line `text` at its place so that lines count from the file's start."""
    rest = stream.read(MAX_DOCUMENT + 1)
    if len(rest) > MAX_DOCUMENT:
        raise CaseFileError(
            f"{name}: a JSON document larger than {MAX_DOCUMENT >> 20} MiB; write one object a line (JSONL), "
            "which is read without a limit"
        )
    try:
        return "\n" * (number - 1) + text + rest.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + 1 + rest.count(b"\n", 0, error.start)
        raise CaseFileError(
            f"{name}:{line}: the byte 0x{rest[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from error


def _document(text: str, name: str) -> Iterator[JsonRow]:
    number = 0
    line, counted = 1, 0
    for value, start in _values(text, name):
        number += 1
        line += text.count("\n", counted, start)
        counted = start
        place = f"{name}:{line}"
        yield JsonRow(place, line, number, _object(value, place))
    if not number:
        raise CaseFileError(f"{name}: the list is empty; it must hold at least one JSON object")


def _values(text: str, name: str) -> Iterator[tuple[Any, int]]:
    """Each object with the index where it begins; the elements of a list at the top stand for themselves."""
    position = skip_space(text, 0)
    while position < len(text):
        if text[position] != "[":
            start = position
            value, position = _value(text, start, name)
            yield value, start
        else:
            position = skip_space(text, position + 1)
            while text[position : position + 1] != "]":
                start = position
                value, position = _value(text, start, name)
                yield value, start
                position = skip_space(text, position)
                mark = text[position : position + 1]
                if mark == ",":
                    position = skip_space(text, position + 1)
                elif mark != "]":
                    raise CaseFileError(f"{_place(text, position, name)}: {_missing_mark(mark)}")
            position += 1
        position = skip_space(text, position)


def _missing_mark(mark: str) -> str:
    return "a comma or ] must follow here" if mark else "the list does not end; the file was cut off"


def _value(text: str, start: int, name: str) -> tuple[Any, int]:
    try:
        return decode_value(text, start)
    except JsonRefused as error:
        position = start if error.position is None else error.position
        cut = "; the file was cut off" if skip_space(text, position) == len(text) else ""
        raise CaseFileError(f"{_place(text, position, name)}: {error}{cut}") from error


def _place(text: str, position: int, name: str) -> str:
    return f"{name}:{text.count(chr(10), 0, position) + 1}"


def _object(value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    kind = {list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    raise CaseFileError(f"{place}: a case must be a JSON object, not {kind}")
