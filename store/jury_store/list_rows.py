"""Reading the rows of the lists, without the events after their checkpoint.

All functions work in the transaction of the connection.
"""

from collections.abc import Collection
from contextlib import suppress

from sqlalchemy import Connection, RowMapping, Table, bindparam, select

from jury_events.evidence_facts import EvidenceFacts, SeatEvidence
from jury_events.review_facts import AssignedReview, Review
from jury_store.cached_calls import CachedCalls
from jury_store.debate_rows import row_fault
from jury_store.projection import Row
from jury_store.row_types import RowTypes, damaged_row
from jury_store.schema import ballots, debates, runs
from jury_store.schema import run_leases as leases

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
    """The rows of a list that exist.

    Raises:
        StoreDamaged: a row is none that the projection stores, and `checked` is set.
    """
    query = select(table).where(table.c[key].in_(bindparam("ids", expanding=True)))
    found: dict[str, Row] = {}
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        for row in connection.execute(query, {"ids": wanted[start : start + _CHUNK]}).mappings():
            made = list_row(row)
            found[row[key]] = checked_row(table, made) if checked else made
    return found


def run_leases(connection: Connection, run_id: str | None = None) -> dict[str, Row]:
    """The leases of all runs, or of one, by run id.

    Raises:
        StoreDamaged: a row has a value of a wrong type.
    """
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
    """The same row of a list.

    Raises:
        StoreDamaged: it is none that the projection stores.
    """
    if table is not debates:
        return _TYPES[table.name].checked_row(row)
    if (fault := row_fault(row)) is not None:
        raise damaged_row(debates, row, fault)
    return row
