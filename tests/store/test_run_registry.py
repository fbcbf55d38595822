"""Which process executes a run, alone, and who asks to cancel it, as other processes see it, on both databases."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from jury_store import (
    MOST_BY,
    LockedFile,
    RunLock,
    StoreClosed,
    StoreLocked,
    StoreUnreachable,
    database_path,
    holder_fields,
    open_registry,
    parse_store_url,
    read_locked,
    registry_folder,
    run_file,
    run_registry,
)
from support.postgres import PostgresServer
from support.waiting import eventually

pytestmark = pytest.mark.full_for("postgresql")

HOLDER = """
import json
import sys
from pathlib import Path

from jury_store.locked_file import LockedFile
from jury_store.run_registry import holder_fields
from jury_store.run_registry import RunLock

url, run_id, file, detached = sys.argv[1:]
lock = RunLock.acquire(url, run_id, wait=0, detached=bool(detached))
locked = file and LockedFile.take(Path(file), json.dumps(holder_fields(since="now", detached=bool(detached))).encode())
print("holds", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(url: str, run_id: str, *, detached: bool = False) -> Iterator["subprocess.Popen[str]"]:
    """A process that executes the run, until it is killed."""
    file = (
        str(run_file(registry_folder(database_path(parse_store_url(url))), run_id)) if url.startswith("sqlite") else ""
    )
    command = [sys.executable, "-c", HOLDER, url, run_id, file, "yes" if detached else ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "holds\n" == process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("detached", [True, pytest.param(False, marks=pytest.mark.full)])
def test_the_process_that_executes_a_run_is_named_until_it_is_killed(url: str, detached: bool) -> None:
    with closing(open_registry(url)) as registry:
        before = registry.holders(["nightly"])
        with another_process(url, "nightly", detached=detached) as process:
            during = registry.holders(["nightly", "daily"])
            process.kill()
            eventually(lambda: not registry.holders(["nightly"]))

    assert not before
    assert ["nightly"] == list(during)
    assert during["nightly"].process.startswith(f"{process.pid} on ")
    assert detached is during["nightly"].detached


@pytest.mark.parametrize("by", ["ann", "あ" * (MOST_BY // 3), "two words"])
def test_a_request_to_cancel_is_heard_while_it_is_made(url: str, by: str) -> None:
    with closing(open_registry(url)) as registry, closing(open_registry(url)) as other:
        before = registry.cancelled_by("nightly")
        with other.asking_to_cancel("nightly", by):
            during = registry.cancelled_by("nightly"), registry.cancelled_by("daily")
        eventually(lambda: registry.cancelled_by("nightly") is None)

    assert before is None
    assert (by, None) == during


def test_two_do_not_ask_at_once_and_one_after_the_other_may(url: str) -> None:
    with closing(open_registry(url)) as registry:
        with (
            registry.asking_to_cancel("nightly", "ann"),
            pytest.raises(StoreLocked, match="run 'nightly' is being cancelled by another process"),
            registry.asking_to_cancel("nightly", "bob"),
        ):
            pass

        def asked_again() -> bool:
            with suppress(StoreLocked), registry.asking_to_cancel("nightly", "bob"):
                return True
            return False

        eventually(asked_again)


def test_a_locked_file_leaves_nothing_behind_and_a_stale_one_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "nightly.json"
    locked = LockedFile.take(path, b"first")

    assert locked is not None
    assert b"first" == read_locked(path)
    assert LockedFile.take(path, b"second") is None
    locked.write(b"a longer one")
    locked.write(b"short")
    assert b"short" == (read_locked(path) or b"").rstrip()
    locked.release()
    locked.release()
    assert not path.parent.exists()
    path.parent.mkdir()
    path.write_bytes(b"stale")
    assert read_locked(path) is None
    again = LockedFile.take(path, b"third")
    assert b"third" == (read_locked(path) or b"")[:5]
    assert again is not None
    again.release()


def test_a_folder_that_another_process_removes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = os.mkdir
    removed: list[str] = []

    def removed_meanwhile(path: str | Path, *args: Any, **kwargs: Any) -> None:
        if not removed:
            removed.append(str(path))
            raise FileExistsError(str(path))  # it was there; when it is looked at, it is gone
        mkdir(path, *args, **kwargs)

    monkeypatch.setattr(os, "mkdir", removed_meanwhile)
    locked = LockedFile.take(tmp_path / "requests" / "one", b"")

    assert locked is not None
    assert removed == [str(tmp_path / "requests")]
    locked.release()


def test_a_file_that_cannot_be_read_still_names_a_holder(sqlite_url: str) -> None:
    path = run_file(registry_folder(database_path(parse_store_url(sqlite_url))), "nightly")
    locked = LockedFile.take(path, b"")
    with closing(open_registry(sqlite_url)) as registry:
        unknown = registry.holders(["nightly"])["nightly"]
        assert locked is not None
        locked.write(b"no JSON")
        assert unknown == registry.holders(["nightly"])["nightly"]
        locked.write(json.dumps(holder_fields(since="today", detached=True)).encode())
        known = registry.holders(["nightly"])["nightly"]
        locked.release()

    assert ("unknown", None, False) == unknown
    assert ("today", True) == known[1:]


def test_a_registry_that_was_closed_while_it_connects_leaves_no_connection(postgres_url: str) -> None:
    registry = open_registry(postgres_url)
    registry.close()

    with pytest.raises(StoreClosed):
        registry.holders(["r"])

    assert getattr(registry, "_connection") is None  # noqa: B009  (of this kind of registry alone)


@pytest.mark.full
def test_a_run_that_another_process_executes_is_refused_and_another_run_is_not(postgres_url: str) -> None:
    with another_process(postgres_url, "nightly") as process:
        with pytest.raises(StoreLocked, match=f"run 'nightly' is being executed by process {process.pid} on ") as said:
            RunLock.acquire(postgres_url, "nightly", wait=0)
        other = RunLock.acquire(postgres_url, "daily", wait=0)

    assert other is not None
    assert "\n" not in str(said.value)
    other.release()


def test_the_lock_of_a_killed_process_is_free(postgres_url: str) -> None:
    with another_process(postgres_url, "nightly") as process:
        process.kill()
        lock = RunLock.acquire(postgres_url, "nightly", wait=60)

    assert lock is not None
    lock.release()


def test_stores_in_two_schemas_of_one_database_have_locks_of_their_own(
    postgres_url: str, sql: Callable[[str, str], None]
) -> None:
    sql(postgres_url, "CREATE SCHEMA other")
    url = f"{postgres_url}&options=-csearch_path%3Dother"
    locks = [RunLock.acquire(one, "nightly", wait=0) for one in (postgres_url, url)]

    assert None not in locks
    for lock in locks:
        assert lock is not None
        lock.release()


def refused(url: str) -> bool:
    """Whether another process is refused the run."""
    with pytest.raises(AssertionError), another_process(url, "nightly"):
        pass
    return True


@pytest.mark.full
def test_one_process_may_lock_a_run_several_times_and_frees_it_with_the_last_release(postgres_url: str) -> None:
    first, second = (RunLock.acquire(postgres_url, "nightly", wait=0) for _ in range(2))
    assert first is not None
    assert second is not None
    first.release()
    first.release()
    early = refused(postgres_url)
    second.release()
    with another_process(postgres_url, "nightly") as process:
        alive = process.poll() is None

    assert early
    assert alive


@pytest.mark.full
@pytest.mark.parametrize("connection", ["ended", "failed", "failed and still there"])
def test_locks_of_a_lost_connection_are_taken_again(
    postgres: PostgresServer, postgres_url: str, monkeypatch: pytest.MonkeyPatch, connection: str
) -> None:
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    (lost,) = run_registry._SESSIONS.values()
    waits: list[float] = []
    if connection == "ended":
        name = postgres_url.split("@/")[1].split("?", maxsplit=1)[0]
        postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    else:
        with suppress(DBAPIError):
            lost._connection.exec_driver_sql("SELECT 1 / 0")
    if connection == "failed and still there":
        end = run_registry._LockSession.close

        def wait(seconds: float) -> None:
            """Only now the database ends the lost connection."""
            waits.append(seconds)
            monkeypatch.undo()
            end(lost)

        monkeypatch.setattr(run_registry._LockSession, "close", lambda _session: None)
        monkeypatch.setattr(run_registry.time, "sleep", wait)
    else:
        del lost
    second = RunLock.acquire(postgres_url, "daily", wait=0)
    gc.collect()  # the connection that failed may live as long

    assert bool(waits) == (connection == "failed and still there")
    assert refused(postgres_url)
    assert first is not None
    assert second is not None
    first.release()
    second.release()


def test_a_holder_with_hidden_times_is_named_without_them() -> None:
    assert "process 17 on host" == run_registry._described(("jury 17 on host", None))
    assert "process 17 on host, since noon" == run_registry._described(("jury 17 on host", "noon"))


def test_a_sqlite_store_has_its_own_lock(sqlite_url: str) -> None:
    assert RunLock.acquire(sqlite_url, "nightly", wait=0) is None


def test_a_missing_server_is_unreachable() -> None:
    with pytest.raises(StoreUnreachable):
        RunLock.acquire("postgresql://nobody@127.0.0.1:1/nothing", "nightly", wait=0)
