"""The PostgreSQL roles: a writer that cannot change what it wrote, and an eraser that may also delete texts."""

from sqlalchemy import Connection

WRITER_ROLE = "jury_writer"
ERASER_ROLE = "jury_eraser"

_MAY_SET = """
SELECT pg_has_role(current_user, oid, CASE WHEN current_setting('server_version_num')::int >= 160000
                                           THEN 'SET' ELSE 'MEMBER' END)
       AND has_table_privilege(oid, 'events', 'SELECT') AND has_table_privilege(oid, 'events', 'INSERT')
  FROM pg_roles WHERE rolname = %s
"""


def may_set_role(connection: Connection, role: str) -> bool:
    """Whether the role exists, was given its rights in this database, and the user may work under it."""
    row = connection.exec_driver_sql(_MAY_SET, (role,)).first()
    return bool(row and row[0])
