"""One group of appends, one transaction."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from jury_events.envelope import StoredEvent
from jury_events.ids import stream_debate
from jury_events.parts import Digest
from jury_store import part_rows
from jury_store.append_plan import Kept, Ledger, NeedsCare, first_refusal
from jury_store.dialects import Dialect
from jury_store.errors import StoreDamaged, StoreError, StoreFailed
from jury_store.event_store import Append, Appended
from jury_store.inventory import Head
from jury_store.schema import POSITION
from jury_store.seal_rows import keep_origin

_ATTEMPTS = 20

Answers = list[Appended | StoreError]


class Extras(NamedTuple):
    """What goes with requests of one debate that are stored together: see `EventStore.append`.

    `eraser` is the database role that deletes texts; None where the database has no roles.
    """

    origin: bytes | None
    erase: Collection[Digest]
    eraser: str | None


def write(
    connection: Connection,
    dialect: Dialect,
    requests: Sequence[Append],
    *,
    together: bool = False,
    extras: Extras | None = None,
) -> Answers:
    """Append the group and commit; see `EventStore.append`.

    The first attempt takes every event to be new, which costs one query; the unique keys say when that was wrong, and
    the group is worked out again against the stored events. On PostgreSQL another writer may come in between: then
    once more.

    Raises:
        DBAPIError: the database failed; nothing of the group is stored.
    """
    careful = False
    for attempt in range(_ATTEMPTS):
        try:
            with connection.begin():
                answers = _attempt(connection, dialect, requests, careful=careful, together=together)
                if extras is not None and first_refusal(answers) is None:
                    _add_extras(connection, dialect, stream_debate(requests[0].stream), extras)
                return answers
        except NeedsCare:
            careful = True
            if attempt == _ATTEMPTS - 1:
                raise StoreFailed("other writers came in between again and again; try again") from None
        except IntegrityError:
            if attempt == _ATTEMPTS - 1 or (careful and dialect.one_writer):
                raise
            careful = True
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in dialect.retry_states or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _add_extras(connection: Connection, dialect: Dialect, debate_id: str, extras: Extras) -> None:
    if extras.origin is not None:
        keep_origin(connection, dialect, debate_id, extras.origin)
    if extras.erase:
        # Last of all: it sets the role of the transaction.
        part_rows.delete(connection, dialect, debate_id, extras.erase, extras.eraser)


def _attempt(
    connection: Connection, dialect: Dialect, requests: Sequence[Append], *, careful: bool, together: bool
) -> Answers:
    streams = dialect.texts({request.stream for request in requests})
    heads = {row[0]: Head(row[1], row[2], row[3]) for row in connection.exec_driver_sql(dialect.lock_heads, (streams,))}
    kept = _KeptRows(connection, dialect, requests) if careful else None
    ledger = Ledger(heads, kept)
    answers = [ledger.admit(request) for request in requests]
    if together and (refusal := first_refusal(answers)) is not None:
        return [refusal] * len(answers)
    _write_ledger(connection, dialect, ledger, heads)
    return answers


def _write_ledger(connection: Connection, dialect: Dialect, ledger: Ledger, before: dict[str, Head]) -> None:
    execute = connection.exec_driver_sql
    if ledger.parts:
        # In one order everywhere, as heads are locked: two writers may bring the same texts of a new debate.
        execute(dialect.insert_part, sorted(tuple(part) for part in ledger.parts))
    if ledger.events:
        # Last of all locks: whoever holds the counter is the next to commit, so positions appear in their order.
        first = counted(connection, dialect.lock_position, POSITION) + 1
        rows = [(position, *event[1:]) for position, event in enumerate(ledger.events, first)]
        _insert_all(connection, dialect.insert_event, rows)
        execute(dialect.set_position, (rows[-1][0],))
    # After the events: the guards compare with them. Heads that are there are locked, and new ones have no other
    # writer, because nobody else holds the counter.
    new_heads = [(*head, stream) for stream, head in ledger.heads.items() if stream not in before]
    if new_heads:
        _insert_all(connection, dialect.insert_head, new_heads)
    old_heads = [(*head, stream) for stream, head in ledger.heads.items() if stream in before]
    if old_heads:
        execute(dialect.update_head, old_heads)


def counted(connection: Connection, statement: str, name: str) -> int:
    """The value of a counter that a statement reads or advances.

    Raises:
        StoreDamaged: there is no such counter.
    """
    found = connection.exec_driver_sql(statement).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise StoreDamaged(
            f"the counter {name!r} is missing from the database, or there are two: it was altered, so nothing more is "
            "written to it. See jury verify --all, and go on from a backup"
        )
    return found[0]


def _insert_all(connection: Connection, statement: str, rows: list[Any]) -> None:
    if connection.exec_driver_sql(statement, rows).rowcount != len(rows):
        raise NeedsCare


class _KeptRows(Kept):
    """What the database holds under the event ids and debates of a group; texts are fetched only when compared."""

    def __init__(self, connection: Connection, dialect: Dialect, requests: Sequence[Append]) -> None:
        self._connection = connection
        self._dialect = dialect
        self._events: dict[tuple[str, str], StoredEvent] = {}
        self._texts: dict[str, dict[Digest, bytes]] = {}
        ids: dict[str, set[str]] = defaultdict(set)
        for request in requests:
            ids[request.stream].update(event.event_id for event in request.events)
        for stream, event_ids in ids.items():
            for row in connection.exec_driver_sql(dialect.events_by_id, (stream, dialect.texts(event_ids))):
                event = StoredEvent(*row)
                self._events[stream, event.event_id] = event
        debates = dialect.texts({stream_debate(stream) for stream in ids if "/" in stream})
        self._digests = {tuple(row) for row in connection.exec_driver_sql(dialect.part_digests, (debates,))}

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        return self._events.get((stream, event_id))

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        return (debate_id, digest) in self._digests

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        if debate_id not in self._texts:
            rows = self._connection.exec_driver_sql(self._dialect.parts_of, (self._dialect.texts([debate_id]),))
            self._texts[debate_id] = {row[1]: row[3] for row in rows}
        return self._texts[debate_id].get(digest)
