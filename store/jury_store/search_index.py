"""The search index over the jurors' texts: the table `search_texts` and its full-text index.

Like the lists it is projected in batches and can be rebuilt; unlike them it contains texts (their terms), so erasing a
text removes its terms in the same transaction. Events after the checkpoint are searched by reading their texts.

All functions work in the transaction of the connection.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import BigInteger, Connection, Select, bindparam, column, delete, select, text

from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream, stream_debate
from jury_events.parts import Digest, Part
from jury_store.dialects import Dialect
from jury_store.event_rows import read_events
from jury_store.inventory import erased_in
from jury_store.projection_checkpoints import (
    SEARCH,
    checkpoint_position,
    lock_checkpoint,
    reset_checkpoint,
    set_checkpoint,
)
from jury_store.schema import metadata
from jury_store.search_terms import Texts, contains_terms, searchable_digests, terms_by_event

TAIL = 2000
"""The most events after the checkpoint that a search reads."""

_CHUNK = 400
_texts = metadata.tables["search_texts"]
_events = metadata.tables["events"]
_opening = _events.alias("opening")


def advance(connection: Connection, dialect: Dialect, limit: int) -> int:
    """Index the texts of the next `limit` events; returns how many events there were."""
    events = read_events(connection, dialect.read_all, (lock_checkpoint(connection, SEARCH), limit))
    if not events:
        return 0
    _add(connection, dialect, terms_by_event(events, _texts_of(connection, dialect, events)))
    for event in events:
        if event.type == "texts_erased":
            remove(connection, dialect, stream_debate(event.stream), erased_in([event.body]))
    set_checkpoint(connection, SEARCH, events[-1].position)
    return len(events)


def clear(connection: Connection, dialect: Dialect) -> None:
    """Empty the index; `advance` rebuilds it."""
    reset_checkpoint(connection, SEARCH)
    connection.execute(delete(_texts))
    if dialect.clear_term_index is not None:
        connection.exec_driver_sql(dialect.clear_term_index)


def remove(connection: Connection, dialect: Dialect, debate_id: str, digests: Collection[Digest]) -> None:
    """Remove texts of a debate from the index; other texts of the same events stay.

    Waits for a concurrent `advance`, which may have read these texts.
    """
    lock_checkpoint(connection, SEARCH)
    events = read_events(connection, dialect.read_stream, (debate_stream(debate_id), 0))
    affected = [event for event in events if not set(digests).isdisjoint(searchable_digests(event))]
    positions = sorted(event.position for event in affected)
    query = select(_texts.c.position).where(_texts.c.position.in_(bindparam("positions", expanding=True)))
    indexed = set(connection.execute(query, {"positions": positions}).scalars()) if positions else set()
    if not indexed:
        return
    rows = [(position,) for position in sorted(indexed)]
    if dialect.unindex_terms is not None:
        connection.exec_driver_sql(dialect.unindex_terms, rows)
    connection.exec_driver_sql(dialect.delete_search_text, rows)
    left = [event for event in affected if event.position in indexed]
    texts = _texts_of(connection, dialect, left)
    _add(connection, dialect, terms_by_event(left, {key: text for key, text in texts.items() if key[1] not in digests}))


def debates_matching(
    dialect: Dialect, terms: Sequence[str], among: Collection[int] | None = None
) -> Select[tuple[int]]:
    """A query for the opening positions of debates in which an indexed text contains the terms.

    Args:
        dialect: of the database.
        terms: at least one.
        among: opening positions of the debates to search; None: all.
    """
    matching = text(dialect.search).bindparams(query=dialect.search_query(terms))
    found = matching.columns(column("debate", BigInteger)).subquery()
    query = select(found.c.debate)
    return query if among is None else query.where(found.c.debate.in_(sorted(among)))


def tail_matches(connection: Connection, dialect: Dialect, terms: Sequence[str]) -> frozenset[int]:
    """The same for the next `TAIL` events after the checkpoint."""
    events = read_events(connection, dialect.read_all, (checkpoint_position(connection, SEARCH), TAIL))
    opened = _openings(connection, events)
    found = terms_by_event(events, _texts_of(connection, dialect, events))
    streams = {event.position: event.stream for event in events}
    return frozenset(
        opened[streams[position]]
        for position, event_terms in found.items()
        if streams[position] in opened and contains_terms(terms, event_terms)
    )


def _add(connection: Connection, dialect: Dialect, found: Mapping[int, set[str]]) -> None:
    rows = []
    for start in range(0, len(found), _CHUNK):
        chunk = sorted(found)[start : start + _CHUNK]
        # Rows exist already where the checkpoint was set back by another program.
        existing = set(connection.scalars(select(_texts.c.position).where(_texts.c.position.in_(chunk))))
        query = select(_events.c.position, _opening.c.position).join(
            _opening, (_opening.c.stream == _events.c.stream) & (_opening.c.version == 1)
        )
        query = query.where(_events.c.position.in_(chunk), _opening.c.type == "debate_opened")
        rows += [
            (row[0], row[1], " ".join(sorted(found[row[0]])))
            for row in connection.execute(query)
            if row[0] not in existing
        ]
    if rows:
        connection.exec_driver_sql(dialect.insert_search_text, rows)
        if dialect.index_terms is not None:
            connection.exec_driver_sql(dialect.index_terms, [(row[0], row[2]) for row in rows])


def _openings(connection: Connection, events: Iterable[StoredEvent]) -> dict[str, int]:
    """Opening position by stream, for events with searchable texts."""
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
    """The searchable texts of events, without those that do not match their digest."""
    wanted = list(
        dict.fromkeys((stream_debate(event.stream), one) for event in events for one in searchable_digests(event))
    )
    found: dict[tuple[str, Digest], Part] = {}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        statement = dialect.parts_by_digest(len(chunk))
        for debate_id, *fields in connection.exec_driver_sql(statement, tuple(one for pair in chunk for one in pair)):
            part = Part(*fields)
            if part.is_whole:
                found[debate_id, part.digest] = part
    return found


def indexed_events(connection: Connection, debates: Iterable[int]) -> dict[int, list[int]]:
    """Positions of the indexed events of debates, by opening position."""
    query = select(_texts.c.debate, _texts.c.position).where(_texts.c.debate.in_(bindparam("debates", expanding=True)))
    found: dict[int, list[int]] = defaultdict(list)
    for debate, position in connection.execute(query, {"debates": sorted(debates)}):
        found[debate].append(position)
    return found
