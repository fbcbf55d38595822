"""A debate of the corpus rewritten by an attacker who computes every hash."""

import json
from collections.abc import Callable
from typing import Any

from jury_events import DebateHistory, NewEvent, Part, StoredEvent, calls_stream, debate_stream, make_part
from jury_replay import SUFFIX, read_cassette
from jury_store import Append, EventStore, MemoryEventStore
from support.corpus import CORPUS

Change = Callable[[dict[str, Any]], None]


def recorded_in_corpus(name: str) -> DebateHistory:
    """The debate of a cassette of the corpus."""
    return read_cassette(CORPUS / f"{name}{SUFFIX}").history


def forged(
    record: DebateHistory,
    *,
    change: dict[str, Change] | None = None,
    without: tuple[str, ...] = (),
    text: Callable[[bytes], bytes] = lambda content: content,
) -> EventStore:
    """The debate rewritten by an attacker who computes every hash: bodies changed, events left out, texts changed."""
    changes = change or {}
    parts = {part.ref.part: _part(part, text(part.content)) for part in record.parts.values()}
    store = MemoryEventStore()
    store.next_epoch()
    for stream, epoch in ((calls_stream(record.debate_id), None), (debate_stream(record.debate_id), 1)):
        events = [
            _event(stored, changes.get(stored.event_id), parts)
            for stored in record.streams[stream]
            if stored.event_id not in without
        ]
        first, *rest = events
        brought = tuple(parts.values()) if epoch is None else ()
        expected = None if epoch is None else 0
        store.append([Append(stream, (first._replace(parts=brought), *rest), expected, epoch)])
    return store


def _part(part: Part, content: bytes) -> Part:
    return make_part(content, part.salt)


def _event(stored: StoredEvent, change: Change | None, parts: dict[str, Part]) -> NewEvent:
    body = json.loads(stored.body)
    if change is not None:
        change(body)
    raw = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for ref, part in parts.items():
        raw = raw.replace(ref, part.ref.part)
    return NewEvent(stored.event_id, stored.type, stored.schema, stored.recorded_at, raw.encode())


def set_to(*path: str | int, to: Any) -> Change:
    """Put another value at a place of a body."""

    def change(body: dict[str, Any]) -> None:
        place: Any = body
        for key in path[:-1]:
            place = place[key]
        assert place[path[-1]] != to
        place[path[-1]] = to

    return change
