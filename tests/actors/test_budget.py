"""The budget: reserved before a call, settled after it, never exceeded."""

import asyncio
from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors import (
    Acquire,
    Admission,
    AdmissionClient,
    AdmissionService,
    BudgetRule,
    BudgetService,
    Halted,
    ModelClasses,
    RunBudget,
    Settlement,
    Spent,
)
from jury_events import BudgetBounds, CallOutcome, CallSettings, Usage, dollars
from jury_providers import ModelMessage, ModelReply, ModelRequest, Price, Prices
from jury_store import StoreFailed
from support.each_row import each_row
from support.permit_requests import Counter, a_permit_request


def a_budget(calls: int | None = None, cost: float | None = None, spent: Spent = Spent()) -> Counter:
    return Counter(BudgetRule(RunBudget(BudgetBounds(max_calls=calls, max_cost=cost), spent)))


def spent(it: Counter) -> Spent:
    assert isinstance(it.rule, BudgetRule)
    return it.rule.spent


def test_so_many_calls_and_no_more_may_be_made_however_many_ask_at_once():
    it = a_budget(calls=5)
    it.wants(20, a_permit_request())

    assert [1, 2, 3, 4, 5] == it.began
    assert 15 == len(it.halted)
    assert "the budget of 5 calls is used up; call again with a higher --max-calls" == it.halted[0]


@given(
    st.lists(st.tuples(st.sampled_from(["asks", "asks", "costs", "is not made"]), st.integers(0, 30))),
    st.none() | st.integers(0, 8),
    st.integers(0, 30),
)
def test_what_was_spent_and_is_reserved_never_exceeds_the_budget_and_all_of_it_can_be_used(
    events: list[tuple[str, int]], calls: int | None, cents: int
) -> None:
    it = a_budget(calls=calls, cost=cents / 10, spent=Spent(calls=1, cost=0.0))
    running: dict[int, float] = {}
    made, cost = 1, 0.0
    for event, tenths in events:
        began = len(it.began)
        if event == "asks":
            number = it.want(a_permit_request(cost=tenths / 10))
            running |= {number: tenths / 10} if number in it.began[began:] else {}
        elif running:
            number, most = running.popitem()
            paid = min(most, tenths / 10)
            it.back(number, None if event == "is not made" else CallOutcome.ANSWERED, cost=paid)
            made, cost = (made, cost) if event == "is not made" else (made + 1, cost + paid)

        assert calls is None or made + len(running) <= max(calls, 1)
        assert cost + sum(running.values()) <= cents / 10 + 1e-9
        assert (made, pytest.approx(cost)) == (spent(it).calls, spent(it).cost)
    it.wants(2, a_permit_request(cost=100.0))
    assert it.halted or running, "a call that can never be paid for is told so"


def test_a_call_waits_while_calls_in_flight_may_leave_enough():
    it = a_budget(cost=1.0)
    first, second = it.wants(2, a_permit_request(cost=0.6))
    waited = list(it.began)
    it.back(first, cost=0.1)

    assert [first] == waited
    assert ([first, second], []) == (it.began, it.halted)


def test_a_call_is_halted_when_nothing_in_flight_can_leave_enough():
    it = a_budget(cost=1.0)
    first, _ = it.wants(2, a_permit_request(cost=0.6))
    it.back(first, cost=0.5)

    (said,) = it.halted
    assert said.startswith("the budget of $1.00 is used up: $0.5000 spent, and the next call may cost up to $0.6000;")
    assert said.endswith("call again with a higher --max-cost")


def test_a_call_of_unknown_cost_counts_with_its_highest_cost():
    it = a_budget(cost=1.0)
    it.back(it.want(a_permit_request(cost=0.4)), CallOutcome.TIMEOUT)

    assert Spent(1, 0.4) == spent(it)


