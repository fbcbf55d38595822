"""Deleting texts, in the transaction of the connection."""

from collections.abc import Collection

from sqlalchemy import Connection

from jury_events.ids import owner_stream
from jury_events.parts import Digest
from jury_store import search_index
from jury_store.dialects import Dialect
from jury_store.errors import ErasureNotRecorded


def delete(
    connection: Connection, dialect: Dialect, debate_id: str, digests: Collection[Digest], role: str | None
) -> int:
    """Delete texts of a debate, their salts and their search terms; returns how many were stored.

    Sets the database role `role` where there is one.

    Raises:
        ErasureNotRecorded: the debate has no `texts_erased` event, the batch no `batch_texts_erased`.
    """
    execute = connection.exec_driver_sql
    if not execute(dialect.erasures, (owner_stream(debate_id),)).first():
        raise ErasureNotRecorded.of(debate_id)
    if role is not None:
        execute(f"SET LOCAL ROLE {role}")
    search_index.remove(connection, dialect, debate_id, digests)
    rows = [(debate_id, digest) for digest in set(digests)]
    return execute(dialect.delete_part, rows).rowcount if rows else 0
