"""Differences between the lists and the events that they are projected from.

The lists can be rebuilt (`EventStore.rebuild`), but users look at them first.

All functions work in the transaction of the connection.
"""

# ruff: noqa: S608  (the statements are put together from constants)

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, func, select

from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.errors import JuryError
from jury_events.ids import RUN_PREFIX, streams_of
from jury_store import audit_queries
from jury_store.debate_rows import indexed_values
from jury_store.dialects import Dialect
from jury_store.event_rows import read_unchecked_events
from jury_store.inventory import ListFault
from jury_store.list_queries import FIELDS_IN_COLUMNS
from jury_store.list_rows import rows_by_id
from jury_store.listing import has_ended, lag
from jury_store.projection import RUN_NEWS, Row, projected, run_counts, run_news
from jury_store.projection_checkpoints import LISTS, NAMES, SEARCH, checkpoint_position
from jury_store.schema import ballots, debate_fields, debates, metadata, runs
from jury_store.search_index import indexed_events
from jury_store.search_terms import searchable_digests

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
                (again,) = audit_queries.histories(connection, dialect, [record.debate_id])
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
    """The position at which the debate opened."""
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
    """Differences of a debate's rows from its events."""
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
    """The rows of runs as those of debates and the streams of runs say, and the runs with unreadable debates."""
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
