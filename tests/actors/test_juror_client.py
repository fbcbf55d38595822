"""The coordinator's end of a juror, and mailboxes: what travels in which batch and order, and what a loss comes to.

`test_lossy_network.py` has what comes of losses, repeats and replacements.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


T = TypeVar("T")
TEXTS = ("the case", "the instruction")
LACKS_TEXTS = ValueError("a text was not sent")


class JurorProcess:
    """One incarnation of a juror: it knows what it was sent, and answers when it is told to."""

    def __init__(self, incarnation: str, *, batch: int) -> None:
        self.incarnation = incarnation
        self.outbox: Outbox[StepResult] = Outbox(incarnation, batch=batch)
        self.known: dict[str, set[str]] = {}
        self.waiting: list[str] = []
        self.died = False

    def take(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        for message in messages:
            if isinstance(message, StepRequest):
                debate = message.assignment.debate_id
                self.known.setdefault(debate, set()).update(message.texts)
                self.waiting.append(debate)
            else:
                self.known.pop(message.debate_id, None)

    def answer(self, debate: str) -> None:
        problem = None if self.known.get(debate, set()) >= set(TEXTS) else LACKS_TEXTS
        self.outbox.put(StepResult(debate, "initial/gpt", None, problem))


class LossyNetwork:
    """A client's connection to the present process, and what the client said of each debate's step."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self.process = JurorProcess("1", batch=batch)
        self.processes = [self.process]
        self.reachable = True
        self.drops_confirmations = 0
        self.changed = asyncio.Event()
        self.requested: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.lacked = 0
        self.repeated: list[tuple[int, int]] = []
        self.client = JurorClient(self, self._deliver, self._lose, away=Backoff(base=0.0))  # type: ignore[arg-type]

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        if not self.reachable:
            raise IncarnationLost
        process = self.process
        process.take(messages)
        await turns(3)  # the confirmation is on its way
        if process.died or not self.reachable:
            raise IncarnationLost
        if self.drops_confirmations:
            self.drops_confirmations -= 1
            raise IncarnationLost

    async def poll(self, _reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult]:
        while self.reachable:
            process = self.process
            delivery = await self._unless_changed(process.outbox.poll(incarnation, ack))
            if delivery is not None:
                first = delivery.upto - len(delivery.items) + 1
                if delivery.items and incarnation == process.incarnation and first <= ack:
                    self.repeated.append((first, ack))
                return delivery
            if process is self.process or process.died or incarnation in {"", PROBE}:
                break
        raise IncarnationLost

    async def _unless_changed(self, call: Awaitable[T]) -> T | None:
        working, cut = asyncio.ensure_future(call), asyncio.ensure_future(self.changed.wait())
        try:
            await asyncio.wait([working, cut], return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            cut.cancel()

    def ask(self, debate: str) -> None:
        self.requested[debate] += 1
        request = a_request()
        texts = self.client.unsent(debate, TEXTS, str.encode)
        self.client.request(request._replace(assignment=request.assignment._replace(debate_id=debate), texts=texts))

    def replace(self, *, reachable: bool) -> None:
        """Another process takes over; calls that are open fail, unless it is reachable and takes them over too."""
        self.process.died = not reachable
        self.process = JurorProcess(str(len(self.processes) + 1), batch=self._batch)
        self.processes.append(self.process)
        self.cut(reachable=reachable)

    def cut(self, *, reachable: bool) -> None:
        self.reachable = reachable
        self.changed.set()
        self.changed = asyncio.Event()

    def answer(self, times: int = 1) -> None:
        if self.process.waiting:
            debate = self.process.waiting.pop(0)
            for _ in range(times):
                self.process.answer(debate)

    def _deliver(self, result: StepResult) -> None:
        if result.problem is LACKS_TEXTS:
            self.lacked += 1
            self.client.resend(result.debate_id)
            self.ask(result.debate_id)
        else:
            self.delivered[result.debate_id] += 1

    def _lose(self, steps: list[tuple[str, str]]) -> None:
        for debate, _ in steps:
            self.lost[debate] += 1
            self.ask(debate)


def act(network: LossyNetwork, event: str, number: int) -> None:
    match event:
        case "ask":
            network.ask(f"d{number}")
        case "answer":
            network.answer()
        case "answer twice":
            network.answer(times=2)
        case "answer what nobody asked":
            network.process.outbox.put(StepResult("stranger", "initial/gpt", None))
        case "die":
            network.replace(reachable=False)
        case "be replaced unnoticed":
            network.replace(reachable=True)
        case "stay away":
            network.cut(reachable=False)
        case "come back":
            network.reachable = True
        case "drop a confirmation":
            network.drops_confirmations += 1


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def after(events: Sequence[tuple[str, int]], batch: int) -> LossyNetwork:
    """What the network has seen once all of it works again and every step was answered."""
    network = LossyNetwork(batch)
    for number, (event, pause) in enumerate(events):
        act(network, event, number)
        await turns(pause)
    network.drops_confirmations = 0
    network.reachable = True
    for _ in range(1000):
        if network.delivered.keys() == network.requested.keys() and not network.process.waiting:
            break
        network.answer()
        await turns(3)
    network.process.outbox.put(StepResult("stranger", "initial/gpt", None))
    await turns(20)
    await network.client.close()
    return network


LOSSES = ("die", "be replaced unnoticed", "stay away", "drop a confirmation")
EVENTS = [
    "ask", "ask", "answer", "answer twice", "answer what nobody asked",
    "come back", *LOSSES,
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 12)), max_size=25), st.integers(1, 3))
@example([("ask", 9), ("answer", 9), ("ask", 9), ("answer", 9)], 1)
@example([("ask", 9), ("answer", 9), ("ask", 9), ("be replaced unnoticed", 9), ("answer", 9)], 3)
@example([("ask", 9), ("die", 0), ("come back", 9), ("answer", 9)], 3)
@example([("ask", 9), ("stay away", 0), ("ask", 1), ("ask", 2), ("ask", 9), ("come back", 9)], 3)
def test_every_step_has_one_result_whatever_the_network_does(events: list[tuple[str, int]], batch: int) -> None:
    network = asyncio.run(after(events, batch))
    asked = {f"d{number}" for number, (event, _) in enumerate(events) if event == "ask"}

    assert dict.fromkeys(asked, 1) == dict(network.delivered), "delivered once, and only what was asked"
    assert [] == network.repeated, "what was acknowledged does not come again"
    assert network.requested.total() == len(asked) + network.lost.total() + network.lacked
    happened = Counter(event for event, _ in events)
    assert max(network.lost.values(), default=0) <= sum(happened[one] for one in LOSSES), "each loss is told once"
    assert network.lacked == 0 or happened["be replaced unnoticed"], "texts are sent again after a loss"
    assert 0 == network.client.outstanding(None)
