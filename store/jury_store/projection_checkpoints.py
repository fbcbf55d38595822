"""Checkpoints of the projections: the position that the lists, or the search index, have reached.

All functions work in the transaction of the connection.
"""

from sqlalchemy import Connection, select

from jury_store.errors import StoreDamaged
from jury_store.schema import metadata

LISTS = "lists"
SEARCH = "search"
NAMES = {LISTS: "the lists", SEARCH: "the search index"}

_projections = metadata.tables["projections"]


def checkpoint_position(connection: Connection, name: str) -> int:
    """The position that a projection has reached.

    Raises:
        StoreDamaged: the checkpoint is missing.
    """
    found = connection.execute(select(_projections.c.position).where(_projections.c.name == name)).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise StoreDamaged(
            f"the checkpoint of {NAMES[name]} is missing or duplicated: the database was altered. Run jury verify "
            "--all; jury db rebuild rebuilds the lists"
        )
    return found[0]


def lock_checkpoint(connection: Connection, name: str) -> int:
    """Lock the checkpoint, so that two PostgreSQL writers do not project the same events; returns its position."""
    connection.execute(select(_projections.c.position).where(_projections.c.name == name).with_for_update())
    return checkpoint_position(connection, name)


def reset_checkpoint(connection: Connection, name: str) -> None:
    """Lock the checkpoint and set it to 0; creates it where it is missing or duplicated."""
    query = select(_projections.c.position).where(_projections.c.name == name).with_for_update()
    if len(connection.execute(query).all()) != 1:
        connection.execute(_projections.delete().where(_projections.c.name == name))
        connection.execute(_projections.insert().values(name=name, position=0))
    set_checkpoint(connection, name, 0)


def set_checkpoint(connection: Connection, name: str, position: int) -> None:
    """Record that a projection has reached a position."""
    connection.execute(_projections.update().where(_projections.c.name == name).values(position=position))
