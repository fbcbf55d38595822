"""Decompressed streams of gzip and Zstandard data."""

import gzip
import io
import zlib
from typing import Any, BinaryIO

from jury_cases.containers.byte_streams import Readable, peekable
from jury_cases.errors import CaseFileError

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
    """Reads a caller's stream and counts its bytes."""

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
