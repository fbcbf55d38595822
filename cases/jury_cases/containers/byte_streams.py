"""Byte streams with `peek`, over files, standard input and callers' streams, also unpacked from gzip and Zstandard."""

import gzip
import io
import threading
import zlib
from typing import Any, BinaryIO, Protocol

from jury_cases.errors import CaseFileError

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


def skip_blank(stream: io.BufferedReader, mark: bytes) -> int:
    """Skip the byte order mark and blank lines; returns the number of skipped line breaks.

    White space at the start of the first other line is kept, so that columns count from the line's start.
    """
    if stream.peek().startswith(mark):
        stream.read(len(mark))
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


GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

MAX_RATIO = 1000
FREE_BYTES = 1 << 30
"""Output allowed at any compression ratio."""


def decompressed(source: BinaryIO, name: str) -> io.BufferedReader:
    """The decompressed stream of gzip or Zstandard data in `source`.

    Reading raises CaseFileError if the data is truncated or damaged, or if the output exceeds both `FREE_BYTES` and
    `MAX_RATIO` times the input.
    """
    return peekable(_Decompressed(source, name))


class _Counted(io.RawIOBase):
    def __init__(self, source: Readable) -> None:
        self._source = source
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        content = self._source.read(len(target)) or b""
        target[: len(content)] = content
        self.count += len(content)
        return len(content)


class _Decompressed:
    def __init__(self, source: io.BufferedIOBase | BinaryIO, name: str) -> None:
        peek: Any = getattr(source, "peek")  # noqa: B009  (no protocol of typing has it)
        self._name = name
        self._kind = "gzip" if peek(4).startswith(GZIP) else "Zstandard"
        self._input = _Counted(source)
        self._output = _opened(self._input, self._kind)
        self._count = 0

    def read(self, size: int, /) -> bytes:
        try:
            content: bytes = self._output.read(size)
        except (EOFError, zlib.error) as error:
            raise self._damaged() from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise self._damaged() from error
        self._count += len(content)
        if self._count > max(FREE_BYTES, MAX_RATIO * self._input.count):
            raise CaseFileError(
                f"{self._name}: over {FREE_BYTES >> 20} MiB came out of {self._input.count:,} bytes of {self._kind} "
                f"data, more than {MAX_RATIO} times as much; decompress it first if that is right"
            )
        return content

    def _damaged(self) -> CaseFileError:
        return CaseFileError(
            f"{self._name}: the {self._kind} data is cut off or damaged near byte {self._input.count:,}; fetch or "
            "compress the file again, or decompress what is left of it"
        )


def _opened(source: _Counted, kind: str) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source, mode="rb")
    import pyarrow as pa  # noqa: PLC0415  (slow to import; few files need it)

    return pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd")
