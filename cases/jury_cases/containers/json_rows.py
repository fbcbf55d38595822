"""JSON rows: JSONL, one object, a list of objects, or concatenated objects.

The content decides, not the file's name: if the first line is a complete object it is JSONL, else a JSON document. Both
are streamed; of a list, only one element is in memory at a time. A list of chat messages, on a line or as a document,
is one row.
"""

import io
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO

from jury_cases.containers.byte_streams import Readable, peekable, skip_blank, skip_mark
from jury_cases.containers.json_repairs import with_changes, without_halves
from jury_cases.containers.json_text import Bound, JsonTextReader
from jury_cases.containers.row import FileRow, RowSource, refuse, row_data
from jury_cases.errors import CaseFileError
from jury_cases.transcripts.reading import is_message
from jury_events.outcome import RefusalReason
from jury_events.text.strict_json import JsonRefused, decode_text, ends_inside_string, is_cut_short

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line, or characters of one element of a list."""
MAX_DOCUMENT = 256 * 1024 * 1024
"""Characters of a JSON document with one object or one list of chat messages."""

BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x1f\x8b": "gzip data; decompress it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1": "a Parquet file; convert it to JSONL first",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    **dict.fromkeys((b"%PDF", b"<"), "a PDF, HTML or XML; save what it says as FILE.txt, and name that"),
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture, which is no case; a row names its pictures"),
}
_JSON = ("{", "[", '"')


_JSON = ("{", "[", '"')


def _never(_value: Any) -> bool:
    return False


def read_rows(
    source: Readable,
    origin: RowSource,
    nan_allowed: Callable[[Any], bool] = _never,
    *,
    leave_out: Callable[[CaseFileError], None] = refuse,
    remedy: str = "",
) -> Iterator[FileRow]:
    """The rows of a stream in order.

    NaN is refused, except in an object that `nan_allowed` accepts: there it is read as None.

    Args:
        nan_allowed: whether an object may contain NaN.
        leave_out: called with the error of a line, or of an element of a list, that is no row; raises it by default.
        remedy: appended to the error of a line that does not begin as JSON does.
    """
    stream = source if isinstance(source, io.BufferedReader) else peekable(source)
    name = origin.name
    head = stream.peek()
    for magic, meaning in _MAGIC.items():
        if head.startswith(magic):
            raise CaseFileError(f"{name}: this is {meaning}")
    skip_mark(stream, BOM, head)
    line = 1 + skip_blank(stream)
    start = stream.peek().lstrip()[:1]
    if not start:
        raise CaseFileError(f"{name}: the file is empty; it must contain at least one JSON object")
    if start == b"[":
        yield from _document(JsonTextReader(stream, origin, line), origin, nan_allowed, leave_out)
        return
    numbered = _lines(stream, name, line, leave_out)
    first = next(numbered, None)
    if first is None:
        return
    number, text = first
    if is_cut_short(text) and not ends_inside_string(text) and stream.peek(1):
        yield from _document(JsonTextReader(stream, origin, number, text), origin, nan_allowed, leave_out)
        return
    for number, text in chain((first,), numbered):
        try:
            row = _row(origin, number, text, nan_allowed)
        except CaseFileError as error:
            leave_out(error if text.lstrip().startswith(_JSON) else CaseFileError(f"{error}{remedy}"))
        else:
            yield row


def _lines(
    stream: BinaryIO, name: str, first: int, leave_out: Callable[[CaseFileError], None]
) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    number = first - 1
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        try:
            text = _line(raw, f"{name}:{number}")
        except CaseFileError as error:
            leave_out(error)
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE)
        else:
            if text:
                yield number, text


def _line(raw: bytes, place: str) -> str:
    if len(raw) > MAX_LINE:
        raise CaseFileError(f"{place}: the line is longer than {MAX_LINE >> 20} MiB; split the row")
    return _utf8(raw, place) if raw.strip() else ""


def _utf8(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaseFileError(
            f"{place}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; save the file as UTF-8"
        ) from error


def _row(origin: RowSource, line: int, text: str, nan_allowed: Callable[[Any], bool]) -> FileRow:
    place = f"{origin.name}:{line}"
    halved = False
    try:
        try:
            value = decode_text(text)
        except JsonRefused as error:
            if error.reason is RefusalReason.LONE_SURROGATE:
                halved = True
                value = decode_text(without_halves(text))
            elif error.reason is not RefusalReason.NOT_A_NUMBER or not nan_allowed(
                value := decode_text(text, nan_as_null=True)
            ):
                raise
    except JsonRefused as error:
        if is_cut_short(text):
            cause = "the file was cut off" if not text.endswith("\n") else "a row must be on one line"
            raise CaseFileError(f"{place}: the line ends inside a JSON value; {cause} ({error})") from error
        raise CaseFileError(f"{place}: {error}") from error
    value, changes = with_changes(value, text, halved=halved)
    return origin.row(line, line, row_data(value, place), len(text))._replace(changes=changes)


def _document(
    text: JsonTextReader,
    origin: RowSource,
    nan_allowed: Callable[[Any], bool],
    leave_out: Callable[[CaseFileError], None],
) -> Iterator[FileRow]:
    whole = Bound(
        MAX_DOCUMENT,
        f"a JSON document larger than {MAX_DOCUMENT >> 20} MiB; write one object a line (JSONL), or a list of objects, "
        "which are read without a limit",
    )
    number = 0
    while mark := text.mark():
        begin = text.offset
        for value, line in _elements(text) if mark == "[" else (text.value(whole, nan_allowed),):
            number += 1
            changes = text.taken_changes()
            try:
                data = row_data(value, f"{origin.name}:{line}")
            except CaseFileError as error:
                leave_out(error)
            else:
                yield origin.row(line, number, data, text.offset - begin)._replace(changes=changes)
            begin = text.offset
    if not number:
        raise CaseFileError(f"{origin.name}: the list is empty; it must contain at least one JSON object")


def _elements(text: JsonTextReader) -> Iterator[tuple[Any, int]]:
    """The elements of the list at the current position; the list itself if its first element is a chat message."""
    element = Bound(MAX_LINE, f"an element of the list is longer than {MAX_LINE >> 20} MiB; split the row")
    begin = text.offset
    messages: list[Any] | None = None
    first_line = 0
    text.step()
    while text.mark() != "]":
        value, line = text.value(element)
        if not first_line:
            first_line = line
            messages = [] if is_message(value) else None
        if messages is None:
            yield value, line
        else:
            messages.append(value)
            if text.offset - begin > MAX_DOCUMENT:
                raise CaseFileError(f"{text.place()}: a list of messages longer than {MAX_DOCUMENT >> 20} MiB")
        mark = text.mark()
        if mark == ",":
            text.step()
        elif mark != "]":
            raise CaseFileError(f"{text.place()}: {_missing_mark(mark)}")
    text.step()
    if messages is not None:
        yield messages, first_line


def _missing_mark(mark: str) -> str:
    return "a comma or ] must follow here" if mark else "the list does not end; the file was cut off"
