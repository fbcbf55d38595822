"""The connection slots of one HTTP client: one limit for all adapters, and a reserve for each."""

import asyncio

from jury_providers.sdk.http_client import AdapterSlots
from support.each_row import each_row
from support.waiting import until


class Calls:
    """Calls that keep their slots until they are ended."""

    def __init__(self, slots: AdapterSlots) -> None:
        self.slots = slots
        self.tasks: list[asyncio.Task[None]] = []
        self._ends: list[asyncio.Event] = []

    def begin(self, count: int) -> None:
        for _ in range(count):
            end = asyncio.Event()
            self._ends.append(end)
            self.tasks.append(asyncio.create_task(self._run(end)))

    async def end(self, number: int) -> None:
        self._ends[number].set()
        await self.tasks[number]

    async def _run(self, end: asyncio.Event) -> None:
        async with self.slots:
            await end.wait()

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def test_a_single_adapter_can_use_every_slot() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    calls = Calls(ConnectionSlots(total=4, reserved=1).join())
    calls.begin(6)
    await until(lambda: calls.slots.in_use == 4)
    await calls.end(0)

    assert calls.slots.in_use == 4, "the longest waiting call follows"
    await calls.close()
    assert calls.slots.in_use == 0


async def test_hanging_calls_of_one_adapter_leave_slots_for_the_others() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=8, reserved=2)
    hanging, healthy = Calls(slots.join()), Calls(slots.join())
    hanging.begin(50)
    await until(lambda: hanging.slots.in_use == 6)
    healthy.begin(3)
    await until(lambda: healthy.slots.in_use == 2)
    await hanging.close()

    assert healthy.slots.in_use == 3
    await healthy.close()


async def test_waiting_adapters_take_turns() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=2, reserved=0)
    first, second = Calls(slots.join()), Calls(slots.join())
    first.begin(4)
    await until(lambda: first.slots.in_use == 2)
    second.begin(2)
    await asyncio.sleep(0)
    await first.end(0)
    await until(lambda: second.slots.in_use == 1)
    await first.end(1)
    await until(lambda: first.slots.in_use + second.slots.in_use == 2)

    assert (1, 1) == (first.slots.in_use, second.slots.in_use)
    await first.close()
    await second.close()


async def test_the_reserve_of_an_adapter_is_free_once_it_left() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=4, reserved=1)
    gone, stays = slots.join(), Calls(slots.join())
    stays.begin(4)
    await until(lambda: stays.slots.in_use == 3)
    slots.leave(gone)

    await until(lambda: stays.slots.in_use == 4)
    await stays.close()


@each_row("steps", [0, 1, 2])
async def test_a_call_cancelled_while_it_waits_leaks_no_slot(steps: int) -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    calls = Calls(ConnectionSlots(total=1, reserved=0).join())
    calls.begin(3)
    await until(lambda: calls.slots.in_use == 1)
    calls._ends[0].set()
    for _ in range(steps):  # before it is granted a slot, at that moment, and after
        await asyncio.sleep(0)
    calls.tasks[1].cancel()
    await asyncio.gather(*calls.tasks[:2], return_exceptions=True)
    await calls.end(2)

    assert calls.slots.in_use == 0
