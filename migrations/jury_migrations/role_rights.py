"""What the PostgreSQL roles may do with a store: no more and no less, whoever made them and when."""

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
_ADD = ("SELECT", "INSERT")
_WRITER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_LOG, _ADD),
    "streams": (*_ADD, "UPDATE (version, epoch, hash)"),
    "counters": ("SELECT", "UPDATE (value)"),
    "projections": ("SELECT", "UPDATE (position)"),
    "debates": (*_ADD, "UPDATE", "DELETE"),
    "debate_fields": (*_ADD, "DELETE"),
    "runs": (*_ADD, "UPDATE", "DELETE"),
    "run_sizes": (*_ADD, "UPDATE (cases)"),
    "search_texts": (*_ADD, "DELETE"),
    _VERSION_TABLE: ("SELECT",),
}
RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    READER_ROLE: dict.fromkeys((*metadata.tables, _VERSION_TABLE), ("SELECT",)),
    WRITER_ROLE: _WRITER,
    ERASER_ROLE: {**_WRITER, "parts": (*_ADD, "DELETE")},
}
"""Of each role by table. UPDATE may name columns; everything else is of the whole table."""


class Right(NamedTuple):
    """To do one thing with one table, or with one column of it."""

    table: str
    verb: str
    column: str | None = None


def set_rights(connection: Connection) -> None:
    """Give the roles that the server has their rights on the newest schema, and take what goes beyond.

    What cannot be given or taken is a warning. A role that is not there stays away, and so does the reader where it was
    given nothing here before: `jury db roles` gives it.
    """
    (user,) = connection.exec_driver_sql("SELECT quote_ident(current_user)").one()
    for role in _here(connection):
        before = _off(connection, role)
        if before:
            _try(connection, *grants(connection, role))
        after = _off(connection, role)
        if after:
            _log.warning(
                "the role %s has not the rights on this store that it should have (%s), and %s may not set them: let "
                "the owner of its tables and schema run jury db upgrade",
                role,
                "; ".join(after),
                user,
            )
        # Since PostgreSQL 16 whoever made a role is a member of it who may grant it, but not work under it.
        elif _lacks_membership(connection, role) and not _try(connection, f"GRANT {role} TO {user}") and before:
            _log.warning(
                "the role %s exists, but %s was not made a member of it: let an administrator run GRANT %s TO %s",
                role,
                user,
                role,
                user,
            )


def grants(connection: Connection, role: str) -> tuple[str, ...]:
    """The statements that give a role its rights on the store and take all others, for the owner of the tables."""
    (schema,) = connection.exec_driver_sql("SELECT quote_ident(current_schema())").one()
    usage = () if _may_use_schema(connection, role) else (f"GRANT USAGE ON SCHEMA {schema} TO {role}",)
    tables = ", ".join(RIGHTS[role])
    given = (f"GRANT {', '.join(verbs)} ON {table} TO {role}" for table, verbs in RIGHTS[role].items())
    return (*usage, f"REVOKE ALL ON {tables} FROM {role}", *given)


def differing_rights(connection: Connection) -> Iterator[str]:
    """What the roles that have rights on this store may not, or may beyond what is declared, a line each."""
    for role in _here(connection):
        if _has_any(connection, role):
            yield from (f"the role {role} {one}" for one in _off(connection, role))


def differences(connection: Connection, user: str, role: str) -> list[str]:
    """What a user or role lacks of the rights of `role`, and what it may beyond, on the tables of the store."""
    columns = _columns(connection)
    found, declared = _found(connection, user), _declared(columns, role)
    lacking, beyond = declared - found, found - declared
    return [f"may not {one}" for one in _told(lacking, columns)] + [f"may also {one}" for one in _told(beyond, columns)]


def _told(rights: set[Right], columns: dict[str, set[str]]) -> list[str]:
    """One phrase a table and verb, with the columns where not all are meant."""
    meant: dict[tuple[str, str], set[str]] = defaultdict(set)
    for table, verb, column in rights:
        meant[verb, table] |= {column} if column else set()
    return [
        f"{verb} {table}" + (f" ({', '.join(sorted(some))})" if some and some != columns[table] else "")
        for (verb, table), some in sorted(meant.items())
    ]


def _here(connection: Connection) -> list[str]:
    """Roles of ours that the server has and this store is to give rights to."""
    rows = connection.exec_driver_sql("SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (list(RIGHTS),))
    there = {row[0] for row in rows}
    return [role for role in RIGHTS if role in there and (role != READER_ROLE or _has_any(connection, role))]


def _lacks_membership(connection: Connection, role: str) -> bool:
    """Whether a store that this user opens does not work under the role, though it might."""
    return role != READER_ROLE and not may_set_role(connection, role)


def _off(connection: Connection, role: str) -> list[str]:
    off = differences(connection, role, role)
    return off if _may_use_schema(connection, role) else ["may not use the schema", *off]


def _has_any(connection: Connection, role: str) -> bool:
    return bool(connection.exec_driver_sql("SELECT has_table_privilege(%s, 'events', 'SELECT')", (role,)).scalar_one())


def _may_use_schema(connection: Connection, role: str) -> bool:
    statement = "SELECT has_schema_privilege(%s, current_schema(), 'USAGE')"
    return bool(connection.exec_driver_sql(statement, (role,)).scalar_one())


def _found(connection: Connection, user: str) -> set[Right]:
    tables = list(RIGHTS[READER_ROLE])
    return {Right(*row) for row in connection.exec_driver_sql(_HELD, (tables, user, tables, user))}


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
    """Whether nothing was refused; where something was, none of it holds."""
    try:
        with connection.begin_nested():
            # What was not granted is an error or a warning, by what else the user may do there: it is looked at after.
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
# A right on a table is one on each of its columns, which can be held one by one.
_HELD = """
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
