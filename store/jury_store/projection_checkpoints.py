"""Checkpoints of the projections: the position that the lists, or the search index, have reached.

All functions work in the transaction of the connection.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, or_, select

from jury_store.dialects import Dialect
from jury_store.driver_cursor import DriverCursor
from jury_store.errors import StoreDamaged
from jury_store.row_types import RowTypes
from jury_store.schema import metadata

LISTS = "lists"
SEARCH = "search"
NAMES = {LISTS: "the lists", SEARCH: "the search index"}

_TYPES = RowTypes.of("projections")
_projections = metadata.tables["projections"]


def checkpoint_position(connection: Connection, name: str) -> int:
    """The position that a projection has reached.

    Raises:
        StoreDamaged: the checkpoint is missing.
    """
    return _position(connection.execute(select(_projections.c.position).where(_projections.c.name == name)).all(), name)


def lock_checkpoint(connection: Connection, dialect: Dialect, name: str) -> int:
    """Lock the checkpoint, so that two PostgreSQL writers do not project the same events; returns its position."""
    return _position(DriverCursor(connection).rows(dialect.lock_checkpoint, (name,)), name)


def _position(rows: Sequence[Sequence[Any]], name: str) -> int:
    if len(rows) != 1:
        raise StoreDamaged(
            f"the checkpoint of {NAMES[name]} is missing or duplicated: the database was altered. Run jury verify "
            "--all; jury db rebuild rebuilds the lists"
        )
    position: int = _TYPES.checked([(name, rows[0][0])])[0][1]
    return position


def reset_checkpoint(connection: Connection, dialect: Dialect, name: str) -> None:
    """Lock the checkpoint and set it to 0; creates a missing or duplicated one, removes those of no projection."""
    if len(DriverCursor(connection).rows(dialect.lock_checkpoint, (name,))) != 1:
        connection.execute(_projections.delete().where(_projections.c.name == name))
        connection.execute(_projections.insert().values(name=name, position=0))
    unknown = or_(_projections.c.name.is_(None), _projections.c.name.not_in(NAMES))
    if connection.execute(select(_projections.c.position).where(unknown)).all():
        connection.execute(_projections.delete().where(unknown))
    set_checkpoint(connection, dialect, name, 0)


def set_checkpoint(connection: Connection, dialect: Dialect, name: str, position: int) -> None:
    """Record that a projection has reached a position."""
    DriverCursor(connection).execute(dialect.set_checkpoint, (position, name))
