"""The logins of a store on PostgreSQL: an owner, a writer, a reader and an eraser, each with the rights of one role.

Everything is one transaction, and calling it again changes nothing but what differs. Passwords reach the server as
SCRAM verifiers, so that none stands in a statement or in the server's log.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from jury_migrations.role_rights import RIGHTS, differences, grants
from jury_migrations.upgrading import upgrade
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
"""The kinds of logins, and the roles that each is a member of."""

_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_LOCK_WAIT = "20s"


class Login(NamedTuple):
    """One login. `store` is its URL without a password; `password` is one that was set just now, else None."""

    kind: str
    name: str
    store: str
    password: str | None


class DatabaseAddress(NamedTuple):
    """Where the server is, as a file of passwords names it; a socket's folder is a host too."""

    host: str
    port: int
    database: str


Passwords = Callable[[str, bool], str | None]
"""Of a kind of login, which is new or not: the password to set, None to leave it as it is."""


def set_up_logins(
    url: str, *, prefix: str | None, passwords: Passwords, keep: Callable[[DatabaseAddress, Sequence[Login]], None]
) -> list[Login]:
    """Make or correct the four logins of the store at `url`, which is made or brought forward first.

    The owner's login gets the tables and functions of the store. PUBLIC may no longer connect to the database, make
    temporary tables in it or anything in the store's schema.

    Args:
        url: as an administrator: a superuser, or the owner of database and tables who may create roles.
        prefix: what the names of the logins begin with; None for the name of the database.
        passwords: asked once for each kind.
        keep: told of the logins before they hold, to put new passwords somewhere; what it raises undoes everything.

    Raises:
        UnsupportedStore: SQLite has no logins.
        LoginsRefused: a name cannot be used, a right is missing, or a login has rights from elsewhere.
        StoreUnreachable, OpeningFailed: the URL leads nowhere, or to something else.
    """
    parsed = parse_store_url(url)
    name = shown(parsed)
    if parsed.get_backend_name() != "postgresql":
        raise UnsupportedStore(
            f"{name}: SQLite has no logins; who may read or write the file, its folder's rights say. Logins need "
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
            keep(DatabaseAddress(driver.info.host, driver.info.port, driver.info.dbname), logins)
    except DBAPIError as error:
        said = (str(error.orig).strip().splitlines() or ["no answer"])[0]
        if isinstance(error.orig, psycopg.errors.LockNotAvailable):
            raise LoginsRefused(f"{name}: somebody uses the store's tables; end what runs, then try again") from None
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise LoginsRefused(
                f"{name}: {said}. Nothing was changed; run this as a superuser, or as who owns the database and the "
                "store's tables and may create roles"
            ) from None
        # Without the statement, which may hold a verifier.
        raise StoreUnreachable(f"{name}: {said}. Nothing was changed") from None
    finally:
        engine.dispose()
    return logins


def _prefix(given: str | None, database: str) -> str:
    prefix = database if given is None else given
    if not _PREFIX.fullmatch(prefix):
        raise LoginsRefused(
            f"{prefix!r} cannot begin the names of logins; give --prefix with at most 50 small letters, digits and "
            "underscores, a digit not first"
        )
    return prefix


def _url(url: Any, login: str) -> str:
    query = {key: value for key, value in url.query.items() if key not in {"user", "password", "passfile"}}
    return shown(url.set(username=login, password=None, query=query))


def _set_up(connection: Connection, logins: Sequence[Login]) -> None:
    execute = connection.exec_driver_sql
    execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
    # What could not be revoked is an error or a warning, by what else the user may do: all of it is looked at after.
    execute("SET LOCAL client_min_messages = error")
    schema, database, user, superuser = execute(_HERE).one()
    for role in RIGHTS:
        if not execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first():
            execute(f"CREATE ROLE {role} NOLOGIN")
    for login in logins:
        _make_login(connection, login)
    owner = next(login.name for login in logins if login.kind == OWNER)
    if not superuser:
        # Who gives tables to a role must be a member of it, and stays one: also to call this again.
        execute(f"GRANT {owner} TO {user}")
    if not execute(_GIVES_SCHEMA, (owner,)).scalar_one():
        execute(f"GRANT CREATE ON SCHEMA {schema} TO {owner}")
        execute(f"GRANT USAGE ON SCHEMA {schema} TO {owner} WITH GRANT OPTION")
    execute(f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC")
    users = [login.name for login in logins] if superuser else [user, *(login.name for login in logins)]
    execute(f"GRANT CONNECT ON DATABASE {database} TO {', '.join(users)}")
    execute(f"REVOKE CONNECT, TEMPORARY ON DATABASE {database} FROM PUBLIC")
    _give_tables(connection, owner)
    execute(f"SET LOCAL ROLE {owner}")
    for role in RIGHTS:
        for statement in grants(connection, role):
            execute(statement)
    execute("SET LOCAL ROLE NONE")
    for login in logins:
        _check(connection, login)


def _give_tables(connection: Connection, owner: str) -> None:
    execute = connection.exec_driver_sql
    for kind, statement, names in (
        ("TABLE", _TABLES_OF_OTHERS, list(RIGHTS[READER_ROLE])),
        ("FUNCTION", _FUNCTIONS_OF_OTHERS, list(POSTGRES_FUNCTIONS)),
    ):
        for (thing,) in execute(statement, (names, owner)).all():
            execute(f"ALTER {kind} {thing} OWNER TO {owner}")


def _make_login(connection: Connection, login: Login) -> None:
    execute = connection.exec_driver_sql
    there = _attributes(connection, login.name)
    if there and any(there.values()):
        held = ", ".join(name for name, has in there.items() if has)
        raise LoginsRefused(
            f"the role {login.name} is there and has {held}, so no right of this store binds it; take that from it, or "
            "give another --prefix"
        )
    execute(f"{'ALTER' if there else 'CREATE'} ROLE {login.name} LOGIN{_verified(connection, login)}")
    for role in RIGHTS:
        if role in ROLES[login.kind]:
            execute(f"GRANT {role} TO {login.name}")
        elif execute(_IS_MEMBER, (role, login.name)).first():
            execute(f"REVOKE {role} FROM {login.name}")


def _verified(connection: Connection, login: Login) -> str:
    if login.password is None:
        return ""
    driver: Any = connection.connection.driver_connection
    verifier = driver.pgconn.encrypt_password(login.password.encode(), login.name.encode(), b"scram-sha-256").decode()
    return f" PASSWORD '{verifier}'"


def _attributes(connection: Connection, login: str) -> Mapping[str, bool] | None:
    row = connection.exec_driver_sql(_ATTRIBUTES, (login,)).mappings().first()
    return dict(row) if row else None


def _check(connection: Connection, login: Login) -> None:
    """A login may belong to other roles, and PUBLIC may have rights: what it can do in the end is what counts."""
    off = [] if login.kind == OWNER else differences(connection, login.name, *ROLES[login.kind])
    row = connection.exec_driver_sql(_BEYOND, {"login": login.name}).mappings().one()
    off += [what for what, may in row.items() if may and not (login.kind == OWNER and what == _MAKES_THINGS)]
    if off:
        raise LoginsRefused(
            f"{login.name} {'; '.join(off)}: it has rights from elsewhere, such as another role or PUBLIC, or what "
            "you may do does not reach far enough. Nothing was changed; mend that, then try again"
        )


_MAKES_THINGS = "may also create in the schema of the store"

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
_GIVES_SCHEMA = """
SELECT has_schema_privilege(role, current_schema(), 'CREATE')
       AND has_schema_privilege(role, current_schema(), 'USAGE WITH GRANT OPTION')
  FROM (SELECT %s::name AS role) AS given
"""
_TABLES_OF_OTHERS = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s) AND c.relowner <> %s::regrole
"""
_FUNCTIONS_OF_OTHERS = """
SELECT p.oid::regprocedure::text FROM pg_proc p
 WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = ANY(%s) AND p.proowner <> %s::regrole
"""
_BEYOND = f"""
SELECT has_database_privilege(%(login)s, current_database(), 'TEMPORARY') AS "may also make temporary tables",
       NOT has_database_privilege(%(login)s, current_database(), 'CONNECT') AS "may not connect",
       has_schema_privilege(%(login)s, current_schema(), 'CREATE') AS "{_MAKES_THINGS}"
"""
