"""What a run will take, and what its calls did: calls, tokens, costs, bytes, and what caches saved."""

from collections.abc import Callable
from datetime import date

import pytest

from jury_actors import RunBudget, Spent
from jury_events import BudgetBounds, CacheWrite, CallOutcome, ExchangeRecorded, Usage
from jury_judge import estimate, uncached_cost, uncached_sums
from jury_judge.runs.run_budget import run_budget
from jury_providers import (
    ESTIMATED_PICTURE_TOKENS,
    Endpoint,
    Limits,
    ModelReply,
    ModelRequest,
    OnChunk,
    Price,
    Prices,
    Provider,
    SimulatedProvider,
    load_prices,
    picture_token_upper_bound,
)
from jury_store import PROMPT_STEP, CachedCalls
from support.debate_builder import DebateBuilder
from support.debate_harness import DebateHarness, Says, a_case, by_round
from support.each_row import each_row
from support.pictures import a_case_with_pictures
from support.runtime_harness import KeptStore, Meter, Run, a_resolved, completed

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


def test_the_slowest_limit_decides_the_duration():
    limits = Limits(requests_per_minute=10, tokens_per_minute=10**9)
    found = an_estimate(debates=100, endpoints={"openai": Endpoint(limits={"gpt-*": limits})})

    assert found.minutes == found.calls.likely / 10


LISTED = load_prices()
SOL = [{"model": "openai/gpt-6-sol", "juror_id": name} for name in ("gpt", "claude", "gemini")]
LONG = a_case(artifact_summary="All orders were refunded. " * 2000)


def likely_cost(**settings) -> float:
    resolved = a_resolved(
        seats=[{**seat, "settings": settings} for seat in SOL],
        final={"method": "majority_vote"},
        discussion={"max_rounds": 2, "end_early": False},
    )
    found = estimate(resolved, [LONG], debates=1, prices=LISTED, endpoints={}, on=TODAY)
    assert found.cost is not None
    assert found.cost.least <= found.cost.likely <= found.cost.most
    return found.cost.likely


def test_caches_make_a_debate_cheaper():
    assert likely_cost() < 0.5 * likely_cost(cache="off")


def test_the_tier_is_part_of_the_estimate():
    standard = likely_cost()

    assert 0.5 * standard == pytest.approx(likely_cost(tier="flex"))
    assert 2 * standard == pytest.approx(likely_cost(tier="priority"))


# Pictures


def a_seat(*, images: bool, model: str = "openai/gpt-x"):
    seats = [{"model": model, "juror_id": "one", "images": images}]
    return a_resolved(preset="independent", seats=seats)


@each_row(("model", "most"), [("openai/gpt-x", 5_000), ("openai/gpt-4o-mini", 48_169)])
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


def a_call(model: str, cost: float | None, **usage: object) -> ExchangeRecorded:
    spent = Usage(input_tokens=10_000, output_tokens=100, **usage)
    (call,) = DebateBuilder().called(model, CallOutcome.ANSWERED, spent, cost).exchanges
    return call


READ = {"cached_input_tokens": 8000}
WRITTEN = {"cache_writes": (CacheWrite(lifetime="30m", tokens=8000),)}


def paid(model: str, usage: dict[str, object]) -> float:
    cost = LISTED.cost(model, Usage(input_tokens=10_000, output_tokens=100, **usage), TODAY)  # type: ignore[arg-type]
    assert cost is not None
    return cost


def test_a_read_was_cheaper_and_a_write_dearer_than_other_input() -> None:
    model = "openai/gpt-6-sol"
    plain = paid(model, {})

    for usage in (READ, WRITTEN):
        assert plain == pytest.approx(uncached_cost([a_call(model, paid(model, usage), **usage)], LISTED, TODAY))
    assert paid(model, READ) < plain < paid(model, WRITTEN)


@each_row("call", [a_call("own/model", 1.0, **READ), a_call("openai/gpt-6-sol", None)])
def test_it_is_unknown_where_a_price_or_a_cost_is(call: ExchangeRecorded) -> None:
    assert uncached_cost([a_call("openai/gpt-6-sol", 1.0), call], LISTED, TODAY) is None


