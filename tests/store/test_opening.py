"""Opening a store: each error message names the remedy."""

import contextlib
import errno
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sa_event

from jury_migrations import check, current, upgrade, upgrading
from jury_store import (
    REVISION,
    Append,
    DamagedFile,
    EventStore,
    NotAStore,
    OpeningFailed,
    ReadOnlyStore,
    StoreError,
    StoreLocked,
    StoreMissing,
    StoreTooNew,
    StoreUnreachable,
    UnsupportedStore,
    open_store,
    parse_store_url,
    redacted_url,
)
from support.debates import DebateScript
from support.each_row import each_row
from support.postgres import PostgresServer


def _fails(url: str, kind: type[OpeningFailed], *, write: bool = False) -> str:
    with pytest.raises(kind) as caught:
        open_store(url, write=write, wait=0)
    return str(caught.value)


def test_the_command_that_creates_a_store_is_one_that_a_shell_passes_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'my stores' / 'none.db'}"

    message = _fails(url, StoreMissing, write=False)

    assert ["jury", "db", "upgrade", "--store", url] == shlex.split(message[message.index("jury db upgrade") :])[:5]


@pytest.mark.parametrize("write", [True, False])
def test_a_missing_or_empty_file_is_reported_with_the_command_that_creates_a_store(tmp_path: Path, write: bool) -> None:
    url = f"sqlite:///{tmp_path / 'none.db'}"

    message = _fails(url, StoreMissing, write=write)

    assert f"jury db upgrade --store {url}" in message
    assert [] == list(tmp_path.iterdir())

    (tmp_path / "empty.db").touch()

    assert "jury db upgrade" in _fails(f"sqlite:///{tmp_path / 'empty.db'}", StoreMissing, write=write)


def test_another_database_is_no_store(tmp_path: Path, postgres: PostgresServer) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    name = postgres.create_database()

    assert "jury db upgrade" in _fails(f"sqlite:///{tmp_path / 'other.db'}", StoreMissing)
    assert "jury db upgrade" in _fails(postgres.url(name), StoreMissing)
    postgres.drop_database(name)


def test_a_database_of_another_application_does_not_become_a_store(tmp_path: Path) -> None:
    for table in ("customers", "events"):
        path = tmp_path / f"{table}.db"
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute(f"CREATE TABLE {table} (name TEXT)")
        before = path.read_bytes()

        with pytest.raises(NotAStore, match=f"table {table}"):
            upgrade(f"sqlite:///{path}")

        assert before == path.read_bytes()
    assert {"customers.db", "events.db"} == {path.name for path in tmp_path.iterdir()}


def test_a_file_that_is_not_a_database_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, this is no database at all")

    assert "notes.txt" in _fails(f"sqlite:///{path}", NotAStore, write=True)
    assert path.read_text().startswith("dear diary")


def test_a_damaged_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)

    assert "damaged" in _fails(f"sqlite:///{path}", NotAStore, write=True)


def test_a_folder_in_the_place_of_the_file_cannot_be_read(tmp_path: Path) -> None:
    assert "check the path" in _fails(f"sqlite:///{tmp_path}", StoreUnreachable)


def test_an_altered_revision_is_damage_and_an_upgrade_sets_it_right(url: str, sql: "Sql") -> None:
    for statement in (
        "DELETE FROM alembic_version",
        "DROP TABLE alembic_version",
        "UPDATE alembic_version SET version_num = 'log_0000'",
        "UPDATE alembic_version SET version_num = 'abc'",
    ):
        sql(url, statement)
        assert "jury db upgrade" in _fails(url, DamagedFile, write=True)
        assert upgrade(url) == REVISION
    assert check(url) == []

    sql(url, "UPDATE alembic_version SET version_num = 'log_9999'")
    message = _fails(url, StoreTooNew, write=True)

    assert ("log_9999", REVISION) == tuple(one for one in ("log_9999", REVISION) if one in message)
    assert "jury db upgrade" not in message

    sql(url, "UPDATE alembic_version SET version_num = 'abc'")
    sql(url, "DROP INDEX debates_run")
    with pytest.raises(DamagedFile, match=r"debates_run.*restore a backup"):
        upgrade(url)


