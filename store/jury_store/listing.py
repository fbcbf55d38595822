"""The lists of debates and runs in the database: carried forward in batches, read with what is not carried yet.

All functions work in the transaction that the connection is in.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, bindparam, delete, not_, or_, select

from jury_events.conditions import Condition
from jury_events.envelope import StoredEvent
from jury_events.parts import Digest
from jury_store.debate_rows import CaseRow, DebateFilter, DebateRow, RunRow, row_values
from jury_store.dialects import Dialect
from jury_store.errors import StoreDamaged
from jury_store.projection import Row, View, opened_run, touched
from jury_store.schema import debates as debates_table
from jury_store.schema import metadata
from jury_store.schema import runs as runs_table

_NAME = "lists"
_CHUNK = 500
_projections = metadata.tables["projections"]
_parts = metadata.tables["parts"]
_fields = metadata.tables["debate_fields"]
FIELDS_IN_COLUMNS = frozenset({"label", "case_id"})
"""Fields that are columns of the debates and nowhere else."""
_UNLIMITED = 2**62
_checkpoint = select(_projections.c.position).where(_projections.c.name == _NAME)


def advance(connection: Connection, dialect: Dialect, limit: int) -> int:
    """Carry the lists over the next `limit` events; gives how many there were."""
    # Locked, so that two PostgreSQL writers do not carry the same events.
    connection.execute(_checkpoint.with_for_update())
    events = _events(connection, dialect, position(connection), limit)
    if not events:
        return 0
    view = _view(connection, events)
    known_debates, known_runs = set(view.debates), set(view.runs)
    view.advance(events)
    _save(connection, debates_table, "debate_id", view.debates, known_debates)
    _save_fields(connection, (row for name, row in view.debates.items() if name not in known_debates))
    _save(connection, runs_table, "run_id", view.runs, known_runs)
    connection.execute(_projections.update().where(_projections.c.name == _NAME).values(position=events[-1].position))
    return len(events)


def clear(connection: Connection) -> None:
    """Forget the lists; `advance` makes them anew."""
    # Locked first, so that nobody carries events into rows that are about to go.
    if len(connection.execute(_checkpoint.with_for_update()).all()) != 1:
        connection.execute(_projections.delete().where(_projections.c.name == _NAME))
        connection.execute(_projections.insert().values(name=_NAME, position=0))
    connection.execute(delete(debates_table))
    connection.execute(delete(_fields))
    connection.execute(delete(runs_table))
    connection.execute(_projections.update().where(_projections.c.name == _NAME).values(position=0))


def lag(connection: Connection, dialect: Dialect) -> int:
    """How many events are not carried yet.

    Raises:
        StoreDamaged: nothing says so.
    """
    return last_position(connection, dialect) - position(connection)


def last_position(connection: Connection, dialect: Dialect) -> int:
    """What the counter of positions says.

    Raises:
        StoreDamaged: there is none.
    """
    found = connection.exec_driver_sql(dialect.last_position).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise StoreDamaged(
            "the counter of positions is missing from the database, or there are two: it was altered. "
            "See jury verify --all, and go on from a backup"
        )
    return found[0]


def debate(connection: Connection, dialect: Dialect, debate_id: str) -> DebateRow | None:
    """One line, up to date."""
    view = _tail(connection, dialect)
    row = view.debates.get(debate_id) or rows_of(connection, debates_table, "debate_id", [debate_id]).get(debate_id)
    return DebateRow(**row) if row else None


def debates(
    connection: Connection, dialect: Dialect, wanted: DebateFilter, *, unfinished: bool, limit: int, after: int
) -> list[DebateRow]:
    """Lines of those that are wanted, in the order of opening, up to date."""
    view = _tail(connection, dialect)
    # A debate of the tail may have ended since: with that many more lines, enough are left.
    query = debates_query(wanted, unfinished=unfinished, limit=limit + len(view.debates), after=after)
    found = _found(connection, query)
    for debate_id, row in view.debates.items():
        found.pop(debate_id, None)
        if row["position"] > after and not (unfinished and row["ended_at"] is not None) and wanted.admits(row):
            found[debate_id] = row
    return [DebateRow(**row) for row in sorted(found.values(), key=_by_position)[:limit]]


def debates_query(wanted: DebateFilter, *, unfinished: bool, limit: int, after: int) -> Select[Any]:
    """The rows of the lists that `debates` begins with."""
    columns = debates_table.c
    query = select(debates_table).where(columns.position > after, *_conditions(wanted))
    if unfinished:
        query = query.where(columns.ended_at.is_(None))
    return query.order_by(columns.position).limit(limit)


def latest(
    connection: Connection, dialect: Dialect, wanted: DebateFilter, *, limit: int, before: int | None
) -> list[DebateRow]:
    """Lines of those that are wanted, the newest first, up to date."""
    view = _tail(connection, dialect)
    # A debate of the tail may not be wanted any more: with that many more lines, enough are left.
    found = _found(connection, latest_query(wanted, limit=limit + len(view.debates), before=before))
    for debate_id, row in view.debates.items():
        found.pop(debate_id, None)
        if (before is None or row["position"] < before) and wanted.admits(row):
            found[debate_id] = row
    return [DebateRow(**row) for row in sorted(found.values(), key=_by_position, reverse=True)[:limit]]


def latest_query(wanted: DebateFilter, *, limit: int, before: int | None) -> Select[Any]:
    """The rows of the lists that `latest` begins with."""
    query = select(debates_table).where(*_conditions(wanted)).order_by(debates_table.c.position.desc()).limit(limit)
    return query if before is None else query.where(debates_table.c.position < before)


def _conditions(wanted: DebateFilter) -> list[ColumnElement[bool]]:
    """What `DebateFilter.admits` says, in SQL."""
    columns = debates_table.c
    exactly = (
        (columns.run_id, wanted.run_id),
        (columns.status, wanted.status),
        (columns.final_verdict, wanted.verdict),
        (columns.simulated, wanted.simulated),
    )
    conditions = [column == value for column, value in exactly if value is not None]
    conditions.append(columns.quarantined.is_not(None) if wanted.quarantined else columns.quarantined.is_(None))
    if wanted.search is not None:
        named = (column.icontains(wanted.search, autoescape=True) for column in (columns.debate_id, columns.case_id))
        conditions.append(or_(*named))
    return conditions + [_condition(one) for one in wanted.where]


def _condition(condition: Condition) -> ColumnElement[bool]:
    """What `Condition.admits` says, in SQL."""
    if condition.field in FIELDS_IN_COLUMNS:
        column = debates_table.c[condition.field]
        holds = _holds(column, condition)
        return or_(column.is_(None), not_(holds)) if condition.negative else holds
    fields = _fields.c
    matching = select(fields.position).where(fields.name == condition.field, _holds(fields.value, condition))
    if condition.negative:
        # By debate: PostgreSQL looks at the whole list again and again for a long NOT IN.
        return not_(matching.where(fields.position == debates_table.c.position).exists())
    return debates_table.c.position.in_(matching)


def _holds(column: ColumnElement[Any], condition: Condition) -> ColumnElement[bool]:
    """Whether this value is, or contains, that of the condition."""
    if condition.operator in {"=", "!="}:
        return column == condition.value
    return column.icontains(condition.value, autoescape=True)


def runs(connection: Connection, dialect: Dialect) -> list[RunRow]:
    """Lines in the order of the first debate, up to date."""
    view = _tail(connection, dialect)
    found = {row["run_id"]: dict(row) for row in connection.execute(select(runs_table)).mappings()} | view.runs
    return [RunRow(**row) for row in sorted(found.values(), key=_by_position)]


def cases_of_run(connection: Connection, dialect: Dialect, run_id: str) -> dict[str, CaseRow]:
    """What each debate of a run judges, up to date."""
    view = _tail(connection, dialect)
    found = {row[0]: CaseRow(*row[1:]) for row in connection.exec_driver_sql(dialect.salts_of_run, (run_id,))}
    fresh = {debate_id: row for debate_id, row in view.debates.items() if row["run_id"] == run_id}
    salts = _salts(connection, fresh)
    for debate_id, row in fresh.items():
        found[debate_id] = CaseRow(
            row["case_id"],
            row["status"],
            row["case_part"],
            salts.get((debate_id, row["case_part"])),
            row["imported"],
            row["quarantined"],
        )
    return found


def _found(connection: Connection, query: Select[Any]) -> dict[str, Row]:
    return {row["debate_id"]: _row(row) for row in connection.execute(query).mappings()}


def _row(stored: RowMapping) -> Row:
    row = dict(stored)
    if "tags" in row:
        row["tags"] = tuple(row["tags"])
    return row


def _by_position(row: Row) -> int:
    position: int = row["position"]
    return position


def _tail(connection: Connection, dialect: Dialect) -> View:
    """The rows that events beyond the checkpoint touch, as they are after them."""
    events = _events(connection, dialect, position(connection), _UNLIMITED)
    view = _view(connection, events)
    view.advance(events)
    return view


def position(connection: Connection) -> int:
    """The position up to which the lists were carried.

    Raises:
        StoreDamaged: nothing says so.
    """
    found = connection.execute(_checkpoint).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise StoreDamaged(
            "the row that says how far the lists were carried is missing, or there are two: the database was altered. "
            "See jury verify --all; jury db rebuild makes the lists anew"
        )
    return found[0]


def _events(connection: Connection, dialect: Dialect, after: int, limit: int) -> list[StoredEvent]:
    return [StoredEvent(*row) for row in connection.exec_driver_sql(dialect.read_all, (after, limit))]


def _view(connection: Connection, events: list[StoredEvent]) -> View:
    rows = rows_of(connection, debates_table, "debate_id", touched(events))
    opened = {run_id for event in events if (run_id := opened_run(event)) is not None}
    run_ids = opened | {row["run_id"] for row in rows.values() if row["run_id"] is not None}
    return View(rows, rows_of(connection, runs_table, "run_id", run_ids))


def rows_of(connection: Connection, table: Table, key: str, ids: Iterable[str]) -> dict[str, Row]:
    query = select(table).where(table.c[key].in_(bindparam("ids", expanding=True)))
    found: dict[str, Row] = {}
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        for row in connection.execute(query, {"ids": wanted[start : start + _CHUNK]}).mappings():
            found[row[key]] = _row(row)
    return found


def _save(connection: Connection, table: Table, key: str, rows: dict[str, Row], known: set[str]) -> None:
    new = [row for name, row in rows.items() if name not in known]
    old = [{**row, "row_key": row[key]} for name, row in rows.items() if name in known]
    if new:
        connection.execute(table.insert(), new)
    if old:
        values: dict[str, Any] = {column.name: bindparam(column.name) for column in table.columns if column.name != key}
        connection.execute(table.update().where(table.c[key] == bindparam("row_key")).values(values), old)


def _save_fields(connection: Connection, rows: Iterable[Row]) -> None:
    """What a debate was opened with does not change: its fields are written once."""
    values = [
        {"position": row["position"], "name": name, "value": value}
        for row in rows
        for name, values in row_values(row).items()
        if name not in FIELDS_IN_COLUMNS
        for value in values
    ]
    if values:
        connection.execute(_fields.insert(), values)


def _salts(connection: Connection, rows: dict[str, Row]) -> dict[tuple[str, Digest], bytes]:
    query = select(_parts.c.debate_id, _parts.c.digest, _parts.c.salt).where(
        _parts.c.debate_id.in_(bindparam("debates", expanding=True)),
        _parts.c.digest.in_(bindparam("digests", expanding=True)),
    )
    found: dict[tuple[str, Digest], bytes] = {}
    wanted = sorted(rows)
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        chosen = {"debates": chunk, "digests": [rows[one]["case_part"] for one in chunk]}
        found.update({(row[0], row[1]): row[2] for row in connection.execute(query, chosen)})
    return found
