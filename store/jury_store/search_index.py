"""What jurors wrote, ready to be searched: the table `search_texts` and its index, made from events and texts.

Like the lists it is carried forward in batches, and made anew at will; unlike them it holds texts (their terms), so
whoever erases a text takes it from here too, in the same transaction. Events that are not carried yet are looked
through as they are read.

All functions work in the transaction that the connection is in.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import BigInteger, Connection, Select, bindparam, column, delete, select, text

from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream, stream_debate
from jury_events.parts import Digest, Part
from jury_store.dialects import Dialect
from jury_store.inventory import erased_in
from jury_store.projection_checkpoints import SEARCH, carried_to, carry_to, locked, made_sure
from jury_store.schema import metadata
from jury_store.search_terms import Texts, contains_terms, searchable_digests, terms_by_event

TAIL = 2000
"""Events that are looked through as they are read, where the index is behind."""

_CHUNK = 400
_texts = metadata.tables["search_texts"]
_ERASED = "texts_erased"


def advance(connection: Connection, dialect: Dialect, limit: int) -> int:
    """Carry the texts of the next `limit` events into the index; gives how many events there were."""
    after = locked(connection, SEARCH)
    events = _events(connection, dialect, after, limit)
    if not events:
        return 0
    _add(connection, dialect, terms_by_event(events, _texts_of(connection, dialect, events)))
    for event in events:
        if event.type == _ERASED:
            forget(connection, dialect, stream_debate(event.stream), erased_in([event.body]))
    carry_to(connection, SEARCH, events[-1].position)
    return len(events)


def clear(connection: Connection, dialect: Dialect) -> None:
    """Forget everything; `advance` makes it anew."""
    made_sure(connection, SEARCH)
    connection.execute(delete(_texts))
    if dialect.forget_all_terms is not None:
        connection.exec_driver_sql(dialect.forget_all_terms)
    carry_to(connection, SEARCH, 0)


def forget(connection: Connection, dialect: Dialect, debate_id: str, digests: Collection[Digest]) -> None:
    """Take texts of a debate out of the index; the others that the same events name stay in it.

    Whoever carries the index forward meanwhile is waited for: it may have read them.
    """
    locked(connection, SEARCH)
    stream = connection.exec_driver_sql(dialect.read_stream, (debate_stream(debate_id), 0))
    events = [StoredEvent(*row) for row in stream]
    touched = [event for event in events if not set(digests).isdisjoint(searchable_digests(event))]
    positions = {event.position for event in touched}
    query = select(_texts.c.position).where(_texts.c.position.in_(bindparam("positions", expanding=True)))
    there = set(connection.execute(query, {"positions": sorted(positions)}).scalars()) if positions else set()
    if not there:
        return
    rows = [(position,) for position in sorted(there)]
    if dialect.forget_terms is not None:
        connection.exec_driver_sql(dialect.forget_terms, rows)
    connection.exec_driver_sql(dialect.delete_search_text, rows)
    left = [event for event in touched if event.position in there]
    texts = _texts_of(connection, dialect, left)
    _add(connection, dialect, terms_by_event(left, {key: text for key, text in texts.items() if key[1] not in digests}))


def debates_that_say(
    dialect: Dialect, sought: Sequence[str], among: Collection[int] | None = None
) -> Select[tuple[int]]:
    """The positions at which debates opened in which somebody says this, as far as the index goes.

    Args:
        dialect: of the database.
        sought: at least one term.
        among: only of these debates.
    """
    asked = text(dialect.search).bindparams(sought=dialect.sought(sought)).columns(column("debate", BigInteger))
    found = asked.subquery()
    query = select(found.c.debate)
    return query if among is None else query.where(found.c.debate.in_(sorted(among)))


def tail(connection: Connection, dialect: Dialect, sought: Sequence[str]) -> frozenset[int]:
    """The same of the next `TAIL` events beyond the index."""
    events = _events(connection, dialect, carried_to(connection, SEARCH), TAIL)
    opened = _openings(connection, events)
    found = terms_by_event(events, _texts_of(connection, dialect, events))
    streams = {event.position: event.stream for event in events}
    return frozenset(
        opened[streams[position]]
        for position, terms in found.items()
        if streams[position] in opened and contains_terms(sought, terms)
    )


def _events(connection: Connection, dialect: Dialect, after: int, limit: int) -> list[StoredEvent]:
    return [StoredEvent(*row) for row in connection.exec_driver_sql(dialect.read_all, (after, limit))]


def _add(connection: Connection, dialect: Dialect, found: Mapping[int, set[str]]) -> None:
    rows = []
    for start in range(0, len(found), _CHUNK):
        chunk = sorted(found)[start : start + _CHUNK]
        # What is there already was carried before somebody set the checkpoint back.
        there = set(connection.scalars(select(_texts.c.position).where(_texts.c.position.in_(chunk))))
        query = select(_events_table.c.position, _opening.c.position).join(
            _opening,
            (_opening.c.stream == _events_table.c.stream) & (_opening.c.version == 1),
        )
        query = query.where(_events_table.c.position.in_(chunk), _opening.c.type == "debate_opened")
        rows += [
            (row[0], row[1], " ".join(sorted(found[row[0]])))
            for row in connection.execute(query)
            if row[0] not in there
        ]
    if rows:
        connection.exec_driver_sql(dialect.insert_search_text, rows)
        if dialect.index_terms is not None:
            connection.exec_driver_sql(dialect.index_terms, [(row[0], row[2]) for row in rows])


_events_table = metadata.tables["events"]
_opening = _events_table.alias("opening")


def _openings(connection: Connection, events: Iterable[StoredEvent]) -> dict[str, int]:
    """The position at which a debate opened, by the stream of what it says."""
    streams = sorted({event.stream for event in events if searchable_digests(event)})
    found: dict[str, int] = {}
    for start in range(0, len(streams), _CHUNK):
        query = select(_opening.c.stream, _opening.c.position).where(
            _opening.c.version == 1,
            _opening.c.type == "debate_opened",
            _opening.c.stream.in_(streams[start : start + _CHUNK]),
        )
        found.update({row[0]: row[1] for row in connection.execute(query)})
    return found


def _texts_of(connection: Connection, dialect: Dialect, events: Iterable[StoredEvent]) -> Texts:
    """The texts that events name, but for those that were altered: nobody reads what does not fit its digest."""
    wanted = list(
        dict.fromkeys((stream_debate(event.stream), one) for event in events for one in searchable_digests(event))
    )
    found: dict[tuple[str, Digest], Part] = {}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        statement = dialect.searchable_digests(len(chunk))
        for debate_id, *fields in connection.exec_driver_sql(statement, tuple(one for pair in chunk for one in pair)):
            part = Part(*fields)
            if part.is_whole:
                found[debate_id, part.digest] = part
    return found


def rows_of_debates(connection: Connection, debates: Iterable[int]) -> dict[int, list[int]]:
    """The positions of the events that the index holds of debates, by the position at which each opened."""
    query = select(_texts.c.debate, _texts.c.position).where(_texts.c.debate.in_(bindparam("debates", expanding=True)))
    found: dict[int, list[int]] = defaultdict(list)
    for debate, position in connection.execute(query, {"debates": sorted(debates)}):
        found[debate].append(position)
    return found
