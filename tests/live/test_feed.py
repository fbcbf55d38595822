"""A live reader of a debate gets every event of its log, once and in order, and harms no other reader."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Any

import pytest

from jury_events import StoredEvent
from jury_judge import Beginning, Cursor, Feed, JuryClosed, TooManyReaders
from jury_providers import Script
from jury_store import MemoryEventStore, StoreFailed
from jury_views import FRAMES, LIVE_EVENTS, LOG_EVENTS, PROGRESS, SSE, LiveEvent, parse_point
from support.cassettes import erase_text
from support.runtime_harness import Run
from support.waiting import until
from support.writing import Writing


@pytest.fixture
def store() -> MemoryEventStore:
    return MemoryEventStore()


@pytest.fixture
async def feed(store: MemoryEventStore) -> AsyncIterator[Feed]:
    feed = Feed(store)
    yield feed
    await feed.close()


async def ids(reader: Cursor[LiveEvent]) -> list[str]:
    return [live.id async for live in reader]


WHOLE = ["2", "3", "4", "5", "6"]
"""`DebateScript.whole`: the opening gives none, the beginning and a check that ends phase 1 the phase change."""


async def test_a_finished_debate_is_read_from_its_log_and_ends(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    writing.write(*writing.script.whole())

    async with feed.follow("d", LIVE_EVENTS) as reader:
        live = [one async for one in reader]

    assert WHOLE == [one.id for one in live]
    assert [
        "phase_change",
        "juror_evaluation",
        "phase_change",
        "final_judgment",
        "evaluation_completed",
    ] == [one.event["type"] for one in live]
    assert reader.over


async def test_new_events_reach_a_follower_as_they_happen(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    async with feed.follow("d", LIVE_EVENTS) as reader:
        seen = []
        writing.write(writing.script.opened())
        for event in writing.script.whole()[1:]:
            writing.write(event)
            seen += [one.id for one in await reader.next()]

        assert WHOLE == seen
        assert [] == await reader.next()


async def test_a_reader_continues_exactly_after_the_position_that_it_names(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    script = writing.script
    start = (*script.begins(), script.checked(over=False), script.round_started(1), writing.statement("I pass"))
    writing.write(*start, script.checked(1), script.judged(), script.completed())
    everything = ["2", "4.0", "4", "5", "6.0", "6", "7", "8"]

    for after in ("0", "1", "2", "3", "4.0", "4", "5", "5.0", "5~7", "6", "7", "8", "99"):
        async with feed.follow("d", LIVE_EVENTS, parse_point(after)) as reader:
            rest = await ids(reader)
        assert [one for one in everything if parse_point(one) > parse_point(after)] == rest


async def test_each_format_streams_the_same_debate(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    script = writing.script
    writing.write(
        *script.begins(), script.checked(over=False), script.round_started(1), writing.statement("a\n\nid: 9\rb\u2028")
    )
    writing.write(script.checked(1), script.judged(), script.completed())

    async with feed.follow("d", SSE) as sse, feed.follow("d", FRAMES) as frames, feed.follow("d", LOG_EVENTS) as log:
        wire = b"".join([one async for one in sse]).decode()
        framed = [json.loads(one) async for one in frames]
        types = [one.event.type async for one in log]

    messages = wire.removesuffix("\n\n").split("\n\n")
    assert 8 == len(messages)
    assert all(len(message.splitlines()) == 2 or "\u2028" in message for message in messages)
    assert "\r" not in wire
    assert "a\n\nid: 9\rb\u2028" == json.loads(messages[3].split("\n")[1].removeprefix("data: "))["statement"]
    assert [("round_started", 4), ("juror_statement", 5), ("round_completed", 6)] == [
        (one["type"], one["position"]) for one in framed
    ]
    assert store.read_stream("debate/d")[-1].type == types[-1]


async def test_progress_contains_abstentions_and_calls_which_the_documents_lack(
    store: MemoryEventStore, feed: Feed
) -> None:
    run = Run(store)
    async with feed.follow("d0", PROGRESS) as progress, feed.follow("d0", SSE) as documents:
        await run.execute(script=Script(scripted={"round-1/sim-policy": ("unparseable",) * 3}))
        types = [json.loads(one.split(b"data: ")[1])["type"] async for one in progress]
        others = {json.loads(one.split(b"data: ")[1])["type"] async for one in documents}

    calls = types.count("exchange_recorded")
    assert [one.type for one in store.read_stream("debate/d0")] == [one for one in types if one != "exchange_recorded"]
    assert "juror_abstained" in types
    assert 0 < calls <= len(store.read_stream("calls/d0"))
    assert {"exchange_recorded", "juror_abstained"}.isdisjoint(others)


async def test_events_between_two_polls_of_the_log_are_sent_once(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    events = iter(writing.script.whole())
    writing.write(next(events))
    histories = store.histories

    def late(debate_ids: Sequence[str]) -> Any:
        writing.write(*events)  # the tail reads them too, after this
        return histories(debate_ids)

    store.histories = late  # type: ignore[method-assign]
    async with feed.follow("d", LIVE_EVENTS) as reader:
        await reader.so_far()
        await feed.caught_up()
        async with feed.follow("d", LIVE_EVENTS) as another:
            assert WHOLE == await ids(another)


async def test_many_readers_that_come_and_go_each_get_everything_once_in_order(store: MemoryEventStore) -> None:
    feed = Feed(store)
    run = Run(store, discussion={"threshold": 2.0, "end_early": False, "max_rounds": 3})

    async def follows(breaks_after: int) -> list[str]:
        seen: list[str] = []
        while True:
            after = parse_point(seen[-1] if seen else "0")
            async with feed.follow("d0", LIVE_EVENTS, after) as reader:
                async for live in reader:
                    seen.append(live.id)
                    if len(seen) == breaks_after:
                        break
                else:
                    return seen

    tasks = [asyncio.create_task(follows(number)) for number in range(1, 21)]
    await run.execute()
    every = await asyncio.gather(*tasks)
    whole = await follows(0)

    assert 22 <= len(whole)
    assert [whole] * 20 == every
    assert 0 == feed.readers


async def test_a_reader_too_many_is_refused_until_one_leaves(store: MemoryEventStore) -> None:
    feed = Feed(store, most=1)
    async with feed.follow("d", LIVE_EVENTS):
        with pytest.raises(TooManyReaders, match="1 readers follow debates here already"):
            await feed.follow("e", SSE).__aenter__()
    async with feed.follow("e", SSE):
        pass
    await feed.close()


async def test_the_log_is_not_polled_without_readers(store: MemoryEventStore, feed: Feed) -> None:
    looks = count()
    read_all = store.read_all

    def counted(after: int = 0, limit: int = 1000) -> Any:
        next(looks)
        return read_all(after, limit)

    store.read_all = counted  # type: ignore[method-assign]
    async with feed.follow("d", LIVE_EVENTS) as reader:
        await reader.so_far()
    before = next(looks)

    await asyncio.sleep(0)
    assert feed._task is None
    assert before + 1 == next(looks)


async def test_what_the_final_judge_writes_stands_between_what_was_before_and_its_judgment(
    store: MemoryEventStore, feed: Feed
) -> None:
    writing = Writing(store)
    script = writing.script
    writing.write(*script.begins(), script.evaluated())
    async with feed.follow("d", LIVE_EVENTS) as reader:
        await reader.so_far()
        writing.write(script.checked())
        feed.add_chunk("d", '{"verdict"')
        feed.add_chunk("d", ': "safe')
        first = await reader.next()
        feed.add_chunk("d", '_pass"}')
        writing.write(script.judged(), script.completed())
        rest = [live async for live in reader]

    items = [*first, *rest]
    assert [
        "phase_change",
        "final_judge_chunk",
        "final_judge_chunk",
        "final_judgment",
        "evaluation_completed",
    ] == [one.event["type"] for one in items]
    assert '{"verdict": "safe_pass"}' == "".join(one.event.get("chunk", "") for one in items)
    assert ["4", "4~1", "4~2", "5", "6"] == [one.id for one in items]


async def test_an_erased_statement_is_not_sent_any_more(store: MemoryEventStore, feed: Feed) -> None:
    writing = Writing(store)
    script = writing.script
    writing.write(*script.begins(), script.round_started(1), writing.statement("private"))
    async with feed.follow("d", LIVE_EVENTS) as early:
        before = await early.so_far()
        erase_text(store, "d", b"private")
        await feed.caught_up()
        async with feed.follow("d", LIVE_EVENTS) as late:
            after = await late.so_far()

    assert "private" == before[-1].event["statement"]
    assert None is after[-1].event["statement"]
    assert [one.id for one in before] == [one.id for one in after]


async def test_a_log_that_cannot_be_read_for_a_while_is_read_on(
    store: MemoryEventStore, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.feed._RETRY_SECONDS", 0.01)
    writing = Writing(store)
    script = writing.script
    writing.write(*script.begins())
    async with feed.follow("d", LIVE_EVENTS) as reader:
        await reader.so_far()
        read_all, failed = store.read_all, asyncio.Event()

        def broken(after: int = 0, limit: int = 1000) -> Any:
            failed.set()
            raise StoreFailed("connection lost")

        store.read_all = broken  # type: ignore[method-assign]
        await until(failed.is_set)
        store.read_all = read_all  # type: ignore[method-assign]
        writing.write(*script.whole()[2:])

        assert WHOLE[1:] == await ids(reader)


async def test_a_caller_that_waits_gets_the_error_of_reading_the_log(store: MemoryEventStore, feed: Feed) -> None:
    def broken(after: int = 0, limit: int = 1000) -> Any:
        raise StoreFailed("connection lost")

    store.read_all = broken  # type: ignore[method-assign]
    async with feed.follow("d", LIVE_EVENTS):
        with pytest.raises(StoreFailed):
            await feed.caught_up()


async def test_a_record_that_cannot_be_read_ends_its_readers_and_no_others(store: MemoryEventStore, feed: Feed) -> None:
    bad, good = Writing(store, "bad"), Writing(store, "good", seed=2)
    bad.write(bad.script.opened()._replace(schema=99))
    async with feed.follow("bad", LIVE_EVENTS) as damaged, feed.follow("good", LIVE_EVENTS) as reader:
        with pytest.raises(Exception, match="does not know"):
            await damaged.next()
        good.write(*good.script.whole())

        assert 5 == len(await ids(reader))


async def test_beginnings_are_reported_and_no_openings(store: MemoryEventStore, feed: Feed) -> None:
    before, earlier = Writing(store, "before"), Writing(store, "d", seed=2)
    before.write(*before.script.begins())
    earlier.write(earlier.script.opened())
    begun: list[Beginning] = []
    async with feed.beginnings(begun.append):
        waits = Writing(store, "waits", seed=3)
        waits.write(waits.script.opened())
        earlier.write(*earlier.script.whole()[1:])
        await feed.caught_up()

    assert [Beginning("d", "run", {"case_id": ("case-d",), "label": ("safe_pass",)})] == begun


class BlockableStore(MemoryEventStore):
    """Reads the log when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.open = threading.Event()
        self.open.set()

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        self.asked.set()
        self.open.wait(120)
        return super().read_all(after, limit)


