"""What Inspect writes: logs (`.eval`), zip archives with a header and one JSON document per sample.

And transcripts that Inspect Scout reads, each as a sample of a log: databases (`scout://FOLDER`), and sources
(`scout+langsmith:project=P`). They need the extra `scout`.
"""

import asyncio
import importlib
import inspect
import io
import re
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from jury_cases.containers.row import EVAL_KEY, FileRow, RowSource, kind_of, with_eval
from jury_cases.errors import CaseFileError
from jury_events.errors import install_line
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
        if {"mimetype", "content.xml"} <= members.infos.keys():
            raise CaseFileError(f"{origin.name}: this is a file of LibreOffice; save the sheet as CSV (UTF-8)")
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


DATABASE = "scout://"
SOURCE = "scout+"

_FACTS = (
    *("source_type", "source_id", "source_uri", "date", "task_set", "task_id", "task_repeat", "agent", "model"),
    *("success", "total_time", "total_tokens"),
)


def read_transcripts(path: str) -> Iterator[FileRow]:
    """The transcripts, one in memory at a time.

    Args:
        path: `scout://FOLDER`, or `scout+NAME:key=value&key=value` with the arguments of `inspect_scout.sources.NAME`.
    """
    name = visible_line(path, 1000)
    transcripts = _transcripts(path, name)
    origin = RowSource(name, "scout")
    with ThreadPoolExecutor(max_workers=1) as thread:  # the caller's thread may run an event loop
        loop = asyncio.new_event_loop()
        try:
            number = 0
            while (found := thread.submit(loop.run_until_complete, anext(transcripts, None)).result()) is not None:
                number += 1
                yield origin.numbered(
                    number, scout_sample(found), f"transcript {visible_line(found.transcript_id, 200)}"
                )
        except (CaseFileError, GeneratorExit):
            raise
        except Exception as error:  # of any library that Scout reads with
            raise CaseFileError(f"{name}: Scout cannot read it: {visible_line(_words(error), 500)}") from error
        finally:
            thread.submit(_closed, loop, transcripts).result()


def _closed(loop: asyncio.AbstractEventLoop, transcripts: AsyncIterator[Any]) -> None:
    close = getattr(transcripts, "aclose", None)
    if close is not None:
        loop.run_until_complete(close())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _words(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _transcripts(path: str, name: str) -> AsyncIterator[Any]:
    if path.startswith(DATABASE):
        folder = path.removeprefix(DATABASE)
        if not folder:
            raise CaseFileError(f"{name}: names no folder; write scout://FOLDER")
        return _of_database(_library("inspect_scout", name), folder)
    source, _, settings = path.removeprefix(SOURCE).partition(":")
    sources = _library("inspect_scout.sources", name)
    known = sorted(getattr(sources, "__all__", ()))
    if source not in known:
        raise CaseFileError(f"{name}: Scout has no source {source!r}; its sources are {', '.join(known)}")
    read = getattr(sources, source)
    return read(**_arguments(inspect.signature(read).parameters, settings, name))  # type: ignore[no-any-return]


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CaseFileError(f"{name}: needs {error.name or module}: {install_line('scout')}") from error


async def _of_database(scout: Any, folder: str) -> AsyncIterator[Any]:
    content = scout.TranscriptContent(messages="all")
    async with scout.transcripts_from(folder).reader() as reader:
        async for info in reader.index():
            yield await reader.read(info, content)


def _arguments(parameters: Any, settings: str, name: str) -> dict[str, Any]:
    """The settings as arguments: numbers and times as such."""
    found: dict[str, Any] = {}
    for key, value in parse_qsl(settings, keep_blank_values=True):
        if key not in parameters:
            known = ", ".join(parameters)
            raise CaseFileError(f"{name}: there is no setting {key!r}; write key=value, joined by &, of {known}")
        written = str(parameters[key].annotation)
        try:
            found[key] = (
                int(value) if "int" in written else datetime.fromisoformat(value) if _is_time(written) else value
            )
        except ValueError as error:
            raise CaseFileError(f"{name}: {key}={visible_line(value, 100)}: must be a number or a time") from error
        if "list[str]" in written and "str |" not in written:
            found[key] = value.split(",")
    missing = [key for key, one in parameters.items() if one.default is one.empty and key not in found]
    if missing:
        raise CaseFileError(f"{name}: setting {missing[0]!r} is missing")
    return found


def _is_time(annotation: str) -> bool:
    return "datetime" in annotation


def scout_sample(transcript: Any) -> dict[str, Any]:
    """A transcript of Scout, with its messages, as a sample of an Inspect log."""
    facts = {key: getattr(transcript, key, None) for key in _FACTS}
    own = dict(transcript.metadata)
    score = transcript.score
    return {
        EVAL_KEY: {},
        "id": transcript.transcript_id,
        "epoch": 1,
        "input": None,
        "target": None,
        "messages": [one.model_dump(mode="json", exclude_none=True) for one in transcript.messages],
        "metadata": own | {key: value for key, value in facts.items() if value is not None},
        "scores": {} if score is None else {"score": {"value": score}},
        "error": transcript.error,
        "limit": transcript.limit,
    }
