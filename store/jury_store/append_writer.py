"""Writing what append plans decided, and deleting texts."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from jury_events.envelope import StoredEvent
from jury_events.ids import owner_stream, stream_debate
from jury_events.parts import Digest
from jury_events.streams import Head
from jury_store import search_index
from jury_store.append_plan import AppendPlan, LogLookup, NeedsLookup, PartRow, first_refusal
from jury_store.committed_events import CommittedEvents
from jury_store.dialects import Dialect
from jury_store.errors import ErasureNotRecorded, StoreFailed
from jury_store.event_rows import DriverCursor, read_events, the_counter
from jury_store.event_store import Append, AppendResults
from jury_store.schema import POSITION
from jury_store.seal_rows import store_origin

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
    atomic: AtomicExtras | None = None,
) -> AppendResults:
    """Append the group and commit; see `EventStore.append`. What was stored is kept in `recent`.

    The first attempt assumes that no event is a repeat, which costs one query. Where a unique key is violated, the
    group is planned again against the stored events; on PostgreSQL repeatedly, as other writers may commit in between.
    """
    with_lookup = False
    for attempt in range(_ATTEMPTS):
        try:
            with connection.begin():
                done = _attempt(connection, dialect, requests, with_lookup=with_lookup, atomic=atomic is not None)
                if atomic is not None and first_refusal(done.results) is None:
                    _write_extras(connection, dialect, stream_debate(requests[0].stream), atomic)
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
    results = [plan.admit(request) for request in requests]
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
        _insert_all(cursor, dialect.insert_event, rows)
        cursor.execute(dialect.set_position, (rows[-1].position,))
    # After the events, which the triggers compare with. Existing heads are locked, and new ones have no other writer,
    # because this one has the counter locked.
    new_heads = [(*head, stream) for stream, head in plan.heads.items() if stream not in before]
    if new_heads:
        _insert_all(cursor, dialect.insert_head, new_heads)
    old_heads = [(*head, stream) for stream, head in plan.heads.items() if stream in before]
    if old_heads:
        cursor.execute_many(dialect.update_head, old_heads)
    return rows


def _insert_all(cursor: DriverCursor, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    if cursor.execute_many(statement, rows) != len(rows):
        raise NeedsLookup


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
