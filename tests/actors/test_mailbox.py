"""The sending half of a mailbox: nothing is dropped before it is acknowledged."""

import asyncio

from jury_actors import Outbox


def an_outbox(*items: str, incarnation: str = "one", batch: int = 512) -> Outbox[str]:
    outbox: Outbox[str] = Outbox(incarnation, batch=batch)
    for item in items:
        outbox.put(item)
    return outbox


async def test_only_acknowledged_items_are_dropped() -> None:
    outbox = an_outbox("a", "b", "c")
    await outbox.poll("", 0)

    assert ("one", 3, ["b", "c"]) == await outbox.poll("one", 1)


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
