"""The places of one HTTP client: bounded together, and none of the adapters shuts the others out."""

import asyncio

import pytest

from jury_providers.sdk.connection_slots import AdapterSlots, ConnectionSlots
from support.waiting import until


class Calls:
    """Calls that hold their place until they are told to end."""

    def __init__(self, share: AdapterSlots) -> None:
        self.share = share
        self.tasks: list[asyncio.Task[None]] = []
        self._ends: list[asyncio.Event] = []

    def begin(self, count: int) -> None:
        for _ in range(count):
            end = asyncio.Event()
            self._ends.append(end)
            self.tasks.append(asyncio.create_task(self._hold(end)))

    async def end(self, number: int) -> None:
        self._ends[number].set()
        await self.tasks[number]

    async def _hold(self, end: asyncio.Event) -> None:
        async with self.share:
            await end.wait()

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def test_an_adapter_that_is_alone_takes_every_place() -> None:
    calls = Calls(ConnectionSlots(most=4, kept=1).share())
    calls.begin(6)
    await until(lambda: calls.share.taken == 4)
    await calls.end(0)

    assert calls.share.taken == 4, "who waits longest follows"
    await calls.close()
    assert calls.share.taken == 0


async def test_an_adapter_whose_calls_hang_leaves_places_to_the_others() -> None:
    places = ConnectionSlots(most=8, kept=2)
    hanging, healthy = Calls(places.share()), Calls(places.share())
    hanging.begin(50)
    await until(lambda: hanging.share.taken == 6)
    healthy.begin(3)
    await until(lambda: healthy.share.taken == 2)
    await hanging.close()

    assert healthy.share.taken == 3
    await healthy.close()


async def test_the_shares_take_turns_where_both_wait() -> None:
    places = ConnectionSlots(most=2, kept=0)
    first, second = Calls(places.share()), Calls(places.share())
    first.begin(4)
    await until(lambda: first.share.taken == 2)
    second.begin(2)
    await asyncio.sleep(0)
    await first.end(0)
    await until(lambda: second.share.taken == 1)
    await first.end(1)
    await until(lambda: first.share.taken + second.share.taken == 2)

    assert (1, 1) == (first.share.taken, second.share.taken)
    await first.close()
    await second.close()


async def test_what_a_share_held_back_is_free_once_its_adapter_is_gone() -> None:
    places = ConnectionSlots(most=4, kept=1)
    gone, stays = places.share(), Calls(places.share())
    stays.begin(4)
    await until(lambda: stays.share.taken == 3)
    places.leave(gone)

    await until(lambda: stays.share.taken == 4)
    await stays.close()


@pytest.mark.parametrize("steps", [0, 1, 2])
async def test_a_call_that_is_given_up_while_it_waits_leaves_no_hole(steps: int) -> None:
    calls = Calls(ConnectionSlots(most=1, kept=0).share())
    calls.begin(3)
    await until(lambda: calls.share.taken == 1)
    calls._ends[0].set()
    for _ in range(steps):  # before it is let in, at that moment, and after
        await asyncio.sleep(0)
    calls.tasks[1].cancel()
    await asyncio.gather(*calls.tasks[:2], return_exceptions=True)
    await calls.end(2)

    assert calls.share.taken == 0
