"""The coordinator's end of a juror, and mailboxes: what travels in which batch and order, and what a loss comes to.

`test_lossy_network.py` has what comes of losses, repeats and replacements.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache

import pytest

from jury_actors import (
    PROBE,
    Backoff,
    Delivery,
    ForgetDebate,
    IncarnationLost,
    JurorClient,
    MailboxClient,
    Outbox,
    StepRequest,
    StepResult,
)
from support.each_row import each_row
from support.jurors import Asking
from support.waiting import until


class ScriptedJuror:
    """A juror's process as its client sees it: it records what it is sent, and can break for good."""

    def __init__(self) -> None:
        self.batches: list[Sequence[StepRequest | ForgetDebate]] = []
        self.broken: asyncio.Future[Delivery[StepResult]] = asyncio.get_running_loop().create_future()

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        self.batches.append(messages)

    async def poll(self, _reply_to: str, incarnation: str, _ack: int) -> Delivery[StepResult]:
        return Delivery("1", 0, []) if incarnation == PROBE else await self.broken


class ClientHarness:
    """A client with its juror, and every result that it delivered to the coordinator."""

    def __init__(self) -> None:
        self.juror = ScriptedJuror()
        self.results: list[StepResult] = []
        self.client = JurorClient(self.juror, self.results.append, print, away=Backoff(base=0.0))  # type: ignore[arg-type]


@asynccontextmanager
async def a_client() -> AsyncIterator[ClientHarness]:
    harness = ClientHarness()
    yield harness
    await harness.client.close()


@cache
def a_request() -> StepRequest:
    return Asking().ask()


def an_ask(number: int, size: int = 1) -> StepRequest:
    ask = a_request()
    return ask._replace(assignment=ask.assignment._replace(debate_id=f"d{number}"), texts={"ref": bytes(size)})


@each_row(
    ("sizes", "batches"),
    [
        ([1] * 3, [3]),
        ([600_000] * 4, [2, 2]),
        ([1] * 501, [500, 1]),
        ([3_000_000], [1]),
    ],
)
async def test_requests_made_together_are_sent_in_batches_of_500_and_of_a_mebibyte(
    sizes: list[int], batches: list[int]
) -> None:
    async with a_client() as harness:
        for number, size in enumerate(sizes):
            harness.client.request(an_ask(number, size))
        await until(lambda: len(harness.juror.batches) == len(batches))

    assert batches == [len(batch) for batch in harness.juror.batches]


async def test_a_juror_that_cannot_come_back_gives_its_problem_to_every_step_then_and_later() -> None:
    broken = RuntimeError("no such host")
    async with a_client() as harness:
        for number in (1, 2):
            harness.client.request(an_ask(number))
        await until(lambda: harness.juror.batches)
        harness.juror.broken.set_exception(broken)
        await until(lambda: harness.results)
        harness.client.request(an_ask(3))

    assert [("d1", broken), ("d2", broken), ("d3", broken)] == [(one.debate_id, one.problem) for one in harness.results]


async def test_only_a_juror_that_was_sent_a_text_of_a_debate_is_told_its_end() -> None:
    async with a_client() as harness:
        harness.client.unsent("d1", ["a"], str.encode)
        harness.client.release("d2")
        harness.client.release("d1")
        await until(lambda: harness.juror.batches)

    assert [[ForgetDebate("d1")]] == [list(batch) for batch in harness.juror.batches]


class MortalService:
    """Takes numbers; it dies when it is told to, and a successor answers at once."""

    def __init__(self) -> None:
        self.taken: list[list[int]] = [[]]
        self.open = asyncio.Event()
        self._died = asyncio.Event()

    @property
    def incarnation(self) -> str:
        return str(len(self.taken))

    def die(self) -> None:
        """Every call that is open fails; later ones reach a successor, which knows nothing."""
        self.taken.append([])
        died, self._died = self._died, asyncio.Event()
        died.set()

    async def submit(self, numbers: Sequence[int]) -> None:
        died = self._died
        opened, dying = (asyncio.ensure_future(one.wait()) for one in (self.open, died))
        await asyncio.wait({opened, dying}, return_when=asyncio.FIRST_COMPLETED)
        if died.is_set():
            raise IncarnationLost
        self.taken[-1] += numbers

    async def poll(self, incarnation: str, _ack: int) -> Delivery[str]:
        if incarnation not in {"", self.incarnation}:
            return Delivery(self.incarnation, 0, [])
        await self._died.wait()
        raise IncarnationLost


async def test_what_was_on_its_way_and_what_waited_are_submitted_to_the_successor_in_their_order() -> None:
    service = MortalService()
    lost: list[list[int]] = []

    def again(numbers: list[int]) -> list[int]:
        lost.append(numbers)
        return numbers

    client: MailboxClient[int, str] = MailboxClient(
        service.submit, service.poll, on_item=print, on_loss=again, on_error=lambda error: pytest.fail(str(error))
    )
    client.send(1, 2)
    await until(lambda: not client.queued)  # on its way
    client.send(3)
    service.die()
    service.open.set()
    await until(lambda: service.taken[-1])
    await client.close()

    assert [[1, 2, 3]] == lost, "a loss is reported once"
    assert [[], [1, 2, 3]] == service.taken


async def test_a_lingering_poll_includes_items_that_arrive_a_moment_later() -> None:
    outbox: Outbox[str] = Outbox("one", linger=0.01)
    polls = [asyncio.create_task(outbox.poll("", 0)) for _ in range(2)]
    await asyncio.sleep(0)
    outbox.put("a")
    await asyncio.sleep(0)
    outbox.put("b")

    assert [["a", "b"]] * 2 == [(await poll).items for poll in polls]
