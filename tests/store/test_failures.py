"""Killed writers, full disks, lost connections: acknowledged appends stay, others may be sent again."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import event as sa_event

from jury_events import GENESIS, stored_hash
from jury_store import Append, EventStore, StoreFailed, open_store
from support.debates import DebateScript
from support.postgres import PostgresServer

pytestmark = pytest.mark.full_for("postgresql")

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from support.debates import DebateScript
from jury_store.event_store import Append
from jury_store.group_commit import GroupCommitter
from jury_store.opening import open_store

store = open_store(sys.argv[1], write=True, run="killed", wait=300)
name, start = sys.argv[3], int(sys.argv[4])
epoch = store.next_epoch()
with GroupCommitter(store) as committer:
    waiting = []
    for number in range(start, start + 100_000):
        script = DebateScript(f"{name}-{number}", seed=number)
        waiting.append((number, committer.submit([Append(script.stream, script.whole(), 0, epoch)])))
        if len(waiting) > 20:
            number, future = waiting.pop(0)
            future.result()
            print(number, flush=True)
"""


def _kill_writers(url: str, times: int) -> None:
    acknowledged: list[str] = []
    tests = str(Path(__file__).parents[1])
    for life in range(times):
        command = [sys.executable, "-c", WRITER, url, tests, f"life{life}", str(life * 1_000_000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            # Killed after a number of acknowledgements that differs from life to life.
            numbers = [writer.stdout.readline().strip() for _ in range(1 + 7 * life % 40)]
            writer.send_signal(signal.SIGKILL)
            numbers += writer.stdout.read().split("\n")[:-1]
        acknowledged += [f"debate/life{life}-{number}" for number in numbers]

    store = open_store(url, write=True, wait=300)
    try:
        streams = store.read_streams(acknowledged)
        assert {name: len(events) for name, events in streams.items()} == dict.fromkeys(acknowledged, 6)
        assert len(acknowledged) > times
        _assert_whole(store)
        assert len(store.debates(limit=10**6)) * 6 == store.last_position()
    finally:
        store.close()


def _assert_whole(store: EventStore) -> None:
    previous: dict[str, bytes] = {}
    position = 0
    while events := store.read_all(position):
        for event in events:
            position += 1
            assert event.position == position
            assert event.hash == stored_hash(previous.get(event.stream, GENESIS), event)
            previous[event.stream] = event.hash
    assert position == store.last_position()
    assert {name: head.hash for name, head in store.heads(previous).items()} == previous


@pytest.mark.kill
@pytest.mark.parametrize("times", [2, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_a_killed_writer_loses_nothing_that_was_acknowledged(url: str, times: int) -> None:
    _kill_writers(url, times)


def test_a_full_disk_stores_nothing_of_the_group_until_there_is_room(sqlite_url: str) -> None:
    store = open_store(sqlite_url, write=True)
    assert store._writer is not None
    with store._writer.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 40}")
    small = [Append(script.calls, (script.exchange(),)) for script in map(DebateScript, "ab")]
    large = DebateScript("large")
    request = Append(large.calls, (large.exchange(answer=b"x" * 1_000_000),))
    store.append(small[:1])

    with pytest.raises(StoreFailed, match="full") as caught:
        store.append([small[1], request])

    assert f"make room on the disk of {Path(sqlite_url.removeprefix('sqlite:///')).parent}" in str(caught.value)
    assert store.last_position() == 1
    assert store.read_stream("calls/b") == []
    with store._writer.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert [answer.version for answer in store.append([small[1], request])] == [1, 1]
    _assert_whole(store)
    store.close()


def _end_connections(postgres: PostgresServer, url: str) -> None:
    name = url.split("@/")[1].split("?", maxsplit=1)[0]
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_connection_lost_while_idle_is_replaced(postgres: PostgresServer, postgres_url: str) -> None:
    store = open_store(postgres_url, write=True)
    script = DebateScript("d")
    store.append([Append(script.calls, (script.exchange(1),))])
    _end_connections(postgres, postgres_url)
    versions = [store.heads([script.calls])[script.calls].version]
    _end_connections(postgres, postgres_url)
    (answer,) = store.append([Append(script.calls, (script.exchange(2),))])

    assert [1, 2] == [*versions, answer.version]
    store.close()


def test_a_lost_connection_fails_the_group_and_the_next_one_succeeds(
    postgres: PostgresServer, postgres_url: str
) -> None:
    store = open_store(postgres_url, write=True)
    script = DebateScript("d")
    store.append([Append(script.calls, (script.exchange(1),))])

    def lose(*_: object) -> None:
        _end_connections(postgres, postgres_url)

    sa_event.listen(store._writer, "begin", lose, once=True)
    with pytest.raises(StoreFailed):
        store.append([Append(script.calls, (script.exchange(2),))])

    (answer,) = store.append([Append(script.calls, (script.exchange(3),))])
    assert answer.version == 2
    _assert_whole(store)
    store.close()
