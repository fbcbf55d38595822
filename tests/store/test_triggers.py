"""No statement changes the log; differences of the schema are reported."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from jury_migrations import check, upgrade
from jury_store import Append, EventStore, Seal, SqlEventStore, open_store
from support.debates import DebateScript
from support.postgres import PostgresServer

Sql = Callable[[str, str], None]


@pytest.fixture
def filled(url: str) -> str:
    """A closed store with a debate and a seal."""
    script = DebateScript("d")
    store = open_store(url, write=True)
    store.append([Append(script.stream, script.whole(), 0, 1)])
    store.close()
    return url


Refused = Callable[[str, Iterable[str], str], None]


@pytest.fixture
def refused() -> Refused:
    """Whether the owner of a database is refused each of these statements, every one rolled back."""

    def is_refused(url: str, statements: Iterable[str], message: str) -> None:
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                for statement in statements:
                    with pytest.raises(DBAPIError, match=message):
                        pytest.fail(f"not refused: {statement}: {connection.exec_driver_sql(statement)}")
                    connection.rollback()
        finally:
            engine.dispose()

    return is_refused


WRITTEN = (
    "UPDATE events SET body = body WHERE position = 1",
    "UPDATE events SET position = 99 WHERE position = 1",
    "DELETE FROM events WHERE position = 5",
    "DELETE FROM events",
    "UPDATE parts SET content = content",
    "DELETE FROM parts",
    "UPDATE seals SET note = note",
    "DELETE FROM seals",
    "UPDATE origins SET seal = seal",
    "DELETE FROM origins",
    "UPDATE attestations SET content = content",
    "DELETE FROM attestations",
)
STRAY = (
    "INSERT INTO streams (stream, version, epoch, hash) VALUES ('debate/z', 1, 1, 'h')",
    "UPDATE streams SET version = version + 1",
    "UPDATE streams SET version = 4, hash = (SELECT hash FROM events WHERE position = 4)",
    "UPDATE streams SET hash = 'h'",
    "UPDATE streams SET epoch = epoch - 1",
    "UPDATE streams SET stream = 'debate/z'",
    "DELETE FROM streams",
    "UPDATE counters SET value = value + 1 WHERE name = 'position'",
    "UPDATE counters SET value = 4 WHERE name = 'position'",
    "UPDATE counters SET value = value + 2 WHERE name = 'epoch'",
    "UPDATE counters SET value = value - 1 WHERE name = 'epoch'",
    "UPDATE counters SET name = 'other'",
    "INSERT INTO counters (name, value) VALUES ('other', 1)",
    "DELETE FROM counters",
)
TRUNCATED = tuple(
    f"TRUNCATE {table}" for table in ("events", "parts", "seals", "origins", "attestations", "streams", "counters")
)
REPLACED = (
    "events VALUES (1, 'debate/other', 1, 'opened', 'x', 1, 1, x'00', x'00')",
    "events VALUES (99, 'debate/d', 1, 'new', 'x', 1, 1, x'00', x'00')",
    "events VALUES (99, 'debate/d', 99, 'opened', 'x', 1, 1, x'00', x'00')",
    "parts SELECT debate_id, digest, x'01', x'01' FROM parts",
    "seals VALUES (1, x'01', x'01', x'01', 1)",
    "origins VALUES ('d', x'01')",
    "attestations VALUES ('d', 1, 'a', x'01', 1)",
    "streams SELECT stream, version, 1, hash FROM streams",
)


def test_the_owner_cannot_change_what_is_written(filled: str, sql: Sql, refused: Refused) -> None:
    """Heads and counters follow from the events."""
    sql(filled, "INSERT INTO seals (tree_size, root, frontier, note, sealed_at) VALUES (1, 'a', 'b', 'c', 1)")
    sql(filled, "INSERT INTO origins (debate_id, seal) VALUES ('d', 'a')")
    sql(filled, "INSERT INTO attestations (digest, tree_size, kind, content, kept_at) VALUES ('d', 1, 'a', 'b', 1)")

    refused(filled, WRITTEN, "append-only")
    refused(filled, STRAY, "streams|counters")
    if filled.startswith("sqlite"):
        refused(filled, (f"INSERT OR REPLACE INTO {row}" for row in REPLACED), "stored already")
    else:
        refused(filled, TRUNCATED, "append-only")


def test_a_session_that_calls_itself_a_replica_is_refused_too(postgres_url: str, sql: Sql) -> None:
    script = DebateScript("d")
    store = open_store(postgres_url, write=True)
    store.append([Append(script.stream, script.whole(), 0, 1)])
    store.close()

    with pytest.raises(DBAPIError, match="append-only"):
        sql(postgres_url, "SET session_replication_role = replica; DELETE FROM events")


def test_sql_deletes_texts_only_after_an_erasure(filled: str, sql: Sql) -> None:
    script = DebateScript("d")
    with pytest.raises(DBAPIError, match="append-only"):
        sql(filled, "DELETE FROM parts WHERE debate_id = 'd'")
    script.whole()
    store = open_store(filled, write=True)
    store.append([Append(script.stream, (script.erased("the case"),), 5, 1)])

    store.close()
    sql(filled, "DELETE FROM parts WHERE debate_id = 'd'")

    reader = open_store(filled, write=False)
    assert reader.parts("d") == {}
    reader.close()


FORBIDDEN = (
    ("jury_writer", "UPDATE events SET body = body"),
    ("jury_writer", "DELETE FROM events"),
    ("jury_writer", "TRUNCATE events"),
    ("jury_writer", "ALTER TABLE events DISABLE TRIGGER ALL"),
    ("jury_writer", "DELETE FROM parts"),
    ("jury_writer", "DELETE FROM seals"),
    ("jury_writer", "UPDATE origins SET seal = seal"),
    ("jury_writer", "DELETE FROM origins"),
    ("jury_writer", "DELETE FROM attestations"),
    ("jury_writer", "DELETE FROM streams"),
    ("jury_eraser", "DELETE FROM events"),
)
ALLOWED = (
    ("jury_writer", "INSERT INTO seals VALUES (1, 'a', 'b', 'c', 1)"),
    ("jury_writer", "INSERT INTO origins VALUES ('d', 'a')"),
    ("jury_writer", "INSERT INTO attestations VALUES ('d', 1, 'a', 'b', 1)"),
    ("jury_writer", "SELECT count(*) FROM events"),
    ("jury_eraser", "DELETE FROM parts"),
)


def test_a_role_has_only_the_rights_that_it_needs(postgres: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.split("@/")[1].split("?", maxsplit=1)[0]
    with psycopg.connect(host=postgres.folder, user="jury_test", dbname=name) as connection:
        for role, statement in ALLOWED:
            connection.execute(f"SET ROLE {role}".encode())
            connection.execute(statement.encode())
            connection.rollback()
        for role, statement in FORBIDDEN:
            connection.execute(f"SET ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"permission denied|must be owner"):
                connection.execute(statement.encode())
            connection.rollback()


def test_the_store_sets_the_writers_role(postgres_url: str, sqlite_url: str) -> None:
    stores = [open_store(postgres_url, write=True), open_store(sqlite_url, write=True)]

    assert [store.writer_role for store in stores] == ["jury_writer", None]
    for store in stores:
        store.close()


def test_a_user_who_may_not_create_roles_gets_a_store_without_them(postgres: PostgresServer) -> None:
    postgres.execute("CREATE ROLE plain LOGIN")
    name = postgres.create_database()
    postgres.execute(f"ALTER DATABASE {name} OWNER TO plain")
    url = postgres.url(name, user="plain")

    upgrade(url)

    store = open_store(url, write=True)
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("x"), script.erased("x")), 0, store.next_epoch())])
    assert store.delete_parts("d", [script.pen.make("x").digest]) == 1
    assert [row.debate_id for row in store.debates()] == ["d"]
    assert store.writer_role is None
    store.close()
    postgres.drop_database(name)
    postgres.execute("DROP ROLE plain")


ROLES = ("jury_writer", "jury_eraser")


@contextmanager
def owned_before_the_roles(postgres: PostgresServer, rights: str = "") -> Iterator[str]:
    """The URL of an empty database whose owner is `plain`, on a server that has none of our roles yet."""
    postgres.execute(f"CREATE ROLE plain LOGIN {rights}")
    name = postgres.create_database()
    postgres.execute(f"ALTER DATABASE {name} OWNER TO plain")
    for role in ROLES:
        postgres.execute(f"ALTER ROLE {role} RENAME TO {role}_away")
    try:
        yield postgres.url(name, user="plain")
    finally:
        postgres.drop_database(name)
        for role in ROLES:
            postgres.execute(f"DROP ROLE IF EXISTS {role}")
            postgres.execute(f"ALTER ROLE {role}_away RENAME TO {role}")
        postgres.execute("DROP ROLE plain")


def test_missing_roles_are_reported_and_optional(postgres: PostgresServer, caplog: pytest.LogCaptureFixture) -> None:
    with owned_before_the_roles(postgres) as url:
        upgrade(url)
        store = open_store(url, write=True)
        role_at_work, epoch = store.writer_role, store.next_epoch()
        store.close()

    assert (None, 1) == (role_at_work, epoch)
    assert "the role jury_writer was not made: plain may not create roles" in caplog.text


def test_roles_created_after_the_store_get_their_rights_from_its_owner(postgres: PostgresServer) -> None:
    with owned_before_the_roles(postgres) as url:
        upgrade(url)
        for role in ROLES:
            postgres.execute(f"CREATE ROLE {role} NOLOGIN")
            postgres.execute(f"GRANT {role} TO plain")
        upgrade(url)

        store = open_store(url, write=True)
        role_at_work = store.writer_role
        script = DebateScript("d")
        store.append([Append(script.stream, (script.opened("x"), script.erased("x")), 0, store.next_epoch())])
        deleted = store.delete_parts("d", [script.pen.make("x").digest])
        store.append([Append(script.stream, (), 0, store.next_epoch())], atomic=True, origin=b"s")
        kept = store.store_seal(Seal(1, b"r", b"f", b"n", 1)), store.origin("d")
        store.close()

    assert role_at_work == "jury_writer"
    assert deleted == 1
    assert kept == (True, b"s")


def test_a_user_who_may_create_roles_sets_those_of_the_upgrade(postgres: PostgresServer) -> None:
    with owned_before_the_roles(postgres, "CREATEROLE") as url:
        upgrade(url)
        store = open_store(url, write=True)
        role_at_work = store.writer_role
        store.close()

    assert role_at_work == "jury_writer"


def test_an_upgrade_by_a_guest_reports_the_rights_that_it_cannot_grant(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    postgres.execute("CREATE ROLE guest LOGIN")
    name = postgres.create_database()
    upgrade(postgres.url(name))
    postgres.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", name)
    upgrade(postgres.url(name, user="guest"))
    before = caplog.text
    postgres.execute("REVOKE INSERT ON seals FROM jury_writer", name)

    upgrade(postgres.url(name, user="guest"))

    assert "jury_writer" not in before
    assert "the role jury_writer does not have its declared rights on this store (may not INSERT seals)" in caplog.text
    assert "guest may not grant them" in caplog.text
    postgres.drop_database(name)
    postgres.execute("DROP ROLE guest")


def test_a_difference_from_the_declaration_is_reported(url: str, sql: Sql) -> None:
    assert check(url) == []

    for statement, difference in (
        ("ALTER TABLE runs ADD COLUMN extra TEXT", "runs"),
        ("DROP INDEX debates_run", "debates_run"),
        ("DROP TABLE seals", "seals"),
        ("UPDATE alembic_version SET version_num = '0000'", "revision"),
    ):
        sql(url, statement)
        assert any(difference in line for line in check(url)), statement


def test_a_missing_or_changed_trigger_is_reported(sqlite_url: str, postgres_url: str, sql: Sql) -> None:
    sql(sqlite_url, "DROP TRIGGER events_refuse_update")
    sql(sqlite_url, "DROP TRIGGER events_refuse_delete")
    sql(sqlite_url, "CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events WHEN 0 BEGIN SELECT 1; END")
    sql(postgres_url, "DROP TRIGGER events_refuse_truncate ON events")
    sql(postgres_url, "ALTER TABLE events ENABLE REPLICA TRIGGER events_refuse_change")
    sql(
        postgres_url,
        "CREATE OR REPLACE FUNCTION jury_refuse_unrecorded_erasure() RETURNS trigger LANGUAGE plpgsql "
        "AS 'BEGIN RETURN OLD; END'",
    )

    assert check(sqlite_url)[0] == "trigger events_refuse_update is missing"
    assert check(sqlite_url)[1].startswith("trigger events_refuse_delete differs")
    found = check(postgres_url)
    assert found[0].startswith("function jury_refuse_unrecorded_erasure differs")
    assert found[1] == "trigger events_refuse_truncate is missing"
    assert found[2].endswith("not ENABLE ALWAYS")


def test_two_concurrent_upgrades_of_one_server_succeed(postgres: PostgresServer) -> None:
    names = [postgres.create_database() for _ in range(2)]
    for name in names:
        upgrade(postgres.url(name))

    stores: list[SqlEventStore] = [open_store(postgres.url(name), write=True) for name in names]

    assert [store.writer_role for store in stores] == ["jury_writer"] * 2
    for store, name in zip(stores, names, strict=True):
        store.close()
        postgres.drop_database(name)


@pytest.mark.parametrize("role", ["jury_test", "jury_eraser"])
def test_a_temporary_table_does_not_hide_the_log(
    postgres: PostgresServer, postgres_url: str, open_writer: Callable[[str], EventStore], role: str
) -> None:
    script = DebateScript("d")
    open_writer(postgres_url).append([Append(script.stream, script.whole(), 0, 1)])
    name = postgres_url.split("@/")[1].split("?", maxsplit=1)[0]
    with psycopg.connect(host=postgres.folder, user="jury_test", dbname=name) as connection:
        connection.execute(f"SET ROLE {role}".encode())
        connection.execute("CREATE TEMPORARY TABLE events (stream TEXT, type TEXT)")
        connection.execute("INSERT INTO pg_temp.events VALUES ('debate/d', 'texts_erased')")

        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no erasure of d is recorded"):
            connection.execute("DELETE FROM parts WHERE debate_id = 'd'")


def test_a_schema_named_as_the_role_does_not_hide_the_store(postgres: PostgresServer, postgres_url: str) -> None:
    """The database's search path begins with the schema named as the current role."""
    name = postgres_url.split("@/")[1].split("?", maxsplit=1)[0]
    postgres.execute("CREATE SCHEMA jury_writer CREATE TABLE events (LIKE public.events)", name)
    postgres.execute("GRANT ALL ON SCHEMA jury_writer TO jury_writer", name)
    postgres.execute("GRANT ALL ON jury_writer.events TO jury_writer", name)
    script = DebateScript("d")

    store = open_store(postgres_url, write=True)
    store.append([Append(script.stream, script.whole(), 0, 1)])
    store.close()

    with psycopg.connect(host=postgres.folder, user="jury_test", dbname=name) as connection:
        assert connection.execute("SELECT count(*) FROM public.events").fetchone() == (5,)


def test_a_function_with_another_search_path_is_reported(postgres_url: str, sql: Sql) -> None:
    sql(postgres_url, "ALTER FUNCTION jury_refuse_unrecorded_erasure() RESET search_path")
    sql(postgres_url, "ALTER FUNCTION jury_refuse_other_head() SET search_path = pg_temp, public")

    found = check(postgres_url)

    assert found[0].endswith("with search_path=pg_temp, public, not with search_path=public, pg_temp")
    assert found[1].endswith("with no settings, not with search_path=public, pg_temp")
