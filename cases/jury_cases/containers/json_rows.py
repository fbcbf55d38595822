"""JSON rows: JSONL, one object, a list of objects, or concatenated objects.

The content decides, not the file's name: if the first line is a complete object it is JSONL, else a JSON document. Both
are streamed; of a list, only one element is in memory at a time. A list of chat messages, on a line or as a document,
is one row.
"""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from jury_cases.containers.byte_streams import Readable, peekable, skip_blank
from jury_cases.containers.row import LINE_ENDS, FileRow, RowSource, refuse, row_data, with_line_ends
from jury_cases.errors import CaseFileError
from jury_cases.transcripts.reading import is_message
from jury_events.outcome import RefusalReason
from jury_events.strict_json import (
    JsonCut,
    JsonRefused,
    decode_text,
    decode_value,
    ends_inside_string,
    is_cut_short,
    skip_space,
)

HALVES = "half a character as U+FFFD"

_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
"""An escape; its group is one of half a character. A pair of two halves comes first."""

_MARK = "\\r\\n"


def without_halves(text: str) -> str:
    """JSON text with U+FFFD for each escape of half a character, as long as before."""
    return _HALF.sub(lambda found: "\\ufffd" if found[1] else found[0], text)


def with_changes(value: Any, text: str, *, halved: bool) -> tuple[Any, tuple[str, ...]]:
    """A value decoded from `text` with line ends as LF, and what was read as something else."""
    ends = _MARK in text
    changes = ((HALVES,) if halved else ()) + ((LINE_ENDS,) if ends else ())
    return with_line_ends(value) if ends else value, changes


_CHUNK = 1 << 20
_ESCAPE = 6
"""Characters of an escape with four digits."""


class Bound(NamedTuple):
    """Maximum length of a value, and the error message for a longer one."""

    characters: int
    message: str


class JsonTextReader:
    """Decodes the values of a stream on demand.

    At most one value and 1 MiB are in memory. Decoding of a value that does not end in the buffer is retried with
    twice as much text, so that the total work is linear.
    """

    def __init__(self, stream: BinaryIO, origin: RowSource, line: int, head: str = "") -> None:
        """`head` is text already read from `stream`; it begins on `line`."""
        self._stream = stream
        self._origin = origin
        self._text = head
        self._position = 0
        self._line = line
        self._counted = 0
        self._before = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._fault: int | None = None
        self._passed = 0
        self._changes: dict[str, None] = {}

    @property
    def offset(self) -> int:
        """The number of characters consumed."""
        return self._passed + self._position

    def place(self) -> str:
        """`file:line` of the next character."""
        return f"{self._origin.name}:{self._line_at(self._position)}"

    def mark(self) -> str:
        """The next character that is not white space, not consumed; "" at the end."""
        while True:
            self._position = skip_space(self._text, self._position)
            if self._position < len(self._text):
                return self._text[self._position]
            if not self._fill():
                return ""

    def step(self) -> None:
        """Consume the character that `mark` returned."""
        self._position += 1

    def value(self, bound: Bound, nan_allowed: Callable[[Any], bool] = lambda _value: False) -> tuple[Any, int]:
        """The value that begins at the character that `mark` returned, and its first line.

        If it contains NaN, `nan_allowed` decides, called with the value with None in its place.
        """
        line = self._line_at(self._position)
        of_nan: CaseFileError | None = None
        halved = False
        partial = True
        while True:
            try:
                value, end = decode_value(
                    self._text, self._position, before=self._before, nan_as_null=of_nan is not None, partial=partial
                )
            except JsonCut:
                self._check(len(self._text), bound, line)
                partial = self._fill()
                continue
            except JsonRefused as error:
                if error.reason is RefusalReason.LONE_SURROGATE:
                    halved = True
                    end = max(error.position + _ESCAPE, len(self._text) - 2 * _ESCAPE)  # a pair may go on behind it
                    self._text = without_halves(self._text[:end]) + self._text[end:]
                    continue
                if error.reason is RefusalReason.NOT_A_NUMBER:
                    of_nan = self._refused(error)
                    continue
                raise self._refused(error) from error
            number_may_go_on = end == len(self._text) and not isinstance(value, dict | list | str)
            if number_may_go_on and self._fill():
                continue
            self._check(end, bound, line)
            if of_nan is not None and not nan_allowed(value):
                raise of_nan
            value, changes = with_changes(value, self._text[self._position : end], halved=halved)
            self._changes |= dict.fromkeys(changes)
            self._position = end
            return value, line

    def taken_changes(self) -> tuple[str, ...]:
        """What of the values since the last call was read as something else."""
        changes = tuple(self._changes)
        self._changes = {}
        return changes

    def _check(self, end: int, bound: Bound, line: int) -> None:
        if end - self._position > bound.characters:
            raise CaseFileError(f"{self._origin.name}:{line}: {bound.message}")

    def _refused(self, error: JsonRefused) -> CaseFileError:
        cut = "; the file was cut off" if error.reason is RefusalReason.INCOMPLETE else ""
        return CaseFileError(f"{self._origin.name}:{self._line_at(error.position)}: {error}{cut}")

    def _line_at(self, position: int) -> int:
        """The line of a position; positions must not precede the current position of earlier calls."""
        line = self._line + self._text.count("\n", self._counted, position)
        if position <= self._position:
            self._line, self._counted = line, position
        return line

    def _fill(self) -> bool:
        """Read more text and drop consumed text; False at the end."""
        more = self._decoded(max(_CHUNK, len(self._text) - self._position))
        if not more:
            return False
        self._line_at(self._position)
        begin = self._text.rfind("\n", 0, self._position) + 1
        self._before = self._position - begin + (0 if begin else self._before)
        self._passed += self._position
        self._text = self._text[self._position :] + more
        self._position = self._counted = 0
        return True

    def _decoded(self, size: int) -> str:
        while self._fault is None:
            raw = self._stream.read(size)
            try:
                text = self._decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                # The text before the fault is used: its values, and its errors, come first.
                self._fault = error.object[error.start]
                text = error.object[: error.start].decode("utf-8")
            if text or not raw:
                return text
        line = self._line + self._text.count("\n", self._counted)
        raise CaseFileError(
            f"{self._origin.name}:{line}: the byte 0x{self._fault:02x} is not UTF-8; save the file as UTF-8"
        )


MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line, or characters of one element of a list."""
MAX_DOCUMENT = 256 * 1024 * 1024
"""Characters of a JSON document with one object or one list of chat messages."""

BOM = b"\xef\xbb\xbf"
_RECORD = b"\x1e"
_MAGIC = {
    b"\x1f\x8b": "gzip data; decompress it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1": "a Parquet file; convert it to JSONL first",
    **dict.fromkeys((b"\xff\xfe\0\0", b"\0\0\xfe\xff"), "UTF-32 text; save it as UTF-8"),
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16 text; save it as UTF-8"),
    # JSON begins with ASCII, of which every other byte is empty there.
    **dict.fromkeys((b"{\0", b"[\0", b"\0{", b"\0[", b"\0\0\0"), "UTF-16 or UTF-32 text; save it as UTF-8"),
    b"\xd0\xcf\x11\xe0": "a workbook of Excel, or another old file of Office; save the sheet as CSV (UTF-8)",
    **dict.fromkeys((b"%PDF", b"<"), "a PDF, HTML or XML; save what it says as FILE.txt, and name that"),
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture, which is no case; a row names its pictures"),
}
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
    line = 1 + skip_blank(stream, BOM)
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
    number = first - 1
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        place = f"{name}:{number}"
        try:
            if len(raw) <= MAX_LINE:
                if raw.strip():
                    # As files have it that were joined, and as RFC 7464 has it before each value.
                    yield number, raw.removeprefix(BOM).removeprefix(_RECORD).decode("utf-8")
                continue
            fault = f"{place}: the line is longer than {MAX_LINE >> 20} MiB; split the row"
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            fault = f"{place}: byte {error.start + 1} (0x{byte:02x}) is not UTF-8; save the file as UTF-8"
        leave_out(CaseFileError(fault))
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(MAX_LINE)


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
    changes: tuple[str, ...] = ()
    if halved or _MARK in text:
        value, changes = with_changes(value, text, halved=halved)
    data = value if isinstance(value, dict) else row_data(value, place)
    return FileRow(place, line, line, data, origin.file, origin.name, origin.folder, len(text), changes)


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
