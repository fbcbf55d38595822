"""Cassettes as files, written atomically, found in folders. The same debate gives the same bytes, from every store."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound
from jury_events.ids import portable_streams
from jury_events.parts import encode_digest
from jury_replay.cassettes.lines import (
    BATCH_SUFFIX,
    DRIFT_SUFFIX,
    MAX_CASSETTE,
    MAX_LINE,
    RUN_SUFFIX,
    SUFFIX,
    CassetteEvent,
    Manifest,
    SealLine,
    SignLengths,
    StreamEnd,
    part_line,
    written,
)
from jury_replay.errors import CassetteError, RecordDamaged
from jury_replay.integrity import check_debate


def cassettes_in(paths: Iterable[Path], *, batches: bool = False) -> Iterator[Path]:
    """Files as named, and for folders the cassettes at any depth, by path; `batches`: then those of other streams."""
    for path in paths:
        if not path.exists():
            raise CassetteError(f"{path}: there is no such file or folder; make cassettes with: jury export")
        if not path.is_dir():
            yield path
            continue
        # Reading a pipe of that name would block; a pipe named on purpose is read.
        found = _files(path, SUFFIX)
        suffixes = (BATCH_SUFFIX, RUN_SUFFIX, DRIFT_SUFFIX) if batches else ()
        others = [file for suffix in suffixes for file in _files(path, suffix)]
        if not found and not others:
            raise CassetteError(f"{path}: there is no cassette in this folder (files *{SUFFIX}); name another")
        yield from found
        yield from others


def _files(folder: Path, suffix: str) -> list[Path]:
    return sorted(one for one in folder.rglob("*" + suffix) if one.is_file())


def put(path: Path, content: bytes) -> bool:
    """Write a file atomically; returns whether the content changed."""
    try:
        with suppress(FileNotFoundError):
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                return False
        path.parent.mkdir(parents=True, exist_ok=True)
        # It contains texts of cases: readable by its owner only, as `mkstemp` makes it.
        descriptor, name = tempfile.mkstemp(prefix=".jury-", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CassetteError(f"{path}: cannot be written: {error.strerror}; name another path, or free space") from None
    return True


def write_cassette(history: DebateHistory, seal: SealLine | None = None, sign: SignLengths | None = None) -> bytes:
    """The cassette of everything that is stored of a debate.

    Args:
        history: of a store or of another cassette; positions, epochs and the stream `local/` are left out.
        seal: of the log in which the debate was recorded.
        sign: signs how long the streams are; None: nothing says that they are whole.
    """
    debate_id = history.debate_id
    if not history.stored_events and not history.stored_batch:
        raise DebateNotFound.named(debate_id)
    failures = check_debate(history).failures
    if failures:
        raise RecordDamaged(f"debate {debate_id} does not verify, so it is not exported: {failures[0]}")
    history = history.portable
    lines = list(_lines(history, seal))
    if sign is not None:
        content = hashlib.sha256(b"".join(lines)).hexdigest()
        lines.append(written(sign(history, content)))
    if max(map(len, lines)) > MAX_LINE or sum(map(len, lines)) > MAX_CASSETTE:
        raise CassetteError(
            f"debate {debate_id} is too large for a cassette: a line may have {MAX_LINE} bytes, all of it "
            f"{MAX_CASSETTE}; copy the store instead"
        )
    following = hashlib.sha256()
    for line in lines:
        following.update(line)
    manifest = Manifest(
        debate_id=debate_id,
        streams={
            name: StreamEnd(events=len(events), head=encode_digest(events[-1].hash))
            for name, events in history.streams.items()
        },
        parts=len(history.parts),
        sealed=seal is not None,
        lengths=None if sign is None else True,
        sha256=following.hexdigest(),
    )
    return b"".join((written(manifest), *lines))


def _lines(history: DebateHistory, seal: SealLine | None) -> Iterator[bytes]:
    for stream in portable_streams(history.debate_id):
        for event in history.streams.get(stream, ()):
            yield written(CassetteEvent.of(event))
    for _, part in sorted((encode_digest(digest), part) for digest, part in history.parts.items()):
        yield written(part_line(part))
    if seal is not None:
        yield written(seal)
