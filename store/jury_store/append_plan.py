"""What a group of appends changes, worked out in memory against what the log holds.

Every implementation of the store decides here; it only fetches what is asked for and writes what comes out.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from jury_events.envelope import GENESIS, NewEvent, StoredEvent, chain_hash
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, LOCAL_PREFIX, stream_debate
from jury_events.parts import Digest, Part, decode_digest, refs_in
from jury_store.errors import AppendRefused, EventConflict, Fenced, InvalidAppend, StoreError, WrongVersion
from jury_store.event_equality import says_the_same
from jury_store.event_store import Append, Appended
from jury_store.inventory import Head

NEW_STREAM = Head(0, 0, GENESIS)
_MAX_INTEGER = 2**63


class NeedsCare(Exception):
    """The group holds something that only the stored events can decide."""


class Kept(Protocol):
    """What the log holds of the streams and debates that a group touches."""

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        """The stored event of that id."""
        ...

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        """Whether the text is stored."""
        ...

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        """The stored text; None when it is not there (any more)."""
        ...


class PartRow(NamedTuple):
    """A part as its table keeps it."""

    debate_id: str
    digest: Digest
    salt: bytes
    content: bytes


class Ledger:
    """Admits requests one by one; then `events` (without positions yet), `parts` and `heads` hold
    what is to be written.

    Without `kept` it assumes that nothing is a repeat and raises `NeedsCare` where that cannot be: the unique keys of
    the database find the rest, and the group is worked out again with `kept`.
    """

    def __init__(self, heads: Mapping[str, Head], kept: Kept | None = None) -> None:
        self._before = heads
        self._kept = kept
        self.heads: dict[str, Head] = {}
        self.events: list[StoredEvent] = []
        self.parts: list[PartRow] = []
        self._admitted: dict[tuple[str, str], StoredEvent] = {}
        self._brought: dict[tuple[str, Digest], bytes] = {}

    def admit(self, request: Append) -> Appended | StoreError:
        """The answer to `request`; what it adds is in the ledger unless it is refused."""
        try:
            return self._admit(request)
        except AppendRefused as refusal:
            return refusal
        except UnicodeEncodeError as error:
            return InvalidAppend(f"{request.stream!r}: an id in it is not valid Unicode: {error}")

    def _admit(self, request: Append) -> Appended:
        _check(request)
        stream, epoch = request.stream, request.epoch
        head = self.heads.get(stream) or self._before.get(stream, NEW_STREAM)
        if epoch is not None and epoch < head.epoch:
            # The same for every debate that is fenced off, so that it is told once.
            raise Fenced(
                f"another process took over the work on this store (it is writer {head.epoch}, this one is writer "
                f"{epoch}), so this one writes nothing more. Nothing that was stored is lost: let the other process "
                "finish, or end it, and call the same command again"
            )
        fresh = self._fresh(request) if self._kept is not None else list(request.events)
        stale = request.expected_version is not None and request.expected_version != head.version
        if stale and fresh:
            if self._kept is None:
                raise NeedsCare
            raise WrongVersion(
                f"{stream} is at version {head.version}, not {request.expected_version}, so event "
                f"{fresh[0].event_id!r} was not stored. Read the stream again and decide again"
            )
        repeated = len(request.events) - len(fresh)
        version = self._add(request, fresh, head, repeated=bool(repeated))
        return Appended(stream, version, repeated)

    def _fresh(self, request: Append) -> list[NewEvent]:
        """The events that the stream does not hold; `EventConflict` for one that it holds otherwise."""
        stream, kept = request.stream, self._kept
        debate_id = stream_debate(stream)
        sent = {part.digest: part.content for event in request.events for part in event.parts}
        fresh: dict[str, NewEvent] = {}

        def stored_text(digest: Digest) -> bytes | None:
            found = self._brought.get((debate_id, digest))
            return found if found is not None or kept is None else kept.text(debate_id, digest)

        def sent_text(digest: Digest) -> bytes | None:
            found = sent.get(digest)
            return found if found is not None else stored_text(digest)

        for event in request.events:
            there = self._admitted.get((stream, event.event_id))
            if there is None and kept is not None:
                there = kept.event(stream, event.event_id)
            if there is None and (twin := fresh.get(event.event_id)) is not None:
                there = StoredEvent(0, stream, 0, twin.event_id, twin.type, twin.schema, 0, twin.body, b"")
                same = says_the_same(event, sent_text, there, sent_text)
            elif there is None:
                fresh[event.event_id] = event
                continue
            else:
                same = says_the_same(event, sent_text, there, stored_text)
            if not same:
                raise EventConflict(
                    f"{stream}: event {event.event_id!r} ({event.type}) is stored already and says something else. "
                    "Read the stream again; two writers disagree about what happened"
                )
        return list(fresh.values())

    def _add(self, request: Append, fresh: list[NewEvent], head: Head, *, repeated: bool) -> int:
        stream = request.stream
        version, previous = head.version, head.hash
        rows: list[StoredEvent] = []
        for event in fresh:
            version += 1
            previous = chain_hash(
                previous,
                stream=stream,
                version=version,
                event_id=event.event_id,
                event_type=event.type,
                schema=event.schema,
                recorded_at=event.recorded_at,
                body=event.body,
            )
            row = StoredEvent(
                0,
                stream,
                version,
                event.event_id,
                event.type,
                event.schema,
                event.recorded_at,
                event.body,
                previous,
            )
            rows.append(row)
        self.events.extend(rows)
        if self._kept is not None:
            self._admitted.update({(stream, row.event_id): row for row in rows})
        epoch = head.epoch if request.epoch is None else request.epoch
        if fresh or (epoch != head.epoch and version):
            self.heads[stream] = Head(version, epoch, previous)
        self._bring(stream_debate(stream), _needed_parts(request, fresh) if repeated else _parts(fresh))
        return version

    def _bring(self, debate_id: str, parts: list[Part]) -> None:
        kept, brought = self._kept, self._brought
        for part in parts:
            key = (debate_id, part.digest)
            if key in brought or (kept is not None and kept.has_part(*key)):
                continue
            brought[key] = part.content
            self.parts.append(PartRow(debate_id, *part))


def first_refusal(answers: Sequence[Appended | StoreError]) -> StoreError | None:
    """Why a group whose requests belong together is not stored; None where none of them was refused."""
    return next((answer for answer in answers if isinstance(answer, StoreError)), None)


def _check(request: Append) -> None:
    stream = request.stream
    if stream.startswith(DEBATE_PREFIX):
        if request.expected_version is None or request.epoch is None:
            raise InvalidAppend(f"{stream}: an append to a debate needs an expected version and an epoch")
    elif not stream.startswith((CALLS_PREFIX, LOCAL_PREFIX)):
        raise InvalidAppend(f"{stream!r} is no stream; streams are debate/ID, calls/ID and local/ID")
    elif request.epoch is not None:
        raise InvalidAppend(f"{stream}: only a debate is fenced; pass no epoch")
    elif request.expected_version is None and stream.startswith(LOCAL_PREFIX):
        raise InvalidAppend(f"{stream}: an append to it needs an expected version")
    for event in request.events:
        if "\0" in event.event_id or not 0 <= event.recorded_at < _MAX_INTEGER:
            raise InvalidAppend(
                f"{stream}: event {event.event_id!r}, recorded at {event.recorded_at}: no database keeps such an id "
                "or time"
            )


def _parts(events: list[NewEvent]) -> list[Part]:
    return [part for event in events for part in event.parts]


def _needed_parts(request: Append, fresh: list[NewEvent]) -> list[Part]:
    """The parts that new events refer to: one of them may have come with an event that turned out to be a repeat."""
    needed = {decode_digest(ref) for event in fresh for ref in refs_in(json.loads(event.body))}
    return [part for event in request.events for part in event.parts if part.digest in needed]