def test_calls_of_a_juror_that_died_count_as_made():
    it = a_budget(calls=3)
    it.wants(2, a_permit_request(cost=0.1), client="dead")
    it.lose("dead")
    it.wants(2, a_permit_request(), client="alive")

    assert (3, 1) == (len(it.began), len(it.halted))
    assert Spent(2, 0.2) == spent(it)


def test_a_call_that_was_counted_when_its_juror_was_taken_for_dead_is_not_counted_again():
    it = a_budget(calls=2)
    it.want(a_permit_request())
    it.lose("c")
    it.want(a_permit_request(), granted=True)
    it.want(a_permit_request())

    assert [1, 3] == it.began


def test_a_successor_halts_every_call():
    it = Counter(BudgetRule(RunBudget(BudgetBounds(max_calls=100)), lost=True))
    it.want(a_permit_request())

    assert (1, []) == (len(it.halted), it.began)
    assert "the same command goes on with the same bound" in it.halted[0]


@each_row(("amount", "text"), [(0.0, "$0.00"), (0.0123, "$0.0123"), (5.0, "$5.00"), (1234.5, "$1,234.50")])
def test_dollars_are_written_as_people_write_them(amount: float, text: str):
    assert text == dollars(amount)


ON = date(2026, 11, 28)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
BYTES_OF_SHORT_TOKENS = 2
"""Bytes of UTF-8 of the shortest tokens that prose or JSON have on average."""


