"""Import a cassette into a store: missing events and texts are added, existing ones stay."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from jury_events.codec import encode
from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.ids import calls_stream, debate_stream, local_stream, owner_stream, portable_streams, review_stream
from jury_events.local_events import DebateImported, SignedLengths, VersionRange
from jury_events.local_facts import NOT_EXCLUDED
from jury_events.parts import Digest, Part, decode_digest, refs_in
from jury_replay.cassettes.lines import SealLine
from jury_replay.cassettes.provenance import origin_of
from jury_replay.cassettes.reading import Cassette
from jury_replay.errors import ErasureUnasked, OtherDebate, RecordDamaged
from jury_replay.integrity import check_debate, seal_digest
from jury_replay.quarantine import now
from jury_store.errors import Fenced, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore
from jury_store.seals.note import read_checkpoint

_ATTEMPTS = 5
_LABELLED = "case_labelled"


class ImportResult(NamedTuple):
    """Added events and texts, both 0 where everything was there; `erased`: texts of the store that it erased.

    `withheld`: texts of the cassette that were not added, because their erasure is recorded. `reviews_left`: events of
    people's reviews that were not added, because this store has reviews of its own. `reviews_foreign`, under a trusted
    key only: events of reviews that are there and keep counting for nothing, since they came without one before.
    """

    debate_id: str
    events: int
    parts: int
    erased: int
    withheld: int
    reviews_left: int = 0
    reviews_foreign: int = 0


def import_cassette(
    store: EventStore,
    cassette: Cassette,
    *,
    erase: bool = False,
    verified_with: str | None = None,
    lengths: SignedLengths | None = None,
    clock: Callable[[], int] = now,
) -> ImportResult:
    """Add the events and texts of a debate that the store lacks, and record the import, in one transaction.

    A stream that the store contains in part is continued; one of which it contains more stays as it is. A text whose
    erasure either side recorded is not added, and is erased from the store. Reviews of people are added where the store
    has none of the debate; reviews that continue those of the store only with `verified_with`,
    and so another label of a case that the store has.

    Args:
        cassette: as `read_cassette` verified it.
        erase: allow it to erase texts of this store. Without a seal anyone can write an erasure into a cassette.
        verified_with: the name of the trusted key that signed the cassette's seal, which covers all of it.
        lengths: who signed how long the streams of the cassette are, and when, under a trusted key.
        clock: microseconds since 1970-01-01 UTC.
    """
    debate_id = cassette.history.debate_id
    for _ in range(_ATTEMPTS):
        (mine,) = store.histories([debate_id])
        if mine.streams or mine.parts:
            failures = check_debate(mine).failures
            if failures:
                raise RecordDamaged(f"debate {debate_id} of this store does not verify: {failures[0]}")
        # Events that the store contains already were recorded in its log, or were imported with another seal.
        origin = origin_of(cassette.seal) if cassette.seal is not None and not mine.portable.streams else None
        fresh = {
            stream: _beyond(mine, cassette.history, stream)
            for stream in cassette.history.streams
            if stream != review_stream(debate_id)
        }
        reviews, reviews_left = _reviews(mine, cassette.history, trusted=verified_with is not None)
        if reviews:
            fresh[review_stream(debate_id)] = reviews
        unnamed = _named_by_reviews_alone(cassette.history) if reviews_left else frozenset()
        recorded = mine.erased_digests
        erased = recorded | cassette.history.erased_digests
        parts = {
            digest: part
            for digest, part in cassette.history.parts.items()
            if digest not in mine.parts and digest not in erased and digest not in unnamed
        }
        if not erase and (losing := mine.parts.keys() & erased - recorded):
            raise ErasureUnasked(
                f"debate {debate_id}: the cassette records the erasure of {len(losing)} texts of this store. "
                "Import it with --erase to erase them here too, or with --key to check that its origin erased them"
            )
        going = mine.parts.keys() & erased
        withheld = len(cassette.history.parts.keys() & erased - mine.parts.keys())
        # What is left out here was there.
        whole = None if reviews_left else lengths
        confirmed = whole is not None and not any(fresh.values()) and mine.local.later_events == NOT_EXCLUDED
        imported = _imported(mine, fresh, cassette.seal, origin, verified_with=verified_with, lengths=whole)
        try:
            _append(
                store,
                mine,
                fresh,
                parts,
                origin=origin,
                going=going,
                imported=encode(imported, recorded_at=clock()),
                confirmed=confirmed,
            )
        except (WrongVersion, Fenced):
            continue  # another writer came in between
        events = sum(map(len, fresh.values()))
        foreign = 0 if verified_with is None else sum(until - after for after, until in mine.local.foreign_reviews)
        return ImportResult(debate_id, events, len(parts), len(going), withheld, reviews_left, foreign)
    raise WrongVersion(f"debate {debate_id}: another process is writing to it; import it again when that has ended")


def _beyond(mine: DebateHistory, theirs: DebateHistory, stream: str) -> Sequence[StoredEvent]:
    """The events of a cassette's stream after those in the store."""
    here, there = mine.streams.get(stream, []), theirs.streams[stream]
    both = min(len(here), len(there))
    # In a hash chain equal hashes mean equal events up to there.
    if both and here[both - 1].hash != there[both - 1].hash:
        parted = next(n for n in range(both) if here[n].hash != there[n].hash)
        raise OtherDebate(
            f"the store contains another debate under the id {theirs.debate_id}: they differ from event "
            f"{parted + 1} of {stream} on. Import it into another store"
        )
    return there[both:]


