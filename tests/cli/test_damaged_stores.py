"""A store of which a table, a page or the revision is damaged: exit code 5, and a remedy that works."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from support.command_line import CommandLine

Damage = Callable[[Path], None]

SOUND = {"question": "Open?", "response": "At nine."}

COMMANDS = (
    ("verify", "--all"),
    ("list",),
    ("show", "r1~a"),
    ("export", "--all", "-o", "out"),
    ("run", "--in-process", "c.jsonl", "--run", "r1"),
)


def _sql(statement: str) -> Damage:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(statement)

    return change


def _cut(count: int) -> Damage:
    return lambda path: _write(path, path.read_bytes()[:-count])


def _pages(more: int) -> Damage:
    """The number of pages in the header (SQLite's file format, 1.3.7) is another one."""

    def change(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        raw[28:32] = (int.from_bytes(raw[28:32], "big") + more).to_bytes(4, "big")
        _write(path, bytes(raw))

    return change


def _write(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)


REVISIONS = {
    "deleted": "DELETE FROM alembic_version",
    "without its table": "DROP TABLE alembic_version",
    "bytes": "UPDATE alembic_version SET version_num = x'00ff'",
    "no number": "UPDATE alembic_version SET version_num = 'abc'",
    "an older one": "UPDATE alembic_version SET version_num = 'log_0000'",
    "two": "INSERT INTO alembic_version VALUES ('log_0000')",
}

UNREADABLE: dict[str, Damage] = {
    **{f"revision: {name}": _sql(statement) for name, statement in REVISIONS.items()},
    "the last page is cut": _cut(4096),
    "half a page is cut": _cut(2000),
    "a page more in the header": _pages(1),
    "a page less in the header": _pages(-1),
    "cut to its first pages": lambda path: _write(path, path.read_bytes()[: 15 * 4096]),
    "no events": _sql("DROP TABLE events"),
}
"""Found by every command."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of a run and its cases."""
    jury = CommandLine(tmp_path_factory.mktemp("filled"))
    assert jury.run(jury.write("c.jsonl", {"id": "a", **SOUND}), "--run", "r1").code == 0
    return jury.folder


@pytest.fixture
def jury(filled: Path, tmp_path: Path) -> CommandLine:
    """Commands in a copy of that folder."""
    return CommandLine(Path(shutil.copytree(filled, tmp_path / "copy")))


@pytest.mark.parametrize("name", UNREADABLE)
def test_damage_that_no_command_can_read_past_ends_each_with_5(jury: CommandLine, name: str) -> None:
    UNREADABLE[name](jury.folder / "jury.db")

    for command in COMMANDS:
        done = jury(*command)
        assert done.code == 5, (command, done.err)
        assert "altered" in done.err or "damaged" in done.err or "altered" in done.out
        assert "verify --all" not in done.out + done.err or command[0] != "verify", "no command is its own remedy"


def test_a_revision_is_not_set_right_over_tables_that_were_altered(jury: CommandLine) -> None:
    _sql("DROP TABLE ballots")(jury.folder / "jury.db")
    _sql("DELETE FROM alembic_version")(jury.folder / "jury.db")

    done = jury("db", "upgrade")

    assert done.code == 5
    assert "restore a backup" in done.err
    assert "ballots" in done.err


def test_a_damaged_page_does_not_keep_verification_from_the_debates_that_can_be_read(jury: CommandLine) -> None:
    assert jury.run(jury.write("d.jsonl", *({"id": f"b{n}", **SOUND} for n in range(4))), "--run", "r2").code == 0
    path = jury.folder / "jury.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
        if "ENABLE_DBSTAT_VTAB" not in options:
            pytest.skip("this SQLite does not say which table a page belongs to")
        leaves = "SELECT max(pageno) FROM dbstat WHERE name = 'parts' AND pagetype = 'leaf'"
        (page,) = connection.execute(leaves).fetchone()
    raw = bytearray(path.read_bytes())
    raw[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(bytes(raw))

    verified = jury("verify", "--all")

    assert verified.code == 5
    assert "it cannot be read" in verified.out
    assert "0 debates" not in verified.out
