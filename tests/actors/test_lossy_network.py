"""A client and its jurors over a simulated network: each step has one result, whatever is lost or replaced."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from functools import cache
from typing import TypeVar

from hypothesis import example, given
from hypothesis import strategies as st

from jury_actors import (
    PROBE,
    Backoff,
    Delivery,
    ForgetDebate,
    IncarnationLost,
    JurorClient,
    Outbox,
    StepRequest,
    StepResult,
)
from support.jurors import Asking

T = TypeVar("T")
TEXTS = ("the case", "the instruction")
LACKS_TEXTS = ValueError("a text was not sent")


@cache
def a_request() -> StepRequest:
    return Asking().ask()


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
