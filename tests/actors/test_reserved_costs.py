"""What a call reserves of a budget: never less than it can cost."""

from datetime import date

import pytest

from jury_actors import Admission, AdmissionClient, AdmissionService, BudgetRule, Ceiling, ModelClasses
from jury_events import CallSettings, Usage
from jury_providers import ModelMessage, ModelRequest, Price, Prices

ON = date(2026, 11, 28)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
BYTES_OF_SHORT_TOKENS = 2
"""Bytes of UTF-8 of the shortest tokens that prose or JSON have on average."""


@pytest.mark.parametrize(
    "text", ["ab " * 40_000, "東京" * 20_000, '{"a":1}' * 20_000], ids=["prose", "japanese", "json"]
)
async def test_a_permit_reserves_what_the_longest_answer_to_the_whole_prompt_costs(text: str) -> None:
    rule = BudgetRule(Ceiling(max_cost=1000.0))
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
