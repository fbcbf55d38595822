"""The coordinator's end of a juror: what travels in which batch, and what is said of a juror that is gone for good.

`test_lossy_network.py` has what comes of losses, repeats and replacements.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence

import pytest

from jury_actors import PROBE, Backoff, Delivery, ForgetDebate, IncarnationLost, JurorClient, StepRequest, StepResult
from support.jurors import Asking
from support.waiting import until


class ScriptedJuror:
    """A juror's process as its client sees it: it records requests; a test makes it refuse them or die."""

    def __init__(self) -> None:
        self.incarnation = 1
        self.asked: list[list[StepRequest]] = []
        self.released: list[str] = []
        self.acks: list[tuple[str, int]] = []
        self.refuses: Exception | None = None
        self.refused = 0
        self.open = asyncio.Event()
        self.open.set()
        self._polls: deque[asyncio.Future[Delivery[StepResult]]] = deque()
        self._poll_asked = asyncio.Event()

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        await self.open.wait()
        if self.refuses is not None:
            self.refused += 1
            raise self.refuses
        self.asked.append([message for message in messages if isinstance(message, StepRequest)])
        self.released += [message.debate_id for message in messages if isinstance(message, ForgetDebate)]

    async def poll(self, reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult]:
        self.acks.append((incarnation, ack))
        if incarnation == PROBE:
            if self.refuses is not None:
                self.refused += 1
                raise self.refuses
            return Delivery(str(self.incarnation), 0, [])
        future: asyncio.Future[Delivery[StepResult]] = asyncio.get_running_loop().create_future()
        self._polls.append(future)
        self._poll_asked.set()
        return await future

    async def die(self, error: Exception | None = None) -> None:
        """The open poll fails; another process takes over unless `error` says that none does."""
        self.incarnation += 1
        while not self._polls:
            self._poll_asked.clear()
            await self._poll_asked.wait()
        self._polls.popleft().set_exception(error or IncarnationLost())


class ClientHarness:
    """A client with its juror, and every result that it delivered to the coordinator."""

    def __init__(self) -> None:
        self.juror = ScriptedJuror()
        self.results: list[StepResult] = []
        self.lost: list[list[tuple[str, str]]] = []
        self._something = asyncio.Event()
        self.client = JurorClient(self.juror, self._deliver, self._lost, away=Backoff(base=0.0))

    def _deliver(self, results: StepResult) -> None:
        self.results.append(results)
        self._something.set()

    def _lost(self, steps: list[tuple[str, str]]) -> None:
        self.lost.append(steps)
        self._something.set()


@pytest.fixture
async def harness() -> AsyncIterator[ClientHarness]:
    harness = ClientHarness()
    yield harness
    await harness.client.close()


def an_ask(debate_id: str = "d1", juror_id: str = "gpt", text: bytes = b"x") -> StepRequest:
    ask = Asking().ask(juror_id)
    return ask._replace(assignment=ask.assignment._replace(debate_id=debate_id), texts={"ref": text})


def ids(batches: list[list[StepRequest]]) -> list[list[str]]:
    return [[ask.assignment.debate_id for ask in batch] for batch in batches]


async def test_requests_made_together_are_sent_in_one_batch(harness: ClientHarness) -> None:
    for number in range(3):
        harness.client.request(an_ask(f"d{number}"))
    await until(lambda: harness.juror.asked)

    assert [["d0", "d1", "d2"]] == ids(harness.juror.asked)


async def test_a_batch_ends_once_it_has_a_mebibyte_of_text(harness: ClientHarness) -> None:
    for number in range(4):
        harness.client.request(an_ask(f"d{number}", text=bytes(600_000)))
    await until(lambda: len(harness.juror.asked) == 2)

    assert [["d0", "d1"], ["d2", "d3"]] == ids(harness.juror.asked)


async def test_a_batch_has_at_most_500_requests(harness: ClientHarness) -> None:
    ask = an_ask()
    for number in range(501):
        harness.client.request(ask._replace(assignment=ask.assignment._replace(debate_id=f"d{number}")))
    await until(lambda: len(harness.juror.asked) == 2)

    assert [500, 1] == [len(batch) for batch in harness.juror.asked]


async def test_a_request_larger_than_a_batch_is_sent_alone(harness: ClientHarness) -> None:
    harness.client.request(an_ask(text=bytes(3_000_000)))
    await until(lambda: harness.juror.asked)

    assert [["d1"]] == ids(harness.juror.asked)


async def test_a_text_counts_as_sent_once_it_was_asked_about(harness: ClientHarness) -> None:
    first = harness.client.unsent("d1", ["a", "b", "a"])
    second = harness.client.unsent("d1", ["b", "c"])
    other = harness.client.unsent("d2", ["a"])

    assert (["a", "b"], ["c"], ["a"]) == (first, second, other)


async def test_a_juror_that_cannot_come_back_gives_its_problem_to_every_step(harness: ClientHarness) -> None:
    broken = RuntimeError("no such host")
    harness.client.request(an_ask())
    harness.client.request(an_ask("d2"))
    await until(lambda: harness.juror.asked)
    await harness.juror.die(broken)
    await until(lambda: harness.results)

    assert [("d1", broken), ("d2", broken)] == [(results.debate_id, results.problem) for results in harness.results]


async def test_a_broken_juror_gives_its_problem_to_later_steps_at_once(harness: ClientHarness) -> None:
    broken = RuntimeError("no such host")
    await harness.juror.die(broken)
    await until(lambda: harness.client._mailbox.problem)
    harness.client.request(an_ask())

    assert [broken] == [results.problem for results in harness.results]


async def test_a_debate_that_is_over_is_released_at_the_juror(harness: ClientHarness) -> None:
    harness.client.unsent("d1", ["a"])
    harness.client.release("d1")
    await until(lambda: harness.juror.released)

    assert harness.juror.released == ["d1"]


async def test_a_juror_that_was_sent_nothing_of_a_debate_is_not_sent_its_end(harness: ClientHarness) -> None:
    harness.client.release("d1")
    harness.client.request(an_ask("d2"))
    await until(lambda: harness.juror.asked)

    assert not harness.juror.released


async def test_one_death_loses_a_step_once_however_many_calls_fail(harness: ClientHarness) -> None:
    harness.juror.open.clear()
    harness.client.request(an_ask())
    await asyncio.sleep(0)
    await harness.juror.die()
    await until(lambda: harness.lost)
    harness.juror.refuses = IncarnationLost()
    harness.juror.open.set()
    await until(lambda: harness.juror.refused)
    harness.juror.refuses = None
    await until(lambda: len(harness.juror.acks) == 3)

    assert [[("d1", "initial/gpt")]] == harness.lost
