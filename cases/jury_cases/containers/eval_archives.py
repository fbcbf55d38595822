"""Inspect logs (`.eval`): zip archives with a header and one JSON document per sample."""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from jury_cases.containers.row import FileRow, RowSource, kind_of, with_eval
from jury_cases.errors import CaseFileError
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

MAX_MEMBER = 256 * 1024 * 1024
"""Bytes of one member, decompressed."""
MAX_RATIO = 1000
FREE_BYTES = 64 * 1024 * 1024
"""Size of a member allowed at any compression ratio."""

_ENCRYPTED = 0x1
_ZSTANDARD = 93
"""PKWARE's APPNOTE 4.4.5. The standard library supports it from Python 3.14."""
_LOCAL_HEADER = 30
_CHUNK = 1 << 20


class ZipMembers:
    """The members of an archive by name; of several with one name the last counts, as usual for zip files."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """Read the directory of the archive."""
        self._stream = stream
        self._name = name
        try:
            self._archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, ValueError, struct.error, NotImplementedError) as error:
            raise CaseFileError(
                f"{name}: the zip archive is cut off or damaged: {visible_line(str(error))}; fetch it again"
            ) from error
        self.infos = {info.filename: info for info in self._archive.infolist() if not info.is_dir()}

    def read(self, member: str) -> bytes:
        """A member's content."""
        info = self.infos[member]
        place = f"{self._name}: {visible_line(member)}"
        if info.flag_bits & _ENCRYPTED:
            raise CaseFileError(f"{place}: is encrypted; unpack the archive with its password")
        bound = min(MAX_MEMBER, max(FREE_BYTES, MAX_RATIO * info.compress_size))
        if info.file_size > bound:
            raise _too_large(place, info)
        try:
            content = _bounded(self._opened(info, place), min(bound, info.file_size))
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise _damaged(place) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise _damaged(place) from error
        if len(content) > bound:
            raise _too_large(place, info)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise _damaged(place)
        return content

    def _opened(self, info: zipfile.ZipInfo, place: str) -> Any:
        if info.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            return self._archive.open(info)
        if info.compress_type != _ZSTANDARD:
            raise CaseFileError(f"{place}: is compressed with method {info.compress_type}; write the log anew")
        import pyarrow as pa  # noqa: PLC0415  (slow to import; few files need it)

        self._stream.seek(info.header_offset)
        header = self._stream.read(_LOCAL_HEADER)
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        self._stream.seek(name_length + extra_length, io.SEEK_CUR)
        return pa.CompressedInputStream(pa.BufferReader(self._stream.read(info.compress_size)), "zstd")


def _bounded(stream: Any, size: int) -> bytes:
    """The stream's content, at most `size` + 1 bytes."""
    found = io.BytesIO()
    with stream:
        while found.tell() <= size and (chunk := stream.read(min(_CHUNK, size + 1 - found.tell()))):
            found.write(chunk)
    return found.getvalue()


def _too_large(place: str, info: zipfile.ZipInfo) -> CaseFileError:
    return CaseFileError(
        f"{place}: {info.file_size:,} bytes out of {info.compress_size:,}; at most {MAX_MEMBER >> 20} MiB are read, "
        f"and beyond {FREE_BYTES >> 20} MiB at most {MAX_RATIO} times what is compressed"
    )


def _damaged(place: str) -> CaseFileError:
    return CaseFileError(f"{place}: is cut off, damaged, or larger than it says; fetch the archive again")


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
