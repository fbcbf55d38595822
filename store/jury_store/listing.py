"""The lists of debates and runs in the database: projected in batches, read together with the events after that.

All functions work in the transaction of the connection.
"""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, bindparam, delete, func, select

from jury_events.envelope import StoredEvent
from jury_events.parts import Digest
from jury_store import search_index
from jury_store.debate_rows import CaseRow, DebateFilter, DebateRow, RunRow, Totals, indexed_values
from jury_store.dialects import Dialect
from jury_store.event_rows import last_position, read_events
from jury_store.list_order import PageCursor, SortOrder
from jury_store.list_queries import FIELDS_IN_COLUMNS, conditions, debates_query
from jury_store.list_totals import single_group, sum_groups
from jury_store.projection import ListProjection, Row, debate_ids, opened_run
from jury_store.projection_checkpoints import (
    LISTS,
    checkpoint_position,
    lock_checkpoint,
    reset_checkpoint,
    set_checkpoint,
)
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
    """Project the next `limit` events into the lists; returns how many there were."""
    events = read_events(connection, dialect.read_all, (lock_checkpoint(connection, LISTS), limit))
    if not events:
        return 0
    projection = _load(connection, events)
    known_debates, known_runs = set(projection.debates), set(projection.runs)
    projection.advance(events)
    _save(connection, debates_table, "debate_id", projection.debates, known_debates)
    _save_fields(connection, (row for name, row in projection.debates.items() if name not in known_debates))
    _save(connection, runs_table, "run_id", projection.runs, known_runs)
    set_checkpoint(connection, LISTS, events[-1].position)
    return len(events)


def clear(connection: Connection) -> None:
    """Empty the lists; `advance` rebuilds them."""
    # First of all, as it locks the lists.
    reset_checkpoint(connection, LISTS)
    connection.execute(delete(debates_table))
    connection.execute(delete(_fields))
    connection.execute(delete(runs_table))


def lag(connection: Connection, dialect: Dialect, name: str = LISTS) -> int:
    """How many events a projection has not reached yet.

    Raises:
        StoreDamaged: its checkpoint, or the position counter, is missing.
    """
    return last_position(connection, dialect) - checkpoint_position(connection, name)


def debate(connection: Connection, dialect: Dialect, debate_id: str) -> DebateRow | None:
    """One row, up to date."""
    tail = _tail(connection, dialect)
    row = tail.debates.get(debate_id) or rows_by_id(connection, debates_table, "debate_id", [debate_id]).get(debate_id)
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
    """The selected rows, up to date."""
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    # A debate of the tail may no longer match, or sort elsewhere: with that many rows more, enough remain.
    query = debates_query(dialect, wanted, order, limit=limit + len(tail.debates), after=after, text_matches=matches)
    found = {row["debate_id"]: _row(row) for row in connection.execute(query).mappings()}
    for debate_id, row in tail.debates.items():
        found.pop(debate_id, None)
        if order.is_after(row, after) and wanted.matches(row, matches.__contains__):
            found[debate_id] = row
    return [DebateRow(**row) for row in sorted(found.values(), key=order.key, reverse=order.descending)[:limit]]


def totals(connection: Connection, dialect: Dialect, wanted: DebateFilter) -> Totals:
    """Totals over the selected debates, up to date."""
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    columns = debates_table.c
    groups = (columns.status, columns.final_verdict)
    sums = {
        "debates": func.count(),
        "scores": func.sum(columns.final_score),
        "calls": func.sum(columns.calls),
        "input_tokens": func.sum(columns.input_tokens),
        "output_tokens": func.sum(columns.output_tokens),
        "cost": func.sum(columns.cost),
        "known_cost": func.count(columns.cost),
    }
    query = select(*groups, *(value.label(name) for name, value in sums.items()))
    query = query.where(*conditions(dialect, wanted, matches)).group_by(*groups)
    if tail.debates:
        query = query.where(columns.debate_id.not_in(bindparam("tail", sorted(tail.debates), expanding=True)))
    found: list[Row] = [dict(row) for row in connection.execute(query).mappings()]
    found += [single_group(row) for row in tail.debates.values() if wanted.matches(row, matches.__contains__)]
    return sum_groups(found)


def _text_matches(
    connection: Connection, dialect: Dialect, wanted: DebateFilter, tail: ListProjection
) -> frozenset[int]:
    """Opening positions of debates that match the search: among the debates of the tail, and beyond the index."""
    terms = query_terms(wanted.search) if wanted.search is not None else ()
    if not terms:
        return frozenset()
    found = search_index.tail_matches(connection, dialect, terms)
    positions = {row["position"] for row in tail.debates.values()}
    if positions:
        found |= frozenset(connection.scalars(search_index.debates_matching(dialect, terms, positions)))
    return found


def runs(connection: Connection, dialect: Dialect) -> list[RunRow]:
    """Rows in the order of the first debate, up to date."""
    tail = _tail(connection, dialect)
    found = {row["run_id"]: dict(row) for row in connection.execute(select(runs_table)).mappings()} | tail.runs
    sizes = {row[0]: row[1] for row in connection.execute(select(_sizes.c.run_id, _sizes.c.cases))}
    rows = sorted(found.values(), key=lambda row: int(row["position"]))
    return [RunRow(**row, cases=sizes.get(row["run_id"])) for row in rows]


def cases_of_run(connection: Connection, dialect: Dialect, run_id: str) -> dict[str, CaseRow]:
    """The case of each debate of a run, up to date."""
    tail = _tail(connection, dialect)
    found = {row[0]: CaseRow(*row[1:]) for row in connection.exec_driver_sql(dialect.salts_of_run, (run_id,))}
    fresh = {debate_id: row for debate_id, row in tail.debates.items() if row["run_id"] == run_id}
    salts = _salts(connection, fresh)
    for debate_id, row in fresh.items():
        found[debate_id] = CaseRow.of(row, salts.get((debate_id, row["case_part"])))
    return found


def _row(stored: RowMapping) -> Row:
    row = dict(stored)
    for name in ("tags", "models"):
        if row.get(name) is not None:
            row[name] = tuple(row[name])
    return row


def _tail(connection: Connection, dialect: Dialect) -> ListProjection:
    """The rows that events after the checkpoint update, with these updates."""
    events = read_events(connection, dialect.read_all, (checkpoint_position(connection, LISTS), _UNLIMITED))
    projection = _load(connection, events)
    projection.advance(events)
    return projection


def _load(connection: Connection, events: list[StoredEvent]) -> ListProjection:
    rows = rows_by_id(connection, debates_table, "debate_id", debate_ids(events))
    opened = {run_id for event in events if (run_id := opened_run(event)) is not None}
    run_ids = opened | {row["run_id"] for row in rows.values() if row["run_id"] is not None}
    return ListProjection(rows, rows_by_id(connection, runs_table, "run_id", run_ids))


def rows_by_id(connection: Connection, table: Table, key: str, ids: Collection[str]) -> dict[str, Row]:
    """The rows of a list that exist."""
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
    """The fields of a debate's case never change: they are inserted once."""
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