def sums(model: str, cost: float, prompts: int = 1, sent: int = 10_000) -> CachedCalls:
    """Of calls with prompts of about `sent` tokens, of which 8,000 were read."""
    return CachedCalls(
        model, None, (sent - 1) // PROMPT_STEP, cost, prompts * sent, prompts * 100, prompts * 8000, 0, 0, 0, 0
    )


def test_sums_over_calls_say_what_the_calls_one_by_one_say() -> None:
    model, debates = "openai/gpt-6-sol", 5.0
    one = paid(model, READ)
    calls = [a_call(model, one, **READ)] * 2

    found = uncached_sums([sums(model, 2 * one)], debates, LISTED, TODAY)

    assert debates - 2 * one + (uncached_cost(calls, LISTED, TODAY) or 0.0) == pytest.approx(found)


def test_sums_are_unknown_where_a_price_is_or_where_prompts_of_one_size_have_two_prices() -> None:
    steps = (Price(models=("own/*",), input=2, output=2, cached_input=1, prompt_over=9000),)
    short = Price(models=("own/*",), input=1, output=1, cached_input=0.1)

    assert uncached_sums([sums("own/model", 1.0)], 1.0, LISTED, TODAY) is None
    assert uncached_sums([sums("own/model", 1.0)], 1.0, Prices((*steps, short)), TODAY) is None
    assert uncached_sums([sums("own/model", 1.0)], 1.0, Prices((short,)), TODAY) is not None
    assert 1.0 == uncached_sums([], 1.0, LISTED, TODAY)


COSTLY = [
    {"model": "openai/gpt-x", "juror_id": name, "settings": {"max_output_tokens": 1000}} for name in ("a", "b", "c")
]

COUNTED = Usage(input_tokens=1000, output_tokens=100)


class Silent(SimulatedProvider):
    """Stands for a model whose provider does not say what it counted, or does (`usage`)."""

    simulated = False
    max_in_flight = 64

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self._usage = usage

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        return (await super().call(request))._replace(cost=None, usage=self._usage)


class SilentMeter(Meter):
    """Lets a run be answered by `Silent`."""

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self._usage = usage

    def factory(self, *_: object) -> Callable[[str], Provider]:
        return lambda _name: Silent(self._usage)


async def a_run(usage: Usage = COUNTED, lease: Spent | None = None) -> Run:
    """Two debates of three calls each, `run`; `lease` is what an earlier session may have spent."""
    run = Run(KeptStore(), debates=2, seats=COSTLY, preset="independent")

    assert completed((await run.execute(meter=SilentMeter(usage))).values())
    if lease is not None:
        run.store.store_run_lease("run", *lease)
    return run


def of(run: Run, name: str = "run", *, max_calls: int | None = None, max_cost: float | None = 3.0) -> RunBudget:
    return run_budget(run.store, name, PRICES, TODAY, BudgetBounds(max_calls=max_calls, max_cost=max_cost))


async def test_calls_of_unknown_cost_count_with_the_most_that_they_can_have_cost() -> None:
    found = of(await a_run(Usage())).spent

    assert 6 == found.calls
    assert 6 * 0.01 < found.cost < 6 * 0.02


@pytest.mark.parametrize(
    ("lease", "expected"),
    [
        pytest.param(None, Spent(6, 0.012), id="calls that had no price when they were made count with today's"),
        pytest.param(Spent(6, 5.0), Spent(6, 0.012), id="where all calls are recorded their recorded cost counts"),
        pytest.param(Spent(8, 0.02), Spent(8, 0.02), id="calls that were sent and not recorded count"),
    ],
)
async def test_what_earlier_sessions_spent(lease: Spent | None, expected: Spent) -> None:
    found = of(await a_run(lease=lease)).spent

    assert expected == Spent(found.calls, round(found.cost, 9))


async def test_a_run_goes_on_being_counted_without_a_bound_where_it_had_one() -> None:
    bounded, never_bounded = await a_run(lease=Spent(8, 0.02)), await a_run()

    assert RunBudget(BudgetBounds(max_cost=3.0), Spent(8, 0.02), "run") == of(bounded)
    assert RunBudget(BudgetBounds(), Spent(8, 0.02), "run") == of(bounded, max_cost=None)
    assert RunBudget() == of(never_bounded, max_cost=None)
    assert Spent() == of(bounded, "another run").spent
