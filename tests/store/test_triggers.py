"""No statement changes the log; differences of the schema are reported."""

import gzip
import shutil
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.exc import DBAPIError

import jury_migrations
from jury_migrations import check, upgrade
from jury_migrations.upgrading import connected
from jury_replay import CassetteError, read_cassette, verify
from jury_store import (
    REVISION,
    Append,
    EventStore,
    StoreBeforeRelease,
    StoreOutdated,
    StoreTooNew,
    open_store,
    schema_statements,
)
from jury_store.committed_events import LISTS, SEARCH, checkpoint_position
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
    store.append([Append(script.stream, (script.erased("the case"),), 6, 1)])

    store.close()
    sql(filled, "DELETE FROM parts WHERE debate_id = 'd'")

    reader = open_store(filled, write=False)
    assert reader.parts("d") == {}
    reader.close()


def test_the_store_sets_the_writers_role(postgres_url: str, sqlite_url: str) -> None:
    stores = [open_store(postgres_url, write=True), open_store(sqlite_url, write=True)]

    assert [store.writer_role for store in stores] == ["jury_writer", None]
    for store in stores:
        store.close()


def test_a_difference_from_the_declaration_is_reported(url: str, sql: Sql) -> None:
    assert check(url) == []

    for statement, difference in (
        ("ALTER TABLE runs ADD COLUMN extra TEXT", "runs"),
        ("DROP INDEX debates_run", "debates_run"),
        ("DROP TABLE seals", "seals"),
        ("UPDATE alembic_version SET version_num = 'log_0000'", "revision"),
        (
            "ALTER TABLE projections RENAME TO old; CREATE TABLE projections AS SELECT * FROM old; DROP TABLE old",
            "primary key of projections: none instead of name",
        ),
    ):
        for one in statement.split("; "):
            sql(url, one)
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
        assert connection.execute("SELECT count(*) FROM public.events").fetchone() == (6,)


def test_a_function_with_another_search_path_is_reported(postgres_url: str, sql: Sql) -> None:
    sql(postgres_url, "ALTER FUNCTION jury_refuse_unrecorded_erasure() RESET search_path")
    sql(postgres_url, "ALTER FUNCTION jury_refuse_other_head() SET search_path = pg_temp, public")

    found = check(postgres_url)

    assert found[0].endswith("with search_path=pg_temp, public, not with search_path=public, pg_temp")
    assert found[1].endswith("with no settings, not with search_path=public, pg_temp")


pytestmark = pytest.mark.full_for("postgresql")

VERSIONS = Path(jury_migrations.__path__[0]) / "versions"
BEFORE_RELEASE = Path(__file__).parent / "before_release"

LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "log_0002", "log_0001"


def upgrade() -> None:
    op.add_column("runs", sa.Column("colour", sa.Text()))
    op.execute("DELETE FROM debates")
    op.execute("UPDATE projections SET position = 0")
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, without a store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jury.db'}"
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.url(postgres.create_database())


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_revision_makes_the_declared_schema(database: str, request: pytest.FixtureRequest) -> None:
    """`pytest --update` writes its file: only before the revision is released."""
    file = VERSIONS / f"{REVISION}.{database}.sql"
    declared = "".join(f"{statement}\n;\n" for statement in schema_statements(database))  # type: ignore[arg-type]
    if request.config.getoption("update"):
        file.write_text(declared, encoding="utf-8")

    assert declared == file.read_text(encoding="utf-8")
    assert [f"{REVISION}.py"] == sorted(path.name for path in VERSIONS.glob("*.py"))


def test_an_empty_database_becomes_a_store_of_the_declared_schema(empty_url: str) -> None:
    assert (REVISION, REVISION) == (upgrade(empty_url), upgrade(empty_url))
    assert check(empty_url) == []


@pytest.fixture
def later(tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A later program, whose second revision adds a column and empties the lists."""
    folder = tmp_path / "later"
    shutil.copytree(VERSIONS.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "log_0002.py").write_text(LATER, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jury_migrations.upgrading._HERE", folder)
        for module in ("jury_migrations.upgrading", "jury_store.opening"):
            patch.setattr(import_module(module), "REVISION", "log_0002")
        # It declares that column.
        patch.setattr(import_module("jury_store.opening"), "_is_of_today", lambda _connection: False)
        yield patch


def test_a_later_program_upgrades_a_store_with_its_content_and_an_earlier_one_refuses_it_then(
    empty_url: str, later: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as today:
        for module in ("jury_migrations.upgrading", "jury_store.opening"):
            today.setattr(import_module(module), "REVISION", REVISION)
        today.setattr("jury_migrations.upgrading._HERE", VERSIONS.parent)
        upgrade(empty_url)
        store, script = open_store(empty_url, write=True), DebateScript("d")
        store.append([Append(script.stream, script.whole(), 0, store.next_epoch())])
        events, debates = store.read_all(), store.debates()
        store.close()
    with pytest.raises(StoreOutdated, match="jury db upgrade"):
        open_store(empty_url, write=False)

    assert "log_0002" == upgrade(empty_url)

    store = open_store(empty_url, write=False)
    assert (events, debates, True) == (store.read_all(), store.debates(), verify(store).ok)
    store.close()
    with connected(empty_url) as connection:
        assert "colour" in {column["name"] for column in inspect(connection).get_columns("runs")}
        assert {events[-1].position} == {checkpoint_position(connection, name) for name in (LISTS, SEARCH)}
    later.undo()
    with pytest.raises(StoreTooNew, match=r"log_0002, .* up to log_0001; upgrade jury-judge"):
        open_store(empty_url, write=False)


def test_a_store_and_a_cassette_of_before_the_first_release_are_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((BEFORE_RELEASE / "store.db.gz").read_bytes()))
    before = path.read_bytes()

    for refused in (upgrade, lambda url: open_store(url, write=True), lambda url: open_store(url, write=False)):
        with pytest.raises(StoreBeforeRelease, match=r"made before version 1\.0\.0 .*judge its cases again"):
            refused(f"sqlite:///{path}")
    with pytest.raises(CassetteError, match=r"made before version 1\.0\.0 .*judge its case again"):
        read_cassette(BEFORE_RELEASE / "debate.cassette.jsonl")
    assert before == path.read_bytes()
