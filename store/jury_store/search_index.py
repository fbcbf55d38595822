"""The search index over the jurors' texts: the table `search_texts` and its full-text index.

Like the lists it is projected in batches and can be rebuilt; unlike them it contains texts (their terms), so erasing a
text removes its terms in the same transaction. Events after the checkpoint are searched by reading their texts.

All functions work in the transaction of the connection.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from types import MappingProxyType

from sqlalchemy import BigInteger, Connection, Select, bindparam, column, delete, select, text

from jury_events.envelope import erased_in
from jury_events.ids import debate_stream, stream_debate
from jury_events.parts import Digest, Part
from jury_store.committed_events import (
    SEARCH,
    CommittedEvents,
    checkpoint_position,
    lock_checkpoint,
    reset_checkpoint,
    set_checkpoint,
)
from jury_store.event_rows import DriverCursor, read_unchecked_events
from jury_store.schema import metadata
from jury_store.search_terms import (
    SearchableEvent,
    Texts,
    contains_terms,
    searchable_events,
    terms_by_event,
)
from jury_store.sql_dialects import Dialect

TAIL = 2000
"""The most events after the checkpoint that a search reads."""

_CHUNK = 400
_NONE: Texts = MappingProxyType({})
_texts = metadata.tables["search_texts"]


def advance(connection: Connection, dialect: Dialect, limit: int, recent: CommittedEvents) -> int:
    """Index the texts of the next `limit` events; returns how many events there were.

    Args:
        limit: how many events at most.
    """
    begin = lock_checkpoint(connection, dialect, SEARCH)
    events = recent.after(connection, dialect, begin, limit)
    if not events:
        return 0
    searchable = searchable_events(events)
    kept = recent.texts(_texts_wanted(searchable), begin)
    _add(connection, dialect, searchable, _texts_of(connection, dialect, searchable, kept))
    for event in events:
        if event.type == "texts_erased":
            remove(connection, dialect, stream_debate(event.stream), erased_in([event.body]))
    end = events[-1].position
    set_checkpoint(connection, dialect, SEARCH, end)
    recent.reached(SEARCH, end)
    return len(events)


def clear(connection: Connection, dialect: Dialect) -> None:
    """Empty the index; `advance` rebuilds it."""
    reset_checkpoint(connection, dialect, SEARCH)
    connection.execute(delete(_texts))
    if dialect.clear_term_index is not None:
        connection.exec_driver_sql(dialect.clear_term_index)


def remove(connection: Connection, dialect: Dialect, debate_id: str, digests: Collection[Digest]) -> None:
    """Remove texts of a debate from the index; other texts of the same events stay.

    Waits for a concurrent `advance`, which may have read these texts.
    """
    lock_checkpoint(connection, dialect, SEARCH)
    events = read_unchecked_events(connection, dialect.read_stream, (debate_stream(debate_id), 0))
    affected = [one for one in searchable_events(events) if not set(digests).isdisjoint(one.digests)]
    positions = sorted(one.event.position for one in affected)
    query = select(_texts.c.position).where(_texts.c.position.in_(bindparam("positions", expanding=True)))
    indexed = set(connection.execute(query, {"positions": positions}).scalars()) if positions else set()
    if not indexed:
        return
    rows = [(position,) for position in sorted(indexed)]
    if dialect.unindex_terms is not None:
        connection.exec_driver_sql(dialect.unindex_terms, rows)
    connection.exec_driver_sql(dialect.delete_search_text, rows)
    left = [one for one in affected if one.event.position in indexed]
    texts = _texts_of(connection, dialect, left)
    _add(connection, dialect, left, {key: text for key, text in texts.items() if key[1] not in digests})


def debates_matching(
    dialect: Dialect, terms: Sequence[str], among: Collection[int] | None = None
) -> Select[tuple[int]]:
    """A query for the opening positions of debates in which an indexed text contains the terms.

    Args:
        terms: at least one.
        among: opening positions of the debates to search; None: all.
    """
    matching = text(dialect.search).bindparams(query=dialect.search_query(terms))
    found = matching.columns(column("debate", BigInteger)).subquery()
    query = select(found.c.debate)
    return query if among is None else query.where(found.c.debate.in_(sorted(among)))


def tail_matches(connection: Connection, dialect: Dialect, terms: Sequence[str]) -> frozenset[int]:
    """The same for the next `TAIL` events after the checkpoint."""
    events = read_unchecked_events(connection, dialect.read_all, (checkpoint_position(connection, SEARCH), TAIL))
    searchable = searchable_events(events)
    opened = _openings(connection, dialect, searchable)
    found = terms_by_event(searchable, _texts_of(connection, dialect, searchable))
    streams = {event.position: event.stream for event in events}
    return frozenset(
        opened[streams[position]]
        for position, event_terms in found.items()
        if streams[position] in opened and contains_terms(terms, event_terms)
    )


def _add(connection: Connection, dialect: Dialect, events: Sequence[SearchableEvent], texts: Texts) -> None:
    found = terms_by_event(events, texts)
    if not found:
        return
    cursor = DriverCursor(connection)
    # Rows exist already where the checkpoint was set back by another program.
    existing = {row[0] for row in cursor.rows(dialect.indexed_texts, (min(found), max(found)))}
    opened = _openings(connection, dialect, events)
    joined: dict[int, str] = {}
    rows = []
    for event, _, _ in events:
        terms, debate = found.get(event.position), opened.get(event.stream)
        if terms is None or debate is None or event.position in existing:
            continue
        # Events with the same text have the same terms.
        if (line := joined.get(id(terms))) is None:
            line = joined[id(terms)] = " ".join(sorted(terms))
        rows.append((event.position, debate, line))
    if rows:
        cursor.execute_many(dialect.insert_search_text, rows)
        if dialect.index_terms is not None:
            cursor.execute_many(dialect.index_terms, [(row[0], row[2]) for row in rows])


def _openings(connection: Connection, dialect: Dialect, events: Iterable[SearchableEvent]) -> dict[str, int]:
    streams = dialect.id_list(sorted({one.event.stream for one in events}))
    return {row[0]: row[1] for row in DriverCursor(connection).rows(dialect.openings, (streams,))}


def _texts_wanted(events: Iterable[SearchableEvent]) -> dict[tuple[str, Digest], None]:
    """Debate and digest of each searchable text, once, in order."""
    return dict.fromkeys([(event.debate_id, one) for event in events for one in event.digests])


def _texts_of(
    connection: Connection, dialect: Dialect, events: Iterable[SearchableEvent], kept: Texts = _NONE
) -> Texts:
    """The searchable texts of events, without those that do not match their digest; `kept` are not read."""
    found = dict(kept)
    unread = [key for key in _texts_wanted(events) if key not in found]
    for start in range(0, len(unread), _CHUNK):
        chunk = unread[start : start + _CHUNK]
        statement = dialect.parts_by_digest(len(chunk))
        for debate_id, *fields in DriverCursor(connection).rows(
            statement, tuple(one for pair in chunk for one in pair)
        ):
            part = Part(*fields)
            found[debate_id, part.digest] = part
    return {key: part for key, part in found.items() if part.is_whole}


def indexed_events(connection: Connection, debates: Iterable[int]) -> dict[int, list[int]]:
    """Positions of the indexed events of debates, by opening position."""
    query = select(_texts.c.debate, _texts.c.position).where(_texts.c.debate.in_(bindparam("debates", expanding=True)))
    found: dict[int, list[int]] = defaultdict(list)
    for debate, position in connection.execute(query, {"debates": sorted(debates)}):
        found[debate].append(position)
    return found
