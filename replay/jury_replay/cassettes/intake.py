"""Taking a cassette into a store: what is missing is added, what is there stays, another debate is refused."""

import json
from collections.abc import Callable, Collection
from typing import NamedTuple

from jury_events.codec import encode
from jury_events.debate_events import TextsErased
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.ids import calls_stream, debate_stream, local_stream
from jury_events.local_events import Arrived, DebateImported
from jury_events.local_facts import local_facts
from jury_events.parts import Digest, Part, decode_digest, refs_in
from jury_replay.cassettes.cassette import Cassette
from jury_replay.cassettes.lines import SealLine
from jury_replay.cassettes.provenance import origin_of
from jury_replay.errors import ErasureUnasked, OtherDebate, RecordDamaged
from jury_replay.import_checks import seal_digest
from jury_replay.integrity import check_debate
from jury_replay.quarantine import now
from jury_store.errors import Fenced, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore
from jury_store.inventory import DebateRecord
from jury_store.seals.note import read_checkpoint

_ATTEMPTS = 5


class Taken(NamedTuple):
    """What a cassette added: events and texts, both 0 where everything was there; `erased`: texts that it made go.

    `withheld` counts texts of the cassette that stay away, because their erasure is recorded here.
    """

    debate_id: str
    events: int
    parts: int
    erased: int
    withheld: int


def take_in(
    store: EventStore,
    cassette: Cassette,
    *,
    erase: bool = False,
    vouched_by: str | None = None,
    clock: Callable[[], int] = now,
) -> Taken:
    """Add to the store what it does not hold of a debate, all or nothing, and that it was imported.

    A stream of which the store holds the beginning is continued; one of which it holds more stays as it is. A text
    whose erasure either side recorded is not brought, and goes if it is here.

    Args:
        store: open for writing.
        cassette: as `read_cassette` verified it.
        erase: let it make texts go that this store holds. Anybody can write an erasure into a cassette without a seal.
        vouched_by: the name of the key that was seen to have signed the cassette's seal, which covers all of it.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        ErasureUnasked: it records the erasure of texts that the store holds, and `erase` is not given.
        OtherDebate: the store holds a debate of that id that went another way.
        RecordDamaged: what the store holds of it does not verify.
        MayNotErase: texts would go, and the user may not delete any.
        StoreError: it cannot be written.
    """
    debate_id = cassette.record.debate_id
    for _ in range(_ATTEMPTS):
        (mine,) = store.records([debate_id])
        if mine.events or mine.parts:
            failures = check_debate(mine).failures
            if failures:
                raise RecordDamaged(f"debate {debate_id} of this store does not verify: {failures[0]}")
        # What the store holds already is of this log, or came with a seal of its own.
        origin = origin_of(cassette.seal) if cassette.seal is not None and not mine.portable.events else None
        fresh = {stream: _beyond(mine, cassette.record, stream) for stream in cassette.record.events}
        recorded = _erased(mine)
        erased = recorded | _erased(cassette.record)
        parts = {
            digest: part
            for digest, part in cassette.record.parts.items()
            if digest not in mine.parts and digest not in erased
        }
        if not erase and (losing := mine.parts.keys() & erased - recorded):
            raise ErasureUnasked(
                f"debate {debate_id}: the cassette records the erasure of {len(losing)} texts that this store holds. "
                "Import it with --erase to erase them here too, or with --key to see that its origin did"
            )
        going = mine.parts.keys() & erased
        withheld = len(cassette.record.parts.keys() & erased - mine.parts.keys())
        imported = _imported(mine, fresh, cassette.seal, origin, vouched_by)
        try:
            _append(
                store,
                mine,
                fresh,
                parts,
                origin=origin,
                going=going,
                imported=encode(imported, recorded_at=clock()),
            )
        except (WrongVersion, Fenced):
            continue  # another writer came in between
        return Taken(debate_id, sum(map(len, fresh.values())), len(parts), len(going), withheld)
    raise WrongVersion(f"debate {debate_id}: another process writes to it; wait until it is over, then import it again")


def _beyond(mine: DebateRecord, theirs: DebateRecord, stream: str) -> list[StoredEvent]:
    """The events of a cassette's stream after those that the store holds."""
    here, there = mine.events.get(stream, []), theirs.events[stream]
    both = min(len(here), len(there))
    # A chain: the same hash at the end says the same of everything before it.
    if both and here[both - 1].hash != there[both - 1].hash:
        parted = next(n for n in range(both) if here[n].hash != there[n].hash)
        raise OtherDebate(
            f"the store holds another debate under the id {theirs.debate_id}: they differ from event {parted + 1} of "
            f"{stream} on. Import it into another store"
        )
    return there[both:]


def _erased(record: DebateRecord) -> set[Digest]:
    """Texts of which an erasure is recorded."""
    return {
        decode_digest(ref)
        for event in record.events.get(debate_stream(record.debate_id), ())
        if event.type == _TEXTS_ERASED
        for ref in refs_in(json.loads(event.body))
    }


def _append(
    store: EventStore,
    mine: DebateRecord,
    fresh: dict[str, list[StoredEvent]],
    parts: dict[Digest, Part],
    *,
    origin: bytes | None,
    going: Collection[Digest],
    imported: NewEvent,
) -> None:
    if going:
        store.require_eraser()
    debate, calls = debate_stream(mine.debate_id), calls_stream(mine.debate_id)
    left = dict(parts)
    requests = []
    for stream in (debate, calls):
        if events := fresh.get(stream):
            new = tuple(_new(event, left) for event in events)
            epoch = store.next_epoch() if stream == debate else None
            requests.append(Append(stream, new, len(mine.events.get(stream, ())), epoch))
    if not requests:
        if going:
            store.delete_parts(mine.debate_id, going)
        return
    # Last of all: the lists know the debate by then.
    requests.append(Append(local_stream(mine.debate_id), (imported,), len(mine.local)))
    for answer in store.append(requests, atomic=True, origin=origin, erase=going):
        if isinstance(answer, StoreError):
            raise answer


def _imported(
    mine: DebateRecord,
    fresh: dict[str, list[StoredEvent]],
    seal: SealLine | None,
    origin: bytes | None,
    vouched_by: str | None,
) -> DebateImported:
    def arrived(stream: str) -> Arrived:
        there = len(mine.events.get(stream, ()))
        return Arrived(after=there, until=there + len(fresh.get(stream, ())))

    return DebateImported(
        debate=arrived(debate_stream(mine.debate_id)),
        calls=arrived(calls_stream(mine.debate_id)),
        seal=None if origin is None else seal_digest(origin),
        sealed_by=None if seal is None else _label(read_checkpoint(seal.note.encode()).origin),
        vouched_by=None if vouched_by is None else _label(vouched_by),
        nth=len(local_facts(mine.local).imports) + 1,
    )


def _label(name: str) -> str:
    """The name of a log as an event may hold it: a note may have any."""
    return (name if name.isprintable() else ascii(name)[1:-1])[:300]


def _new(event: StoredEvent, left: dict[Digest, Part]) -> NewEvent:
    """The event to append, with the texts that it is the first to name; those are taken out of `left`."""
    named = {decode_digest(ref) for ref in refs_in(json.loads(event.body))}
    bring = tuple(left.pop(digest) for digest in sorted(named & left.keys()))
    return NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body, bring)


_TEXTS_ERASED: str = TextsErased.model_fields["type"].default
