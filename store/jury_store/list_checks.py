"""The lists of debates and runs against the events that they are made of.

They are no record and can be made anew (`EventStore.rebuild`), but they are what people look at first.

All functions work in the transaction that the connection is in.
"""

# ruff: noqa: S608  (the statements are put together from constants)

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, func, select

from jury_events.envelope import StoredEvent
from jury_events.errors import JuryError
from jury_events.ids import streams_of
from jury_store import survey
from jury_store.debate_history import DebateHistory
from jury_store.debate_rows import indexed_values
from jury_store.dialects import Dialect
from jury_store.inventory import ListFault
from jury_store.list_queries import FIELDS_IN_COLUMNS
from jury_store.listing import lag, rows_of
from jury_store.projection import Row, counts_of, row_of
from jury_store.projection_checkpoints import LISTS, SEARCH, carried_to
from jury_store.schema import debate_fields, debates, metadata, runs
from jury_store.search_index import rows_of_debates
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
_SEARCH_DIFFERS = (
    "what is searched of it are not the texts that its events name and the store holds; jury db rebuild makes it anew"
)


def of_debates(connection: Connection, dialect: Dialect, records: Sequence[DebateHistory]) -> list[ListFault]:
    """What the lists say otherwise of these debates."""
    faults = []
    up_to, searched = carried_to(connection, LISTS), carried_to(connection, SEARCH)
    for start in range(0, len(records), _CHUNK):
        chunk = records[start : start + _CHUNK]
        try:
            listed = rows_of(connection, debates, "debate_id", [record.debate_id for record in chunk])
        except (JuryError, ValueError, TypeError):
            listed = _one_by_one(connection, chunk)
        fields = _fields(connection, listed.values())
        search = rows_of_debates(connection, filter(None, map(_opening, chunk)))
        for record in chunk:
            found = listed.get(record.debate_id)
            what = _difference(row_of(_up_to(record, up_to)), found, fields)
            if what is not None and up_to > _last(record):
                # Events came after the record was read, which the list was carried over since.
                what = _difference(row_of(_read_again(connection, dialect, record.debate_id, up_to)), found, fields)
            if what is not None:
                faults.append(ListFault(record.debate_id, f"the list of debates {what}"))
            rows = Counter(search.get(_opening(record) or 0, []))
            # Where events came, or texts went, after the record was read, it is read again.
            if rows != Counter(_searched(record, searched)):
                (again,) = survey.histories(connection, dialect, [record.debate_id])
                if rows != Counter(_searched(again, searched)):
                    faults.append(ListFault(record.debate_id, _SEARCH_DIFFERS))
    return faults


def of_the_whole(connection: Connection, dialect: Dialect) -> list[ListFault]:
    """What the lists hold that no debate of the log accounts for, and runs that are counted otherwise."""
    faults = [
        ListFault(None, f"the list of debates has {row[0]!r}, which the log does not hold")
        for row in connection.exec_driver_sql(_UNKNOWN_DEBATES)
    ]
    faults += [
        ListFault(None, f"the list of fields has {row[0]!r} for position {row[1]}, where no debate opened")
        for row in connection.exec_driver_sql(_UNKNOWN_FIELDS)
    ]
    faults += [
        ListFault(None, f"what is searched has a text of event {row[0]}, for position {row[1]}, where no debate opened")
        for row in connection.exec_driver_sql(_UNKNOWN_TEXTS)
    ]
    for name, what in ((LISTS, "the lists were"), (SEARCH, "what is searched was")):
        ahead = lag(connection, dialect, name)
        if ahead < 0:
            faults.append(ListFault(None, f"{what} carried over {-ahead} events more than the log has"))
    try:
        faults += [ListFault(None, f"the list of runs {what}") for what in _run_differences(connection)]
    except TypeError as error:
        faults.append(
            ListFault(None, f"the runs cannot be counted, as a column holds a value of a wrong kind: {error}")
        )
    return faults


