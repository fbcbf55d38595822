"""Estimates: how many rounds the rules allow, and what follows from it."""

from datetime import date

import pytest

from jury_judge import estimate
from jury_judge.runs.estimate import RunEstimate, rounds_of
from jury_providers import Endpoint, Limits, Prices, load_prices
from jury_providers.price import Price
from support.debate_harness import DebateHarness, Says, a_case, a_panel, by_round
from support.runtime_harness import a_case_with_records, a_resolved

TODAY = date(2026, 11, 21)
SEATS = [{"model": "openai/gpt-x", "juror_id": name} for name in ("gpt", "claude", "gemini")]
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))

RULES = (
    {},
    {"preset": "adk-sequential"},
    {"preset": "independent"},
    {"discussion": {"threshold": 0.67}},
    {"discussion": {"max_rounds": 0}},
    {"discussion": {"end_early": False}},
    {"discussion": {"unanimity_ends": False}},
    {"discussion": {"unanimity_ends": False, "stagnation_rounds": 2, "max_rounds": 5}},
    {"discussion": {"history": "latest", "order": "sequential"}},
)


def an_estimate(*, debates: int = 1, case=None, endpoints=None, prices: Prices = PRICES, **spec) -> RunEstimate:
    resolved = a_resolved(seats=SEATS, final={"method": "majority_vote"}, **spec)
    return estimate(resolved, [case or a_case()], debates=debates, prices=prices, endpoints=endpoints or {}, on=TODAY)


@pytest.mark.parametrize("spec", RULES, ids=str)
@pytest.mark.parametrize(
    "verdicts",
    [("safe_pass",) * 3, ("safe_pass", "safe_pass", "unsafe_fail"), ("safe_pass", "needs_review", "unsafe_fail")],
)
def test_every_debate_has_the_estimated_number_of_rounds(spec, verdicts):
    panel = a_panel(**spec)
    table = {juror: [Says(verdict)] for juror, verdict in zip(("gpt", "claude", "gemini"), verdicts, strict=True)}
    rounds = DebateHarness(panel, by_round(table)).run().debate.state.round
    least, most = rounds_of(panel)

    assert least <= rounds <= most


@pytest.mark.parametrize("spec", RULES, ids=str)
def test_the_estimated_minimum_of_rounds_is_reached(spec):
    panel = a_panel(**spec)
    table = {juror: [Says("safe_pass")] for juror in ("gpt", "claude", "gemini")}

    assert rounds_of(panel)[0] == DebateHarness(panel, by_round(table)).run().debate.state.round


def test_what_debates_take_grows_with_their_number():
    one, ten = an_estimate(), an_estimate(debates=10)

    assert tuple(10 * amount for amount in one.calls) == ten.calls
    assert tuple(10 * amount for amount in one.disk_bytes) == pytest.approx(tuple(ten.disk_bytes))


def test_the_cost_follows_from_tokens_and_prices():
    found = an_estimate()
    (model,) = found.models
    assert found.cost is not None

    assert found.cost.most == pytest.approx((model.input_tokens.most + 10 * model.output_tokens.most) / 1e6)
    assert found.cost.least < found.cost.likely < found.cost.most


def test_without_a_price_the_cost_is_unknown():
    found = an_estimate(prices=Prices())

    assert found.cost is None
    assert [None] == [one.cost for one in found.models]


def test_tools_take_more_calls_at_most():
    plain, tools = an_estimate(), an_estimate(case=a_case_with_records())

    assert plain.calls.least == tools.calls.least
    assert 5 * plain.calls.most == tools.calls.most


def test_a_larger_case_takes_more():
    small, large = an_estimate(), an_estimate(case=a_case(scenarios=20))

    assert large.models[0].input_tokens.least > small.models[0].input_tokens.least
    assert large.disk_bytes.likely > small.disk_bytes.likely


def test_the_slowest_limit_decides_the_duration():
    limits = Limits(requests_per_minute=10, tokens_per_minute=10**9)
    found = an_estimate(debates=100, endpoints={"openai": Endpoint(limits={"gpt-*": limits})})

    assert found.minutes == found.calls.likely / 10
    assert an_estimate().minutes is None


def test_an_estimate_without_debates_is_zero():
    found = estimate(a_resolved(), [], debates=0, prices=PRICES, endpoints={}, on=TODAY)

    assert (0.0, 0.0, 0.0) == found.calls == found.disk_bytes


LISTED = load_prices()
SOL = [{"model": "openai/gpt-6-sol", "juror_id": name} for name in ("gpt", "claude", "gemini")]
LONG = a_case(artifact_summary="All orders were refunded. " * 2000)


def likely_cost(prompts: int = 2, **settings) -> float:
    resolved = a_resolved(
        seats=[{**seat, "settings": settings} for seat in SOL],
        final={"method": "majority_vote"},
        discussion={"max_rounds": 2, "end_early": False},
    )._replace(prompts=prompts)
    found = estimate(resolved, [LONG], debates=1, prices=LISTED, endpoints={}, on=TODAY)
    assert found.cost is not None
    assert found.cost.least <= found.cost.likely <= found.cost.most
    return found.cost.likely


def test_caches_make_a_debate_cheaper_under_prompts_2_alone():
    assert likely_cost() < 0.5 * likely_cost(cache="off")
    assert likely_cost(prompts=1) == likely_cost(prompts=1, cache="off")


def test_the_tier_is_part_of_the_estimate():
    standard = likely_cost()

    assert 0.5 * standard == pytest.approx(likely_cost(tier="flex"))
    assert 2 * standard == pytest.approx(likely_cost(tier="priority"))


def test_at_most_everything_is_written_to_caches():
    resolved = a_resolved(seats=SOL, final={"method": "majority_vote"}, preset="independent")
    found = estimate(resolved, [LONG], debates=1, prices=LISTED, endpoints={}, on=TODAY)
    (model,) = found.models
    assert found.cost is not None

    # 2.50 dollars a million tokens written, 10 a million answered.
    assert found.cost.most == pytest.approx((2.5 * model.input_tokens.most + 10 * model.output_tokens.most) / 1e6)
