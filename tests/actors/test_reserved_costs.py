"""What a call reserves of a budget: never less than it can cost."""

import asyncio
from datetime import date

import pytest

from jury_actors import Admission, AdmissionClient, AdmissionService, BudgetRule, Ceiling, ModelClasses
from jury_events import CallOutcome, CallSettings, RunBudget, Usage
from jury_providers import ModelMessage, ModelReply, ModelRequest, Price, Prices
from support.each_row import each_row

ON = date(2026, 11, 28)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
BYTES_OF_SHORT_TOKENS = 2
"""Bytes of UTF-8 of the shortest tokens that prose or JSON have on average."""


@each_row("text", ["ab " * 40_000, "東京" * 20_000, '{"a":1}' * 20_000], ids=["prose", "japanese", "json"])
async def test_a_permit_reserves_what_the_longest_answer_to_the_whole_prompt_costs(text: str) -> None:
    rule = BudgetRule(Ceiling(RunBudget(max_cost=1000.0)))
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
    rule = BudgetRule(Ceiling(RunBudget(max_cost=1000.0)))
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
    budget = AdmissionClient(AdmissionService(BudgetRule(Ceiling(RunBudget(max_cost=1000.0))), "b"), "c")
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
