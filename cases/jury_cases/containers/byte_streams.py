"""Byte streams with `peek`, over files, standard input and callers' streams."""

import io
import threading
from typing import BinaryIO, Protocol

_BUFFER = 1 << 18
_SEEN = 64
"""Minimum bytes of the first `peek`, if the stream has them: a pipe may return one at a time."""


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes | None: ...


class _Unowned(io.RawIOBase):
    """Reads a caller's stream without ever closing it."""

    def __init__(self, source: Readable) -> None:
        # A pipe's `read1` returns what has arrived; `read` waits for all requested bytes.
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


class SharedStream(io.RawIOBase):
    """Reads a seekable stream from its start, at an own position: several readers may read it at once.

    Args:
        source: the stream; it is not closed.
    """

    def __init__(self, source: BinaryIO, lock: threading.Lock) -> None:
        self._source = source
        self._lock = lock
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        with self._lock:
            self._source.seek(self._position)
            content = self._source.read(len(target))
        self._position += len(content)
        target[: len(content)] = content
        return len(content)


def peekable(source: Readable) -> io.BufferedReader:
    """`source` from its current position, with a `peek` of at least its first bytes; it is never closed."""
    return io.BufferedReader(_Unowned(source), _BUFFER)


def skip_blank(stream: io.BufferedReader) -> int:
    """Skip blank lines; returns the number of skipped line breaks.

    White space at the start of the first other line is kept, so that columns count from the line's start.
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
    """Skip the byte order mark of `stream`; returns `head`, the result of `peek`, without it."""
    if not head.startswith(mark):
        return head
    stream.read(len(mark))
    return head[len(mark) :]
