"""A failure that may be its provider's alone decides no step before the model has answered another call, made later."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from jury_actors import (
    Backoff,
    Halted,
    Juror,
    ProviderHalts,
    StepResult,
    Unsettled,
)
from jury_debate import Answered, Unanswered
from jury_events import CallOutcome, calls_stream, decode
from jury_providers import ModelReply, ModelRequest, OnChunk, Provider, SimulatedProvider
from support.each_row import each_row
from support.jurors import Asking, BlockableClerk, results_of
from support.waiting import until

O = CallOutcome  # noqa: E741

HOST = "models.example"
DOWN = ModelReply(O.CONNECTION, error="refused", host=HOST)
REFUSED = ModelReply(O.BAD_REQUEST, error="HTTP 400: no", host=HOST, status=400, understood=False)
TOO_LONG = ModelReply(O.CONTEXT_TOO_LONG, error="HTTP 400: long", host=HOST, status=400)
MODEL = "simulated/juror"
SETTINGS = {"seats": [{"model": MODEL, "juror_id": one} for one in ("gpt", "claude", "gemini")]}


class Endpoint(Provider):
    """A model at a host: its replies by seat, then usable ones; a seat without its gate open waits."""

    def __init__(self, host: str = HOST, **replies: list[ModelReply]) -> None:
        self.host = host
        self.replies = replies
        self.asked: list[str] = []
        self.gates = {seat: asyncio.Event() for seat in ("gpt", "claude", "gemini")}
        self._reader = SimulatedProvider()

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        seat = request.trace.split("/")[2]
        self.asked.append(seat)
        await self.gates[seat].wait()
        if self.replies.get(seat):
            return self.replies[seat].pop(0)
        answered = await self._reader.call(request, on_chunk)
        return answered._replace(simulated=False, host=self.host)


class Asked:
    """A juror before an endpoint; `ended` has the results of steps, by seat."""

    def __init__(self, endpoint: Endpoint, clerk: BlockableClerk | None = None, *, shared: bool = True) -> None:
        self.endpoint = endpoint
        self.clerk = clerk or BlockableClerk()
        halts = ProviderHalts(patience=0.0) if shared else None
        self.juror = Juror(lambda _: endpoint, self.clerk, backoff=Backoff(base=0.0, cap=0.0), halts=halts)
        self.asking = Asking(**SETTINGS)
        self.wanted = 0

    async def ask(self, *seats: str, opened: bool = True) -> None:
        for seat in seats:
            await self.juror.submit([self.asking.ask(seat)])
            self.wanted += 1
            await until(lambda seat=seat: seat in self.endpoint.asked)
            if opened:
                self.endpoint.gates[seat].set()

    async def results(self) -> dict[str, StepResult]:
        async with asyncio.timeout(120):
            found = await results_of(self.juror, self.wanted)
        return {one.step_id.removeprefix("initial/"): one for one in found}

    async def failed(self, seat: str, calls: int = 1) -> None:
        """Wait until so many calls of a seat are on record."""
        await until(lambda: sum(one.juror_id == seat for one in self.clerk.exchanges()) >= calls)


@asynccontextmanager
async def asked(
    endpoint: Endpoint, clerk: BlockableClerk | None = None, *, shared: bool = True
) -> AsyncIterator[Asked]:
    one = Asked(endpoint, clerk, shared=shared)
    yield one
    await one.juror.close()


async def test_an_answer_to_a_call_that_was_made_before_the_failure_proves_nothing() -> None:
    async with asked(Endpoint(gpt=[REFUSED])) as one:
        await one.ask("claude", opened=False)
        await one.ask("gpt")
        await one.failed("gpt")
        one.endpoint.gates["claude"].set()
        found = await one.results()

    assert isinstance(found["claude"].outcome, Answered)
    assert isinstance(found["gpt"].problem, Unsettled)
    assert "HTTP 400: no" in str(found["gpt"].problem)


@each_row(
    ("replies", "asked_for", "ends"),
    [
        ([REFUSED], ["gpt", "claude"], Unanswered),
        ([DOWN], ["gpt", "claude", "gpt"], Answered),
        ([DOWN, DOWN], ["gpt", "claude", "gpt"], Unsettled),
        ([TOO_LONG], ["gpt", "claude"], Unanswered),
    ],
    ids=["refused", "passing", "again", "understood"],
)
async def test_after_an_answer_to_a_later_call_a_refusal_stands_and_what_may_pass_is_asked_again(
    replies: list[ModelReply], asked_for: list[str], ends: type
) -> None:
    async with asked(Endpoint(gpt=list(replies))) as one:
        one.asking = Asking(**SETTINGS, settings={"tries": 1})
        await one.ask("gemini", opened=False)  # so that one is under way
        await one.ask("gpt")
        await one.failed("gpt")
        await one.ask("claude")
        await one.failed("claude")
        one.endpoint.gates["gemini"].set()
        found = await one.results()

    assert asked_for == [seat for seat in one.endpoint.asked if seat != "gemini"]
    assert ends is type(found["gpt"].outcome or found["gpt"].problem)


async def test_ten_calls_without_one_answer_stop_the_run() -> None:
    async with asked(Endpoint(**{seat: [DOWN] * 4 for seat in ("gpt", "claude", "gemini")})) as one:
        await one.ask("gpt", "claude", "gemini", opened=False)
        for gate in one.endpoint.gates.values():
            gate.set()
        found = await one.results()

    assert {Halted} == {type(result.problem) for result in found.values()}
    assert 10 <= len(one.endpoint.asked) <= 12
    assert "answered none of 10 calls, the last: refused" in str(found["gpt"].problem)


@each_row(
    ("order", "host", "calls"),
    [("gpt claude", HOST, 0), ("gpt claude", "elsewhere.example", 1), ("claude gpt", HOST, 1)],
    ids=["later", "of another host", "before"],
)
async def test_a_refusal_of_an_earlier_process_stands_if_the_log_has_an_answer_to_a_later_call(
    order: str, host: str, calls: int
) -> None:
    clerk = BlockableClerk()
    asking = Asking(**SETTINGS)
    for seat in order.split():
        async with asked(Endpoint(gpt=[REFUSED], host=host if seat == "claude" else HOST), clerk) as earlier:
            await earlier.ask(seat)
            await earlier.results()
    prior = [one for one in clerk.store.read_stream(calls_stream("d1")) if decode(one).juror_id == "gpt"]
    async with asked(Endpoint(gpt=[REFUSED]), clerk) as one:
        one.endpoint.gates["gpt"].set()
        await one.juror.submit([asking.ask("gpt", prior=prior, stored=clerk.store)])
        one.wanted = 1
        (result,) = (await one.results()).values()

    assert calls == len(one.endpoint.asked)
    assert (Unanswered if calls == 0 else Unsettled) is type(result.outcome or result.problem)


async def test_jurors_of_several_processes_learn_of_each_other_from_the_log() -> None:
    """As on a cluster, where each seat has a process of its own."""
    clerk = BlockableClerk()
    refusing, answering = Endpoint(gpt=[REFUSED]), Endpoint()
    async with asked(refusing, clerk, shared=False) as one, asked(answering, clerk, shared=False) as other:
        await one.ask("gemini", opened=False)
        await one.ask("gpt")
        await one.failed("gpt")
        await other.ask("claude")
        await other.results()
        refusing.gates["gemini"].set()
        found = await one.results()

    assert isinstance(found["gpt"].outcome, Unanswered)

    clerk = BlockableClerk()
    down = [Endpoint(**{seat: [DOWN] * 4}) for seat in ("gpt", "claude", "gemini")]
    jurors = [Asked(endpoint, clerk, shared=False) for endpoint in down]
    for juror, seat in zip(jurors, ("gpt", "claude", "gemini"), strict=True):
        await juror.ask(seat)
    ends = [await juror.results() for juror in jurors]
    for juror in jurors:
        await juror.juror.close()

    assert {Halted} == {type(result.problem) for found in ends for result in found.values()}
    assert 12 == sum(len(endpoint.asked) for endpoint in down)


async def test_one_that_is_forbidden_is_no_refused_key_where_the_log_has_an_answer() -> None:
    clerk = BlockableClerk()
    async with asked(Endpoint(), clerk) as earlier:
        await earlier.ask("claude")
        await earlier.results()
    said = {}
    for log in (clerk, BlockableClerk()):
        async with asked(Endpoint(gpt=[FORBIDDEN._replace(host=HOST)]), log) as one:
            await one.ask("gpt")
            said[log is clerk] = (await one.results())["gpt"]

    assert (Unsettled, Halted) == (type(said[True].problem), type(said[False].problem))


LIMITED = ModelReply(O.RATE_LIMITED, error="HTTP 429: slow", status=429)
FORBIDDEN = ModelReply(O.AUTHENTICATION, error="HTTP 403: no", status=403, understood=False)
GOOD = ModelReply(O.ANSWERED, answer=b"{}")
MINUTES = 60 * 1_000_000


def test_what_is_not_understood_is_taken_for_what_loses_nothing() -> None:
    halts = ProviderHalts()
    said: list[CallOutcome] = []

    def read(reply: ModelReply, length: int = 100, debate: str = "d1", now: int = 0, *, answered: bool = True) -> None:
        halts.calls_of(MODEL).answered = answered
        read = halts.taken_for(reply, MODEL, length=length, debate_id=debate, now=now)
        assert read.understood == (read.outcome == reply.outcome and reply.understood)
        said.append(read.outcome)

    refusals: list[tuple[Callable[[], None], CallOutcome]] = [
        (lambda: read(REFUSED, 500), O.BAD_REQUEST),  # nothing was answered yet
        (lambda: read(GOOD, 100), O.ANSWERED),
        (lambda: read(REFUSED, 199), O.BAD_REQUEST),
        (lambda: read(REFUSED, 200), O.CONTEXT_TOO_LONG),
        (lambda: read(REFUSED, 200), O.BAD_REQUEST),  # its half
        (lambda: read(REFUSED, 200, "d2"), O.CONTEXT_TOO_LONG),
        (lambda: read(REFUSED._replace(understood=True), 900, "d3"), O.BAD_REQUEST),
        (lambda: read(FORBIDDEN, answered=False), O.AUTHENTICATION),
        (lambda: read(FORBIDDEN), O.BLOCKED),
        (lambda: read(FORBIDDEN._replace(understood=True)), O.AUTHENTICATION),
        (lambda: read(LIMITED, now=MINUTES), O.RATE_LIMITED),
        (lambda: read(LIMITED, now=16 * MINUTES - 1), O.RATE_LIMITED),
        (lambda: read(LIMITED, now=16 * MINUTES), O.QUOTA),
        (lambda: read(GOOD, now=17 * MINUTES), O.ANSWERED),
        (lambda: read(LIMITED, now=40 * MINUTES), O.RATE_LIMITED),
    ]
    for call, _ in refusals:
        call()

    assert [outcome for _, outcome in refusals] == said
