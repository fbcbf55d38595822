"""The exact rights of the PostgreSQL roles on a store's tables."""

import logging
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from jury_store.postgres_role import ERASER_ROLE, READER_ROLE, WRITER_ROLE, may_set_role
from jury_store.schema import metadata

_log = logging.getLogger(__name__)

_VERSION_TABLE = "alembic_version"
_LOG = ("events", "parts", "seals", "attestations", "origins")
_APPEND = ("SELECT", "INSERT")
_WRITER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_LOG, _APPEND),
    "streams": (*_APPEND, "UPDATE (version, epoch, hash)"),
    "counters": ("SELECT", "UPDATE (value)"),
    "projections": ("SELECT", "UPDATE (position)"),
    "debates": (*_APPEND, "UPDATE", "DELETE"),
    "debate_fields": (*_APPEND, "DELETE"),
    "runs": (*_APPEND, "UPDATE", "DELETE"),
    "ballots": (*_APPEND, "UPDATE", "DELETE"),
    "run_sizes": (*_APPEND, "UPDATE (cases, calls_at_most, cost_at_most)"),
    "search_texts": (*_APPEND, "DELETE"),
    _VERSION_TABLE: ("SELECT",),
}
RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    READER_ROLE: dict.fromkeys((*metadata.tables, _VERSION_TABLE), ("SELECT",)),
    WRITER_ROLE: _WRITER,
    ERASER_ROLE: {**_WRITER, "parts": (*_APPEND, "DELETE")},
}
"""By role and table. UPDATE may name columns; every other right is on the whole table."""


class Right(NamedTuple):
    """The right to run a statement on a table, or on one column of it."""

    table: str
    verb: str
    column: str | None = None


def set_rights(connection: Connection) -> None:
    """Grant the existing roles their rights on the newest schema, and revoke all others.

    Logs a warning for a right that cannot be granted or revoked. Missing roles are not created; the reader role gets
    rights only where it has some already (`jury db roles` grants them first).
    """
    (user,) = connection.exec_driver_sql("SELECT quote_ident(current_user)").one()
    for role in _roles_here(connection):
        before = _role_differences(connection, role)
        if before:
            _try(connection, *grants(connection, role))
        after = _role_differences(connection, role)
        if after:
            _log.warning(
                "the role %s does not have its declared rights on this store (%s), and %s may not grant them: let the "
                "owner of the tables and schema run jury db upgrade",
                role,
                "; ".join(after),
                user,
            )
        # Since PostgreSQL 16 the creator of a role is a member who may grant it, but not set it.
        elif _lacks_membership(connection, role) and not _try(connection, f"GRANT {role} TO {user}") and before:
            _log.warning(
                "the role %s exists, but %s is not a member of it: let an administrator run GRANT %s TO %s",
                role,
                user,
                role,
                user,
            )


def grants(connection: Connection, role: str) -> tuple[str, ...]:
    """The statements that grant a role its rights and revoke all others, for the owner of the tables."""
    (schema,) = connection.exec_driver_sql("SELECT quote_ident(current_schema())").one()
    usage = () if _may_use_schema(connection, role) else (f"GRANT USAGE ON SCHEMA {schema} TO {role}",)
    tables = ", ".join(RIGHTS[role])
    given = (f"GRANT {', '.join(verbs)} ON {table} TO {role}" for table, verbs in RIGHTS[role].items())
    return (*usage, f"REVOKE ALL ON {tables} FROM {role}", *given)


def differing_rights(connection: Connection) -> Iterator[str]:
    """Missing and additional rights of the roles on this store, one line each."""
    for role in _roles_here(connection):
        if _has_any(connection, role):
            yield from (f"the role {role} {one}" for one in _role_differences(connection, role))


def differences(connection: Connection, user: str, role: str) -> list[str]:
    """Missing and additional rights of a user or role on the store's tables, compared with the rights of `role`."""
    columns = _columns(connection)
    found, declared = _granted(connection, user), _declared(columns, role)
    missing, additional = declared - found, found - declared
    return [f"may not {one}" for one in _phrases(missing, columns)] + [
        f"may also {one}" for one in _phrases(additional, columns)
    ]


def _phrases(rights: set[Right], columns: dict[str, set[str]]) -> list[str]:
    """One phrase a table and verb, with the columns unless all are included."""
    included: dict[tuple[str, str], set[str]] = defaultdict(set)
    for table, verb, column in rights:
        included[verb, table] |= {column} if column else set()
    return [
        f"{verb} {table}" + (f" ({', '.join(sorted(some))})" if some and some != columns[table] else "")
        for (verb, table), some in sorted(included.items())
    ]


def _roles_here(connection: Connection) -> list[str]:
    """The existing roles that get rights on this store."""
    rows = connection.exec_driver_sql("SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (list(RIGHTS),))
    existing = {row[0] for row in rows}
    return [role for role in RIGHTS if role in existing and (role != READER_ROLE or _has_any(connection, role))]


def _lacks_membership(connection: Connection, role: str) -> bool:
    """Whether this user cannot set the role."""
    return role != READER_ROLE and not may_set_role(connection, role)


def _role_differences(connection: Connection, role: str) -> list[str]:
    found = differences(connection, role, role)
    return found if _may_use_schema(connection, role) else ["may not use the schema", *found]


def _has_any(connection: Connection, role: str) -> bool:
    return bool(connection.exec_driver_sql("SELECT has_table_privilege(%s, 'events', 'SELECT')", (role,)).scalar_one())


def _may_use_schema(connection: Connection, role: str) -> bool:
    statement = "SELECT has_schema_privilege(%s, current_schema(), 'USAGE')"
    return bool(connection.exec_driver_sql(statement, (role,)).scalar_one())


def _granted(connection: Connection, user: str) -> set[Right]:
    tables = list(RIGHTS[READER_ROLE])
    return {Right(*row) for row in connection.exec_driver_sql(_GRANTED, (tables, user, tables, user))}


def _columns(connection: Connection) -> dict[str, set[str]]:
    columns: dict[str, set[str]] = defaultdict(set)
    for table, column in connection.exec_driver_sql(_COLUMNS, (list(RIGHTS[READER_ROLE]),)):
        columns[table].add(column)
    return columns


def _declared(columns: dict[str, set[str]], role: str) -> set[Right]:
    declared = set()
    for table, verbs in RIGHTS[role].items():
        for one in verbs:
            verb, _, named = one.partition(" (")
            if verb == "DELETE":
                declared.add(Right(table, verb))
            else:
                chosen = named.rstrip(")").split(", ") if named else columns[table]
                declared.update(Right(table, verb, column) for column in chosen)
    return declared


def _try(connection: Connection, *statements: str) -> bool:
    """Whether all statements were permitted; otherwise all are rolled back."""
    try:
        with connection.begin_nested():
            # A refused grant is an error or a warning, depending on the user's other rights: the caller checks.
            connection.exec_driver_sql("SET LOCAL client_min_messages = error")
            for statement in statements:
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql("SET LOCAL client_min_messages = notice")
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            return False
        raise
    return True


_COLUMNS = """
SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s)
   AND a.attnum > 0 AND NOT a.attisdropped
"""
# A right on a table includes each of its columns.
_GRANTED = """
SELECT c.relname, verb, a.attname
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid,
       unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS verb
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s)
   AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(%s, c.oid, a.attnum, verb)
 UNION ALL
SELECT c.relname, verb, NULL
  FROM pg_class c, unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS verb
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s)
   AND has_table_privilege(%s, c.oid, verb)
"""
