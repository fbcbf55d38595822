"""The spending of a run while it lasts, separate from earlier spending, on every database."""

from dataclasses import replace
from datetime import date

import pytest

from jury_events import CacheWrite, Usage
from jury_judge import Spending, SpendingWatch
from jury_providers import load_prices
from jury_store import Append, EventStore, Unrecorded
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")


def begin(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, script.begins(), 0, 1)])


def call(store: EventStore, script: DebateScript, attempt: int, cost: float | None = 0.25) -> None:
    store.append([Append(script.calls, (script.exchange(attempt, cost=cost),))])


def end(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, script.whole()[2:], 2, 1)])


def calls(number: int, cost: float, unknown: int = 0) -> Spending:
    return Spending(calls=number, input_tokens=10 * number, output_tokens=3 * number, cost=cost, unknown=unknown)


def test_new_and_earlier_spending_are_separate(store: EventStore) -> None:
    over, half, new, other = (DebateScript(f"d{n}", seed=n, run_id="other" if n == 3 else "run") for n in range(4))
    for script in (over, half):
        begin(store, script)
        call(store, script, 1)
    end(store, over)

    watch = SpendingWatch(store, "run")
    nothing = watch.look()
    call(store, half, 2)
    begin(store, new)
    begin(store, other)
    call(store, new, 1)
    call(store, other, 1)
    meanwhile = watch.look()
    for script in (half, new):
        call(store, script, 3)
        end(store, script)

    assert Spending() == nothing
    assert calls(2, 0.5) == meanwhile
    assert calls(4, 1.0) == watch.look() == watch.look()


def test_a_debate_with_a_call_of_unknown_cost_counts_without_its_cost(store: EventStore) -> None:
    half, new = DebateScript("half", seed=1), DebateScript("new", seed=2)
    begin(store, half)
    call(store, half, 1)
    watch = SpendingWatch(store, "run")
    begin(store, new)
    call(store, new, 1)
    call(store, new, 2)
    call(store, half, 2, cost=None)

    found = watch.look()

    # What `half` cost before is subtracted, so the bound is lower than it could be.
    assert calls(3, 0.25, unknown=1) == found
    assert "at least $0.2500" == found.cost_text
    assert "3 calls, at least 30 tokens in and 9 out, at least $0.2500 (the cost of 1 debate is not known)" == str(
        found
    )


def test_a_debate_whose_cost_was_unknown_before_is_unknown_still_and_one_that_was_over_is_not_counted(
    store: EventStore,
) -> None:
    half, over = DebateScript("half", seed=1), DebateScript("over", seed=2)
    for script in (half, over):
        begin(store, script)
        call(store, script, 1, cost=None)
    end(store, over)
    watch = SpendingWatch(store, "run")
    call(store, half, 2)

    assert calls(1, 0.0, unknown=1) == watch.look()


def test_a_debate_that_begins_and_ends_between_two_polls_is_counted_once(store: EventStore) -> None:
    watch = SpendingWatch(store, "run")
    script = DebateScript("d")
    begin(store, script)
    call(store, script, 1)
    end(store, script)

    assert calls(1, 0.25) == watch.look() == watch.look()


def test_what_was_sent_and_not_recorded_is_said_beside_what_was(store: EventStore) -> None:
    script = DebateScript("d")
    begin(store, script)
    for attempt in range(3):
        call(store, script, attempt + 1)
    store.store_run_lease("run", 7, 1.0)

    found = Spending.total(store, "run")
    listed = Spending.of_run(store.runs()[0], store.totals_by_run()["run"])

    assert calls(3, 0.75) == replace(found, unrecorded=Unrecorded())
    assert found == listed
    assert "$0.7500 recorded, and at most $0.2500 for 4 calls that were sent and not recorded" == found.cost_text


def test_where_every_call_is_recorded_nothing_else_is_said(store: EventStore) -> None:
    script = DebateScript("d")
    begin(store, script)
    call(store, script, 1)
    store.store_run_lease("run", 1, 5.0)

    assert "$0.2500" == Spending.total(store, "run").cost_text


def test_the_newest_lease_stays(store: EventStore) -> None:
    begin(store, DebateScript("d"))
    store.store_run_lease("run", 9, 9.0)
    store.store_run_lease("run", 7, 1.5)
    (row,) = store.runs()

    assert (7, 1.5) == (row.calls_at_most, row.cost_at_most)
    assert row == store.run("run")


def cached(store: EventStore, script: DebateScript, model: str = "openai/gpt-6-sol") -> None:
    """One call of 10,000 tokens, of which 8,000 were read from a cache, at the list price."""
    usage = Usage(input_tokens=10_000, output_tokens=100, cached_input_tokens=8000)
    cost = load_prices().cost(model, usage, date(2026, 11, 1)) or 1.0
    store.append([Append(script.calls, (script.exchange(1, cost=cost, model=model, usage=usage),))])


def test_a_run_says_the_share_read_and_what_it_would_have_cost_without_caches(store: EventStore) -> None:
    script, prices = DebateScript("d"), load_prices()
    begin(store, script)
    cached(store, script)
    plain = prices.cost("openai/gpt-6-sol", Usage(input_tokens=10_000, output_tokens=100), date(2026, 11, 1))

    found = Spending.total(store, "run", prices)

    assert plain is not None
    assert plain == pytest.approx(found.uncached)
    assert (
        "1 call, 10,000 tokens in (80% read from prompt caches) and 100 out, $0.0066 ($0.0210 without caches)"
        == str(found)
    )


def test_what_a_run_would_have_cost_is_left_out_where_it_is_unknown_or_no_cache_was_used(store: EventStore) -> None:
    begin(store, script := DebateScript("d"))
    cached(store, script, "own/model")
    begin(store, other := DebateScript("e", seed=2, run_id="plain"))
    call(store, other, 1)

    found = [str(Spending.total(store, run, load_prices())) for run in ("run", "plain")]

    assert [
        "1 call, 10,000 tokens in (80% read from prompt caches) and 100 out, $1.00",
        "1 call, 10 tokens in and 3 out, $0.2500",
    ] == found


def test_a_run_that_only_wrote_to_caches_says_so_and_one_that_cost_nothing_says_no_other_cost(
    store: EventStore,
) -> None:
    begin(store, script := DebateScript("d"))
    usage = Usage(input_tokens=3000, output_tokens=1, cache_writes=(CacheWrite(lifetime="30m", tokens=2000),))
    store.append([Append(script.calls, (script.exchange(cost=0.0, model="openai/gpt-6-sol", usage=usage),))])

    said = str(Spending.total(store, "run", load_prices()))

    assert "1 call, 3,000 tokens in (2,000 written to prompt caches, none read) and 1 out, $0.00" == said


def test_the_tokens_read_from_caches_of_a_session_are_its_own(store: EventStore) -> None:
    begin(store, half := DebateScript("half"))
    cached(store, half)
    watch = SpendingWatch(store, "run")
    begin(store, new := DebateScript("new", seed=2))
    cached(store, new)

    assert (8000, 0, 10_000) == (watch.look().read, watch.look().written, watch.look().input_tokens)