def _one_by_one(connection: Connection, records: Sequence[DebateHistory]) -> dict[str, Row]:
    """Rows where one at least cannot be read; that one is left out, which makes it a difference."""
    found: dict[str, Row] = {}
    for record in records:
        try:
            found |= rows_of(connection, debates, "debate_id", [record.debate_id])
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
    """Where the debate opened."""
    events = record.stored_events
    return events[0].position if events and events[0].type == "debate_opened" else None


def _searched(record: DebateHistory, last: int) -> list[int]:
    """The positions of the events that what is searched holds, where it was carried so far."""
    events = record.stored_events
    gone = record.erased_digests
    return [
        event.position
        for event in events
        if type(event.position) is int
        and event.position <= last
        # Where nothing was erased, who evaluates or speaks writes something.
        and (
            (not gone and event.type in {"juror_evaluated", "statement_made"})
            or any(one in record.parts and one not in gone for one in searchable_digests(event))
        )
    ]


def _last(record: DebateHistory) -> int:
    return max((event.position for event in _up_to(record, 2**63)), default=0)


def _read_again(connection: Connection, dialect: Dialect, debate_id: str, last: int) -> list[StoredEvent]:
    names = dialect.texts(streams_of(debate_id))
    rows = connection.exec_driver_sql(dialect.read_streams, (names,))
    return [event for row in rows if (event := StoredEvent(*row)).position <= last]


def _difference(made: Row | None, listed: Row | None, fields: dict[int, list[tuple[str, str]]]) -> str | None:
    if made is None:
        return None if listed is None else "has it, although its events do not make a row"
    if listed is None:
        return "does not have it, or has it in a form that cannot be read"
    for name, value in made.items():
        if listed.get(name) != value:
            return f"says {name} {listed.get(name)!r}, its events {value!r}"
    wanted = Counter(
        (name, value)
        for name, values in indexed_values(made).items()
        if name not in FIELDS_IN_COLUMNS
        for value in values
    )
    if Counter(fields.get(made["position"], [])) != wanted:
        return "finds it by other fields (metadata, tags, cluster, models) than it has"
    return None


def _fields(connection: Connection, rows: Iterable[Row]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    columns = debate_fields.c
    wanted = sorted({row["position"] for row in rows if isinstance(row["position"], int)})
    query = select(columns.position, columns.name, columns.value).where(columns.position.in_(wanted))
    for at, name, value in connection.execute(query):
        found[at].append((name, value))
    return found


def _run_differences(connection: Connection) -> Iterator[str]:
    """The runs against the debates of the list, which are compared with the log one by one."""
    counted: dict[str, Row] = {}
    unread: set[str] = set()
    columns = debates.c
    kinds = (columns.run_id, columns.status, columns.final_verdict, columns.quarantined)
    query = select(
        *kinds,
        func.count().label("debates"),
        func.min(columns.position).label("position"),
        func.min(columns.opened_at).label("first_at"),
        func.max(columns.updated_at).label("last_at"),
    ).where(columns.run_id.is_not(None))
    for group in connection.execute(query.group_by(*kinds)):
        run = counted.setdefault(group.run_id, {"position": group.position, "first_at": group.first_at, "last_at": 0})
        run["position"] = min(run["position"], group.position)
        run["first_at"], run["last_at"] = min(run["first_at"], group.first_at), max(run["last_at"], group.last_at)
        for name in counts_of(dict(group._mapping)):  # noqa: SLF001  (SQLAlchemy's own name for it)
            run[name] = run.get(name, 0) + group.debates
        if group.status == "unreadable":
            unread.add(group.run_id)
    names = [column.name for column in runs.columns if column.name != "run_id"]
    listed = {row["run_id"]: row for row in connection.execute(select(runs)).mappings()}
    for run_id in sorted(counted.keys() | listed.keys(), key=repr):
        if run_id not in listed or run_id not in counted:
            yield f"lacks {run_id!r}" if run_id in counted else f"has {run_id!r}, of which there is no debate"
            continue
        for name in names:
            made = counted[run_id].get(name, 0)
            if name == "last_at" and run_id in unread:
                continue  # of what cannot be read any more, the times that were read before still count
            if listed[run_id][name] != made:
                yield f"says {name} {listed[run_id][name]!r} of {run_id!r}, its debates make {made!r}"
                break
