"""Reads a cassette: an error names the file, the line and the remedy; a cassette is returned verified or not at all.

A line must be written as this project writes it, so that reading and writing gives the same file.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from jury_events.batch_events import BatchPrepared
from jury_events.conditions import Condition, admitted, fields_of
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.envelope import Head, StoredEvent
from jury_events.errors import EventError
from jury_events.ids import portable_streams
from jury_events.parts import Digest, Part, decode_digest, encode_digest
from jury_events.regular_files import open_regular
from jury_events.value import Value
from jury_replay.cassettes.lines import (
    FORMAT,
    MAX_CASSETTE,
    MAX_LINE,
    BytesPartLine,
    CassetteEvent,
    LengthsLine,
    Manifest,
    SealLine,
    TextPartLine,
    lengths_fault,
    part_of,
    written,
)
from jury_replay.cassettes.provenance import seal_fault
from jury_replay.errors import CassetteDamaged, CassetteError, ReplayError
from jury_replay.integrity import check_debate


class Cassette(NamedTuple):
    """One verified debate, and the seal of the log in which it was recorded, if the cassette has one.

    Positions in `history` count the events of the cassette from 1; its epochs are 0.
    """

    history: DebateHistory
    seal: SealLine | None = None
    lengths: LengthsLine | None = None
    """How long its streams were in their store; they fit, and whether a trusted key signed them is open."""


L = TypeVar("L")

_COPY_AGAIN = "copy or export it again"
_OTHER_FILES = {
    b"\x1f\x8b": "it is compressed with gzip: unpack it first",
    b"PK": "it is a ZIP archive: unpack it first",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd: unpack it first",
    b"\xef\xbb\xbf": f"it begins with a byte order mark, so something rewrote it: {_COPY_AGAIN}",
    b"\xff\xfe": f"it is UTF-16, so something rewrote it: {_COPY_AGAIN}",
    b"\xfe\xff": f"it is UTF-16, so something rewrote it: {_COPY_AGAIN}",
    b"SQLite": "it is a database: name it with --store and export from it",
}


def read_cassette(path: Path) -> Cassette:
    """The debate in a file, verified: the manifest's hash, chains, bodies, texts, references, and the seal's proofs."""
    try:
        with open_regular(path) as file:
            return Reading(str(path), file).cassette()
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read: {error.strerror}; check the path and its rights") from None


_BEFORE_RELEASE = "1"
"""The format of cassettes of programs that were never released, as JSON."""


class Reading:
    """One pass over a file; `number` is the line that was read last."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name = name
        self._file = file
        self._number = 0
        self._size = 0
        self._following = hashlib.sha256()

    def cassette(self) -> Cassette:
        manifest = self._manifest()
        positions = count(1)
        events = {name: list(self.events(name, end.events, positions)) for name, end in manifest.streams.items()}
        parts = dict(self._parts(manifest.parts))
        seal = self.line(SealLine, "the seal") if manifest.sealed else None
        content = self._following.hexdigest()
        lengths = self.line(LengthsLine, "the signed lengths") if manifest.lengths else None
        self.end(manifest.sha256)
        heads = {name: Head(end.events, 0, decode_digest(end.head)) for name, end in manifest.streams.items()}
        history = DebateHistory(manifest.debate_id, events, heads, parts)
        if lengths is not None and (fault := lengths_fault(history, content, lengths)) is not None:
            raise self.damaged(f"it does not verify: {fault}")
        self._verify(history, seal)
        return Cassette(history, seal, lengths)

    def end(self, sha256: str) -> None:
        """Check that the file ends here, and the hash of all lines after the first."""
        if self._file.read(1):
            raise self.bad("the manifest announces no line after this one")
        if self._following.hexdigest() != sha256:
            raise self.damaged("the SHA-256 in its first line is not that of the lines after it: something was changed")

    def _manifest(self) -> Manifest:
        raw = self._raw("the manifest", counted=False)
        try:
            value = json.loads(raw.decode("utf-8"))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or "cassette" not in value:
            raise CassetteError(f"{self._name}: this is no cassette: {self._kind(raw)}")
        if value["cassette"] != FORMAT:
            found = json.dumps(value["cassette"])
            if found == _BEFORE_RELEASE:
                raise CassetteError(
                    f"{self._name}: this cassette was made before version 1.0.0 of Jury Judge, and no version reads "
                    "it: judge its case again"
                )
            raise CassetteError(
                f"{self._name}: this is a cassette of format {found[:40]}, this version of Jury Judge reads format "
                f'"{FORMAT}": upgrade jury-judge'
            )
        manifest = self._parsed(Manifest, raw)
        names = portable_streams(manifest.debate_id)
        # Canonical JSON sorts the names; the events of the debate come first.
        ordered = {name: manifest.streams[name] for name in names if name in manifest.streams}
        if names[0] not in ordered or len(ordered) != len(manifest.streams):
            raise self.bad(f"the streams must be {names[0]} and, where there are such events, {', '.join(names[1:])}")
        for end in ordered.values():
            self.check_spelling(end.head)
        return manifest.changed(streams=ordered)

    def _kind(self, raw: bytes) -> str:
        for start, kind in _OTHER_FILES.items():
            if raw.startswith(start):
                return kind
        return "its first line is no manifest; name a file that jury export wrote"

    def events(self, stream: str, total: int, positions: Iterator[int]) -> Iterator[StoredEvent]:
        """The events of a stream."""
        ids = set()
        for version in range(1, total + 1):
            what = f"event {version} of {stream}"
            line = self.line(CassetteEvent, what)
            if (line.stream, line.version) != (stream, version):
                raise self.bad(f"{what} must stand here, found is event {line.version} of {line.stream}")
            if line.event_id in ids:
                raise self.bad(f"the stream has another event {line.event_id!r}")
            ids.add(line.event_id)
            self.check_spelling(line.hash)
            yield line.stored(next(positions))

    def _parts(self, total: int) -> Iterator[tuple[Digest, Part]]:
        before = ""
        for number in range(1, total + 1):
            line: TextPartLine | BytesPartLine = self.line(_PART, f"text {number} of {total}")
            if line.part <= before:
                twice = line.part == before
                raise self.bad(f"the text {line.part} {'stands twice' if twice else 'is not in its place'}")
            before = line.part
            try:
                part = part_of(line)
            except ValueError as error:
                raise self.bad(f"the text {line.part} does not decode: {error}") from None
            yield part.digest, part

    def line(self, kind: "type[L] | TypeAdapter[L]", what: str, *, counted: bool = True) -> L:
        """The next line, of that kind; `counted`: the manifest's hash is over it."""
        return self._parsed(kind, self._raw(what, counted=counted))

    def _parsed(self, kind: "type[L] | TypeAdapter[L]", raw: bytes) -> L:
        adapter: TypeAdapter[L] = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        try:
            value = adapter.validate_json(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise self.bad(f"byte {error.start + 1} of the line is not UTF-8") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(one) for one in first["loc"])
            raise self.bad(f"{place}: {first['msg']}" if place else first["msg"]) from None
        assert isinstance(value, Value)
        if written(value) != raw:
            raise self.bad("this is not canonical JSON as a cassette is written in; something rewrote it")
        return value

    def _raw(self, what: str, *, counted: bool = True) -> bytes:
        """The next line, its end included."""
        self._number += 1
        raw = self._file.readline(MAX_LINE + 1)
        self._size += len(raw)
        if len(raw) > MAX_LINE or self._size > MAX_CASSETTE:
            raise CassetteError(
                f"{self._name}:{self._number}: too large: a line may have {MAX_LINE} bytes, a cassette {MAX_CASSETTE}"
            )
        if not raw.endswith(b"\n") and counted:
            raise self.bad(f"the file ends where {what} should {'go on' if raw else 'begin'}: it was cut short")
        if raw.endswith(b"\r\n"):
            raise self.bad(
                "the lines end with CR LF, so git or an editor rewrote it; add '*.cassette.jsonl -text' to "
                ".gitattributes"
            )
        if counted:
            self._following.update(raw)
        return raw

    def check_spelling(self, digest: str) -> None:
        """Refuse another spelling of a hash: of the last of 43 characters two bits are unused, and written as zeros."""
        if encode_digest(decode_digest(digest)) != digest:
            raise self.bad(f"{digest} is not how this hash is written")

    def _verify(self, history: DebateHistory, seal: SealLine | None) -> None:
        failures = check_debate(history).failures
        if failures:
            raise self.damaged(f"it does not verify: {failures[0]}")
        kind, name = (_PREPARED, "batch_id") if history.is_batch else (_OPENED, "debate_id")
        opened = (history.stored_batch if history.is_batch else history.stored_events)[0]
        if opened.type != kind or json.loads(opened.body)[name] != history.debate_id:
            raise CassetteDamaged(
                f"{self._name}: the first event does not open the debate {history.debate_id}: the cassette was put "
                f"together wrongly; {_COPY_AGAIN}"
            )

        if seal is not None and (fault := seal_fault(history.portable.streams, seal)) is not None:
            raise self.damaged(f"it does not verify: {fault}")

    def damaged(self, what: str) -> CassetteDamaged:
        """The error for the file."""
        return CassetteDamaged(f"{self._name}: {what}; {_COPY_AGAIN}")

    def bad(self, what: str) -> CassetteDamaged:
        return CassetteDamaged(f"{self._name}:{self._number}: {what}; {_COPY_AGAIN}")


_PART: "TypeAdapter[TextPartLine | BytesPartLine]" = TypeAdapter(TextPartLine | BytesPartLine)
_PREPARED: str = BatchPrepared.model_fields["type"].default
_OPENED: str = DebateOpened.model_fields["type"].default


def is_chosen(path: Path, where: Sequence[Condition]) -> bool:
    """Whether the case of this cassette meets all conditions; an unreadable cassette is chosen, so that it is reported.

    Args:
        where: the conditions; without any the file is not read.
    """
    if not where:
        return True
    try:
        opened = read_cassette(path).history.opened
    except (EventError, ReplayError):
        return True
    return admitted(where, fields_of(opened))
