"""Appends of many tasks in few messages to the clerk."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from jury_actors import Clerk, ClerkClient
from jury_store import Append, Appended, EventConflict, MemoryEventStore, StoreClosed, StoreError, StoreFailed
from support.debates import DebateScript
from support.each_row import each_row
from support.jurors import BlockableClerk
from support.waiting import until


def a_call(number: int, size: int = 0) -> Append:
    script = DebateScript(f"d{number}", seed=number + 1)
    return Append(script.calls, (script.exchange(answer="x" * size),))


async def appended(client: ClerkClient, *appends: Append) -> list[Appended | BaseException]:
    return await asyncio.gather(*(client.append(append) for append in appends), return_exceptions=True)


async def test_an_append_returns_the_answer_of_the_store() -> None:
    assert await ClerkClient(BlockableClerk()).append(a_call(1)) == Appended("calls/d1", 1, 0)


async def test_appends_of_tasks_that_are_ready_together_travel_in_one_batch() -> None:
    clerk = BlockableClerk()
    await appended(ClerkClient(clerk), *(a_call(number) for number in range(20)))

    assert [20] == [len(batch) for batch in clerk.batches]


async def test_each_task_gets_its_own_answer() -> None:
    answers = await appended(ClerkClient(BlockableClerk()), *(a_call(number) for number in range(5)))

    assert [f"calls/d{number}" for number in range(5)] == [answer.stream for answer in answers]  # type: ignore[union-attr]


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


async def test_nothing_is_answered_before_the_clerk_answered() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    task = asyncio.create_task(ClerkClient(clerk).append(a_call(1)))
    await until(lambda: clerk.batches)
    before = task.done()
    clerk.open.set()
    await task

    assert not before


_LONG = 3600.0
"""Seconds: a window that does not end during a test."""


async def test_an_append_that_need_not_wait_takes_those_that_do_with_it() -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    delayed = asyncio.create_task(client.append(a_call(1), window=_LONG))
    await asyncio.sleep(0)
    await client.append(a_call(2))

    assert Appended("calls/d1", 1, 0) == await delayed
    assert [2] == [len(batch) for batch in clerk.batches]


async def test_appends_are_sent_together_when_the_shortest_window_ends() -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    windows = [_LONG, 1 / 64, _LONG]
    await asyncio.gather(*(client.append(a_call(at), window=window) for at, window in enumerate(windows)))

    assert [3] == [len(batch) for batch in clerk.batches]


async def test_a_client_that_closes_sends_what_it_delayed() -> None:
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    delayed = asyncio.create_task(client.append(a_call(1), window=_LONG))
    await asyncio.sleep(0)
    delayed.cancel()
    await client.drain()

    assert [1] == [len(batch) for batch in clerk.batches]


async def test_a_batch_has_at_most_500_appends() -> None:
    clerk = BlockableClerk()
    await appended(ClerkClient(clerk, in_flight=1), *(a_call(number) for number in range(501)))

    assert [500, 1] == [len(batch) for batch in clerk.batches]


async def test_a_batch_ends_once_it_has_a_mebibyte() -> None:
    clerk = BlockableClerk()
    await appended(ClerkClient(clerk, in_flight=1), *(a_call(number, 400_000) for number in range(6)))

    assert [3, 3] == [len(batch) for batch in clerk.batches]


async def test_an_append_larger_than_a_batch_still_goes() -> None:
    clerk = BlockableClerk()
    answers = await appended(ClerkClient(clerk), a_call(1, 3_000_000), a_call(2))

    assert [1, 1] == [len(batch) for batch in clerk.batches]
    assert not any(isinstance(answer, BaseException) for answer in answers)


async def test_while_batches_are_on_their_way_the_rest_waits_for_each_other() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    client = ClerkClient(clerk, in_flight=1)
    tasks = [asyncio.create_task(client.append(a_call(0)))]
    await until(lambda: clerk.batches)
    tasks += [asyncio.create_task(client.append(a_call(number))) for number in range(1, 6)]
    await asyncio.sleep(0)
    clerk.open.set()
    await asyncio.gather(*tasks)

    assert [1, 5] == [len(batch) for batch in clerk.batches]


async def test_a_refusal_reaches_only_the_task_that_it_concerns() -> None:
    script = DebateScript("d1")
    clerk = BlockableClerk()
    client = ClerkClient(clerk)
    await client.append(Append(script.calls, (script.exchange(answer="first"),)))
    answers = await appended(client, a_call(2), Append(script.calls, (script.exchange(answer="second"),)), a_call(3))

    assert [Appended, EventConflict, Appended] == [type(answer) for answer in answers]


async def test_a_failure_of_the_clerk_reaches_every_task_of_the_batch_and_no_later_one() -> None:
    clerk = BlockableClerk()
    clerk.failure = StoreFailed("disk full")
    client = ClerkClient(clerk)
    failed = await appended(client, a_call(1), a_call(2))
    clerk.failure = None
    later = await appended(client, a_call(3))

    assert [StoreFailed, StoreFailed] == [type(answer) for answer in failed]
    assert [Appended("calls/d3", 1, 0)] == later


async def test_a_cancelled_task_does_not_delay_the_others() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    client = ClerkClient(clerk)
    gone, stays = (asyncio.create_task(client.append(a_call(number))) for number in (1, 2))
    await until(lambda: clerk.batches)
    gone.cancel()
    clerk.open.set()

    assert await stays == Appended("calls/d2", 1, 0)


@pytest.fixture
async def clerk() -> AsyncIterator[Clerk]:
    clerk = Clerk(MemoryEventStore())
    yield clerk
    clerk.close()


async def test_a_batch_sent_again_to_the_clerk_does_no_harm(clerk: Clerk) -> None:
    batch = [a_call(1), a_call(2)]
    first = await clerk.record(batch)
    again = await clerk.record(batch)

    assert [(1, 0), (1, 0), (1, 1), (1, 1)] == [
        (answer.version, answer.repeated) for answer in [*first, *again] if isinstance(answer, Appended)
    ]


async def test_the_clerk_puts_refusals_beside_the_answers_of_others(clerk: Clerk) -> None:
    script = DebateScript("d1")
    opening = Append(
        script.stream, (script.opened(security_gate_records=0, agent_card_records=0),), expected_version=7, epoch=1
    )
    answers = await clerk.record([opening, a_call(2)])

    assert [True, False] == [isinstance(answer, StoreError) for answer in answers]


async def test_every_epoch_is_drawn_once(clerk: Clerk) -> None:
    epochs = await asyncio.gather(*(clerk.next_epoch() for _ in range(8)))

    assert sorted(epochs) == list(range(1, 9))


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


async def test_appends_sent_before_the_clerk_closes_are_stored() -> None:
    store = MemoryEventStore()
    clerk = Clerk(store)
    sent = asyncio.ensure_future(clerk.record([a_call(1)]))
    await asyncio.sleep(0)
    clerk.close()

    assert [Appended("calls/d1", 1, 0)] == await sent


async def test_a_closed_clerk_raises_store_closed() -> None:
    clerk = Clerk(MemoryEventStore())
    clerk.close()

    with pytest.raises(StoreClosed):
        await clerk.record([a_call(1)])
