"""The PostgreSQL roles: one that reads, one that appends to the log, one that may also delete texts.

Rights are granted to the roles; logins are members of them (`jury db roles`).
"""

from typing import NamedTuple

from sqlalchemy import Connection

READER_ROLE = "jury_reader"
WRITER_ROLE = "jury_writer"
ERASER_ROLE = "jury_eraser"

_MAY_SET = """
SELECT pg_has_role(current_user, oid, CASE WHEN current_setting('server_version_num')::int >= 160000
                                           THEN 'SET' ELSE 'MEMBER' END)
       AND has_table_privilege(oid, 'events', 'SELECT') AND has_table_privilege(oid, 'events', 'INSERT')
  FROM pg_roles WHERE rolname = %s
"""
_OWN_RIGHTS = """
SELECT current_user, has_table_privilege('events', 'INSERT'), has_table_privilege('parts', 'DELETE')
"""


class DatabaseUser(NamedTuple):
    """The user of a store's connections, and the roles that are set on them.

    `role` is set on every connection; None where the user is a member of no role and has its own rights. `eraser` is
    set to delete texts: None where the user may not, and `NONE` (PostgreSQL's keyword) where it may without a role.
    """

    name: str
    may_write: bool
    role: str | None
    eraser: str | None


def database_user(connection: Connection) -> DatabaseUser:
    """The user of a connection on which no role is set."""
    name, inserts, deletes = connection.exec_driver_sql(_OWN_RIGHTS).one()
    role = next((role for role in (WRITER_ROLE, ERASER_ROLE) if may_set_role(connection, role)), None)
    eraser = ERASER_ROLE if may_set_role(connection, ERASER_ROLE) else "NONE" if deletes else None
    return DatabaseUser(name, inserts or role is not None, role, eraser)


def may_set_role(connection: Connection, role: str) -> bool:
    """Whether the role exists, has its rights in this database, and the user may set it."""
    row = connection.exec_driver_sql(_MAY_SET, (role,)).first()
    return bool(row and row[0])
