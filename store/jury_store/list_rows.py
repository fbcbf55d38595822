"""Rows of the lists: reading and writing them, adding them up, and projecting them from events.

All functions work in the transaction of the connection.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, bindparam, select

from jury_events.evaluation import EvidenceFacts, SeatEvidence
from jury_events.ids import run_stream, streams_of
from jury_events.review_facts import AssignedReview, Review
from jury_store.ballot_sheet import UNREADABLE, BallotSheet
from jury_store.cached_calls import CachedCalls
from jury_store.debate_rows import ENDED, Totals, row_fault
from jury_store.errors import StoreDamaged
from jury_store.event_rows import DriverCursor, RowTypes, damaged_row, read_unchecked_events
from jury_store.projection import RUN_COUNTS, ListProjection, Row, outcome_counts
from jury_store.schema import JsonColumn, ballots, debates, runs
from jury_store.schema import ballots as ballots_table
from jury_store.schema import debates as debates_table
from jury_store.schema import run_leases as leases
from jury_store.schema import runs as runs_table
from jury_store.sql_dialects import Dialect

_CHUNK = 500
_TYPES = {table.name: RowTypes.of(table.name) for table in (runs, ballots, leases)}

_VALUES: dict[str, type[Review | AssignedReview | CachedCalls]] = {
    "reviews": Review,
    "assignments": AssignedReview,
    "cached_calls": CachedCalls,
}
"""Columns of lists of values."""


def rows_by_id(
    connection: Connection, table: Table, key: str, ids: Collection[str], *, checked: bool = True
) -> dict[str, Row]:
    """The rows of a list that exist."""
    query = select(table).where(table.c[key].in_(bindparam("ids", expanding=True)))
    found: dict[str, Row] = {}
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        for row in connection.execute(query, {"ids": wanted[start : start + _CHUNK]}).mappings():
            made = list_row(row)
            found[row[key]] = checked_row(table, made) if checked else made
    return found


def run_leases(connection: Connection, run_id: str | None = None) -> dict[str, Row]:
    """The leases of all runs, or of one, by run id."""
    query = select(leases) if run_id is None else select(leases).where(leases.c.run_id == run_id)
    return {row.run_id: row._asdict() for row in _TYPES[leases.name].checked(connection.execute(query).all())}


def list_row(stored: RowMapping) -> Row:
    """The row with the types that it has in memory; a value that has none of them stays as it is."""
    row = dict(stored)
    for name in ("tags", "models", "inherited_steps"):
        if isinstance(row.get(name), list):
            row[name] = tuple(row[name])
    for name, kind in _VALUES.items():
        if isinstance(row.get(name), list):
            with suppress(TypeError):
                row[name] = tuple(kind(*one) for one in row[name])
    if isinstance(parts := row.get("partly_read"), dict):
        row["partly_read"] = {seat: tuple(one) if isinstance(one, list) else one for seat, one in parts.items()}
    if isinstance(row.get("evidence"), list):
        with suppress(TypeError, ValueError):
            *counts, seats = row["evidence"]
            row["evidence"] = EvidenceFacts._make((*counts, tuple(SeatEvidence(*one) for one in seats)))
    return row


def checked_row(table: Table, row: Row) -> Row:
    """The same row of a list."""
    if table is not debates:
        return _TYPES[table.name].checked_row(row)
    if (fault := row_fault(row)) is not None:
        raise damaged_row(debates, row, fault)
    return row


SUMS = ("calls", "input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens")
"""Columns of debates that totals add up; the cost is added up beside them, as it may be unknown."""


def single_group(row: Row) -> Row:
    """One debate as a group of one."""
    return {
        **row,
        "debates": 1,
        "scores": row["final_score"],
        "scored": row["final_score"] is not None,
        "known_cost": row["cost"] is not None,
    }


def totals_by_run(groups: Iterable[Row]) -> dict[str, Totals]:
    """`sum_groups` of each run, by its id; groups of no run are left out."""
    by_run: defaultdict[str, list[Row]] = defaultdict(list)
    for group in groups:
        if group["run_id"] is not None:
            by_run[group["run_id"]].append(group)
    return {run_id: sum_groups(found) for run_id, found in sorted(by_run.items())}


def sum_groups(groups: Iterable[Row]) -> Totals:
    """Totals over groups of debates with equal status, verdict, label and `aside`, with sums over each group's debates.

    Debates that do not count for their cases are in the sums alone.
    """
    found: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    cost = 0.0
    for group in groups:
        for name in outcome_counts(group):
            found[name] += group["debates"]
        found["rows"] += group["debates"]
        found["unfinished"] += 0 if group["status"] in {*ENDED, "waiting"} else group["debates"]
        if group["final_label"] is not None and group["status"] != "unreadable" and group["aside"] is None:
            labels[group["final_label"]] += group["debates"]
        for name in (*SUMS, "known_cost"):
            found[name] += int(group[name] or 0)
        counted = group["status"] == "completed" and group["aside"] is None
        found["scores"] += int(group["scores"] or 0) if counted else 0
        found["scored"] += int(group["scored"]) if counted else 0
        cost += group["cost"] or 0.0
    return Totals(
        **{name: found[name] for name in (*RUN_COUNTS, *SUMS)},
        mean_score=found["scores"] / found["scored"] if found["scored"] else None,
        without_evaluation=found["completed"] - found["scored"],
        cost=cost,
        unknown_cost=found["rows"] - found["known_cost"],
        opened=found["rows"],
        unfinished=found["unfinished"],
        labels=dict(sorted(labels.items())),
    )


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def insert_rows(connection: Connection, dialect: Dialect, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, by column name."""
    if rows:
        columns = tuple(column.name for column in table.columns)
        DriverCursor(connection).execute_many(dialect.insert(table.name, columns), _parameters(table, columns, rows))


