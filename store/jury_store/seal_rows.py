"""The rows of seals, attestations and the origins of imported debates.

All functions work in the transaction of the connection.
"""

from collections.abc import Collection

from sqlalchemy import Connection

from jury_store.seals.seal import Attestation, Seal
from jury_store.sql_dialects import Dialect


def hashes(connection: Connection, dialect: Dialect, after: int, limit: int) -> list[tuple[int, bytes]]:
    """Position and hash of the next events."""
    return [(row[0], row[1]) for row in connection.exec_driver_sql(dialect.hashes, (after, limit))]


def seals(connection: Connection, dialect: Dialect) -> list[Seal]:
    """All seals, the smallest first."""
    return [Seal(*row) for row in connection.exec_driver_sql(dialect.seals)]


def latest_seal(connection: Connection, dialect: Dialect) -> Seal | None:
    """The seal over the most events."""
    row = connection.exec_driver_sql(dialect.latest_seal).first()
    return Seal(*row) if row else None


def store_seal(connection: Connection, dialect: Dialect, seal: Seal) -> bool:
    """Whether it was stored: the first seal of a size stays."""
    return connection.exec_driver_sql(dialect.insert_seal, (*seal, seal.tree_size)).rowcount == 1


def attestations(connection: Connection, dialect: Dialect) -> list[Attestation]:
    """All attestations, in one order on every database."""
    return [Attestation(*row) for row in connection.exec_driver_sql(dialect.attestations)]


def store_attestation(connection: Connection, dialect: Dialect, attestation: Attestation) -> bool:
    """Whether it was stored: False where it exists."""
    digest = attestation.digest
    return connection.exec_driver_sql(dialect.insert_attestation, (*attestation, digest, digest)).rowcount == 1


def origins(connection: Connection, dialect: Dialect, debate_ids: Collection[str]) -> dict[str, bytes]:
    """The seals that debates were imported with, by debate."""
    return {row[0]: row[1] for row in connection.exec_driver_sql(dialect.origins, (dialect.id_list(debate_ids),))}


def store_origin(connection: Connection, dialect: Dialect, debate_id: str, seal: bytes) -> None:
    """Store the origin, unless the debate has one."""
    connection.exec_driver_sql(dialect.insert_origin, (debate_id, seal, debate_id))
