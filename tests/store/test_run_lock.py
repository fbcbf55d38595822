"""One process a run on PostgreSQL: a second is refused, another run is not, and a killed process frees its lock."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy.exc import DBAPIError

from jury_store import RunLock, StoreLocked, StoreUnreachable, run_registry
from support.postgres import PostgresServer

HOLDER = """
import sys
from jury_store.run_registry import RunLock

lock = RunLock.acquire(sys.argv[1], sys.argv[2], wait=0)
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(url: str, run_id: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that locks the run until it is killed."""
    command = [sys.executable, "-c", HOLDER, url, run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "locked\n" == process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.full
def test_a_run_that_another_process_executes_is_refused_and_another_run_is_not(postgres_url: str) -> None:
    with another_process(postgres_url, "nightly") as process:
        with pytest.raises(
            StoreLocked, match=f"run 'nightly' is being executed by process {process.pid} on "
        ) as refused:
            RunLock.acquire(postgres_url, "nightly", wait=0)
        other = RunLock.acquire(postgres_url, "daily", wait=0)

    assert other is not None
    assert "\n" not in str(refused.value)
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


@pytest.mark.full
def test_one_process_may_lock_a_run_several_times_and_frees_it_with_the_last_release(postgres_url: str) -> None:
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    second = RunLock.acquire(postgres_url, "nightly", wait=0)
    assert first is not None
    assert second is not None
    first.release()
    first.release()
    with pytest.raises(AssertionError), another_process(postgres_url, "nightly"):
        pass
    second.release()
    with another_process(postgres_url, "nightly") as process:
        alive = process.poll() is None

    assert alive


@pytest.mark.full
def test_locks_of_a_lost_connection_are_taken_again(postgres: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.split("@/")[1].split("?", maxsplit=1)[0]
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    second = RunLock.acquire(postgres_url, "daily", wait=0)
    with pytest.raises(AssertionError), another_process(postgres_url, "nightly"):
        pass

    assert first is not None
    assert second is not None
    first.release()
    second.release()


@pytest.mark.full
def test_locks_of_a_failed_connection_move_to_a_new_one(postgres_url: str) -> None:
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    with suppress(DBAPIError):
        next(iter(run_registry._SESSIONS.values()))._connection.exec_driver_sql("SELECT 1 / 0")
    second = RunLock.acquire(postgres_url, "daily", wait=0)
    gc.collect()  # the connection that failed may live as long
    with pytest.raises(AssertionError), another_process(postgres_url, "nightly"):
        pass

    assert first is not None
    assert second is not None
    first.release()
    second.release()


@pytest.mark.full
def test_a_lock_that_the_lost_connection_still_has_is_taken_over(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    (lost,) = run_registry._SESSIONS.values()
    with suppress(DBAPIError):
        lost._connection.exec_driver_sql("SELECT 1 / 0")
    end, waits = run_registry._LockSession.close, []

    def wait(seconds: float) -> None:
        """Only now the database ends the lost connection."""
        waits.append(seconds)
        monkeypatch.undo()
        end(lost)

    monkeypatch.setattr(run_registry._LockSession, "close", lambda _session: None)
    monkeypatch.setattr(run_registry.time, "sleep", wait)
    second = RunLock.acquire(postgres_url, "daily", wait=0)

    assert waits
    with pytest.raises(AssertionError), another_process(postgres_url, "nightly"):
        pass
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