@each_row("text", ["ab " * 40_000, "東京" * 20_000, '{"a":1}' * 20_000], ids=["prose", "japanese", "json"])
async def test_a_permit_reserves_what_the_longest_answer_to_the_whole_prompt_costs(text: str) -> None:
    rule = BudgetRule(RunBudget(BudgetBounds(max_cost=1000.0)))
    client = AdmissionClient(AdmissionService(rule, "b"), "c")
    admission = Admission("r", ModelClasses({}, {}), PRICES, budget=client)
    settings = CallSettings(max_output_tokens=4096)
    messages = (ModelMessage("user", text),)
    request = ModelRequest(model="gpt-4o", messages=messages, tools=(), schema={}, settings=settings, trace="t")
    async with admission.admit("openai/gpt-4o", request, limited=False, on=ON):
        reserved = rule.at_most.cost
    await admission.close()
    used = Usage(input_tokens=len(text.encode()) // BYTES_OF_SHORT_TOKENS, output_tokens=4096)
    dearest = PRICES.cost("openai/gpt-4o", used, ON)

    assert dearest is not None
    assert dearest <= reserved <= 1.1 * dearest


async def test_after_an_answer_beyond_its_limit_calls_of_its_model_reserve_as_much_more() -> None:
    rule = BudgetRule(RunBudget(BudgetBounds(max_cost=1000.0)))
    admission = Admission("r", ModelClasses({}, {}), PRICES, budget=AdmissionClient(AdmissionService(rule, "b"), "c"))
    settings = CallSettings(max_output_tokens=1_000)
    messages = (ModelMessage("user", "x"),)
    request = ModelRequest(model="grok-4", messages=messages, tools=(), schema={}, settings=settings, trace="t")
    thought = ModelReply(CallOutcome.ANSWERED, usage=Usage(input_tokens=1, output_tokens=5_000))

    async def reserved(model: str, reply: ModelReply) -> float:
        spent = rule.at_most.cost
        async with admission.admit(model, request, limited=False, on=ON) as admitted:
            most = rule.at_most.cost - spent
            admitted.depart()
            admitted.settle(reply, PRICES.cost(model, reply.usage, ON))
        return most

    first = await reserved("openai/grok-4", thought)
    second = await reserved("openai/grok-4", thought)
    other = await reserved("openai/gpt-4o", thought)
    await admission.close()
    cost = PRICES.cost("openai/grok-4", thought.usage, ON)

    assert cost is not None
    assert first < cost <= second
    assert other == pytest.approx(first)


async def test_until_an_answer_shows_how_long_they_are_one_call_of_a_model_is_made_at_a_time() -> None:
    budget = AdmissionClient(AdmissionService(BudgetRule(RunBudget(BudgetBounds(max_cost=1000.0))), "b"), "c")
    admission = Admission("r", ModelClasses({}, {}), PRICES, budget=budget)
    settings, messages = CallSettings(max_output_tokens=1_000), (ModelMessage("user", "x"),)
    request = ModelRequest(model="m", messages=messages, tools=(), schema={}, settings=settings, trace="t")
    refused, answered = (
        ModelReply(CallOutcome.OVERLOADED),
        ModelReply(CallOutcome.ANSWERED, usage=Usage(input_tokens=1, output_tokens=9)),
    )
    inside: list[str] = []
    most: list[int] = []
    both = asyncio.Barrier(2)

    async def call(name: str, reply: ModelReply, *, keeps_limit: bool = False) -> None:
        async with admission.admit("p/m", request, limited=False, on=ON, keeps_limit=keeps_limit) as admitted:
            inside.append(name)
            most.append(len(inside))
            if reply is answered and name != "first":
                await both.wait()
            admitted.depart()
            admitted.settle(reply, 0.0)
            inside.remove(name)

    calls = [asyncio.create_task(call(*one)) for one in (("refused", refused), ("first", answered))]
    calls += [asyncio.create_task(call(name, answered)) for name in ("second", "third")]
    await asyncio.gather(*calls)
    await admission.close()

    assert [1, 1, 1, 2] == most


MOST = 0.25
"""Dollars that a call can cost."""


class Ledger:
    """A server that charges, and the durable part of a run: the lease, and what was recorded."""

    def __init__(self, max_calls: int | None, max_cost: float | None) -> None:
        self.bounds = max_calls, max_cost
        self.charged = self.recorded = self.lease = Spent()
        self.writes = 0

    def budget(self) -> RunBudget:
        """As `jury_judge.runs.run_budget.budget` makes it."""
        spent = self.recorded
        if self.lease.calls > spent.calls:
            spent = Spent(self.lease.calls, max(self.lease.cost, spent.cost))
        return RunBudget(BudgetBounds(max_calls=self.bounds[0], max_cost=self.bounds[1]), spent, "r")

    def charge(self, cost: float) -> None:
        self.charged = Spent(self.charged.calls + 1, self.charged.cost + cost)

    def record(self, cost: float) -> None:
        self.recorded = Spent(self.recorded.calls + 1, self.recorded.cost + cost)

    def broken(self) -> str | None:
        calls, cost = self.bounds
        if calls is not None and self.charged.calls > calls:
            return f"{self.charged.calls} calls of {calls}"
        if cost is not None and self.charged.cost > cost + 1e-6:
            return f"{self.charged.cost} dollars of {cost}"
        return None


class Session:
    """A process that is killed when `steps` ends: a moment passes before and after all that is durable or charged."""

    def __init__(self, ledger: Ledger, steps: Iterator[int]) -> None:
        self.ledger = ledger
        self.killed = asyncio.Event()
        self._steps = steps
        self.service = BudgetService(BudgetRule(ledger.budget()), "b", self._store)
        self.clients = [AdmissionClient(self.service, name) for name in "cd"]

    async def moment(self) -> None:
        if self.killed.is_set() or next(self._steps, None) is None:
            self.killed.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)

    async def _store(self, lease: Spent) -> None:
        await self.moment()
        self.ledger.lease = lease
        self.ledger.writes += 1
        await self.moment()

    async def call(self, number: int, cost: float) -> None:
        async with self.clients[number % 2].permit(a_permit_request(cost=MOST)) as permit:
            await self.moment()
            permit.settlement = Settlement(CallOutcome.CONNECTION)
            self.ledger.charge(cost)
            await self.moment()
            permit.settlement = Settlement(CallOutcome.ANSWERED, cost=cost)
        await self.moment()
        self.ledger.record(cost)

    async def calls(self, costs: list[float], lane: int, lanes: int) -> None:
        for number in range(lane, len(costs), lanes):
            try:
                await self.call(number, costs[number])
            except Halted:
                return


