"""What an append changes, decided from the heads and events that are stored; then it is written.

A resent event is accepted if type, schema, fields and texts are equal; times and salts may differ.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from jury_events.envelope import END_OF_TIME, GENESIS, MOST_NAME, Head, NewEvent, StoredEvent, chain_hash
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, KNOWN_PREFIXES, owner_stream, stream_debate
from jury_events.parts import Digest, Part, decode_digest, refs_in
from jury_store import search_index
from jury_store.committed_events import CommittedEvents
from jury_store.errors import (
    AppendRefused,
    ErasureNotRecorded,
    EventConflict,
    Fenced,
    InvalidAppend,
    StoreError,
    StoreFailed,
    WrongVersion,
)
from jury_store.event_rows import DriverCursor, PartRow, read_events, the_counter
from jury_store.event_store import Append, Appended, AppendResults
from jury_store.schema import POSITION
from jury_store.seal_rows import store_origin
from jury_store.sql_dialects import Dialect

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


@dataclass
class AppendPlan:
    """Admits requests one by one; then `events` (without positions), `parts` and `heads` are the rows to write.

    Without `lookup` it assumes that no event is a repeat, and raises `NeedsLookup` where that cannot be. The database's
    unique keys detect other repeats; then the group is planned again with `lookup`.
    """

    before: Mapping[str, Head]
    lookup: LogLookup | None = None
    heads: dict[str, Head] = field(default_factory=dict)
    events: list[StoredEvent] = field(default_factory=list)
    parts: list[PartRow] = field(default_factory=list)
    _admitted: dict[tuple[str, str], StoredEvent] = field(default_factory=dict)
    _new_parts: dict[tuple[str, Digest], bytes] = field(default_factory=dict)

    def admit(self, request: Append) -> Appended:
        """The result of `request`, whose rows are in the plan then; raises `AppendRefused`."""
        _check(request)
        stream, epoch = request.stream, request.epoch
        head = self.heads.get(stream) or self.before.get(stream, NEW_STREAM)
        if epoch is not None and epoch < head.epoch:
            # The same text for every fenced debate, so that it is reported once.
            raise Fenced(
                f"another process took over this store (its epoch is {head.epoch}, this one's is {epoch}), so this "
                "process writes nothing more. Stored events are not lost: let the other process finish, or end it, and "
                "run the same command again"
            )
        fresh = self._fresh(request) if self.lookup is not None else list(request.events)
        stale = request.expected_version is not None and request.expected_version != head.version
        if stale and fresh:
            if self.lookup is None:
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
        stream, lookup = request.stream, self.lookup
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
        if self.lookup is not None:
            self._admitted.update({(stream, row.event_id): row for row in rows})
        epoch = head.epoch if request.epoch is None else request.epoch
        if fresh or (epoch != head.epoch and version):
            self.heads[stream] = Head(version, epoch, previous)
        if repeated:
            parts = _needed_parts(request, fresh)
        debate_id = stream_debate(stream) if parts else ""
        for digest, salt, content in parts:
            key = (debate_id, digest)
            if key in self._new_parts or (self.lookup is not None and self.lookup.has_part(*key)):
                continue
            self._new_parts[key] = content
            self.parts.append(PartRow(debate_id, digest, salt, content))
        return version


def first_refusal(results: AppendResults) -> StoreError | None:
    """The first error among the results of an atomic group; None where no request was refused."""
    for result in results:
        if isinstance(result, StoreError):
            return result
    return None


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


_ATTEMPTS = 20


class AtomicExtras(NamedTuple):
    """`origin` and `erase` of `EventStore.append`.

    `eraser` is the database role that deletes texts; None where the database has no roles.
    """

    origin: bytes | None
    erase: Collection[Digest]
    eraser: str | None


class _Written(NamedTuple):
    results: AppendResults
    events: list[StoredEvent]
    parts: list[PartRow]


def write(
    connection: Connection,
    dialect: Dialect,
    requests: Sequence[Append],
    recent: CommittedEvents,
    *,
    atomic: bool = False,
    extras: AtomicExtras | None = None,
) -> AppendResults:
    """Append the group and commit; see `EventStore.append`. What was stored is kept in `recent`.

    The first attempt assumes that no event is a repeat, which costs one query. Where a unique key is violated, the
    group is planned again against the stored events; on PostgreSQL repeatedly, as other writers may commit in between.
    """
    with_lookup = False
    for attempt in range(_ATTEMPTS):
        try:
            with connection.begin():
                done = _attempt(connection, dialect, requests, with_lookup=with_lookup, atomic=atomic)
                if extras is not None and first_refusal(done.results) is None:
                    _write_extras(connection, dialect, stream_debate(requests[0].stream), extras)
        except NeedsLookup:
            with_lookup = True
            if attempt == _ATTEMPTS - 1:
                raise StoreFailed(f"other writers interfered {_ATTEMPTS} times in a row; try again") from None
        except IntegrityError:
            if attempt == _ATTEMPTS - 1 or (with_lookup and dialect.one_writer):
                raise
            with_lookup = True
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in dialect.retry_states or attempt == _ATTEMPTS - 1:
                raise
        else:
            recent.keep(requests, done.events, done.parts)
            return done.results
    raise AssertionError("unreachable")


def _write_extras(connection: Connection, dialect: Dialect, debate_id: str, extras: AtomicExtras) -> None:
    if extras.origin is not None:
        store_origin(connection, dialect, debate_id, extras.origin)
    if extras.erase:
        # Last of all: it sets the role of the transaction.
        delete_texts(connection, dialect, debate_id, extras.erase, extras.eraser)


def _attempt(
    connection: Connection, dialect: Dialect, requests: Sequence[Append], *, with_lookup: bool, atomic: bool
) -> _Written:
    streams = dialect.id_list({request.stream for request in requests})
    cursor = DriverCursor(connection)
    heads = {row[0]: Head(row[1], row[2], row[3]) for row in cursor.rows(dialect.lock_heads, (streams,))}
    lookup = _SqlLookup(connection, dialect, requests) if with_lookup else None
    if lookup is not None and not dialect.one_writer and not lookup.streams <= heads.keys():
        raise NeedsLookup  # another writer began the stream after the heads were read
    plan = AppendPlan(heads, lookup)
    results: AppendResults = []
    for request in requests:
        try:
            results.append(plan.admit(request))
        except AppendRefused as refused:
            results.append(refused)
        except UnicodeEncodeError as error:
            results.append(InvalidAppend(f"{request.stream!r}: an id is not valid Unicode: {error}"))
    if atomic and (refusal := first_refusal(results)) is not None:
        return _Written([refusal] * len(results), [], [])
    return _Written(results, _write_plan(cursor, dialect, plan, heads), plan.parts)


def _write_plan(cursor: DriverCursor, dialect: Dialect, plan: AppendPlan, before: dict[str, Head]) -> list[StoredEvent]:
    rows: list[StoredEvent] = []
    if plan.parts:
        # Sorted, as heads are locked in order: two writers may insert the same texts of a new debate.
        cursor.execute_many(dialect.insert_part, sorted(plan.parts))
    if plan.events:
        # The last lock: its owner is the next to commit, so positions appear in commit order.
        first = the_counter(cursor.rows(dialect.lock_position), POSITION) + 1
        rows = [StoredEvent(position, *event[1:]) for position, event in enumerate(plan.events, first)]
        if cursor.execute_many(dialect.insert_event, rows) != len(rows):
            raise NeedsLookup
        cursor.execute(dialect.set_position, (rows[-1].position,))
    # After the events, which the triggers compare with. Existing heads are locked, and new ones have no other writer,
    # because this one has the counter locked.
    new_heads: list[tuple[Any, ...]] = []
    old_heads: list[tuple[Any, ...]] = []
    for stream, head in plan.heads.items():
        (old_heads if stream in before else new_heads).append((*head, stream))
    if new_heads and cursor.execute_many(dialect.insert_head, new_heads) != len(new_heads):
        raise NeedsLookup
    if old_heads:
        cursor.execute_many(dialect.update_head, old_heads)
    return rows


class _SqlLookup(LogLookup):
    """Stored events and digests for the requests of a group; texts are fetched only when compared."""

    def __init__(self, connection: Connection, dialect: Dialect, requests: Sequence[Append]) -> None:
        self._connection = connection
        self._dialect = dialect
        self._events: dict[tuple[str, str], StoredEvent] = {}
        self._texts: dict[str, dict[Digest, bytes]] = {}
        ids: dict[str, set[str]] = defaultdict(set)
        for request in requests:
            ids[request.stream].update(event.event_id for event in request.events)
        for stream, event_ids in ids.items():
            for event in read_events(connection, dialect.events_by_id, (stream, dialect.id_list(event_ids))):
                self._events[stream, event.event_id] = event
        debates = dialect.id_list({stream_debate(stream) for stream in ids if "/" in stream})
        self._digests = {tuple(row) for row in connection.exec_driver_sql(dialect.part_digests, (debates,))}

    @property
    def streams(self) -> set[str]:
        """Those of which events are repeated."""
        return {stream for stream, _ in self._events}

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        return self._events.get((stream, event_id))

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        return (debate_id, digest) in self._digests

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        if debate_id not in self._texts:
            rows = self._connection.exec_driver_sql(self._dialect.parts_of, (self._dialect.id_list([debate_id]),))
            self._texts[debate_id] = {row[1]: row[3] for row in rows}
        return self._texts[debate_id].get(digest)


def delete_texts(
    connection: Connection, dialect: Dialect, debate_id: str, digests: Collection[Digest], role: str | None
) -> int:
    """Delete texts of a debate, their salts and their search terms; returns how many were stored.

    Sets the database role `role` where there is one.
    """
    execute = connection.exec_driver_sql
    if not execute(dialect.erasures, (owner_stream(debate_id),)).first():
        raise ErasureNotRecorded.of(debate_id)
    if role is not None:
        execute(f"SET LOCAL ROLE {role}")
    search_index.remove(connection, dialect, debate_id, digests)
    rows = [(debate_id, digest) for digest in set(digests)]
    return execute(dialect.delete_part, rows).rowcount if rows else 0
