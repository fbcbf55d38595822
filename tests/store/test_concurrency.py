"""Concurrent writers and readers."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from jury_events import GENESIS, StoredEvent, stored_hash
from jury_judge import Feed
from jury_store import Append, Appended, EventStore, Fenced, WrongVersion, open_store
from jury_views import LIVE_EVENTS, LiveEvent
from support.debates import DebateScript
from support.writing import Writing

SECONDS = 300
OpenWriter = Callable[[str], EventStore]


def _run(*works: Callable[[], None]) -> None:
    """Run all concurrently; raises the first failure."""
    start, errors = threading.Barrier(len(works)), []

    def guarded(work: Callable[[], None]) -> None:
        start.wait(SECONDS)
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (raised again by the test's own thread)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    if errors:
        raise errors[0]


def test_groups_over_the_same_debates_in_opposite_order_do_not_deadlock(
    postgres_url: str, open_writer: OpenWriter
) -> None:
    stores = [open_writer(postgres_url), open_writer(postgres_url)]
    names = [f"d{n}" for n in range(12)]

    def record(store: EventStore, first: int, order: list[str]) -> None:
        for attempt in range(15):
            scripts = [DebateScript(name, seed=attempt * 2 + first + 1) for name in order]
            group = [Append(script.calls, (script.exchange(attempt * 2 + first + 1),)) for script in scripts]
            assert all(isinstance(answer, Appended) for answer in store.append(group))

    _run(lambda: record(stores[0], 0, names), lambda: record(stores[1], 1, names[::-1]))

    assert stores[0].last_position() == 12 * 15 * 2
    for name, events in stores[0].read_streams([f"calls/{name}" for name in names]).items():
        previous = GENESIS
        assert [event.version for event in events] == list(range(1, 31)), name
        for event in events:
            assert event.hash == stored_hash(previous, event)
            previous = event.hash


def test_a_takeover_fences_the_old_writer_permanently(postgres_url: str, open_writer: OpenWriter) -> None:
    old, new = open_writer(postgres_url), open_writer(postgres_url)
    old_epoch = old.next_epoch()
    script = DebateScript("d")
    old.append([Append(script.stream, (script.opened(),), 0, old_epoch)])
    written: list[int] = []
    fenced = threading.Event()
    underway = threading.Event()

    def go_on() -> None:
        for round_ in range(1, 10_000):
            version = old.heads([script.stream])[script.stream].version
            (answer,) = old.append([Append(script.stream, (script.round_started(round_),), version, old_epoch)])
            if isinstance(answer, Fenced):
                fenced.set()
                return
            assert isinstance(answer, (Appended, WrongVersion))
            written.append(round_)
            if round_ == 5:
                underway.set()

    def take_over() -> None:
        assert underway.wait(SECONDS)
        epoch = new.next_epoch()
        new.append([Append(script.stream, (), 0, epoch)])
        version = new.heads([script.stream])[script.stream].version
        (answer,) = new.append([Append(script.stream, (DebateScript("d", seed=2).resumed(),), version, epoch)])
        assert isinstance(answer, Appended)

    _run(go_on, take_over)

    assert fenced.is_set()
    events = new.read_stream(script.stream)
    assert events[-1].type == "coordinator_resumed"
    assert [event.version for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("writers", [3])
def test_a_reader_that_tails_misses_nothing(postgres_url: str, open_writer: OpenWriter, writers: int) -> None:
    stores = [open_writer(postgres_url) for _ in range(writers)]
    total = writers * 60
    seen: list[StoredEvent] = []

    def record(store: EventStore, writer: int) -> None:
        for attempt in range(1, 61):
            script = DebateScript(f"w{writer}-{attempt % 5}", seed=attempt)
            store.append([Append(script.calls, (script.exchange(attempt),))])

    def tail() -> None:
        reader = open_store(postgres_url, write=False)
        try:
            while len(seen) < total:
                seen.extend(reader.read_all(seen[-1].position if seen else 0, limit=7))
        finally:
            reader.close()

    _run(tail, *(lambda store=store, n=n: record(store, n) for n, store in enumerate(stores)))

    assert [event.position for event in seen] == list(range(1, total + 1))


def test_the_lists_of_two_writers_count_every_event_once_though_they_are_made_anew_meanwhile(
    postgres_url: str, open_writer: OpenWriter
) -> None:
    stores = [open_writer(postgres_url) for _ in range(3)]

    def record(store: EventStore, writer: int) -> None:
        for number in range(15):
            script = DebateScript(f"w{writer}-{number}", seed=number)
            store.append([Append(script.stream, script.whole(), 0, 1), Append(script.calls, (script.exchange(),))])
            store.project(limit=4)
            assert all(row.calls <= 1 for row in store.debates())

    def rebuild() -> None:
        for _ in range(8):
            stores[2].rebuild()

    _run(lambda: record(stores[0], 0), lambda: record(stores[1], 1), rebuild)

    rows = stores[0].debates()
    assert [(row.calls, row.status) for row in rows] == [(1, "completed")] * 30
    assert (stores[0].runs()[0].debates, stores[0].runs()[0].completed) == (30, 30)


DEBATES = 8


async def test_concurrent_debates_are_each_tailed_completely(
    url: str, open_writer: Callable[[str], EventStore]
) -> None:
    writer, reading = open_writer(url), open_store(url, write=False)
    feed = Feed(reading)
    received: dict[int, list[LiveEvent]] = {number: [] for number in range(DEBATES)}

    async def follow(number: int) -> None:
        async with feed.follow(f"d{number}", LIVE_EVENTS) as reader:
            received[number] = [live async for live in reader]

    def write(number: int) -> None:
        writing = Writing(writer, f"d{number}", seed=number)
        for event in writing.script.whole():
            writing.write(event)

    async with asyncio.timeout(120):
        await asyncio.gather(
            *(follow(number) for number in range(DEBATES)),
            *(asyncio.to_thread(write, number) for number in range(DEBATES)),
        )
    reading.close()

    for number, live in received.items():
        stored = writer.read_stream(f"debate/d{number}")

        # The opening gives no live event.
        assert [str(event.position) for event in stored[1:]] == [one.id for one in live]
