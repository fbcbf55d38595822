"""The revision of a store's schema, as the database names it, and whether that can be true."""

import re

from sqlalchemy import Connection, inspect

from jury_store.schema import REVISION, SEARCH_SHADOWS, metadata

_FORM = re.compile("log_[0-9]{4}")
_BEFORE_RELEASE = re.compile("[0-9]{4}")


def stored_revision(connection: Connection) -> str | None:
    """The revision, of any form; None where it is not one text."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    rows = connection.exec_driver_sql("SELECT version_num FROM alembic_version").all()
    found = rows[0][0] if len(rows) == 1 else None
    return found if isinstance(found, str) else None


def is_before_release(revision: str | None) -> bool:
    """Whether a program wrote it that was never released: its logs have another mark."""
    return revision is not None and _BEFORE_RELEASE.fullmatch(revision) is not None


def has_store(connection: Connection) -> bool:
    """Whether the database has the tables of a store, of the first revision or later."""
    return {"events", "streams", "parts"} <= set(inspect(connection).get_table_names())


def revision_fault(connection: Connection) -> str | None:
    """Why the revision of a store cannot be true: it was altered. None: it can be true.

    An older revision is a fault where the database has all tables and columns of today.
    """
    found = stored_revision(connection)
    if found is None:
        return "its table alembic_version does not name one revision"
    if not _FORM.fullmatch(found):
        return f"its table alembic_version names {found[:40]!r}, which is no revision"
    if found < REVISION and _is_of_today(connection):
        return f"its table alembic_version names {found}, and its tables are those of {REVISION}"
    return None


def _is_of_today(connection: Connection) -> bool:
    inspector = inspect(connection)
    if not metadata.tables.keys() <= set(inspector.get_table_names()) - SEARCH_SHADOWS:
        return False
    for table in metadata.sorted_tables:
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        if columns != set(table.columns.keys()) or not {index.name for index in table.indexes} <= indexes:
            return False
    return True
