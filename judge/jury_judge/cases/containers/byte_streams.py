"""Streams of bytes whose beginning can be looked at, over files, standard input and callers' streams."""

import io
from typing import BinaryIO, Protocol

_BUFFER = 1 << 18
_SEEN = 64
"""Bytes that the first look shows at least, if the stream has them: a pipe may give one at a time."""


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes | None: ...


class _Unowned(io.RawIOBase):
    """Reads a stream that belongs to somebody else, and so is not closed with this one."""

    def __init__(self, source: Readable) -> None:
        # A pipe's `read1` gives what has arrived, where `read` waits until all that was asked for has.
        self._read = getattr(source, "read1", source.read)
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        content = self._read(len(target)) or b""
        while not self._begun and len(content) < _SEEN and (more := self._read(_SEEN - len(content))):
            content += more
        self._begun = True
        target[: len(content)] = content
        return len(content)


def peekable(source: Readable) -> io.BufferedReader:
    """`source` from where it stands, with a `peek` that shows at least its first bytes; it is not closed."""
    return io.BufferedReader(_Unowned(source), _BUFFER)


def skip_blank(stream: io.BufferedReader) -> int:
    """Pass over blank lines; gives how many line breaks that were.

    White space before the first text of a line stays, so that columns count from the line's start.
    """
    breaks = 0
    while head := stream.peek():
        blank = head[: len(head) - len(head.lstrip())]
        passed = len(blank) if len(blank) == len(head) else blank.rfind(b"\n") + 1
        breaks += blank.count(b"\n", 0, passed)
        if passed:
            stream.read(passed)
        if len(blank) < len(head):
            break
    return breaks


def skip_mark(stream: BinaryIO, mark: bytes, head: bytes) -> bytes:
    """`head` (what a look at `stream` shows) without the byte order mark, which is passed over."""
    if not head.startswith(mark):
        return head
    stream.read(len(mark))
    return head[len(mark) :]
