"""Estimates: how many calls the rules allow, and what follows from it."""

from datetime import date

import pytest

from jury_judge import estimate
from jury_providers import (
    ESTIMATED_PICTURE_TOKENS,
    Endpoint,
    Limits,
    Price,
    Prices,
    load_prices,
    picture_token_upper_bound,
)
from support.debate_harness import DebateHarness, Says, a_case, by_round
from support.pictures import PNG, a_case_with_pictures
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


def an_estimate(*, debates: int = 1, case=None, endpoints=None, prices: Prices = PRICES, **spec):
    resolved = a_resolved(seats=SEATS, final={"method": "majority_vote"}, **spec)
    return estimate(resolved, [case or a_case()], debates=debates, prices=prices, endpoints=endpoints or {}, on=TODAY)


@pytest.mark.parametrize("spec", RULES, ids=str)
def test_every_debate_has_as_many_calls_as_are_estimated_and_agreement_the_fewest(spec):
    resolved = a_resolved(seats=SEATS, final={"method": "majority_vote"}, **spec)
    least, _, most = an_estimate(**spec).calls

    def calls(*verdicts: str) -> int:
        table = {seat["juror_id"]: [Says(verdict)] for seat, verdict in zip(SEATS, verdicts, strict=True)}
        return len(DebateHarness(resolved.panel, by_round(table)).run().asked)

    assert least == calls("safe_pass", "safe_pass", "safe_pass")
    assert least <= calls("safe_pass", "safe_pass", "unsafe_fail") <= most
    assert least <= calls("safe_pass", "needs_review", "unsafe_fail") <= most


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


def test_what_is_unknown_is_not_guessed():
    found = an_estimate(prices=Prices())

    assert (None, None) == (found.cost, found.minutes)
    assert [None] == [one.cost for one in found.models]


def test_tools_and_a_larger_case_take_more():
    plain, tools, large = an_estimate(), an_estimate(case=a_case_with_records()), an_estimate(case=a_case(scenarios=20))

    assert plain.calls.least == tools.calls.least
    assert 5 * plain.calls.most == tools.calls.most
    assert large.models[0].input_tokens.least > plain.models[0].input_tokens.least
    assert large.disk_bytes.likely > plain.disk_bytes.likely


def test_the_slowest_limit_decides_the_duration():
    limits = Limits(requests_per_minute=10, tokens_per_minute=10**9)
    found = an_estimate(debates=100, endpoints={"openai": Endpoint(limits={"gpt-*": limits})})

    assert found.minutes == found.calls.likely / 10


def test_an_estimate_without_debates_is_zero():
    found = estimate(a_resolved(), [], debates=0, prices=PRICES, endpoints={}, on=TODAY)

    assert (0.0, 0.0, 0.0) == found.calls == found.disk_bytes


LISTED = load_prices()
SOL = [{"model": "openai/gpt-6-sol", "juror_id": name} for name in ("gpt", "claude", "gemini")]
LONG = a_case(artifact_summary="All orders were refunded. " * 2000)


def likely_cost(prompts: int = 1, **settings) -> float:
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
    assert likely_cost() == likely_cost(cache="off")


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


# Pictures


def a_seat(*, images: bool, model: str = "openai/gpt-x"):
    seats = [{"model": model, "juror_id": "one", "images": images}]
    return a_resolved(preset="independent", seats=seats)


@pytest.mark.parametrize(("model", "most"), [("openai/gpt-x", 5_000), ("openai/gpt-4o-mini", 48_169)])
def test_a_constant_is_counted_per_picture_for_each_recipient(model: str, most: int) -> None:
    case = a_case_with_pictures()

    def of_model(*, images: bool):
        (found,) = estimate(
            a_seat(images=images, model=model), [case], debates=1, prices=PRICES, endpoints={}, on=TODAY
        ).models
        return found

    seeing, blind = of_model(images=True), of_model(images=False)

    assert most == picture_token_upper_bound(model.partition("/")[2])
    # The text of a case differs a little: it numbers the pictures or says that they are not shown.
    likely = seeing.input_tokens.likely - blind.input_tokens.likely
    assert 2 * ESTIMATED_PICTURE_TOKENS == pytest.approx(likely, abs=100)
    assert 2 * most == pytest.approx(seeing.input_tokens.most - blind.input_tokens.most, abs=100)
    assert seeing.cost.most > blind.cost.most


def test_the_bytes_of_stored_pictures_are_counted() -> None:
    small, large = a_case_with_pictures(PNG), a_case_with_pictures(PNG + bytes(1_000_000))

    def disk(case, *, images: bool) -> float:
        seat = a_seat(images=images)
        return estimate(seat, [case], debates=1, prices=PRICES, endpoints={}, on=TODAY).disk_bytes.likely

    assert disk(large, images=True) - disk(small, images=True) >= 1_000_000
    assert disk(large, images=False) - disk(small, images=False) < 1000
