"""Incremental decoding of JSON values from a stream, with a sliding buffer."""

import codecs
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

from jury_cases.containers.json_repairs import with_changes, without_halves
from jury_cases.containers.row import RowSource
from jury_cases.errors import CaseFileError
from jury_events.outcome import RefusalReason
from jury_events.strict_json import JsonCut, skip_space
from jury_events.text.strict_json import JsonRefused, decode_value

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
