"""Checks a debate against its recorded imports."""

import hashlib
from collections.abc import Iterator

from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.ids import calls_stream, local_stream, owner_stream, review_stream
from jury_events.local_events import DebateImported
from jury_replay.integrity import IntegrityFailure


def seal_digest(origin: bytes) -> str:
    """The digest of a stored seal as `debate_imported` records it."""
    return hashlib.sha256(origin).hexdigest()


def import_failures(history: DebateHistory, origin: bytes | None) -> Iterator[IntegrityFailure]:
    """Failures of the recorded imports: a cut stream, a missing or replaced seal."""
    try:
        imports = history.local.imports
    except EventError:
        return  # the check of the chain reports it
    stream = local_stream(history.debate_id)
    if origin is not None and not any(imported.seal for imported in imports):
        yield IntegrityFailure(stream, "a seal is stored with it, and no import with a seal is recorded")
    for imported in imports:
        for name, arrived in arrived_in(history.debate_id, imported):
            if len(history.streams.get(name, ())) < arrived:
                there = len(history.streams.get(name, ()))
                what = f"{arrived} events of {name} were imported, stored are {there}"
                yield IntegrityFailure(stream, what, event_id=imported.event_id)
        if imported.seal is None:
            continue
        if origin is None:
            yield IntegrityFailure(stream, "the seal of its import is missing", event_id=imported.event_id)
        elif not _is_bytes(origin) or seal_digest(origin) != imported.seal:
            yield IntegrityFailure(
                stream, "the seal stored with it is not that of the import", event_id=imported.event_id
            )


def _is_bytes(value: object) -> bool:
    """A tampered SQLite column can contain any type."""
    return isinstance(value, bytes)


def arrived_in(debate_id: str, imported: DebateImported) -> tuple[tuple[str, int], ...]:
    """The imported streams, each with its last imported version."""
    return (
        (owner_stream(debate_id), imported.debate.until),
        (calls_stream(debate_id), imported.calls.until),
        (review_stream(debate_id), imported.review.until),
    )