async def test_a_caller_that_waits_for_the_log_is_answered_though_the_last_reader_leaves() -> None:
    store = BlockableStore()
    writing = Writing(store)
    writing.write(*writing.script.whole())
    feed = Feed(store)
    async with feed.follow("d", LIVE_EVENTS) as reader:
        assert WHOLE == await ids(reader)
        store.open.clear()
        store.asked.clear()
        waiting = asyncio.create_task(feed.caught_up())
        await asyncio.to_thread(store.asked.wait, 120)

    store.open.set()
    async with asyncio.timeout(120):
        await waiting
    await feed.close()


async def test_readers_get_the_error_when_the_store_closes(store: MemoryEventStore, feed: Feed) -> None:
    problem = JuryClosed("it was left")
    async with feed.follow("never", LIVE_EVENTS) as reader:
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        feed.fail(problem)

        with pytest.raises(JuryClosed, match="it was left"):
            await waiting
    with pytest.raises(JuryClosed, match="it was left"):
        async with feed.follow("late", LIVE_EVENTS):
            pass
    with pytest.raises(JuryClosed, match="it was left"):
        await feed.caught_up()


async def test_a_reader_that_comes_while_the_feed_goes_idle_is_answered(feed: Feed) -> None:
    for later in range(5):
        follows = feed.follow("d", LIVE_EVENTS)
        await follows.__aenter__()
        await feed.caught_up()
        leaving = asyncio.create_task(follows.__aexit__(None, None, None))
        for _ in range(later):
            await asyncio.sleep(0)
        await asyncio.gather(leaving, asyncio.create_task(feed.caught_up()))