REDACTED = [
    ("postgresql://u:hidden@h/d", "postgresql://u:***@h/d"),
    ("postgresql://h/d?user=u&password=hidden", "postgresql://h/d?password=***&user=u"),
    ("postgresql://h/d?passwrd=hidden&sslmode=require", "postgresql://h/d?passwrd=***&sslmode=require"),
    ("postgresql+psycopg://h/d?sslpassword=hidden", "postgresql://h/d?sslpassword=***"),
    ("postgresql://h/d?password=hidden&password=hidden", "postgresql://h/d?password=***"),
    ("postgresql://h/d?options=-c%20x.y%3Dhidden", "postgresql://h/d?options=***"),
    ("postgresql:///d?host=/run/pg&port=1", "postgresql:///d?host=%2Frun%2Fpg&port=1"),
]


def test_a_redacted_url_contains_no_secret(subtests: pytest.Subtests) -> None:
    for url, redacted in REDACTED:
        with subtests.test(url=url):
            assert redacted == redacted_url(parse_store_url(url))


WITH_SECRETS = (
    "postgresql://u@127.0.0.1:1/d?password=hidden",
    "postgresql://u:hidden@127.0.0.1:1/d",
    "postgresql://u@127.0.0.1/d?port=1&passwrd=hidden",
    "postgresql://u@127.0.0.1/d?port=1&keepalives=hidden",
    "mysql://u:hidden@h/d?password=hidden",
    "postgresql://u:hidden@h:x/d?password=hidden",
    "postgresql://u:half@hidden@127.0.0.1:1/d",
)


@each_row("do", [partial(open_store, write=False), partial(open_store, write=True), upgrade, current])
def test_no_error_contains_a_secret_of_the_url(do: Callable[[str], object]) -> None:
    for url in WITH_SECRETS:
        with pytest.raises(StoreError) as refused:
            do(url)

        assert "hidden" not in str(refused.value), url
    assert "127.0.0.1" in _fails(WITH_SECRETS[1], StoreUnreachable)
    assert "%40" in _fails(WITH_SECRETS[-1], UnsupportedStore)


UNSUPPORTED = [
    "mysql://u:hunter2@h/d",
    "postgresql+asyncpg://u:hunter2@h/d",
    "sqlite://",
    "sqlite:///:memory:",
    "nonsense",
    "",
]


def test_other_databases_are_refused_with_what_is_supported(subtests: pytest.Subtests) -> None:
    for url in UNSUPPORTED:
        with subtests.test(url=url):
            message = _fails(url, UnsupportedStore)

            assert "sqlite:///" in message
            assert "postgresql://" in message
            assert "hunter2" not in message


def test_a_second_writer_is_refused_with_the_name_of_the_first(sqlite_url: str, tmp_path: Path) -> None:
    """By whatever name the file is opened, and an upgrade is a writer too."""
    (tmp_path / "other-name.db").symlink_to(tmp_path / "jury.db")
    first = open_store(sqlite_url, write=True, run="nightly")
    holder = json.loads((tmp_path / "jury.db.lock").read_text())

    for url in (sqlite_url, f"sqlite:///{tmp_path / 'other-name.db'}"):
        message = _fails(url, StoreLocked, write=True)
        with pytest.raises(StoreLocked):
            upgrade(url, wait=0)

        assert f"process {os.getpid()}" in message
        assert "nightly" in message
    assert (holder["pid"], holder["run"], holder["since"][-6:]) == (os.getpid(), "nightly", "+00:00")
    first.close()
    open_store(sqlite_url, write=True, wait=0).close()


def test_a_second_writer_waits_for_one_that_is_about_to_end(sqlite_url: str) -> None:
    first = open_store(sqlite_url, write=True)
    opened: list[EventStore] = []
    waiter = threading.Thread(target=lambda: opened.append(open_store(sqlite_url, write=True, wait=300)))
    waiter.start()

    first.close()
    waiter.join(300)

    assert len(opened) == 1
    opened[0].close()


