"""The lists of debates and runs in the database: carried forward in batches, read with what is not carried yet.

All functions work in the transaction that the connection is in.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Table, bindparam, delete, func, select

from jury_events.envelope import StoredEvent
from jury_events.parts import Digest
from jury_store import searching
from jury_store.debate_rows import CaseRow, DebateFilter, DebateRow, RunRow, Totals, indexed_values
from jury_store.dialects import Dialect
from jury_store.errors import StoreDamaged
from jury_store.list_order import PageCursor, SortOrder
from jury_store.list_queries import FIELDS_IN_COLUMNS, conditions, debates_query
from jury_store.list_totals import added_up, one_line
from jury_store.projection import Row, View, opened_run, touched
from jury_store.projection_checkpoints import LISTS, carried_to, carry_to, locked, made_sure
from jury_store.schema import debates as debates_table
from jury_store.schema import metadata
from jury_store.schema import runs as runs_table
from jury_store.search_terms import query_terms

_CHUNK = 500
_parts = metadata.tables["parts"]
_fields = metadata.tables["debate_fields"]
_sizes = metadata.tables["run_sizes"]
_UNLIMITED = 2**62


def advance(connection: Connection, dialect: Dialect, limit: int) -> int:
    """Carry the lists over the next `limit` events; gives how many there were."""
    events = _events(connection, dialect, locked(connection, LISTS), limit)
    if not events:
        return 0
    view = _view(connection, events)
    known_debates, known_runs = set(view.debates), set(view.runs)
    view.advance(events)
    _save(connection, debates_table, "debate_id", view.debates, known_debates)
    _save_fields(connection, (row for name, row in view.debates.items() if name not in known_debates))
    _save(connection, runs_table, "run_id", view.runs, known_runs)
    carry_to(connection, LISTS, events[-1].position)
    return len(events)


def clear(connection: Connection) -> None:
    """Forget the lists; `advance` makes them anew."""
    # Locked first, so that nobody carries events into rows that are about to go.
    made_sure(connection, LISTS)
    connection.execute(delete(debates_table))
    connection.execute(delete(_fields))
    connection.execute(delete(runs_table))
    carry_to(connection, LISTS, 0)


def lag(connection: Connection, dialect: Dialect, name: str = LISTS) -> int:
    """How many events the lists, or what is searched, were not carried over yet.

    Raises:
        StoreDamaged: nothing says so.
    """
    return last_position(connection, dialect) - carried_to(connection, name)


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
    connection: Connection,
    dialect: Dialect,
    wanted: DebateFilter,
    order: SortOrder,
    *,
    limit: int,
    after: PageCursor | None,
) -> list[DebateRow]:
    """Lines of those that are wanted, up to date."""
    view = _tail(connection, dialect)
    saying = _saying(connection, dialect, wanted, view)
    # A debate of the tail may not be wanted any more, or elsewhere: with that many more lines, enough are left.
    query = debates_query(dialect, wanted, order, limit=limit + len(view.debates), after=after, saying=saying)
    found = _found(connection, query)
    for debate_id, row in view.debates.items():
        found.pop(debate_id, None)
        if order.is_beyond(row, after) and wanted.admits(row, saying.__contains__):
            found[debate_id] = row
    return [DebateRow(**row) for row in sorted(found.values(), key=order.key, reverse=order.descending)[:limit]]


def totals(connection: Connection, dialect: Dialect, wanted: DebateFilter) -> Totals:
    """What the debates that are wanted come to, up to date."""
    view = _tail(connection, dialect)
    saying = _saying(connection, dialect, wanted, view)
    columns = debates_table.c
    kinds = (columns.status, columns.final_verdict)
    counted = {
        "debates": func.count(),
        "scores": func.sum(columns.final_score),
        "calls": func.sum(columns.calls),
        "input_tokens": func.sum(columns.input_tokens),
        "output_tokens": func.sum(columns.output_tokens),
        "cost": func.sum(columns.cost),
        "known_cost": func.count(columns.cost),
    }
    query = select(*kinds, *(value.label(name) for name, value in counted.items()))
    query = query.where(*conditions(dialect, wanted, saying)).group_by(*kinds)
    if view.debates:
        query = query.where(columns.debate_id.not_in(bindparam("tail", sorted(view.debates), expanding=True)))
    groups: list[Row] = [dict(row) for row in connection.execute(query).mappings()]
    groups += [one_line(row) for row in view.debates.values() if wanted.admits(row, saying.__contains__)]
    return added_up(groups)


def _saying(connection: Connection, dialect: Dialect, wanted: DebateFilter, view: View) -> frozenset[int]:
    """Debates that say what is searched for: of the view all, of others those that the index does not have yet."""
    sought = query_terms(wanted.search) if wanted.search is not None else ()
    if not sought:
        return frozenset()
    found = searching.tail(connection, dialect, sought)
    positions = {row["position"] for row in view.debates.values()}
    if positions:
        found |= frozenset(connection.scalars(searching.debates_that_say(dialect, sought, positions)))
    return found


def runs(connection: Connection, dialect: Dialect) -> list[RunRow]:
    """Lines in the order of the first debate, up to date."""
    view = _tail(connection, dialect)
    found = {row["run_id"]: dict(row) for row in connection.execute(select(runs_table)).mappings()} | view.runs
    sizes = {row[0]: row[1] for row in connection.execute(select(_sizes.c.run_id, _sizes.c.cases))}
    return [RunRow(**row, cases=sizes.get(row["run_id"])) for row in sorted(found.values(), key=_by_position)]


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
    for name in ("tags", "models"):
        if row.get(name) is not None:
            row[name] = tuple(row[name])
    return row


def _by_position(row: Row) -> int:
    position: int = row["position"]
    return position


def _tail(connection: Connection, dialect: Dialect) -> View:
    """The rows that events beyond the checkpoint touch, as they are after them."""
    events = _events(connection, dialect, carried_to(connection, LISTS), _UNLIMITED)
    view = _view(connection, events)
    view.advance(events)
    return view


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
        for name, values in indexed_values(row).items()
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
