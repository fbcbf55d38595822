"""Calls that failed: those that a provider refused before a model ran cost nothing; of others the cost is not known."""

from datetime import date

from jury_events import CallOutcome, Usage
from jury_providers import ModelReply, Price, Prices, cost_of
from support.each_row import each_row

ON = date(2026, 11, 28)
PRICES = Prices((Price(models=("openai/gpt-x",), input=2.0, output=10.0),))
USED = Usage(input_tokens=1_000_000, output_tokens=100_000)
COUNTED = 3.0
"""US dollars: what such a usage costs."""

REFUSED = {"rate_limited", "overloaded", "authentication", "quota", "bad_request", "context_too_long"}


@each_row("outcome", CallOutcome)
def test_what_a_call_costs_follows_from_how_it_ended(outcome: CallOutcome) -> None:
    counted, uncounted = (ModelReply(outcome, usage=usage) for usage in (USED, Usage()))
    refused = outcome.value in REFUSED

    assert (0.0 if refused else COUNTED) == cost_of("openai/gpt-x", counted, PRICES, ON, simulated=False)
    assert (0.0 if refused else None) == cost_of("openai/gpt-x", uncounted, PRICES, ON, simulated=False)
