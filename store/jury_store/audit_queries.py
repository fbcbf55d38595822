"""Queries for verification: everything stored of debates, consistent or not."""

# ruff: noqa: S608  (the statements are put together from constants)

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection

from jury_events.debate_history import DebateHistory
from jury_events.ids import KNOWN_PREFIXES, OF_NO_DEBATE, PREFIXES, stream_debate, streams_of
from jury_events.parts import Digest, Part, encode_digest
from jury_events.streams import Head
from jury_store.dialects import Dialect
from jury_store.event_rows import by_stream, read_unchecked_events
from jury_store.inventory import Inventory
from jury_store.row_checks import row_faults
from jury_store.schema import EPOCH, POSITION


def _ids_of(table: str, prefix: str) -> str:
    # "0" follows "/" in ASCII: a range that selects the prefix and uses the index.
    return (
        f"SELECT substr(stream, {len(prefix) + 1}) AS id FROM (SELECT DISTINCT stream FROM {table} "
        f"WHERE stream > ? AND stream < '{prefix[:-1]}0' ORDER BY stream LIMIT ?) AS {table}_{prefix[:-1]}"
    )


_DEBATE_IDS = (
    "SELECT DISTINCT id FROM ("
    + " UNION ALL ".join(_ids_of(table, prefix) for table in ("streams", "events") for prefix in PREFIXES)
    + " UNION ALL SELECT id FROM (SELECT DISTINCT debate_id AS id FROM parts WHERE debate_id > ? "
    "ORDER BY debate_id LIMIT ?) AS of_parts) AS found ORDER BY id LIMIT ?"
)
_COUNTS = "SELECT count(*), coalesce(max(position), 0) FROM events"
_HIGHEST_EPOCH = "SELECT max(epoch) FROM streams"
_FIRST_MISSING = (
    "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM events WHERE position = 1) UNION ALL "
    "SELECT * FROM (SELECT position + 1 FROM events e WHERE NOT EXISTS "
    "(SELECT 1 FROM events n WHERE n.position = e.position + 1) ORDER BY position LIMIT 1) AS gap"
)
_STRAYS = " UNION ".join(
    f"SELECT DISTINCT stream FROM {table} WHERE "
    + " AND ".join(f"NOT (stream > '{prefix}' AND stream < '{prefix[:-1]}0')" for prefix in KNOWN_PREFIXES)
    for table in ("streams", "events")
)

_ORIGINS = (
    "SELECT debate_id FROM origins WHERE NOT EXISTS (SELECT 1 FROM streams "
    "WHERE stream IN ('debate/' || debate_id, 'batches/' || debate_id))"
)


def debate_ids(connection: Connection, dialect: Dialect, after: str, limit: int) -> list[str]:
    """Ids after `after`, by code point, with an event, a head or a text."""
    streams = [value for prefix in PREFIXES for value in (prefix + after, limit)]
    statement = _DEBATE_IDS.replace("?", "%s") if dialect.name == "postgresql" else _DEBATE_IDS
    rows = connection.exec_driver_sql(statement, (*streams, *streams, after, limit, limit))
    # On SQLite an id may be a blob; `row_checks` reports such rows.
    return [row[0] for row in rows if isinstance(row[0], str)]


_IDS = {
    prefix: " UNION ".join(
        f"SELECT stream FROM {table} WHERE stream > '{prefix}' AND stream < '{prefix[:-1]}0'"
        for table in ("streams", "events")
    )
    for prefix in OF_NO_DEBATE
}


def ids_of(connection: Connection, prefix: str) -> list[str]:
    """The ids of the streams of a prefix of `OF_NO_DEBATE` that have an event or a head, sorted."""
    rows = connection.exec_driver_sql(_IDS[prefix])
    return sorted(stream_debate(row[0]) for row in rows if isinstance(row[0], str))


def inventory(connection: Connection) -> Inventory:
    """Figures over the whole log."""
    execute = connection.exec_driver_sql
    events, last = execute(_COUNTS).one()
    missing = None
    if events != last:
        missing = next((row[0] for row in execute(_FIRST_MISSING) if row[0] <= last), None)
    strays = tuple(sorted(row[0] for row in execute(_STRAYS) if isinstance(row[0], str)))
    origins = tuple(sorted(row[0] for row in execute(_ORIGINS) if isinstance(row[0], str)))
    counters = {name: value for name, value in execute("SELECT name, value FROM counters") if isinstance(value, int)}
    highest = execute(_HIGHEST_EPOCH).scalar()
    return Inventory(
        events,
        last,
        counters.get(POSITION),
        missing,
        strays,
        origins,
        counters.get(EPOCH),
        highest if isinstance(highest, int) else 0,
        tuple(row_faults(connection)),
    )


def histories(connection: Connection, dialect: Dialect, ids: Sequence[str]) -> list[DebateHistory]:
    """Everything stored of these debates, in the order of the ids."""
    execute = connection.exec_driver_sql
    streams = dialect.id_list([name for one in ids for name in streams_of(one)])
    events = by_stream(read_unchecked_events(connection, dialect.read_streams, (streams,)))
    twins: dict[str, list[str]] = defaultdict(list)
    heads: dict[str, Head] = {}
    for stream, *head in execute(dialect.heads_in, (streams,)):
        if stream in heads:
            twins[stream_debate(stream)].append(f"{stream} has two heads")
        heads.setdefault(stream, Head(*head))
    parts: dict[str, dict[Digest, Part]] = defaultdict(dict)
    for debate_id, digest, salt, content in execute(dialect.parts_of, (dialect.id_list(list(ids)),)):
        if digest in parts[debate_id]:
            name = encode_digest(digest) if isinstance(digest, bytes) else repr(digest)
            twins[debate_id].append(f"two texts are stored under the digest {name}")
        parts[debate_id].setdefault(digest, Part(digest, salt, content))
    return [
        DebateHistory(
            one,
            {name: events[name] for name in streams_of(one) if name in events},
            {name: heads[name] for name in streams_of(one) if name in heads},
            parts.get(one, {}),
            tuple(twins[one]),
        )
        for one in ids
    ]
