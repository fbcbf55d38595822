"""Whether a debate fits the imports that the log tells of."""

import hashlib
from collections.abc import Iterator

from jury_events.errors import EventError
from jury_events.ids import calls_stream, debate_stream, local_stream
from jury_events.local_events import DebateImported
from jury_replay.integrity import IntegrityFailure
from jury_store.debate_history import DebateHistory


def seal_digest(origin: bytes) -> str:
    """What `debate_imported` says of the seal that the store keeps beside a debate."""
    return hashlib.sha256(origin).hexdigest()


def import_failures(history: DebateHistory, origin: bytes | None) -> Iterator[IntegrityFailure]:
    """What does not fit the imports that the log tells of: a stream that is cut, a seal that is gone or another."""
    try:
        imports = history.local.imports
    except EventError:
        return  # the chain's to tell
    stream = local_stream(history.debate_id)
    if origin is not None and not any(imported.seal for imported in imports):
        yield IntegrityFailure(
            stream, "a seal is kept with it as if it was imported, and no import with a seal is on record"
        )
    for imported in imports:
        for name, arrived in arrived_in(history.debate_id, imported):
            if len(history.streams.get(name, ())) < arrived:
                there = len(history.streams.get(name, ()))
                what = f"{arrived} events of {name} were imported, stored are {there}"
                yield IntegrityFailure(stream, what, event_id=imported.event_id)
        if imported.seal is None:
            continue
        if origin is None:
            yield IntegrityFailure(stream, "the seal that it was imported with is gone", event_id=imported.event_id)
        elif not _is_bytes(origin) or seal_digest(origin) != imported.seal:
            yield IntegrityFailure(
                stream, "the seal kept with it is not that of the import", event_id=imported.event_id
            )


def _is_bytes(value: object) -> bool:
    """A SQLite column holds whatever somebody put there."""
    return isinstance(value, bytes)


def arrived_in(debate_id: str, imported: DebateImported) -> tuple[tuple[str, int], tuple[str, int]]:
    """The streams that an import brought, each with the last version that came."""
    return (debate_stream(debate_id), imported.debate.until), (calls_stream(debate_id), imported.calls.until)
