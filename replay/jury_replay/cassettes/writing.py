"""A debate as the bytes of its cassette. The same debate gives the same bytes, whichever database it comes from."""

import hashlib
from collections.abc import Iterator

from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import encode_digest
from jury_replay.cassettes.lines import (
    MAX_CASSETTE,
    MAX_LINE,
    EventLine,
    Manifest,
    SealLine,
    StreamEnd,
    part_line,
    written,
)
from jury_replay.errors import CassetteError, DebateNotFound, RecordDamaged
from jury_replay.integrity import check_debate
from jury_store.inventory import DebateRecord


def write_cassette(record: DebateRecord, seal: SealLine | None = None) -> bytes:
    """The cassette of everything that is stored of a debate.

    Args:
        record: of a store or of another cassette; positions, epochs and what the store did with it are left out.
        seal: of the log in which the debate was recorded.

    Raises:
        DebateNotFound: the debate was never opened.
        RecordDamaged: it does not verify.
        CassetteError: it is larger than a cassette may be.
    """
    debate_id = record.debate_id
    if not record.events.get(debate_stream(debate_id)):
        raise DebateNotFound(f"there is no debate {debate_id!r} in this store, or it was never opened")
    failures = check_debate(record).failures
    if failures:
        raise RecordDamaged(f"debate {debate_id} does not verify, so it is not exported: {failures[0]}")
    record = record.portable
    lines = list(_lines(record, seal))
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
            for name, events in record.events.items()
        },
        parts=len(record.parts),
        sealed=seal is not None,
        sha256=following.hexdigest(),
    )
    return b"".join((written(manifest), *lines))


def _lines(record: DebateRecord, seal: SealLine | None) -> Iterator[bytes]:
    for stream in (debate_stream(record.debate_id), calls_stream(record.debate_id)):
        for event in record.events.get(stream, ()):
            yield written(EventLine.of(event))
    for _, part in sorted((encode_digest(digest), part) for digest, part in record.parts.items()):
        yield written(part_line(part))
    if seal is not None:
        yield written(seal)
