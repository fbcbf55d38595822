"""The rights of each login of a store on PostgreSQL, statement by statement."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import psycopg
import pytest

from jury_migrations import DatabaseAddress, Login, check, set_up_logins, upgrade
from jury_replay import ErasureOrder, erase
from jury_store import Append, LoginsRefused, MayNotErase, MayNotWrite, ScrubRefused, Seal, UnsupportedStore, open_store
from support.debates import DebateScript
from support.old_stores import at_revision
from support.postgres import PostgresServer

LOGINS = ("owner", "writer", "reader", "eraser")


def set_up(url: str, prefix: str = "app") -> dict[str, Login]:
    logins = set_up_logins(url, prefix=prefix, passwords=lambda _kind, _new: None, save=_nowhere)
    return {login.kind: login for login in logins}


def _nowhere(_place: DatabaseAddress, _logins: Sequence[Login]) -> None:
    """No password was set."""


def _drop_logins(postgres: PostgresServer, prefix: str = "app") -> None:
    for kind in LOGINS:
        postgres.execute(f"DROP ROLE IF EXISTS {prefix}_{kind}_login")


@pytest.fixture(scope="module", params=["fresh", "upgraded"])
def logins(request: pytest.FixtureRequest, postgres: PostgresServer) -> Iterator[dict[str, Login]]:
    """The logins of a store with the debates d and e, e with an erasure on record, a seal and an origin."""
    name = postgres.create_database()
    url = postgres.url(name)
    if request.param == "upgraded":
        at_revision(url, "0003")
    found = set_up(url)
    whole, erased = DebateScript("d"), DebateScript("e", seed=2)
    with closing(open_store(found["writer"].store, write=True)) as store:
        store.append([Append(whole.stream, whole.whole(), 0, store.next_epoch())], atomic=True, origin=b"s")
        recorded = (erased.opened("x", tags=("a",)), erased.erased("x"))
        store.append([Append(erased.stream, recorded, 0, store.next_epoch())])
        store.store_seal(Seal(1, b"r", b"f", b"n", 1))
        store.project()
    yield found
    for url in [login.store for login in found.values() if login.store in _OPEN]:
        _OPEN.pop(url).close()
    postgres.drop_database(name)
    _drop_logins(postgres)


_OPEN: dict[str, psycopg.Connection[Any]] = {}
"""Connections of logins by URL, reused because opening one takes longer than a statement."""


def execute(login: Login, *statements: str) -> None:
    """Run statements in one transaction of a login, which is rolled back."""
    if login.store not in _OPEN:
        _OPEN[login.store] = _connected(login)
    connection = _OPEN[login.store]
    try:
        for statement in statements:
            connection.execute(statement.encode())
    finally:
        connection.rollback()


def execute_on_new_connection(login: Login, statement: str) -> None:
    """The same on a new connection."""
    with closing(_connected(login)) as connection:
        connection.execute(statement.encode())


def _connected(login: Login) -> "psycopg.Connection[Any]":
    url = login.store.replace("postgresql://", "").replace("?host=", "@")
    user, rest = url.split("@/", maxsplit=1)
    database, host = rest.split("@", maxsplit=1)
    return psycopg.connect(host=host.replace("%2F", "/"), user=user, dbname=database)


_EVENT = "position, stream, version, event_id, type, schema, recorded_at, body, hash"
_STRAY_EVENT = (
    "SELECT 99, 'debate/z', 1, event_id, type, schema, recorded_at, body, hash FROM events WHERE position = 1"
)

NOBODY_MAY = [
    *(f"{verb} {table}" for table in ("events", "seals", "origins") for verb in ("DELETE FROM", "TRUNCATE")),
    "UPDATE events SET body = body",
    "UPDATE events SET position = 99 WHERE position = 7",
    "UPDATE seals SET note = note",
    "UPDATE origins SET seal = seal",
    "UPDATE parts SET content = content",
    "DELETE FROM parts WHERE debate_id = 'd'",
    "TRUNCATE parts",
    "INSERT INTO streams VALUES ('debate/z', 1, 1, 'h')",
    "INSERT INTO streams SELECT 'debate/z', version, epoch, hash FROM streams WHERE stream = 'debate/d'",
    "UPDATE streams SET stream = 'debate/z' WHERE stream = 'debate/d'",
    "UPDATE streams SET version = version + 1 WHERE stream = 'debate/d'",
    "UPDATE streams SET version = version - 1 WHERE stream = 'debate/d'",
    "UPDATE streams SET version = 4, hash = (SELECT hash FROM events WHERE position = 4) WHERE stream = 'debate/d'",
    "UPDATE streams SET hash = 'h' WHERE stream = 'debate/d'",
    "UPDATE streams SET epoch = epoch - 1 WHERE stream = 'debate/d'",
    "DELETE FROM streams",
    "TRUNCATE streams",
    "INSERT INTO counters VALUES ('other', 1)",
    "UPDATE counters SET name = 'other' WHERE name = 'epoch'",
    "UPDATE counters SET value = value + 1 WHERE name = 'position'",
    "UPDATE counters SET value = value - 1 WHERE name = 'position'",
    "UPDATE counters SET value = value + 2 WHERE name = 'epoch'",
    "UPDATE counters SET value = value - 1 WHERE name = 'epoch'",
    "DELETE FROM counters",
    "TRUNCATE counters",
    "INSERT INTO projections VALUES ('other', 1)",
    "UPDATE projections SET name = 'other'",
    "DELETE FROM projections",
    "UPDATE debate_fields SET value = 'b'",
    "TRUNCATE debates",
    "TRUNCATE debate_fields",
    "TRUNCATE runs",
    "UPDATE alembic_version SET version_num = '0003'",
    "DELETE FROM alembic_version",
    "ALTER TABLE events DISABLE TRIGGER ALL",
    "DROP TRIGGER parts_refuse_delete ON parts",
    "ALTER TABLE events ADD COLUMN more TEXT",
    "DROP TABLE debates",
    "CREATE TRIGGER mine BEFORE INSERT ON events EXECUTE FUNCTION jury_refuse_change()",
    "CREATE OR REPLACE FUNCTION jury_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
    "ALTER FUNCTION jury_refuse_unrecorded_erasure() RESET search_path",
    "CREATE TABLE mine (x INT)",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE FUNCTION mine() RETURNS INT LANGUAGE sql AS 'SELECT 1'",
    "CREATE TEMPORARY TABLE events (stream TEXT, type TEXT)",
    "CREATE SCHEMA mine",
    "SET session_replication_role = replica",
    "CREATE ROLE mine",
    "SET ROLE app_owner_login",
    "SET ROLE jury_test",
    "COPY events TO PROGRAM 'cat'",
    "SELECT pg_read_file('PG_VERSION')",
]
THE_READER_MAY_NOT = [
    f"INSERT INTO events ({_EVENT}) {_STRAY_EVENT}",
    "INSERT INTO parts VALUES ('d', 'x', 'x', 'x')",
    "INSERT INTO seals VALUES (2, 'a', 'b', 'c', 1)",
    "INSERT INTO origins VALUES ('e', 'a')",
    "UPDATE streams SET epoch = epoch + 1",
    "UPDATE counters SET value = value + 1 WHERE name = 'epoch'",
    "UPDATE projections SET position = 0",
    "UPDATE debates SET final_verdict = 'safe_pass'",
    "DELETE FROM debates",
    "DELETE FROM debate_fields",
    "UPDATE runs SET completed = 0",
    "DELETE FROM runs",
    "DELETE FROM parts WHERE debate_id = 'e'",
    "SELECT * FROM counters FOR UPDATE",
    "SET ROLE jury_writer",
    "SET ROLE jury_eraser",
]
FORBIDDEN = [
    *((kind, statement) for statement in NOBODY_MAY for kind in ("writer", "reader", "eraser")),
    *(("reader", statement) for statement in THE_READER_MAY_NOT),
    ("writer", "DELETE FROM parts WHERE debate_id = 'e'"),
    ("writer", "SET ROLE jury_eraser"),
]
READS = [
    f"SELECT * FROM {table}" for table in ("events", "parts", "streams", "counters", "seals", "origins", "debates")
]
_FOLLOW = (
    "UPDATE counters SET value = value + 1 WHERE name = 'position'; "
    "INSERT INTO streams SELECT stream, version, 1, hash FROM events WHERE position = 8"
)
THE_WRITER_MAY = [
    "INSERT INTO parts VALUES ('d', 'x', 'x', 'x')",
    "INSERT INTO seals VALUES (2, 'a', 'b', 'c', 1)",
    "INSERT INTO origins VALUES ('e', 'a')",
    "UPDATE streams SET epoch = epoch + 1 WHERE stream = 'debate/d'",
    "UPDATE counters SET value = value + 1 WHERE name = 'epoch'",
    "DELETE FROM debates; DELETE FROM debate_fields; DELETE FROM runs; UPDATE projections SET position = 0",
    "UPDATE debates SET final_verdict = 'safe_pass'",
    f"INSERT INTO events ({_EVENT}) {_STRAY_EVENT.replace('99', '8')}; {_FOLLOW}",
]
ALLOWED = [
    *((kind, statement) for statement in READS for kind in ("writer", "reader", "eraser")),
    *((kind, statement) for statement in THE_WRITER_MAY for kind in ("writer", "eraser")),
    ("eraser", "DELETE FROM parts WHERE debate_id = 'e'"),
]


GRANTS = (
    "GRANT UPDATE, DELETE ON events TO PUBLIC",
    "GRANT UPDATE, DELETE ON events TO CURRENT_USER",
    "DELETE FROM events",
)
"""PostgreSQL answers the first two with a warning."""


def test_a_login_has_the_rights_that_it_needs_and_no_others(logins: dict[str, Login]) -> None:
    for kind, statement in ALLOWED:
        execute(logins[kind], statement)
    for kind, *statements in (*FORBIDDEN, *((kind, *GRANTS) for kind in ("writer", "reader", "eraser"))):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            pytest.fail(f"{kind} may: {statements}: {execute(logins[kind], *statements)}")


def test_positions_are_assigned_without_a_gap(logins: dict[str, Login]) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="without a gap"):
        execute(
            logins["writer"],
            f"INSERT INTO events ({_EVENT}) {_STRAY_EVENT}",
            "UPDATE counters SET value = 99 WHERE name = 'position'",
        )


@pytest.mark.parametrize("kind", ["owner", "writer", "eraser"])
def test_a_writer_has_a_role_and_updates_the_lists(logins: dict[str, Login], kind: str) -> None:
    script = DebateScript(f"by-{kind}")
    with closing(open_store(logins[kind].store, write=True)) as store:
        store.append([Append(script.stream, script.whole(), 0, store.next_epoch())])
        events = store.rebuild()

        assert store.writer_role == ("jury_eraser" if kind == "eraser" else "jury_writer")
        assert events == store.last_position()
        assert f"by-{kind}" in {row.debate_id for row in store.debates()}


def test_the_reader_reads_and_is_refused_writing_with_the_remedy(logins: dict[str, Login]) -> None:
    with closing(open_store(logins["reader"].store, write=False)) as store:
        assert {"d", "e"} <= {row.debate_id for row in store.debates()}
        assert store.read_stream("debate/d")
    with pytest.raises(MayNotWrite, match="app_reader_login may read this store and not write to it"):
        open_store(logins["reader"].store, write=True)


def test_an_erasure_without_the_right_records_nothing(logins: dict[str, Login]) -> None:
    script = DebateScript("kept")
    with closing(open_store(logins["writer"].store, write=True)) as store:
        store.append([Append(script.stream, script.whole(), 0, store.next_epoch())])
        before = store.last_position(), store.next_epoch()
        append = Append(script.stream, (script.erased("the case"),), 5, before[1])

        with pytest.raises(MayNotErase, match="app_writer_login may not delete texts"):
            erase(store, "kept", ErasureOrder("dpo", "asked"), now=1)
        with pytest.raises(MayNotErase, match="use the eraser's login, or let the owner run: GRANT jury_eraser TO"):
            store.append([append], atomic=True, erase=[script.pen.make("the case").digest])
        with pytest.raises(MayNotErase):
            store.delete_parts("e", [script.pen.make("the case").digest])

        assert before == (store.last_position(), store.next_epoch() - 1)
        assert len(store.parts("kept")) == 5


@pytest.mark.parametrize("kind", ["owner", "eraser"])
def test_the_eraser_records_and_deletes(logins: dict[str, Login], kind: str) -> None:
    script = DebateScript(f"gone-{kind}")
    with closing(open_store(logins[kind].store, write=True)) as store:
        store.append([Append(script.stream, script.whole(), 0, store.next_epoch())])

        erased = erase(store, script.debate_id, ErasureOrder("dpo", "asked"), now=1)

        assert (erased.texts, erased.events) == (5, 1)
        assert store.parts(script.debate_id) == {}
        if kind == "owner":
            store.scrub()
        else:
            with pytest.raises(ScrubRefused, match="until their owner runs"):
                store.scrub()


def test_the_owner_upgrades_and_the_schema_matches_the_declaration(logins: dict[str, Login]) -> None:
    upgrade(logins["owner"].store)

    assert check(logins["owner"].store) == []


@pytest.mark.full
def test_a_second_call_changes_nothing_and_a_third_corrects_differences(postgres: PostgresServer) -> None:
    name = postgres.create_database()
    first = set_up(postgres.url(name), "again")
    second = set_up(postgres.url(name), "again")
    postgres.execute("GRANT UPDATE ON streams TO jury_writer", name)
    postgres.execute("GRANT jury_eraser TO again_reader_login")
    postgres.execute("GRANT CREATE ON SCHEMA public TO PUBLIC", name)
    wrong = check(postgres.url(name))

    set_up(postgres.url(name), "again")

    assert first == second
    assert wrong == ["the role jury_writer may also UPDATE streams (stream)"]
    assert check(postgres.url(name)) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute_on_new_connection(first["reader"], "SET ROLE jury_eraser")
    postgres.drop_database(name)
    _drop_logins(postgres, "again")


@pytest.mark.full
def test_the_logins_of_one_store_do_not_reach_another(postgres: PostgresServer) -> None:
    names = [postgres.create_database() for _ in range(2)]
    mine, _other = (set_up(postgres.url(name), f"store{n}") for n, name in enumerate(names))
    elsewhere = mine["reader"]._replace(store=mine["reader"].store.replace(f"/{names[0]}?", f"/{names[1]}?"))

    with pytest.raises(psycopg.OperationalError, match="CONNECT privilege"):
        execute_on_new_connection(elsewhere, "SELECT 1")

    for n, name in enumerate(names):
        postgres.drop_database(name)
        _drop_logins(postgres, f"store{n}")


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("CREATE ROLE bad_reader_login LOGIN CREATEROLE", "bad_reader_login exists and has CREATEROLE"),
        (
            "CREATE ROLE bad_reader_login LOGIN IN ROLE pg_write_all_data",
            "bad_reader_login may also DELETE alembic_ver",
        ),
    ],
)
def test_a_login_with_additional_rights_is_refused(postgres: PostgresServer, before: str, message: str) -> None:
    name = postgres.create_database()
    upgrade(postgres.url(name))
    postgres.execute(before)

    with pytest.raises(LoginsRefused, match=message):
        set_up(postgres.url(name), "bad")

    with psycopg.connect(host=postgres.folder, user="jury_test", dbname=name) as connection:
        found = connection.execute("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'bad%'").fetchone()
    assert found == (1,)
    postgres.drop_database(name)
    _drop_logins(postgres, "bad")


def test_an_error_of_the_password_file_rolls_everything_back(postgres: PostgresServer) -> None:
    name = postgres.create_database()

    def refuse(*_: Any) -> None:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        set_up_logins(postgres.url(name), prefix="none", passwords=lambda _kind, _new: "secret", save=refuse)

    with psycopg.connect(host=postgres.folder, user="jury_test", dbname=name) as connection:
        found = connection.execute("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'none%'").fetchone()
    assert found == (0,)
    postgres.drop_database(name)


def test_a_user_who_may_not_create_logins_is_refused_with_the_remedy(postgres: PostgresServer) -> None:
    postgres.execute("CREATE ROLE plain LOGIN")
    name = postgres.create_database()
    postgres.execute(f"ALTER DATABASE {name} OWNER TO plain")

    with pytest.raises(
        LoginsRefused, match=r"permission denied to create role.*run this as a superuser, or as the owner"
    ):
        set_up(postgres.url(name, user="plain"), "none")

    postgres.drop_database(name)
    postgres.execute("DROP ROLE plain")


def test_an_administrator_need_not_be_a_superuser(postgres: PostgresServer) -> None:
    postgres.execute("CREATE ROLE admin LOGIN CREATEROLE")
    for role in ("jury_writer", "jury_eraser", "jury_reader"):
        postgres.execute(f"DO $$ BEGIN CREATE ROLE {role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        postgres.execute(f"GRANT {role} TO admin WITH ADMIN OPTION")
    name = postgres.create_database()
    postgres.execute(f"ALTER DATABASE {name} OWNER TO admin")
    url = postgres.url(name, user="admin")

    found = [set_up(url, "managed"), set_up(url, "managed")]

    assert found[0] == found[1]
    assert check(url) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute_on_new_connection(found[0]["writer"], "UPDATE streams SET stream = 'x'")
    postgres.drop_database(name)
    _drop_logins(postgres, "managed")
    postgres.execute("DROP ROLE admin")


def test_an_invalid_prefix_is_refused(postgres_url: str) -> None:
    for prefix in ("Jury", "a-b", "", "1st", "x" * 51, "a;b"):
        with pytest.raises(LoginsRefused, match="give --prefix"):
            set_up(postgres_url, prefix)


def test_sqlite_has_no_logins(sqlite_url: str) -> None:
    with pytest.raises(UnsupportedStore, match="SQLite has no logins"):
        set_up(sqlite_url)
