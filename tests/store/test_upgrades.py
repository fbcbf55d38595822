"""The one revision of a store's schema, a later one, and what programs before 1.0.0 wrote."""

import gzip
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import inspect

import jury_migrations
from jury_migrations import check, upgrade
from jury_migrations.upgrading import connected
from jury_replay import CassetteError, read_cassette, verify
from jury_store import (
    REVISION,
    Append,
    StoreBeforeRelease,
    StoreOutdated,
    StoreTooNew,
    open_store,
    schema_statements,
)
from jury_store.committed_events import LISTS, SEARCH, checkpoint_position
from support.debates import DebateScript
from support.postgres import PostgresServer

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
