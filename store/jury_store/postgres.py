"""A PostgreSQL database: its engine, and the roles without rights to change the log.

Rights are granted to the roles; logins are members of them (`deploy/roles.sql`).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event

# The first existing schema of the database's own search path. It is fixed before any role is set, because "$user"
# means the current role. Temporary tables come last; without being named they would come first.
_FIX_SEARCH_PATH = (
    "SELECT pg_catalog.set_config('search_path', "
    "pg_catalog.quote_ident(coalesce(pg_catalog.current_schema(), 'public')) || ', pg_temp', false)"
)


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine whose connections search the store's schema alone; `options` are those of SQLAlchemy."""
    # A connection that a restarted server closed is replaced before use.
    engine = create_engine(url, connect_args={"connect_timeout": 10}, pool_pre_ping=True, **options)

    @event.listens_for(engine, "connect")
    def _fix_search_path(connection: Any, _record: Any) -> None:
        connection.execute(_FIX_SEARCH_PATH)
        connection.commit()

    return engine


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

_READ = frozenset({"SELECT"})
_APPEND = _READ | {"INSERT"}
_UPDATE = _READ | {"UPDATE"}
_KEEP = _APPEND | {"UPDATE", "DELETE"}
_WRITER = {
    **dict.fromkeys(("events", "parts", "seals", "attestations", "origins"), _APPEND),
    **dict.fromkeys(("streams", "run_leases"), _APPEND | _UPDATE),
    **dict.fromkeys(("counters", "projections"), _UPDATE),
    **dict.fromkeys(("debates", "runs", "ballots"), _KEEP),
    **dict.fromkeys(("debate_fields", "search_texts"), _APPEND | {"DELETE"}),
    "alembic_version": _READ,
}
_RIGHTS = {
    ERASER_ROLE: {**_WRITER, "parts": _APPEND | {"DELETE"}},
    WRITER_ROLE: _WRITER,
    READER_ROLE: dict.fromkeys(_WRITER, _READ),
}
"""What `deploy/roles.sql` grants, by role and table; the first role that a login is a member of counts."""

_LOGIN = """
SELECT session_user,
       -- Whether it is the owner of the tables, or a superuser.
       (SELECT pg_has_role(session_user, relowner, 'MEMBER') FROM pg_class WHERE oid = 'events'::regclass),
       ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%s) AND pg_has_role(session_user, oid, 'MEMBER'))
"""
_HAS = """
SELECT relname, verb
  FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS verb
 WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s)
   AND CASE WHEN verb IN ('DELETE', 'TRUNCATE') THEN has_table_privilege(session_user, pg_class.oid, verb)
            ELSE has_any_column_privilege(session_user, pg_class.oid, verb) END
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


def right_faults(connection: Connection) -> Iterator[str]:
    """What the login of a connection lacks, and what it has beyond its role, one line each with the remedy."""
    login, unrestricted, roles = connection.exec_driver_sql(_LOGIN, (list(_RIGHTS),)).one()
    if unrestricted:
        return  # it owns the tables
    role = next((role for role in _RIGHTS if role in roles), None)
    if role is None:
        yield (
            f"the login {login} is a member of none of {', '.join(_RIGHTS)}; run deploy/roles.sql, and GRANT one of "
            f"them TO {login}"
        )
        return
    found = {(table, verb) for table, verb in connection.exec_driver_sql(_HAS, (list(_WRITER),))}
    declared = {(table, verb) for table, verbs in _RIGHTS[role].items() for verb in verbs}
    for table, verb in sorted(declared - found):
        yield f"the login {login} may not {verb} {table}, which {role} needs; run deploy/roles.sql again"
    for table, verb in sorted(found - declared):
        yield (
            f"the login {login} may also {verb} {table}, itself, by another role or by PUBLIC; run deploy/roles.sql "
            f"again, and REVOKE what remains"
        )