async def until_killed(ledger: Ledger, steps: Iterator[int], costs: list[float], at_once: int) -> bool:
    """A session of many calls; whether it came to its end before it was killed."""
    session = Session(ledger, steps)
    killed, service, clients = session.killed, session.service, session.clients
    lanes = asyncio.gather(*(session.calls(costs, lane, at_once) for lane in range(at_once)))
    ending = asyncio.create_task(killed.wait())
    await asyncio.wait([lanes, ending], return_when=asyncio.FIRST_COMPLETED)
    if whole := not killed.is_set():
        for client in clients:
            await client.close()
        closing = asyncio.create_task(service.close_lease())
        await asyncio.wait([closing, ending], return_when=asyncio.FIRST_COMPLETED)
        whole = not killed.is_set()
        closing.cancel()
    lanes.cancel()
    ending.cancel()
    await asyncio.gather(lanes, ending, return_exceptions=True)
    for client in clients:
        await client.close()
    service.close()
    return whole


@given(
    kills=st.lists(st.integers(0, 40), max_size=6),
    costs=st.lists(st.floats(0.0, MOST), min_size=1, max_size=30),
    at_once=st.integers(1, 9),
    bounds=st.tuples(st.none() | st.integers(0, 20), st.none() | st.floats(0.0, 3.0)),
)
def test_a_server_never_charges_more_than_the_bounds(
    kills: list[int], costs: list[float], at_once: int, bounds: tuple[int | None, float | None]
) -> None:
    ledger = Ledger(*bounds)
    for steps in kills:
        asyncio.run(until_killed(ledger, iter(range(steps)), costs, at_once))
    whole = asyncio.run(until_killed(ledger, iter(range(10_000)), costs, at_once))

    assert whole
    assert ledger.broken() is None
    assert ledger.lease.calls >= ledger.charged.calls
    assert ledger.lease.cost >= ledger.charged.cost - 1e-6


async def test_a_session_that_ends_leaves_nothing_unrecorded() -> None:
    ledger = Ledger(None, 100.0)
    await until_killed(ledger, iter(range(10_000)), [0.01] * 40, at_once=8)

    assert Spent(40, pytest.approx(0.4)) == ledger.recorded == ledger.lease


async def test_a_lease_is_not_stored_before_every_call() -> None:
    ledger = Ledger(None, 1000.0)
    await until_killed(ledger, iter(range(100_000)), [MOST] * 400, at_once=40)

    assert ledger.recorded.calls == 400
    assert ledger.writes < 400 / 2


async def test_a_lease_that_cannot_be_stored_halts_the_calls_and_says_why() -> None:
    async def store(_lease: Spent) -> None:
        raise StoreFailed("the disk is full")

    client = AdmissionClient(BudgetService(BudgetRule(RunBudget(BudgetBounds(max_calls=5), run="r")), "b", store), "c")

    with pytest.raises(Halted, match="the disk is full; the same command goes on with the same bound"):
        async with client.permit(a_permit_request()):
            pass
    await client.close()


def test_calls_are_granted_only_within_the_lease_that_is_stored() -> None:
    rule = BudgetRule(RunBudget(BudgetBounds(max_cost=100.0), run="r"))
    for number in range(8):
        rule.acquire("c", Acquire(number, a_permit_request(cost=1.0)), 0.0)
    before = rule.decide(0.0)
    lease = rule.next_lease()
    assert lease is not None
    rule.lease_begins(lease)
    meanwhile = rule.decide(0.0)
    rule.lease_stored(lease)

    assert ([], []) == (before, meanwhile)
    assert Spent(10, 10.0) == lease
    assert len(rule.decide(0.0)) == 8
