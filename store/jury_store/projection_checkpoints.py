"""How far what is made from the log was carried, each under its name: the lists, and what is searched.

All functions work in the transaction that the connection is in.
"""

from sqlalchemy import Connection, select

from jury_store.errors import StoreDamaged
from jury_store.schema import metadata

LISTS = "lists"
SEARCH = "search"
_NAMED = {LISTS: "the lists were", SEARCH: "the search index was"}

_projections = metadata.tables["projections"]


def carried_to(connection: Connection, name: str) -> int:
    """The position up to which it was carried.

    Raises:
        StoreDamaged: nothing says so.
    """
    found = connection.execute(select(_projections.c.position).where(_projections.c.name == name)).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise StoreDamaged(
            f"the row that says how far {_NAMED[name]} carried is missing, or there are two: the database was altered. "
            "See jury verify --all; jury db rebuild makes the lists anew"
        )
    return found[0]


def locked(connection: Connection, name: str) -> int:
    """The same, locked, so that two PostgreSQL writers do not carry the same events."""
    connection.execute(select(_projections.c.position).where(_projections.c.name == name).with_for_update())
    return carried_to(connection, name)


def made_sure(connection: Connection, name: str) -> None:
    """Lock the one row of that name, made where it is missing or there are two."""
    query = select(_projections.c.position).where(_projections.c.name == name).with_for_update()
    if len(connection.execute(query).all()) != 1:
        connection.execute(_projections.delete().where(_projections.c.name == name))
        connection.execute(_projections.insert().values(name=name, position=0))


def carry_to(connection: Connection, name: str, position: int) -> None:
    """It was carried up to there."""
    connection.execute(_projections.update().where(_projections.c.name == name).values(position=position))
