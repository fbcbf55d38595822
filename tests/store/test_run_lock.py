"""One holder a run on PostgreSQL: the second is refused by name, another run is not, and the dead hold nothing."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy.exc import DBAPIError

from jury_store import run_lock
from jury_store.errors import StoreLocked, StoreUnreachable
from jury_store.run_lock import RunLock
from support.postgres import PostgresServer

HOLDER = """
import sys
from jury_store.run_lock import RunLock

lock = RunLock.acquire(sys.argv[1], sys.argv[2], wait=0)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(url: str, run_id: str) -> Iterator["subprocess.Popen[str]"]:
    """It holds the run until it is killed."""
    command = [sys.executable, "-c", HOLDER, url, run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "held\n" == process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_run_that_another_process_holds_is_refused_by_name_and_another_run_is_not(postgres_url: str) -> None:
    with another_process(postgres_url, "nightly") as process:
        with pytest.raises(StoreLocked, match=f"run 'nightly' is being held by process {process.pid} on ") as refused:
            RunLock.acquire(postgres_url, "nightly", wait=0)
        other = RunLock.acquire(postgres_url, "daily", wait=0)

    assert other is not None
    assert "\n" not in str(refused.value)
    other.release()


def test_a_holder_that_was_killed_holds_nothing(postgres_url: str) -> None:
    with another_process(postgres_url, "nightly") as process:
        process.kill()
        lock = RunLock.acquire(postgres_url, "nightly", wait=60)

    assert lock is not None
    lock.release()


def test_one_process_may_hold_a_run_several_times_and_lets_it_go_with_the_last(postgres_url: str) -> None:
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
        held = process.poll() is None

    assert held


def test_a_connection_that_was_lost_takes_its_runs_again_with_the_next(
    postgres: PostgresServer, postgres_url: str
) -> None:
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


def test_a_connection_that_only_failed_gives_its_runs_to_the_next(postgres_url: str) -> None:
    first = RunLock.acquire(postgres_url, "nightly", wait=0)
    with suppress(DBAPIError):
        next(iter(run_lock._SESSIONS.values()))._connection.exec_driver_sql("SELECT 1 / 0")
    second = RunLock.acquire(postgres_url, "daily", wait=0)
    gc.collect()  # the connection that failed may live as long
    with pytest.raises(AssertionError), another_process(postgres_url, "nightly"):
        pass

    assert first is not None
    assert second is not None
    first.release()
    second.release()


def test_a_holder_whose_times_are_hidden_is_named_without_them() -> None:
    assert "process 17 on host" == run_lock._named(("jury 17 on host", None))
    assert "process 17 on host, since noon" == run_lock._named(("jury 17 on host", "noon"))


def test_a_sqlite_store_has_its_own_lock(sqlite_url: str) -> None:
    assert RunLock.acquire(sqlite_url, "nightly", wait=0) is None


def test_a_server_that_is_not_there_is_said_to_be_unreachable() -> None:
    with pytest.raises(StoreUnreachable):
        RunLock.acquire("postgresql://nobody@127.0.0.1:1/nothing", "nightly", wait=0)
