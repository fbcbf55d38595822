"""What an append changes, decided from the heads and events that are stored: pure.

A resent event is accepted if type, schema, fields and texts are equal; times and salts may differ.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from jury_events.envelope import END_OF_TIME, GENESIS, MOST_NAME, NewEvent, StoredEvent, chain_hash
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, KNOWN_PREFIXES, stream_debate
from jury_events.parts import Digest, Part, decode_digest, refs_in
from jury_events.streams import Head
from jury_store.errors import AppendRefused, EventConflict, Fenced, InvalidAppend, StoreError, WrongVersion
from jury_store.event_store import Append, Appended, AppendResults

TextOf = Callable[[Digest], bytes | None]


def is_same_event(new: NewEvent, new_text: TextOf, stored: StoredEvent, stored_text: TextOf) -> bool:
    """True when type, schema, fields and texts are equal; times and salts may differ.

    The digest of a text depends on its salt, so references are compared by the texts. A deleted stored text counts as
    equal.
    """
    if new.type != stored.type or new.schema != stored.schema:
        return False
    if new.body == stored.body:
        return True
    try:
        return _equal(json.loads(new.body), new_text, json.loads(stored.body), stored_text)
    except ValueError:
        return False


def _equal(new: Any, new_text: TextOf, stored: Any, stored_text: TextOf) -> bool:
    if type(new) is not type(stored):
        return False
    if isinstance(new, dict):
        if new.keys() != stored.keys():
            return False
        if new.keys() == {"part"} and isinstance(new["part"], str) and isinstance(stored["part"], str):
            return new == stored or _same_text(
                new_text(decode_digest(new["part"])), stored_text(decode_digest(stored["part"]))
            )
        return all(_equal(value, new_text, stored[key], stored_text) for key, value in new.items())
    if isinstance(new, list):
        return len(new) == len(stored) and all(
            _equal(one, new_text, other, stored_text) for one, other in zip(new, stored, strict=True)
        )
    return bool(new == stored)


def _same_text(new: bytes | None, stored: bytes | None) -> bool:
    return new is not None and (stored is None or new == stored)


NEW_STREAM = Head(0, 0, GENESIS)
MOST_STREAM = 500
"""Bytes of the name of a stream: with the longest id of an event it fits into the databases' indexes."""

_MOST_SCHEMA = 2**31
_SHOWN = 2**63
"""The largest number that a message shows."""


class NeedsLookup(Exception):
    """The group cannot be decided without reading stored events."""


class LogLookup(Protocol):
    """Stored events and texts of the streams and debates in a group."""

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        """The stored event with that id."""
        ...

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        """Whether the text is stored."""
        ...

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        """The stored text; None when it is not stored, or was deleted."""
        ...


class PartRow(NamedTuple):
    """A row of the table `parts`."""

    debate_id: str
    digest: Digest
    salt: bytes
    content: bytes


