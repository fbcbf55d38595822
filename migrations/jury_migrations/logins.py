"""The logins of a store on PostgreSQL: an owner, a writer, a reader and an eraser, each with the rights of one role.

Everything is one transaction, and idempotent. Passwords are sent as SCRAM verifiers, so that no statement and no server
log contains one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from jury_migrations.role_rights import RIGHTS, differences, grants
from jury_migrations.upgrading import upgrade
from jury_store.driver_errors import first_line
from jury_store.errors import LoginsRefused, StoreUnreachable, UnsupportedStore
from jury_store.opening import parse_store_url, redacted_url
from jury_store.postgres_engine import postgres_engine
from jury_store.postgres_role import ERASER_ROLE, READER_ROLE, WRITER_ROLE
from jury_store.triggers import POSTGRES_FUNCTIONS

OWNER = "owner"
ROLES: dict[str, tuple[str, ...]] = {
    OWNER: (WRITER_ROLE, ERASER_ROLE),
    "writer": (WRITER_ROLE,),
    "reader": (READER_ROLE,),
    "eraser": (ERASER_ROLE,),
}
"""The kinds of logins, and the roles of each."""

_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_LOCK_WAIT = "20s"


class Login(NamedTuple):
    """One login. `store` is its URL without a password; `password` is set for a new password, else None."""

    kind: str
    name: str
    store: str
    password: str | None


class DatabaseAddress(NamedTuple):
    """Host, port and database of a PostgreSQL password file; the folder of a socket is a host too."""

    host: str
    port: int
    database: str


Passwords = Callable[[str, bool], str | None]
"""Maps the kind of a login, and whether it is new, to the password to set; None: leave it."""


def set_up_logins(
    url: str, *, prefix: str | None, passwords: Passwords, save: Callable[[DatabaseAddress, Sequence[Login]], None]
) -> list[Login]:
    """Create or correct the four logins of the store at `url`, which is created or upgraded first.

    The owner's login gets the tables and functions of the store. PUBLIC loses the rights to connect to the database, to
    create temporary tables in it, and to create objects in the store's schema.

    Args:
        url: with an administrator: a superuser, or the owner of database and tables who may create roles.
        prefix: of the logins' names; None for the name of the database.
        passwords: called once for each kind.
        save: called with the logins before the commit, to store new passwords; an exception rolls everything back.

    Raises:
        UnsupportedStore: SQLite has no logins.
        LoginsRefused: a name is not valid, a right is missing, or a login has additional rights.
        StoreUnreachable, OpeningFailed: the URL is not usable, or the database is not a store.
    """
    parsed = parse_store_url(url)
    name = redacted_url(parsed)
    if parsed.get_backend_name() != "postgresql":
        raise UnsupportedStore(
            f"{name}: SQLite has no logins; access is controlled by the permissions of the file. Logins need "
            "postgresql://USER@HOST/DATABASE"
        )
    upgrade(url)
    engine = postgres_engine(parsed)
    try:
        with engine.connect() as connection, connection.begin():
            driver: Any = connection.connection.driver_connection
            prefix = _prefix(prefix, driver.info.dbname)
            logins = [
                Login(kind, login, _url(parsed, login), passwords(kind, not _attributes(connection, login)))
                for kind, login in ((kind, f"{prefix}_{kind}_login") for kind in ROLES)
            ]
            _set_up(connection, logins)
            save(DatabaseAddress(driver.info.host, driver.info.port, driver.info.dbname), logins)
    except DBAPIError as error:
        message = first_line(error)
        if isinstance(error.orig, psycopg.errors.LockNotAvailable):
            raise LoginsRefused(f"{name}: the store's tables are in use; end other commands, then try again") from None
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise LoginsRefused(
                f"{name}: {message}. Nothing was changed; run this as a superuser, or as the owner of the database and "
                "the store's tables who may create roles"
            ) from None
        # Without the statement, which may contain a verifier.
        raise StoreUnreachable(f"{name}: {message}. Nothing was changed") from None
    finally:
        engine.dispose()
    return logins


def _prefix(given: str | None, database: str) -> str:
    prefix = database if given is None else given
    if not _PREFIX.fullmatch(prefix):
        raise LoginsRefused(
            f"{prefix!r} is not a valid prefix of logins; give --prefix with at most 50 lower-case letters, digits and "
            "underscores, not beginning with a digit"
        )
    return prefix


def _url(url: Any, login: str) -> str:
    query = {key: value for key, value in url.query.items() if key not in {"user", "password", "passfile"}}
    return redacted_url(url.set(username=login, password=None, query=query))


def _set_up(connection: Connection, logins: Sequence[Login]) -> None:
    execute = connection.exec_driver_sql
    execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
    # A refused REVOKE is an error or a warning, depending on the user's other rights: `_check` finds what remains.
    execute("SET LOCAL client_min_messages = error")
    schema, database, user, superuser = execute(_HERE).one()
    for role in RIGHTS:
        if not execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first():
            execute(f"CREATE ROLE {role} NOLOGIN")
    for login in logins:
        _make_login(connection, login)
    owner = next(login.name for login in logins if login.kind == OWNER)
    if not superuser:
        # Required for changing the owner of tables; the membership stays, so that the command can be run again.
        execute(f"GRANT {owner} TO {user}")
    if not execute(_GRANTS_SCHEMA, (owner,)).scalar_one():
        execute(f"GRANT CREATE ON SCHEMA {schema} TO {owner}")
        execute(f"GRANT USAGE ON SCHEMA {schema} TO {owner} WITH GRANT OPTION")
    execute(f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC")
    users = [login.name for login in logins] if superuser else [user, *(login.name for login in logins)]
    execute(f"GRANT CONNECT ON DATABASE {database} TO {', '.join(users)}")
    execute(f"REVOKE CONNECT, TEMPORARY ON DATABASE {database} FROM PUBLIC")
    _change_owner(connection, owner)
    execute(f"SET LOCAL ROLE {owner}")
    for role in RIGHTS:
        for statement in grants(connection, role):
            execute(statement)
    execute("SET LOCAL ROLE NONE")
    for login in logins:
        _check(connection, login)


def _change_owner(connection: Connection, owner: str) -> None:
    execute = connection.exec_driver_sql
    for kind, statement, names in (
        ("TABLE", _TABLES_OF_OTHERS, list(RIGHTS[READER_ROLE])),
        ("FUNCTION", _FUNCTIONS_OF_OTHERS, list(POSTGRES_FUNCTIONS)),
    ):
        for (relation,) in execute(statement, (names, owner)).all():
            execute(f"ALTER {kind} {relation} OWNER TO {owner}")


def _make_login(connection: Connection, login: Login) -> None:
    execute = connection.exec_driver_sql
    attributes = _attributes(connection, login.name)
    if attributes and any(attributes.values()):
        names = ", ".join(name for name, has in attributes.items() if has)
        raise LoginsRefused(
            f"the role {login.name} exists and has {names}, so the rights of this store do not restrict it; revoke "
            "that, or give another --prefix"
        )
    execute(f"{'ALTER' if attributes else 'CREATE'} ROLE {login.name} LOGIN{_password_clause(connection, login)}")
    for role in RIGHTS:
        if role in ROLES[login.kind]:
            execute(f"GRANT {role} TO {login.name}")
        elif execute(_IS_MEMBER, (role, login.name)).first():
            execute(f"REVOKE {role} FROM {login.name}")


def _password_clause(connection: Connection, login: Login) -> str:
    if login.password is None:
        return ""
    driver: Any = connection.connection.driver_connection
    verifier = driver.pgconn.encrypt_password(login.password.encode(), login.name.encode(), b"scram-sha-256").decode()
    return f" PASSWORD '{verifier}'"


def _attributes(connection: Connection, login: str) -> Mapping[str, bool] | None:
    row = connection.exec_driver_sql(_ATTRIBUTES, (login,)).mappings().first()
    return dict(row) if row else None


def _check(connection: Connection, login: Login) -> None:
    """Check the effective rights of a login, which include those of other roles and of PUBLIC."""
    found = [] if login.kind == OWNER else differences(connection, login.name, *ROLES[login.kind])
    row = connection.exec_driver_sql(_ADDITIONAL, {"login": login.name}).mappings().one()
    found += [what for what, may in row.items() if may and not (login.kind == OWNER and what == _CREATES_OBJECTS)]
    if found:
        raise LoginsRefused(
            f"{login.name} {'; '.join(found)}: it has rights from another role or PUBLIC, or you may not change its "
            "rights. Nothing was changed; correct the rights, then try again"
        )


_CREATES_OBJECTS = "may also create in the schema of the store"

_HERE = """
SELECT quote_ident(current_schema()), replace(quote_ident(current_database()), '%%', '%%%%'), quote_ident(current_user),
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
"""
_ATTRIBUTES = """
SELECT rolsuper AS "SUPERUSER", rolcreaterole AS "CREATEROLE", rolcreatedb AS "CREATEDB",
       rolreplication AS "REPLICATION", rolbypassrls AS "BYPASSRLS"
  FROM pg_roles WHERE rolname = %s
"""
_IS_MEMBER = """
SELECT 1 FROM pg_auth_members WHERE roleid = %s::regrole AND member = %s::regrole
"""
_GRANTS_SCHEMA = """
SELECT has_schema_privilege(role, current_schema(), 'CREATE')
       AND has_schema_privilege(role, current_schema(), 'USAGE WITH GRANT OPTION')
  FROM (SELECT %s::name AS role) AS login
"""
_TABLES_OF_OTHERS = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s) AND c.relowner <> %s::regrole
"""
_FUNCTIONS_OF_OTHERS = """
SELECT p.oid::regprocedure::text FROM pg_proc p
 WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = ANY(%s) AND p.proowner <> %s::regrole
"""
_ADDITIONAL = f"""
SELECT has_database_privilege(%(login)s, current_database(), 'TEMPORARY') AS "may also make temporary tables",
       NOT has_database_privilege(%(login)s, current_database(), 'CONNECT') AS "may not connect",
       has_schema_privilege(%(login)s, current_schema(), 'CREATE') AS "{_CREATES_OBJECTS}"
"""