def update_rows(
    connection: Connection,
    dialect: Dialect,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    unchanged: Collection[str] = (),
) -> None:
    """Replace the rows that have the same primary key, which is one column.

    `unchanged` are columns in which they have the same values. SQLite writes an index again whenever one of its columns
    is named, whether its value changes or not.
    """
    if rows:
        (key,) = (column.name for column in table.primary_key)
        columns = (*(column.name for column in table.columns if column.name not in {key, *unchanged}), key)
        statement = dialect.update(table.name, columns[:-1], key)
        DriverCursor(connection).execute_many(statement, _parameters(table, columns, rows))


def _parameters(table: Table, columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    values, coded = _layout(table, columns)
    found = []
    for row in rows:
        one = list(values(row))
        for place in coded:
            if one[place] is not None:
                one[place] = _text(one[place])
        found.append(one)
    return found


@lru_cache
def _layout(table: Table, columns: tuple[str, ...]) -> tuple[Callable[[Mapping[str, Any]], Any], list[int]]:
    return itemgetter(*columns), [place for place, name in enumerate(columns) if _is_json(table, name)]


def _is_json(table: Table, name: str) -> bool:
    return isinstance(table.c[name].type, JsonColumn)


def _text(value: Any) -> str:
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    return _json(value)


UNLIMITED = 2**62
"""After every event."""

_RUN = RowTypes.of("runs")


def listed_rows(
    connection: Connection, dialect: Dialect, debates: Collection[str], until: int = UNLIMITED
) -> dict[str, Row]:
    """The rows of debates that exist; an altered one as its events up to the position `until` say."""
    rows = rows_by_id(connection, debates_table, "debate_id", debates, checked=False)
    damaged = {name: row for name, row in rows.items() if row_fault(row) is not None}
    return rows | made_again(connection, dialect, damaged, until)


def run_row(connection: Connection, dialect: Dialect, row: Row) -> Row:
    """The row of a run; an altered one as the events of its debates say."""
    if _RUN.fit(row):
        return row
    of_run = connection.scalars(select(debates_table.c.debate_id).where(debates_table.c.run_id == row["run_id"]))
    projection = projected(connection, dialect, of_run.all(), UNLIMITED)
    of_itself = dialect.id_list([run_stream(str(row["run_id"]))])
    projection.advance(read_unchecked_events(connection, dialect.read_streams, (of_itself,)))
    made = projection.runs.get(row["run_id"])
    if made is None:
        raise damaged_row(runs_table, row, "no row of a run")
    return made


def made_again(
    connection: Connection, dialect: Dialect, damaged: Mapping[Any, Row], until: int = UNLIMITED
) -> dict[str, Row]:
    """The rows of debates as their events up to the position `until` say."""
    if (odd := next((row for name, row in damaged.items() if not isinstance(name, str)), None)) is not None:
        raise damage(odd)
    made = projected(connection, dialect, damaged, until).debates
    if (odd := next((row for name, row in damaged.items() if name not in made), None)) is not None:
        raise damage(odd)
    return made


def damage(row: Row) -> StoreDamaged:
    """The error for a row of a debate that no events make right."""
    return damaged_row(debates_table, row, row_fault(row) or "no row of a debate")


def load_sheets(
    connection: Connection, dialect: Dialect, debates: Collection[str], until: int
) -> tuple[dict[str, BallotSheet], dict[str, BallotSheet]]:
    """The stored ballots of debates, and those of the others, folded from their events up to the position `until`."""
    stored: dict[str, BallotSheet] = {}
    for debate_id, row in rows_by_id(connection, ballots_table, "debate_id", debates).items():
        try:
            stored[debate_id] = BallotSheet.unpacked(row["panel"], row["votes"])
        except UNREADABLE:
            raise StoreDamaged(
                f"the ballots of debate {debate_id} cannot be read: the database was altered",
                "jury db rebuild rebuilds them",
            ) from None
    return stored, folded_sheets(connection, dialect, [one for one in debates if one not in stored], until)


def folded_sheets(
    connection: Connection, dialect: Dialect, debates: Collection[str], until: int
) -> dict[str, BallotSheet]:
    """The ballots of debates, of which some may have none, from their events up to the position `until`."""
    sheets = projected(connection, dialect, debates, until).ballots or {}
    return {one: sheets[one] if one in sheets else BallotSheet.unpacked(None, None) for one in sorted(debates)}


def projected(connection: Connection, dialect: Dialect, debates: Collection[str], until: int) -> ListProjection:
    """The rows and ballots of debates, projected from their events up to the position `until`."""
    projection = ListProjection({}, {}, {})
    wanted = sorted(debates)
    for start in range(0, len(wanted), _CHUNK):
        streams = [stream for one in wanted[start : start + _CHUNK] for stream in streams_of(one)]
        events = read_unchecked_events(connection, dialect.read_streams, (dialect.id_list(streams),))
        wanted_events = sorted((event for event in events if event.position <= until), key=lambda one: one.position)
        projection.advance(wanted_events)
    return projection