def _reviews(mine: DebateHistory, theirs: DebateHistory, *, trusted: bool) -> tuple[Sequence[StoredEvent], int]:
    """The events of the cassette's reviews to add, and how many are left out.

    Anyone can write a cassette that continues a stream, and so withdraws reviews of this store.
    """
    here, there = mine.stored_reviews, theirs.stored_reviews
    both = min(len(here), len(there))
    same = not both or here[both - 1].hash == there[both - 1].hash
    if not same:
        return (), len(there)
    beyond = there[both:]
    known = here or (mine.stored_events and any(one.type == _LABELLED for one in beyond))
    return (beyond, 0) if trusted or not known else ((), len(beyond))


def _named_by_reviews_alone(history: DebateHistory) -> frozenset[Digest]:
    """Texts that no event but those of reviews names."""

    def named(events: Iterable[StoredEvent]) -> frozenset[Digest]:
        return frozenset(decode_digest(ref) for event in events for ref in refs_in(json.loads(event.body)))

    return named(history.stored_reviews) - named((*history.stored_events, *history.stored_exchanges))


def _append(
    store: EventStore,
    mine: DebateHistory,
    fresh: dict[str, Sequence[StoredEvent]],
    parts: dict[Digest, Part],
    *,
    origin: bytes | None,
    going: Collection[Digest],
    imported: NewEvent,
    confirmed: bool,
) -> None:
    if going:
        store.require_eraser()
    left = dict(parts)
    requests = []
    for stream in portable_streams(mine.debate_id):
        if events := fresh.get(stream):
            new = tuple(_new(event, left) for event in events)
            epoch = store.next_epoch() if stream == debate_stream(mine.debate_id) else None
            requests.append(Append(stream, new, len(mine.streams.get(stream, ())), epoch))
    if not requests and not confirmed:
        if going:
            store.delete_parts(mine.debate_id, going)
        return
    # Last: the lists need the opening event first.
    requests.append(Append(local_stream(mine.debate_id), (imported,), len(mine.stored_local)))
    for answer in store.append(requests, atomic=True, origin=origin, erase=going):
        if isinstance(answer, StoreError):
            raise answer


def _imported(
    mine: DebateHistory,
    fresh: dict[str, Sequence[StoredEvent]],
    seal: SealLine | None,
    origin: bytes | None,
    *,
    verified_with: str | None,
    lengths: SignedLengths | None,
) -> DebateImported:
    def arrived(stream: str) -> VersionRange:
        there = len(mine.streams.get(stream, ()))
        return VersionRange(after=there, until=there + len(fresh.get(stream, ())))

    return DebateImported(
        debate=arrived(owner_stream(mine.debate_id)),
        calls=arrived(calls_stream(mine.debate_id)),
        review=arrived(review_stream(mine.debate_id)),
        seal=None if origin is None else seal_digest(origin),
        sealed_by=None if seal is None else _label(read_checkpoint(seal.note.encode()).origin),
        verified_with=None if verified_with is None else _label(verified_with),
        lengths=lengths,
        number=len(mine.local.imports) + 1,
    )


def _label(name: str) -> str:
    """The name of a log, printable and short enough for an event: a note may contain any name."""
    return (name if name.isprintable() else ascii(name)[1:-1])[:300]


def _new(event: StoredEvent, left: dict[Digest, Part]) -> NewEvent:
    """The event to append, with the texts that it names first; those are removed from `left`."""
    named = {decode_digest(ref) for ref in refs_in(json.loads(event.body))}
    bring = tuple(left.pop(digest) for digest in sorted(named & left.keys()))
    return NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body, bring)