def test_a_reader_reads_while_another_writes_and_writes_nothing(
    url: str, open_writer: Callable[[str], EventStore]
) -> None:
    writer, reader = open_writer(url), open_store(url, write=False)
    script = DebateScript("d")

    writer.append([Append(script.stream, (script.opened(),), 0, 1)])

    assert len(reader.read_stream(script.stream)) == 1
    for attempt in (lambda: reader.append([]), reader.next_epoch, reader.project, reader.rebuild):
        with pytest.raises(ReadOnlyStore, match="write=True"):
            attempt()
    reader.close()


def test_the_file_alone_is_the_store_after_its_writer_closed(sqlite_url: str, tmp_path: Path) -> None:
    script = DebateScript("d")
    writer, reader = open_store(sqlite_url, write=True), open_store(sqlite_url, write=False)
    assert reader.last_position() == 0
    writer.append([Append(script.stream, (script.opened(),), 0, 1)])
    assert reader.last_position() == 1
    writer.close()

    shutil.copyfile(sqlite_url.removeprefix("sqlite:///"), tmp_path / "copy.db")

    reader.close()
    copy = open_store(f"sqlite:///{tmp_path}/copy.db", write=False)
    assert copy.last_position() == 1
    copy.close()


def test_upgrading_twice_changes_nothing(url: str, tmp_path: Path) -> None:
    assert upgrade(url) == upgrade(url) == current(url) == REVISION
    assert current(f"sqlite:///{tmp_path / 'none.db'}") is None


def test_only_its_owner_may_read_a_new_store(sqlite_url: str, tmp_path: Path) -> None:
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {
        "jury.db": "0o600",
        "jury.db.lock": "0o600",
    }


Sql = Callable[[str, str], None]


@pytest.mark.full
def test_two_first_upgrades_at_once_both_succeed(postgres: PostgresServer) -> None:
    url = postgres.url(postgres.create_database())
    ready_then_upgrade = (
        "import sys; from jury_migrations.upgrading import upgrade; print('ready', flush=True); sys.stdin.readline(); "
        "print(upgrade(sys.argv[1]))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ready_then_upgrade, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout is not None
        assert "ready" in one.stdout.readline()
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()

    said = [one.communicate()[0].strip() for one in both]

    assert [REVISION, REVISION] == said


def test_a_full_disk_does_not_prevent_locking(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    open_store(sqlite_url, write=True, wait=0).close()

    open_store(sqlite_url, write=True, wait=0).close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may not write")
def test_an_archived_store_can_be_read_in_a_read_only_folder(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="jury-archive-"))
    upgrade(f"sqlite:///{folder}/jury.db")
    (folder / "jury.db").chmod(0o644)
    folder.chmod(0o555)
    child = os.fork()
    if not child:
        os.setuid(65534)
        try:
            store = open_store(f"sqlite:///{folder}/jury.db", write=False)
            os._exit(0 if store.last_position() == 0 else 1)
        except BaseException:  # noqa: BLE001  (the child process reports by its exit code)
            os._exit(2)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    shutil.rmtree(folder)


WRITES_AND_ENDS = """
import sys
from jury_store.opening import open_store

store = open_store(sys.argv[1], write=True)
store.next_epoch()
store.close()
"""


def test_a_store_that_is_closed_while_it_is_read_leaves_no_connection_open(sqlite_url: str) -> None:
    store: Any = open_store(sqlite_url, write=False)
    pool = store._reader.pool
    sa_event.listen(store._reader, "after_cursor_execute", lambda *_: store.close())

    store.runs()

    assert 0 == pool.checkedin()


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by the kernel in /proc/self/fd")
@pytest.mark.parametrize(
    "again",
    ["open for writing", *(pytest.param(one, marks=pytest.mark.full) for one in ("open for reading", "upgrade"))],
)
def test_another_process_does_not_delete_the_log_of_a_reader(sqlite_url: str, again: str) -> None:
    reader = open_store(sqlite_url, write=False)
    reader.last_position()
    if again == "upgrade":
        upgrading.upgrade(sqlite_url)
    else:
        open_store(sqlite_url, write=again == "open for writing").close()

    subprocess.run([sys.executable, "-c", WRITES_AND_ENDS, sqlite_url], check=True)

    open_files = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    database = sqlite_url.removeprefix("sqlite:///")
    assert [] == [path for path in open_files if path.startswith(database) and path.endswith("(deleted)")]
    reader.close()
