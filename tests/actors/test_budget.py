"""The budget: reserved before a call, settled after it, never exceeded."""

import asyncio
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors import Admission, AdmissionClient, AdmissionService, BudgetRule, ModelClasses, RunBudget, Spent
from jury_events import BudgetBounds, CallOutcome, CallSettings, Usage, dollars
from jury_providers import ModelMessage, ModelReply, ModelRequest, Price, Prices
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
