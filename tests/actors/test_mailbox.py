"""The sending half of a mailbox: nothing is dropped before it is acknowledged."""

import asyncio

from jury_actors import Outbox


def an_outbox(*items: str, incarnation: str = "one", batch: int = 512) -> Outbox[str]:
    outbox: Outbox[str] = Outbox(incarnation, batch=batch)
    for item in items:
        outbox.put(item)
    return outbox


async def test_waiting_items_come_in_one_delivery() -> None:
    delivery = await an_outbox("a", "b").poll("", 0)

    assert ("one", 2, ["a", "b"]) == delivery


async def test_an_empty_outbox_keeps_the_poll_waiting_until_there_is_something() -> None:
    outbox = an_outbox()
    poll = asyncio.create_task(outbox.poll("", 0))
    await asyncio.sleep(0)
    waited = not poll.done()
    outbox.put("late")

    assert waited
    assert (await poll).items == ["late"]


async def test_items_that_were_not_acknowledged_come_again() -> None:
    outbox = an_outbox("a", "b")
    await outbox.poll("", 0)

    assert (await outbox.poll("one", 0)).items == ["a", "b"]


async def test_acknowledged_items_do_not_come_again() -> None:
    outbox = an_outbox("a", "b")
    first = await outbox.poll("", 0)
    outbox.put("c")

    assert (await outbox.poll("one", first.upto)).items == ["c"]


async def test_only_acknowledged_items_are_dropped() -> None:
    outbox = an_outbox("a", "b", "c")
    await outbox.poll("", 0)

    assert ("one", 3, ["b", "c"]) == await outbox.poll("one", 1)


async def test_a_number_acknowledged_to_an_earlier_incarnation_drops_nothing() -> None:
    reborn = an_outbox("a", "b", incarnation="two")
    await reborn.poll("one", 2)

    assert (await reborn.poll("two", 0)).items == ["a", "b"]


async def test_a_poll_with_an_earlier_incarnation_returns_at_once_with_the_present_one() -> None:
    async with asyncio.timeout(120):
        delivery = await an_outbox(incarnation="two").poll("one", 5)

    assert ("two", 0, []) == delivery


async def test_a_delivery_has_at_most_one_batch_and_the_rest_follows() -> None:
    outbox = an_outbox("a", "b", "c", batch=2)
    first = await outbox.poll("", 0)
    second = await outbox.poll("one", first.upto)

    assert [["a", "b"], ["c"]] == [first.items, second.items]


async def test_two_concurrent_polls_return_the_same_items() -> None:
    outbox = an_outbox()
    polls = [asyncio.create_task(outbox.poll("", 0)) for _ in range(2)]
    await asyncio.sleep(0)
    outbox.put("a")

    assert [["a"], ["a"]] == [(await poll).items for poll in polls]


async def test_a_lingering_poll_includes_items_that_arrive_a_moment_later() -> None:
    outbox: Outbox[str] = Outbox("one", linger=0.01)
    poll = asyncio.create_task(outbox.poll("", 0))
    await asyncio.sleep(0)
    outbox.put("a")
    await asyncio.sleep(0)
    outbox.put("b")

    assert (await poll).items == ["a", "b"]


async def test_a_poll_that_was_given_up_does_not_lose_an_item() -> None:
    outbox = an_outbox()
    given_up = asyncio.create_task(outbox.poll("", 0))
    await asyncio.sleep(0)
    given_up.cancel()
    outbox.put("a")

    assert (await outbox.poll("one", 0)).items == ["a"]
