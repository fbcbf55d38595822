"""A juror's calls wait for permits, and settle them afterwards."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date
from itertools import count
from types import SimpleNamespace

import pytest

from jury_actors import (
    Acquire,
    Admission,
    AdmissionClient,
    AdmissionService,
    Backoff,
    Broken,
    BudgetRule,
    Delivery,
    Effects,
    Grant,
    Halted,
    IncarnationLost,
    Juror,
    Limiter,
    ModelClasses,
    Release,
    RunBudget,
    Settlement,
)
from jury_debate import Answered
from jury_events import BudgetBounds, CallOutcome, Usage
from jury_providers import Endpoint, Limits, ModelReply, Price, Prices
from support.canned_server import canned_server
from support.dialects import CHAT, a_request
from support.each_row import each_row
from support.jurors import Asking, BlockableClerk, ScriptedProvider, results_of
from support.permit_requests import MODEL, a_permit_request
from support.waiting import until

PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
REFUSED = ModelReply(CallOutcome.AUTHENTICATION, error="invalid key")
ANSWERED = Usage(input_tokens=1000, output_tokens=100)


class AdmissionHarness:
    """A juror with seats at openai/gpt-4o, with a limiter and an optional budget."""

    def __init__(
        self, *turns: object, limits: Limits = Limits(), budget: RunBudget = RunBudget(), most: int | None = 64
    ):
        self.provider = ScriptedProvider(*turns, most=most)
        self.provider.simulated = False
        self.clerk = BlockableClerk()
        self.limiter = Limiter(backoff=Backoff(base=0.0, cap=0.0))
        endpoints = {"openai": Endpoint(limits={"gpt-*": limits})}
        self.classes = ModelClasses(endpoints, {"OPENAI_API_KEY": "sk-1"})
        counted = AdmissionClient(AdmissionService(BudgetRule(budget), "b"), "c") if budget.bounds.bounded else None
        admission = Admission(
            "r", self.classes, PRICES, limiter=AdmissionClient(AdmissionService(self.limiter, "l"), "c"), budget=counted
        )
        ticks = count(1)
        self.juror = Juror(
            lambda _name: self.provider,
            self.clerk,
            admission=admission,
            prices=PRICES,
            backoff=Backoff(base=0.0, cap=0.0),
            effects=Effects(clock=lambda: next(ticks) + 1_795_000_000_000_000),
        )

    def ask(self, *jurors: str, **settings: object):
        seats = [{"model": "openai/gpt-4o", "juror_id": juror, "settings": settings} for juror in jurors]
        asking = Asking(seats=seats)
        return [asking.ask(juror) for juror in jurors]

    async def results_of(self, *jurors: str, **settings: object):
        await self.juror.submit(self.ask(*jurors, **settings))
        async with asyncio.timeout(120):
            return await results_of(self.juror, len(jurors))


@pytest.fixture
async def make_harness() -> AsyncIterator[Callable[..., AdmissionHarness]]:
    made: list[AdmissionHarness] = []

    def make(*turns: object, **options: object) -> AdmissionHarness:
        made.append(AdmissionHarness(*turns, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        await one.juror.close()


MakeHarness = Callable[..., AdmissionHarness]
SEATS = ("a", "b", "c", "d", "e")


async def test_concurrent_calls_stay_within_the_limits(make_harness: MakeHarness):
    harness = make_harness(limits=Limits(in_flight=2))
    harness.provider.open.clear()
    await harness.juror.submit(harness.ask(*SEATS))
    await until(lambda: harness.provider.running == 2)
    harness.provider.open.set()
    async with asyncio.timeout(120):
        results = await results_of(harness.juror, 5)

    assert 2 == harness.provider.most_running
    assert all(isinstance(one.outcome, Answered) for one in results)


async def test_a_provider_without_a_bound_waits_for_no_limit(make_harness: MakeHarness):
    harness = make_harness(limits=Limits(in_flight=1), most=None)
    harness.provider.open.clear()
    await harness.juror.submit(harness.ask(*SEATS))
    await until(lambda: harness.provider.running == 5)
    harness.provider.open.set()
    await results_of(harness.juror, 5)

    assert 5 == harness.provider.most_running


async def test_the_wait_for_a_permit_is_no_part_of_the_calls_time(make_harness: MakeHarness, monkeypatch):
    seconds = 0.0
    monkeypatch.setattr("jury_actors.juror.time", SimpleNamespace(perf_counter=lambda: seconds))
    harness = make_harness(limits=Limits(in_flight=1))
    harness.provider.open.clear()
    await harness.juror.submit(harness.ask("a", "b", timeout_seconds=600.0, deadline_seconds=0.000_001, tries=1))
    await until(lambda: harness.provider.running == 1)
    seconds = 0.6
    harness.provider.open.set()
    async with asyncio.timeout(120):
        await results_of(harness.juror, 2)
    first, second = harness.clerk.exchanges()

    assert (600, 0) == (first.latency_ms, second.latency_ms)
    assert 0.0 == second.waited_ms
    assert [CallOutcome.ANSWERED] * 2 == [first.outcome, second.outcome]


async def test_an_overload_slows_every_call_down_and_loses_none(make_harness: MakeHarness):
    harness = make_harness(ModelReply(CallOutcome.RATE_LIMITED), ModelReply(CallOutcome.OVERLOADED))
    results = await harness.results_of(*SEATS)
    model_class, _ = harness.classes.of("openai/gpt-4o")

    assert all(isinstance(one.outcome, Answered) for one in results)
    assert (0, 4) == harness.limiter.in_flight(model_class)


async def test_an_exchange_records_the_cost_of_the_call(make_harness: MakeHarness):
    raw = ModelReply(CallOutcome.ANSWERED, answer=b"no JSON", usage=ANSWERED)
    harness = make_harness(raw, REFUSED)
    await harness.results_of("a")

    assert [0.002, 0.0] == [exchange.cost for exchange in harness.clerk.exchanges()]


async def test_no_call_is_made_beyond_the_budget(make_harness: MakeHarness):
    harness = make_harness(budget=RunBudget(BudgetBounds(max_calls=3)))
    results = await harness.results_of(*SEATS)

    assert 3 == len(harness.provider.requests) == len(harness.clerk.exchanges())
    assert [Halted] * 2 == [type(one.problem) for one in results if one.outcome is None]


@each_row("waiting_for", [{"limits": Limits(requests_per_minute=1)}, {"most": 1}], ids=["a permit", "a connection"])
async def test_a_refused_key_halts_the_calls_that_wait(make_harness: MakeHarness, waiting_for: dict[str, object]):
    harness = make_harness(REFUSED, **waiting_for)
    results = await harness.results_of(*SEATS)

    assert 1 == len(harness.provider.requests)
    assert ["openai"] * 5 == [one.problem.about for one in results if isinstance(one.problem, Halted)]
    assert 1 == len({str(one.problem) for one in results})


async def test_the_server_counts_no_more_calls_a_minute_than_are_granted_however_late_they_leave() -> None:
    now, late, arrivals = 0.0, asyncio.Event(), []
    service = AdmissionService(Limiter(), "l", clock=lambda: now)
    endpoints = {"openai": Endpoint(limits={"*": Limits(requests_per_minute=3)})}
    admission = Admission("r", ModelClasses(endpoints, {}), PRICES, limiter=AdmissionClient(service, "c"))
    async with canned_server(CHAT.canned("x")) as server:
        adapter = CHAT.adapter(server)

        async def call() -> None:
            async with admission.admit("openai/m", a_request(), limited=True, on=date(2026, 11, 22)) as admitted:
                await late.wait()
                admitted.depart()
                arrivals.append(now)
                admitted.settle(await adapter.call(a_request()), None)

        calls = [asyncio.create_task(call()) for _ in range(6)]
        now = 10.0
        late.set()
        await until(lambda: len(server.asked) == 3)
        now = 71.9
        service.clients()
        for _ in range(50):
            await asyncio.sleep(0)
        before = len(server.asked)
        now = 72.0
        service.clients()
        async with asyncio.timeout(120):
            await asyncio.gather(*calls)
        await adapter.close()
        await admission.close()
        service.close()

    assert (3, 6) == (before, len(server.asked))
    assert [10.0] * 3 + [72.0] * 3 == arrivals


def class_of(endpoint: Endpoint, environ: dict[str, str], model: str = "openai/gpt-4o"):
    return ModelClasses({"openai": endpoint}, environ).of(model)[0]


def test_models_of_one_pattern_share_a_class_and_others_have_their_own():
    limits = Endpoint(limits={"gpt-4o*": Limits(in_flight=3)})
    classes = ModelClasses({"openai": limits}, {})

    assert classes.of("openai/gpt-4o") == classes.of("openai/gpt-4o-mini")
    assert classes.of("openai/gpt-5") != classes.of("openai/gpt-6")
    assert Limits(in_flight=3) == classes.of("openai/gpt-4o")[1]


def test_another_key_or_another_address_is_another_class():
    one = class_of(Endpoint(), {"OPENAI_API_KEY": "one"})

    assert one == class_of(Endpoint(), {"OPENAI_API_KEY": "one"})
    assert one != class_of(Endpoint(), {"OPENAI_API_KEY": "two"})
    assert one != class_of(Endpoint(), {"OPENAI_API_KEY": "one", "OPENAI_BASE_URL": "http://127.0.0.1:1"})
    assert "one" not in str(one)


async def test_a_call_without_a_settlement_counts_as_made(make_harness: MakeHarness) -> None:
    harness = make_harness(RuntimeError("the adapter broke"), budget=RunBudget(BudgetBounds(max_calls=1)))
    (broken,) = await harness.results_of("a")
    await harness.juror.submit(harness.ask("b"))
    halted = (await results_of(harness.juror, 2))[-1]

    assert isinstance(broken.problem, Broken)
    assert isinstance(halted.problem, Halted)
    assert 1 == len(harness.provider.requests)


ONE = a_permit_request(limits=Limits(in_flight=1))


class Connection:
    """A connection to a service; a test can replace the service."""

    def __init__(self, service: AdmissionService) -> None:
        self.service = service
        self.lost = asyncio.Event()
        self.submitted: list[Sequence[Acquire | Release]] = []

    def replace(self, service: AdmissionService) -> None:
        self.service = service
        self.lost.set()
        self.lost = asyncio.Event()

    async def submit(self, client: str, messages: Sequence[Acquire | Release]) -> None:
        self.submitted.append(messages)
        await self.service.submit(client, messages)

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Grant]:
        poll = asyncio.ensure_future(self.service.poll(client, incarnation, ack))
        cut = asyncio.ensure_future(self.lost.wait())
        await asyncio.wait([poll, cut], return_when=asyncio.FIRST_COMPLETED)
        cut.cancel()
        if poll.done():
            return poll.result()
        poll.cancel()
        raise IncarnationLost


@pytest.fixture
async def make_client() -> AsyncIterator[Callable[..., AdmissionClient]]:
    made: list[AdmissionClient] = []

    def make(service: Connection, client: str = "c") -> AdmissionClient:
        made.append(AdmissionClient(service, client))
        return made[-1]

    yield make
    for one in made:
        await one.close()


MakeClient = Callable[..., AdmissionClient]


async def use_permit(client: AdmissionClient, began: list[str], name: str, end: asyncio.Event, request=ONE) -> None:
    async with client.permit(request) as permit:
        began.append(name)
        await end.wait()
        permit.settlement = Settlement(CallOutcome.ANSWERED)


async def test_a_request_cancelled_while_waiting_does_not_block_others(make_client: MakeClient):
    client = make_client(Connection(AdmissionService(Limiter(), "1")))
    end, began = asyncio.Event(), []
    first, second, third = (asyncio.create_task(use_permit(client, began, name, end)) for name in "abc")
    await until(lambda: began)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    end.set()
    await asyncio.gather(first, third)

    assert ["a", "c"] == began


async def test_messages_sent_together_arrive_in_few_batches(make_client: MakeClient):
    connection = Connection(AdmissionService(Limiter(), "1"))
    client = make_client(connection)
    end, began = asyncio.Event(), []
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(*(use_permit(client, began, str(n), end, a_permit_request()) for n in range(200)))

    assert 200 == len(began)
    assert len(connection.submitted) < 100


async def test_a_successor_is_sent_running_and_waiting_calls(make_client: MakeClient):
    connection = Connection(AdmissionService(Limiter(), "1"))
    client = make_client(connection)
    end, began = asyncio.Event(), []
    first = asyncio.create_task(use_permit(client, began, "a", end))
    await until(lambda: began)
    waiting = asyncio.create_task(use_permit(client, began, "b", end))
    await until(lambda: len(connection.submitted) == 2)
    rule = Limiter()
    connection.replace(AdmissionService(rule, "2"))
    await until(lambda: len(connection.submitted) == 3)
    one_runs = (rule.in_flight(MODEL)[0], list(began))
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(first, waiting)

    assert (1, ["a"]) == one_runs
    assert [(1, True), (2, False)] == [
        (one.number, one.granted) for one in connection.submitted[2] if isinstance(one, Acquire)
    ]
    assert ["a", "b"] == began


async def test_the_permits_of_a_dead_client_are_released(make_client: MakeClient):
    now = 0.0
    service = AdmissionService(Limiter(), "1", clock=lambda: now, beat=0.01)
    await service.submit("dead", [Acquire(1, ONE), Acquire(2, ONE)])
    client = make_client(Connection(service))
    end, began = asyncio.Event(), []
    waiting = asyncio.create_task(use_permit(client, began, "alive", end))
    for _ in range(20):
        await asyncio.sleep(0)
    before = list(began)
    now = 1000.0
    await until(lambda: service.clients() == 1 and began)
    end.set()
    await waiting

    assert ([], ["alive"]) == (before, began)


async def test_a_client_wrongly_taken_for_dead_is_served(make_client: MakeClient):
    now = 0.0
    service = AdmissionService(Limiter(), "1", clock=lambda: now, beat=0.01)
    connection = Connection(service)
    client = make_client(connection)
    end, began = asyncio.Event(), []
    tasks = [asyncio.create_task(use_permit(client, began, name, end)) for name in "ab"]
    await until(lambda: began)
    now = 1000.0
    service.clients()
    await until(lambda: len(connection.submitted) > 1)
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(*tasks)

    assert ["a", "b"] == began


async def test_requests_that_wait_get_the_error_of_a_service_that_cannot_be_reached(make_client: MakeClient):
    class Broken(Connection):
        async def submit(self, client: str, messages: Sequence[Acquire | Release]) -> None:
            raise RuntimeError("gone for good")

    client = make_client(Broken(AdmissionService(Limiter(), "1")))
    with pytest.raises(RuntimeError, match="gone for good"):
        async with asyncio.timeout(120), client.permit(ONE):
            pass
