"""What the PostgreSQL roles may do with a store, given to those that an administrator made after the store."""

import logging

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from jury_store.postgres_role import ERASER_ROLE, WRITER_ROLE, may_set_role

_log = logging.getLogger(__name__)

_WRITER = {
    "events": "SELECT, INSERT",
    "parts": "SELECT, INSERT",
    "seals": "SELECT, INSERT",
    "origins": "SELECT, INSERT",
    "attestations": "SELECT, INSERT",
    "streams": "SELECT, INSERT, UPDATE",
    "counters": "SELECT, UPDATE",
    "projections": "SELECT, UPDATE",
    "debates": "SELECT, INSERT, UPDATE, DELETE",
    "debate_fields": "SELECT, INSERT, UPDATE, DELETE",
    "runs": "SELECT, INSERT, UPDATE, DELETE",
    "alembic_version": "SELECT",
}
_RIGHTS = {WRITER_ROLE: _WRITER, ERASER_ROLE: {**_WRITER, "parts": "SELECT, INSERT, DELETE"}}


def grant_missing(connection: Connection) -> None:
    """Give the roles that the server has what they lack on the newest schema; what cannot be given is a warning.

    A role that is not there stays away: Jury Judge works without it.
    """
    schema, user = connection.exec_driver_sql("SELECT quote_ident(current_schema()), quote_ident(current_user)").one()
    for role, rights in _RIGHTS.items():
        lacked = _lacks(connection, role, rights)
        if lacked:
            grants = [f"GRANT {verbs} ON {table} TO {role}" for table, verbs in rights.items()]
            _try(connection, f"GRANT USAGE ON SCHEMA {schema} TO {role}", *grants)
        if _lacks(connection, role, rights):
            _log.warning(
                "the role %s lacks rights on this store, and %s may not give them: let the owner of its tables and "
                "schema run jury db upgrade",
                role,
                user,
            )
        elif not _may_use(connection, role) and not _try(connection, f"GRANT {role} TO {user}") and lacked:
            _log.warning(
                "the role %s exists, but %s was not made a member of it: let an administrator run GRANT %s TO %s",
                role,
                user,
                role,
                user,
            )


def _lacks(connection: Connection, role: str, rights: dict[str, str]) -> bool:
    row = connection.exec_driver_sql(_LACKS, (list(rights), list(rights.values()), role)).first()
    return row is not None and bool(row[0])


def _may_use(connection: Connection, role: str) -> bool:
    """Whether a store that this user opens works under the role, or there is no such role.

    Since PostgreSQL 16 whoever made a role is a member of it who may grant it, but not work under it.
    """
    there = connection.exec_driver_sql("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first()
    return there is None or may_set_role(connection, role)


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


# has_table_privilege is true where any of several rights is held, so they are asked for one by one.
_LACKS = """
SELECT NOT has_schema_privilege(r.oid, current_schema(), 'USAGE')
       OR EXISTS (SELECT 1 FROM unnest(%s::text[], %s::text[]) AS wanted(tab, verbs),
                                regexp_split_to_table(verbs, ', ') AS verb
                   WHERE NOT has_table_privilege(r.oid, tab, verb))
  FROM pg_roles r WHERE r.rolname = %s
"""
