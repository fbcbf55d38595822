"""A whole log written anew by one who changes a field and computes every hash; no seal is kept."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from jury_events import NewEvent, Part, StoredEvent, refs_in, stream_debate
from jury_store import Append, EventStore


class Log(NamedTuple):
    """Every event in the order of the log, and the texts of each owner by reference."""

    events: list[StoredEvent]
    texts: dict[str, dict[str, Part]]


Place = tuple[str | int, ...]
Change = Callable[[dict[str, Any]], None]


def whole_log(store: EventStore) -> Log:
    """All that a store has."""
    events, after = [], 0
    while page := store.read_all(after=after):
        events += page
        after = page[-1].position
    owners = {stream_debate(event.stream) for event in events}
    return Log(events, {one: {part.ref.part: part for part in store.parts(one).values()} for one in owners})


def rechained(
    log: Log,
    into: EventStore,
    stream: str = "",
    event_id: str = "",
    change: Change | None = None,
) -> EventStore:
    """The log in another, empty store: the body of one event is changed, and every hash is that of the new bytes."""
    left = {owner: dict(parts) for owner, parts in log.texts.items()}
    epoch = into.next_epoch()
    for stored in log.events:
        body = stored.body
        if change is not None and (stored.stream, stored.event_id) == (stream, event_id):
            value = json.loads(body)
            change(value)
            body = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        parts = left[stream_debate(stored.stream)]
        named = [ref for ref in sorted(set(refs_in(json.loads(body)))) if ref in parts]
        new = NewEvent(
            stored.event_id, stored.type, stored.schema, stored.recorded_at, body, tuple(map(parts.pop, named))
        )
        fenced = stored.stream.startswith("debate/")
        (answer,) = into.append([Append(stored.stream, (new,), stored.version - 1, epoch if fenced else None)])
        if isinstance(answer, Exception):
            raise answer
    return into


def leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all fields that are no object and no list of objects."""
    if isinstance(value, dict) and set(value) != {"part"}:
        for key, one in value.items():
            yield from leaves(one, (*place, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, one in enumerate(value):
            yield from leaves(one, (*place, number))
    else:
        yield place


def at(body: Any, place: Place) -> Any:
    """The value at a place."""
    for key in place:
        body = body[key]
    return body


def put(place: Place, to: Any) -> Change:
    """Put a value at a place."""

    def change(body: dict[str, Any]) -> None:
        at(body, place[:-1])[place[-1]] = to

    return change
