"""Appends of many tasks in few messages to the clerk."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from jury_actors import Clerk, ClerkClient
from jury_store import Append, Appended, EventConflict, MemoryEventStore, StoreClosed, StoreError, StoreFailed
from support.debates import DebateScript
from support.each_row import each_row
from support.jurors import BlockableClerk
from support.waiting import until

_LONG = 3600.0
"""Seconds: a window that does not end during a test."""


def a_call(number: int, size: int = 0) -> Append:
    script = DebateScript(f"d{number}", seed=number + 1)
    return Append(script.calls, (script.exchange(answer="x" * size),))


async def appended(client: ClerkClient, *appends: Append) -> list[Appended | BaseException]:
    return await asyncio.gather(*(client.append(append) for append in appends), return_exceptions=True)


@each_row(
    ("sizes", "batches"),
    [([0] * 20, [20]), ([0] * 501, [500, 1]), ([400_000] * 6, [3, 3]), ([3_000_000, 0], [1, 1])],
)
async def test_appends_of_tasks_that_are_ready_together_travel_in_batches_and_each_gets_its_own_answer(
    sizes: list[int], batches: list[int]
) -> None:
    clerk = BlockableClerk()
    calls = [a_call(number, size) for number, size in enumerate(sizes)]
    answers = await appended(ClerkClient(clerk, in_flight=1), *calls)

    assert batches == [len(batch) for batch in clerk.batches]
    assert [Appended(f"calls/d{number}", 1, 0) for number in range(len(sizes))] == answers


async def test_while_a_batch_is_on_its_way_nothing_is_answered_and_the_rest_waits_for_each_other() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    client = ClerkClient(clerk, in_flight=1)
    tasks = [asyncio.create_task(client.append(a_call(0)))]
    await until(lambda: clerk.batches)
    tasks += [asyncio.create_task(client.append(a_call(number))) for number in range(1, 6)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    early = [task.done() for task in tasks]
    clerk.open.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)

    assert not any(early)
    assert all(isinstance(one, Appended) for one in (answers[0], *answers[2:]))
    assert [1, 5] == [len(batch) for batch in clerk.batches], "one that nobody waits for any more is kept too"


@each_row("windows", [(_LONG, 0.0), (_LONG, 1 / 64, _LONG)])
async def test_appends_are_sent_together_when_the_shortest_window_ends(windows: Sequence[float]) -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    await asyncio.gather(*(client.append(a_call(at), window=window) for at, window in enumerate(windows)))

    assert [len(windows)] == [len(batch) for batch in clerk.batches]


async def test_a_refusal_reaches_its_task_alone_and_a_failure_every_task_of_its_batch() -> None:
    script, clerk = DebateScript("d1"), BlockableClerk()
    client = ClerkClient(clerk)
    first, second = (Append(script.calls, (script.exchange(answer=answer),)) for answer in ("first", "second"))
    await client.append(first)
    answers = await appended(client, a_call(2), second, a_call(3))
    clerk.failure = StoreFailed("disk full")
    failed = await appended(client, a_call(4), a_call(5))
    clerk.failure = None

    assert [Appended, EventConflict, Appended] == [type(answer) for answer in answers]
    assert [StoreFailed, StoreFailed] == [type(answer) for answer in failed]
    assert [Appended("calls/d6", 1, 0)] == await appended(client, a_call(6))


@each_row("in_flight", [1, 2])
async def test_tasks_that_append_again_as_soon_as_they_are_answered_are_never_left_waiting(in_flight: int) -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk, in_flight=in_flight)

    async def one_after_another(first: int) -> None:
        for number in range(first, first + 5):
            await client.append(a_call(number))

    async with asyncio.timeout(120):
        await asyncio.gather(*(one_after_another(first) for first in (0, 10, 20)))

    assert 15 == sum(map(len, clerk.batches))


async def test_a_client_that_closes_sends_what_it_delayed() -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    delayed = asyncio.create_task(client.append(a_call(1), window=_LONG))
    await asyncio.sleep(0)
    delayed.cancel()
    await client.drain()

    assert [1] == [len(batch) for batch in clerk.batches]


@pytest.fixture
async def clerk() -> AsyncIterator[Clerk]:
    clerk = Clerk(MemoryEventStore())
    yield clerk
    clerk.close()


async def test_the_clerk_recalls_both_streams_and_every_text_of_debates_that_exist(clerk: Clerk) -> None:
    script = DebateScript("d1")
    opened, exchange = script.opened(security_gate_records=0, agent_card_records=0), script.exchange(answer="hello")
    await clerk.record([Append(script.stream, (opened,), 0, 1), Append(script.calls, (exchange,))])
    known = await clerk.recall(["d1", "unheard-of"])

    assert ["d1"] == list(known)
    assert (["opened"], [exchange.event_id]) == tuple(
        [event.event_id for event in stream] for stream in (known["d1"].stored_events, known["d1"].stored_exchanges)
    )
    assert b"hello" in [part.content for part in known["d1"].parts.values()]


async def test_the_clerk_answers_each_append_and_takes_a_batch_twice(clerk: Clerk) -> None:
    script = DebateScript("d1")
    opened = script.opened(security_gate_records=0, agent_card_records=0)
    batch = [Append(script.stream, (opened,), expected_version=7, epoch=1), a_call(2)]
    first, again = await clerk.record(batch), await clerk.record(batch)
    epochs = await asyncio.gather(*(clerk.next_epoch() for _ in range(8)))

    assert [True, True] == [isinstance(one[0], StoreError) for one in (first, again)]
    assert [Appended("calls/d2", 1, 0), Appended("calls/d2", 1, 1)] == [first[1], again[1]]
    assert list(range(1, 9)) == sorted(epochs)


async def test_appends_sent_before_the_clerk_closes_are_stored_and_later_ones_refused() -> None:
    clerk = Clerk(MemoryEventStore())
    sent = asyncio.ensure_future(clerk.record([a_call(1)]))
    await asyncio.sleep(0)
    clerk.close()

    assert [Appended("calls/d1", 1, 0)] == await sent
    with pytest.raises(StoreClosed):
        await clerk.record([a_call(1)])
