"""What an audit asks of the store: the log as it is stored, consistent or not; the lists and rows compared with it.

The lists can be rebuilt (`EventStore.rebuild`), but users look at them first.

All functions work in the transaction of the connection.

SQLite stores any value in any column, and a process that can write the file can drop a key. PostgreSQL enforces
column types. Differences in the declarations of tables are found by `jury_migrations.upgrading.check`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from sqlalchemy import Boolean, Connection, Table, func, select
from sqlalchemy.exc import DBAPIError

from jury_events.debate_history import DebateHistory
from jury_events.envelope import Head, StoredEvent
from jury_events.errors import JuryError
from jury_events.ids import KNOWN_PREFIXES, OF_NO_DEBATE, PREFIXES, RUN_PREFIX, stream_debate, streams_of
from jury_events.parts import Digest, Part, encode_digest
from jury_store.committed_events import LISTS, NAMES, SEARCH, checkpoint_position
from jury_store.debate_rows import indexed_values
from jury_store.event_rows import by_stream, read_unchecked_events, storage_classes
from jury_store.event_store import Inventory, ListFault
from jury_store.list_queries import FIELDS_IN_COLUMNS
from jury_store.list_rows import rows_by_id
from jury_store.listing import has_ended, lag
from jury_store.projection import RUN_NEWS, Row, projected, run_counts, run_news
from jury_store.schema import EPOCH, POSITION, ballots, debate_fields, debates, metadata, runs
from jury_store.search_index import indexed_events
from jury_store.search_terms import searchable_digests
from jury_store.sql_dialects import Dialect

# ruff: noqa: S608  (the statements are put together from constants)


_SHOWN = 20
_CHUNK = 500
_events = metadata.tables["events"]

_UNKNOWN_DEBATES = (
    "SELECT debate_id FROM debates WHERE NOT EXISTS "
    f"(SELECT 1 FROM events WHERE stream = 'debate/' || debates.debate_id AND version = 1) LIMIT {_SHOWN}"
)
_UNKNOWN_FIELDS = (
    "SELECT name, position FROM debate_fields WHERE NOT EXISTS "
    f"(SELECT 1 FROM debates WHERE debates.position = debate_fields.position) LIMIT {_SHOWN}"
)
_UNKNOWN_TEXTS = (
    "SELECT position, debate FROM search_texts WHERE NOT EXISTS "
    "(SELECT 1 FROM events WHERE events.position = search_texts.debate AND events.type = 'debate_opened') "
    f"LIMIT {_SHOWN}"
)
_UNKNOWN_BALLOTS = (
    "SELECT debate_id FROM ballots WHERE NOT EXISTS "
    f"(SELECT 1 FROM events WHERE stream = 'debate/' || ballots.debate_id AND version = 1) LIMIT {_SHOWN}"
)
_BALLOTS_DIFFER = "the table of ballots does not match its events; jury db rebuild rebuilds it"
_REASONS = b'"rationale":'
"""In the canonical body of an evaluation that has no text."""

_SEARCH_DIFFERS = "the search index does not match its stored texts; jury db rebuild rebuilds it"


def debate_faults(connection: Connection, dialect: Dialect, records: Sequence[DebateHistory]) -> list[ListFault]:
    """Differences between the lists and the events of these debates."""
    faults = []
    listed_to, indexed_to = checkpoint_position(connection, LISTS), checkpoint_position(connection, SEARCH)
    for start in range(0, len(records), _CHUNK):
        chunk = records[start : start + _CHUNK]
        ids = [record.debate_id for record in chunk]
        try:
            listed = rows_by_id(connection, debates, "debate_id", ids, checked=False)
        except (JuryError, ValueError, TypeError):
            listed = _readable_rows(connection, chunk)
        fields = _fields(connection, listed.values())
        sheets = rows_by_id(connection, ballots, "debate_id", ids, checked=False)
        search = indexed_events(connection, filter(None, map(_opening, chunk)))
        for record in chunk:
            found = listed.get(record.debate_id)
            sheet = sheets.get(record.debate_id)
            found_faults = _row_faults(_up_to(record, listed_to), found, fields, sheet)
            if found_faults and listed_to > _last(record):
                # The list may contain events that were appended after the record was read.
                found_faults = _row_faults(
                    _reread(connection, dialect, record.debate_id, listed_to), found, fields, sheet
                )
            faults += [ListFault(record.debate_id, what) for what in found_faults]
            rows = Counter(search.get(_opening(record) or 0, []))
            # Events may have been appended, or texts erased, after the record was read.
            if rows != Counter(_indexable(record, indexed_to)):
                (again,) = histories(connection, dialect, [record.debate_id])
                if rows != Counter(_indexable(again, indexed_to)):
                    faults.append(ListFault(record.debate_id, _SEARCH_DIFFERS))
    return faults


def global_faults(connection: Connection, dialect: Dialect) -> list[ListFault]:
    """Rows that belong to no debate of the log, and wrong counts of runs."""
    faults = [
        ListFault(None, f"the list of debates contains {row[0]!r}, which is not in the log")
        for row in connection.exec_driver_sql(_UNKNOWN_DEBATES)
    ]
    faults += [
        ListFault(None, f"the list of fields contains {row[0]!r} for position {row[1]}, where no debate opened")
        for row in connection.exec_driver_sql(_UNKNOWN_FIELDS)
    ]
    faults += [
        ListFault(None, f"the table of ballots contains {row[0]!r}, which is not in the log")
        for row in connection.exec_driver_sql(_UNKNOWN_BALLOTS)
    ]
    faults += [
        ListFault(None, f"the search index contains event {row[0]}, for position {row[1]}, where no debate opened")
        for row in connection.exec_driver_sql(_UNKNOWN_TEXTS)
    ]
    for name, what in NAMES.items():
        ahead = -lag(connection, dialect, name)
        if ahead > 0:
            faults.append(ListFault(None, f"the checkpoint of {what} is {ahead} events beyond the end of the log"))
    try:
        faults += [ListFault(None, f"the list of runs {what}") for what in _run_differences(connection)]
    except TypeError as error:
        faults.append(
            ListFault(None, f"the runs cannot be counted: a column contains a value of a wrong type: {error}")
        )
    return faults


def _readable_rows(connection: Connection, records: Sequence[DebateHistory]) -> dict[str, Row]:
    """Rows read one by one; rows that cannot be read are left out, which makes them differences."""
    found: dict[str, Row] = {}
    for record in records:
        try:
            found |= rows_by_id(connection, debates, "debate_id", [record.debate_id], checked=False)
        except (JuryError, ValueError, TypeError):
            continue
    return found


def _up_to(record: DebateHistory, last: int) -> list[StoredEvent]:
    return [
        event
        for stream in record.streams.values()
        for event in stream
        if type(event.position) is int and event.position <= last
    ]


def _opening(record: DebateHistory) -> int | None:
    events = record.stored_events
    return events[0].position if events and events[0].type == "debate_opened" else None


def _indexable(record: DebateHistory, last: int) -> list[int]:
    """The positions of the events up to `last` that the search index should contain."""
    events = record.stored_events
    gone = record.erased_digests
    return [
        event.position
        for event in events
        if type(event.position) is int
        and event.position <= last
        # Without an erasure, every evaluation and statement has a text, but for those of decision models.
        and (
            (not gone and event.type in {"juror_evaluated", "statement_made"} and not _without_reasons(event))
            or any(one in record.parts and one not in gone for one in searchable_digests(event))
        )
    ]


def _without_reasons(event: StoredEvent) -> bool:
    # A changed file may have a body of another type.
    return type(event.body) is bytes and _REASONS not in event.body


def _last(record: DebateHistory) -> int:
    return max((event.position for event in _up_to(record, 2**63)), default=0)


def _reread(connection: Connection, dialect: Dialect, debate_id: str, last: int) -> list[StoredEvent]:
    events = read_unchecked_events(connection, dialect.read_streams, (dialect.id_list(streams_of(debate_id)),))
    return [event for event in events if event.position <= last]


def _row_faults(
    events: list[StoredEvent], listed: Row | None, fields: dict[int, list[tuple[str, str]]], ballots: Row | None
) -> list[str]:
    made, sheet = projected(events)
    what = _difference(made, listed, fields)
    faults = [] if what is None else [f"the list of debates {what}"]
    stored = None if ballots is None else (ballots["panel"], ballots["votes"])
    expected = None if made is None or sheet is None or not has_ended(made) else (sheet.panel, sheet.packed())
    return faults if stored == expected else [*faults, _BALLOTS_DIFFER]


def _difference(made: Row | None, listed: Row | None, fields: dict[int, list[tuple[str, str]]]) -> str | None:
    if made is None:
        return None if listed is None else "contains it, although its events do not make a row"
    if listed is None:
        return "does not contain it, or in a form that cannot be read"
    for name, value in made.items():
        if listed.get(name) != value:
            return f"has {name} {listed.get(name)!r}, its events {value!r}"
    wanted = Counter(
        (name, value)
        for name, values in indexed_values(made).items()
        if name not in FIELDS_IN_COLUMNS
        for value in values
    )
    if Counter(fields.get(made["position"], [])) != wanted:
        return "indexes other fields (metadata, tags, cluster, models) than its events have"
    return None


def _fields(connection: Connection, rows: Iterable[Row]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    columns = debate_fields.c
    wanted = sorted({row["position"] for row in rows if isinstance(row["position"], int)})
    query = select(columns.position, columns.name, columns.value).where(columns.position.in_(wanted))
    for at, name, value in connection.execute(query):
        found[at].append((name, value))
    return found


def _run_news(connection: Connection) -> Iterator[StoredEvent]:
    stream, kind = _events.c.stream, _events.c.type
    query = select(*(_events.c[name] for name in StoredEvent._fields)).where(
        stream > RUN_PREFIX, stream < f"{RUN_PREFIX[:-1]}0", kind.in_(RUN_NEWS)
    )
    return map(StoredEvent._make, connection.execute(query.order_by(_events.c.position)))


def _counted_runs(connection: Connection) -> tuple[dict[str, Row], set[str]]:
    counted: dict[str, Row] = {}
    unread: set[str] = set()
    columns = debates.c
    groups = (
        columns.run_id,
        columns.status,
        columns.waiting,
        columns.final_verdict,
        columns.quarantined,
        columns.aside,
    )
    query = select(
        *groups,
        func.count().label("debates"),
        func.min(columns.position).label("position"),
        func.min(columns.opened_at).label("first_at"),
        func.min(columns.begun_at).label("begun_at"),
        func.max(columns.updated_at).label("last_at"),
    ).where(columns.run_id.is_not(None))
    for group in connection.execute(query.group_by(*groups)):
        began = {"position": group.position, "first_at": group.first_at, "begun_at": group.begun_at}
        run = counted.setdefault(group.run_id, {**began, "last_at": 0})
        run["position"] = min(run["position"], group.position)
        run["first_at"], run["last_at"] = min(run["first_at"], group.first_at), max(run["last_at"], group.last_at)
        if group.begun_at is not None:
            run["begun_at"] = min(run["begun_at"] or group.begun_at, group.begun_at)
        for name in run_counts(dict(group._mapping)):  # noqa: SLF001  (SQLAlchemy's own name for it)
            run[name] = run.get(name, 0) + group.debates
        if group.status == "unreadable":
            unread.add(group.run_id)
    for run_id, news in run_news(_run_news(connection)).items():
        if run_id in counted:
            counted[run_id].update(news)
    return counted, unread


def _run_differences(connection: Connection) -> Iterator[str]:
    """Differences between the list of runs and the list of debates, whose rows are compared with the log."""
    counted, unread = _counted_runs(connection)
    names = [column.name for column in runs.columns if column.name != "run_id"]
    listed = {row["run_id"]: row for row in connection.execute(select(runs)).mappings()}
    for run_id in sorted(counted.keys() | listed.keys(), key=repr):
        if run_id not in listed or run_id not in counted:
            yield f"lacks {run_id!r}" if run_id in counted else f"contains {run_id!r}, which has no debate"
            continue
        for name in names:
            made = counted[run_id].get(name, None if name in {"cancelled_by", "cases"} else 0)
            if name == "last_at" and run_id in unread:
                continue  # may include times of events that cannot be read any more
            if listed[run_id][name] != made:
                yield f"has {name} {listed[run_id][name]!r} for {run_id!r}, its debates {made!r}"
                break


# ruff: noqa: S608  (the statements are put together from the declared tables)


SHOWN = 20
"""The most faults reported of each table."""

_MANY_ROWS = frozenset({"events", "parts", "debate_fields", "search_texts"})
"""Tables whose duplicate keys are found when their debates are read: sorting them takes as long as verifying."""


_CHECKED_COLUMNS = {"events": ("stream",), "parts": ("debate_id",), "streams": ("stream", "epoch")}
"""Of these tables only columns that the check of a debate does not cover."""


_NAMED = {"counters": (EPOCH, POSITION), "projections": tuple(NAMES)}
"""Tables with one row for each of these names."""


def row_faults(connection: Connection) -> Iterator[str]:
    """Faults of rows, with the table and the key of the row."""
    existing = set(connection.dialect.get_table_names(connection))
    sqlite = connection.dialect.name == "sqlite"
    for table in metadata.sorted_tables:
        if table.name not in existing:
            continue
        columns = _columns(connection, table) if sqlite else {column.name for column in table.columns}
        if sqlite:
            yield from _wrong_types(connection, table, columns)
        if table.name not in _MANY_ROWS and columns.issuperset(_key(table)):
            yield from _duplicate_keys(connection, table)
    for table_name, names in _NAMED.items():
        if table_name in existing:
            yield from _unknown_names(connection, table_name, names)
    if "attestations" in existing:
        yield from _wrong_attestation_digests(connection)
    if sqlite:
        yield from _damaged_pages(connection)


def _columns(connection: Connection, table: Table) -> set[str]:
    return {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table.name})")}


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]


def _wrong_types(connection: Connection, table: Table, existing: set[str]) -> Iterator[str]:
    checked = existing.intersection(_CHECKED_COLUMNS.get(table.name, existing))
    types = {column.name: storage_classes(column) for column in table.columns if column.name in checked}
    if not types:
        return  # missing columns are reported by the comparison of the schema
    wrong = " OR ".join(f"typeof({name}) NOT IN ({_quoted(allowed)})" for name, allowed in types.items())
    booleans = [column.name for column in table.columns if isinstance(column.type, Boolean) and column.name in types]
    wrong += "".join(f" OR {name} NOT IN (0, 1)" for name in booleans)
    shown = ", ".join(f"quote({name})" for name in _key(table) if name in existing) or "rowid"
    found = ", ".join(f"typeof({name})" for name in types)
    rows = connection.exec_driver_sql(f"SELECT {shown}, {found} FROM {table.name} WHERE {wrong} LIMIT {SHOWN}")
    for row in rows:
        values = tuple(row)
        key, stored = values[: -len(types)], values[-len(types) :]
        place = ", ".join(str(one)[:80] for one in key)
        faults = [
            f"column {name} contains {kind}, not {' or '.join(allowed)}"
            for (name, allowed), kind in zip(types.items(), stored, strict=True)
            if kind not in allowed
        ]
        what = ", ".join(faults) or f"one of {', '.join(booleans)} is neither 0 nor 1"
        yield f"table {table.name}, row {place}: {what}"


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _duplicate_keys(connection: Connection, table: Table) -> Iterator[str]:
    key = ", ".join(_key(table))
    rows = connection.exec_driver_sql(
        f"SELECT {key}, count(*) FROM {table.name} GROUP BY {key} HAVING count(*) > 1 LIMIT {SHOWN}"
    )
    for row in rows:
        *names, count = row
        place = ", ".join(repr(one)[:80] for one in names)
        yield f"table {table.name} contains {count} rows for {place}, where one is allowed"


def _unknown_names(connection: Connection, table: str, names: tuple[str, ...]) -> Iterator[str]:
    rows = connection.exec_driver_sql(f"SELECT name FROM {table} WHERE name NOT IN ({_quoted(names)}) LIMIT {SHOWN}")
    for (name,) in rows:
        yield f"table {table}, row {str(name)[:80]}: there is no such {table.removesuffix('s')}"


def _wrong_attestation_digests(connection: Connection) -> Iterator[str]:
    for digest, content in connection.exec_driver_sql("SELECT digest, content FROM attestations"):
        if not isinstance(content, bytes) or sha256(content).digest() != digest:
            name = digest.hex() if isinstance(digest, bytes) else repr(digest)
            yield f"table attestations, row {name[:80]}: the key is not the digest of the content"


def _damaged_pages(connection: Connection) -> Iterator[str]:
    """Indexes that do not match their tables, and corrupt pages: readers would see other rows."""
    try:
        for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})"):
            # Null values in columns that have none are reported by row above.
            if line != "ok" and not line.startswith("NULL value in "):
                yield f"the database file is damaged: {' '.join(str(line).split())}"
    except DBAPIError as error:
        yield f"the database file is damaged: {error.orig}"


# ruff: noqa: S608  (the statements are put together from constants)


# "0" follows "/" in ASCII: a range that selects a prefix and uses the index.
_DEBATE_IDS = (
    "SELECT DISTINCT id FROM ("
    + " UNION ALL ".join(
        f"SELECT substr(stream, {len(prefix) + 1}) AS id FROM (SELECT DISTINCT stream FROM {table} "
        f"WHERE stream > ? AND stream < '{prefix[:-1]}0' ORDER BY stream LIMIT ?) AS {table}_{prefix[:-1]}"
        for table in ("streams", "events")
        for prefix in PREFIXES
    )
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
    # On SQLite an id may be a blob; `row_faults` reports such rows.
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