class AppendPlan:
    """Admits requests one by one; then `events` (without positions), `parts` and `heads` are the rows to write.

    Without `lookup` it assumes that no event is a repeat, and raises `NeedsLookup` where that cannot be. The database's
    unique keys detect other repeats; then the group is planned again with `lookup`.
    """

    def __init__(self, heads: Mapping[str, Head], lookup: LogLookup | None = None) -> None:
        self._before = heads
        self._lookup = lookup
        self.heads: dict[str, Head] = {}
        self.events: list[StoredEvent] = []
        self.parts: list[PartRow] = []
        self._admitted: dict[tuple[str, str], StoredEvent] = {}
        self._new_parts: dict[tuple[str, Digest], bytes] = {}

    def admit(self, request: Append) -> Appended | StoreError:
        """The result of `request`; its rows are in the plan unless it is refused."""
        try:
            return self._admit(request)
        except AppendRefused as refusal:
            return refusal
        except UnicodeEncodeError as error:
            return InvalidAppend(f"{request.stream!r}: an id is not valid Unicode: {error}")

    def _admit(self, request: Append) -> Appended:
        _check(request)
        stream, epoch = request.stream, request.epoch
        head = self.heads.get(stream) or self._before.get(stream, NEW_STREAM)
        if epoch is not None and epoch < head.epoch:
            # The same text for every fenced debate, so that it is reported once.
            raise Fenced(
                f"another process took over this store (its epoch is {head.epoch}, this one's is {epoch}), so this "
                "process writes nothing more. Stored events are not lost: let the other process finish, or end it, and "
                "run the same command again"
            )
        fresh = self._fresh(request) if self._lookup is not None else list(request.events)
        stale = request.expected_version is not None and request.expected_version != head.version
        if stale and fresh:
            if self._lookup is None:
                raise NeedsLookup
            raise WrongVersion(
                f"{stream} is at version {head.version}, not {request.expected_version}, so event "
                f"{fresh[0].event_id!r} was not stored. Read the stream again and decide again"
            )
        repeated = len(request.events) - len(fresh)
        version = self._add(request, fresh, head, repeated=bool(repeated))
        return Appended(stream, version, repeated)

    def _fresh(self, request: Append) -> list[NewEvent]:
        """The events that are not stored; raises `EventConflict` for an id that is stored with another content."""
        stream, lookup = request.stream, self._lookup
        debate_id = stream_debate(stream)
        sent = {part.digest: part.content for event in request.events for part in event.parts}
        fresh: dict[str, NewEvent] = {}

        def stored_text(digest: Digest) -> bytes | None:
            found = self._new_parts.get((debate_id, digest))
            return found if found is not None or lookup is None else lookup.text(debate_id, digest)

        def sent_text(digest: Digest) -> bytes | None:
            found = sent.get(digest)
            return found if found is not None else stored_text(digest)

        for event in request.events:
            stored = self._admitted.get((stream, event.event_id))
            if stored is None and lookup is not None:
                stored = lookup.event(stream, event.event_id)
            if stored is None and (twin := fresh.get(event.event_id)) is not None:
                stored = StoredEvent(0, stream, 0, twin.event_id, twin.type, twin.schema, 0, twin.body, b"")
                same = is_same_event(event, sent_text, stored, sent_text)
            elif stored is None:
                fresh[event.event_id] = event
                continue
            else:
                same = is_same_event(event, sent_text, stored, stored_text)
            if not same:
                raise EventConflict(
                    f"{stream}: event {event.event_id!r} ({event.type}) is stored already with another content. "
                    "Read the stream again; two writers disagree about what happened"
                )
        return list(fresh.values())

    def _add(self, request: Append, fresh: list[NewEvent], head: Head, *, repeated: bool) -> int:
        stream = request.stream
        version, previous = head.version, head.hash
        rows: list[StoredEvent] = []
        parts: list[Part] = []
        for event_id, kind, schema, recorded_at, body, brought in fresh:
            version += 1
            previous = chain_hash(
                previous,
                stream=stream,
                version=version,
                event_id=event_id,
                event_type=kind,
                schema=schema,
                recorded_at=recorded_at,
                body=body,
            )
            rows.append(StoredEvent(0, stream, version, event_id, kind, schema, recorded_at, body, previous))
            parts += brought
        self.events += rows
        if self._lookup is not None:
            self._admitted.update({(stream, row.event_id): row for row in rows})
        epoch = head.epoch if request.epoch is None else request.epoch
        if fresh or (epoch != head.epoch and version):
            self.heads[stream] = Head(version, epoch, previous)
        if repeated:
            parts = _needed_parts(request, fresh)
        if parts:
            self._add_parts(stream_debate(stream), parts)
        return version

    def _add_parts(self, debate_id: str, parts: list[Part]) -> None:
        for digest, salt, content in parts:
            key = (debate_id, digest)
            if key in self._new_parts or (self._lookup is not None and self._lookup.has_part(*key)):
                continue
            self._new_parts[key] = content
            self.parts.append(PartRow(debate_id, digest, salt, content))


def first_refusal(results: AppendResults) -> StoreError | None:
    """The first error among the results of an atomic group; None where no request was refused."""
    return next((result for result in results if isinstance(result, StoreError)), None)


def _check(request: Append) -> None:
    stream = request.stream
    if len(stream.encode("utf-8", "surrogatepass")) > MOST_STREAM:
        raise InvalidAppend(f"{stream:.100}…: the name of a stream has at most {MOST_STREAM} bytes")
    if stream.startswith(DEBATE_PREFIX):
        if request.expected_version is None or request.epoch is None:
            raise InvalidAppend(f"{stream}: an append to a debate needs an expected version and an epoch")
    elif not stream.startswith(KNOWN_PREFIXES):
        raise InvalidAppend(
            f"{stream!r} is not a stream; streams are {', '.join(f'{prefix}ID' for prefix in KNOWN_PREFIXES)}"
        )
    elif request.epoch is not None:
        raise InvalidAppend(f"{stream}: only debate streams are fenced; pass no epoch")
    elif request.expected_version is None and not stream.startswith(CALLS_PREFIX):
        raise InvalidAppend(f"{stream}: an append needs an expected version")
    for event in request.events:
        if (
            "\0" in event.event_id
            or len(event.event_id.encode("utf-8", "surrogatepass")) > MOST_NAME
            or len(event.type.encode("utf-8", "surrogatepass")) > MOST_NAME
            or not 0 <= event.recorded_at < END_OF_TIME
            or not 0 < event.schema < _MOST_SCHEMA
        ):
            at = min(max(event.recorded_at, -_SHOWN), _SHOWN)
            raise InvalidAppend(
                f"{stream:.300}: event {event.event_id!r:.300}, recorded at {at}: no log can have such an id, type, "
                "schema or time"
            )


def _needed_parts(request: Append, fresh: list[NewEvent]) -> list[Part]:
    needed = {decode_digest(ref) for event in fresh for ref in refs_in(json.loads(event.body))}
    return [part for event in request.events for part in event.parts if part.digest in needed]
