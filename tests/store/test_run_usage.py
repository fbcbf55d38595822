"""What a run spends while it lasts, and sums over calls with prompt caches, on every database."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from unittest.mock import patch

import pytest

from jury_events import CacheWrite, Usage
from jury_judge import RunUsage, RunUsageWatch
from jury_judge.runs.recent_calls import RecentEvents
from jury_providers import load_prices
from jury_replay import verify
from jury_store import PROMPT_STEP, Append, Appended, CachedCalls, DebateFilter, EventStore, Unrecorded
from support.branches import Branch, a_branch, calls_of, events_of, execute_branch, origin_in, stored
from support.debates import DebateScript
from support.runtime_harness import KeptStore, Run, a_case_with_records

pytestmark = pytest.mark.full_for("postgresql")


def begin(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, script.begins(), 0, 1)])


def call(store: EventStore, script: DebateScript, attempt: int, cost: float | None = 0.25) -> None:
    store.append([Append(script.calls, (script.exchange(attempt, cost=cost),))])


def end(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, script.whole()[2:], 2, 1)])


def calls(number: int, cost: float, unknown: int = 0) -> RunUsage:
    return RunUsage(calls=number, input_tokens=10 * number, output_tokens=3 * number, cost=cost, unknown=unknown)


def test_new_and_earlier_spending_are_separate(store: EventStore) -> None:
    over, half, new, other = (DebateScript(f"d{n}", seed=n, run_id="other" if n == 3 else "run") for n in range(4))
    for script in (over, half):
        begin(store, script)
        call(store, script, 1)
    end(store, over)

    watch = RunUsageWatch(store, "run")
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

    assert RunUsage() == nothing
    assert calls(2, 0.5) == meanwhile
    assert calls(4, 1.0) == watch.look() == watch.look()


def test_a_debate_with_a_call_of_unknown_cost_counts_without_its_cost(store: EventStore) -> None:
    half, new = DebateScript("half", seed=1), DebateScript("new", seed=2)
    begin(store, half)
    call(store, half, 1)
    watch = RunUsageWatch(store, "run")
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
    watch = RunUsageWatch(store, "run")
    call(store, half, 2)

    assert calls(1, 0.0, unknown=1) == watch.look()


def test_a_debate_that_begins_and_ends_between_two_polls_is_counted_once(store: EventStore) -> None:
    watch = RunUsageWatch(store, "run")
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

    found = RunUsage.total(store, "run")
    listed = RunUsage.of_run(store.runs()[0], store.totals_by_run()["run"])

    assert calls(3, 0.75) == replace(found, unrecorded=Unrecorded())
    assert found == listed
    assert "$0.7500 recorded, and at most $0.2500 for 4 calls that were sent and not recorded" == found.cost_text


def test_where_every_call_is_recorded_nothing_else_is_said(store: EventStore) -> None:
    script = DebateScript("d")
    begin(store, script)
    call(store, script, 1)
    store.store_run_lease("run", 1, 5.0)

    assert "$0.2500" == RunUsage.total(store, "run").cost_text


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

    found = RunUsage.total(store, "run", prices)

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

    found = [str(RunUsage.total(store, run, load_prices())) for run in ("run", "plain")]

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

    said = str(RunUsage.total(store, "run", load_prices()))

    assert "1 call, 3,000 tokens in (2,000 written to prompt caches, none read) and 1 out, $0.00" == said


def test_the_tokens_read_from_caches_of_a_session_are_its_own(store: EventStore) -> None:
    begin(store, half := DebateScript("half"))
    cached(store, half)
    watch = RunUsageWatch(store, "run")
    begin(store, new := DebateScript("new", seed=2))
    cached(store, new)

    assert (8000, 0, 10_000) == (watch.look().read, watch.look().written, watch.look().input_tokens)


SOL, SONNET = "openai/gpt-6-sol", "anthropic/claude-sonnet-5-5"


def written(tokens: int, sent: int = 3000, lifetime: str = "30m", tier: str | None = None) -> Usage:
    writes = (CacheWrite(lifetime=lifetime, tokens=tokens),)  # type: ignore[arg-type]
    return Usage(input_tokens=sent, output_tokens=100, cache_writes=writes, service_tier=tier)


def read(tokens: int, sent: int = 3000, tier: str | None = None) -> Usage:
    return Usage(input_tokens=sent, output_tokens=100, cached_input_tokens=tokens, service_tier=tier)


def judged(store: EventStore, name: str, *calls: tuple[str, float | None, Usage], run: str = "run") -> None:
    script = DebateScript(name, seed=sum(name.encode()), run_id=run)
    store.append([Append(script.stream, script.whole(), 0, 1)])
    made = [script.exchange(n, cost=cost, model=model, usage=used) for n, (model, cost, used) in enumerate(calls, 1)]
    store.append([Append(script.calls, tuple(made))])


PLAIN = Usage(input_tokens=3000, output_tokens=100)


def test_a_debate_has_the_tokens_of_all_calls_and_sums_over_those_with_caches(store: EventStore) -> None:
    judged(store, "d", (SOL, 0.25, written(2000)), (SOL, 0.5, read(2000)), (SOL, 0.5, PLAIN), (SONNET, 1.0, read(50)))

    row = store.debate("d")

    assert row is not None
    assert (2050, 2000) == (row.cached_input_tokens, row.cache_write_tokens)
    assert (
        CachedCalls(SOL, None, 0, 0.75, 6000, 200, 2000, 0, 2000, 0, 0),
        CachedCalls(SONNET, None, 0, 1.0, 3000, 100, 50, 0, 0, 0, 0),
    ) == row.cached_calls


def test_calls_of_other_tiers_and_sizes_are_apart(store: EventStore) -> None:
    for sent, size in ((1, 0), (PROMPT_STEP, 0), (PROMPT_STEP + 1, 1), (100_001, 25)):
        run = f"run-{sent}"
        calls = (SOL, 0.25, read(1, sent, "flex")), (SOL, 0.25, read(1, 300_000, "flex")), (SOL, 0.25, read(1))
        judged(store, f"d{sent}", *calls, run=run)

        first, *others = store.cached_calls(DebateFilter(run))

        assert ("flex", size) == (first.service_tier, first.size)
        assert first.prompts[0] <= sent <= first.prompts[1]
        assert {("flex", 74), (None, 0)} == {(one.service_tier, one.size) for one in others}


def test_a_list_sums_the_chosen_debates_of_known_cost(store: EventStore) -> None:
    judged(store, "a", (SOL, 0.25, read(10)))
    judged(store, "b", (SOL, 0.25, read(20)), (SOL, 0.25, written(7, lifetime="5m")))
    judged(store, "c", (SOL, None, read(40)), (SOL, 0.25, read(80)))
    judged(store, "e", (SOL, 0.25, read(160)), run="other")
    for advance in (lambda: None, store.project, store.rebuild):
        advance()
        found = store.cached_calls(DebateFilter("run"))

        assert (CachedCalls(SOL, None, 0, 0.75, 9000, 300, 30, 7, 0, 0, 0),) == found
        assert (150, 7) == (store.totals(DebateFilter("run")).cached_input_tokens, store.totals().cache_write_tokens)
        assert not store.list_faults()


def test_tokens_that_a_provider_did_not_count_stay_unknown(store: EventStore) -> None:
    judged(store, "d", (SOL, 0.25, read(10)), (SOL, 0.25, Usage(input_tokens=3000, cached_input_tokens=5)))

    (found,) = store.cached_calls()

    assert (6000, None, 15) == (found.input_tokens, found.output_tokens, found.read)


def test_a_cache_that_was_paid_alone_is_apart_from_calls_that_were_answered(store: EventStore) -> None:
    alone = Usage(cache_writes=(CacheWrite(lifetime="1h", tokens=2000),))
    judged(store, "d", (SOL, 0.25, read(10)), (SOL, 0.5, alone), (SOL, 0.5, alone))

    assert (
        CachedCalls(SOL, None, 0, 0.25, 3000, 100, 10, 0, 0, 0, 0),
        CachedCalls(SOL, None, 0, 1.0, None, None, 0, 0, 0, 4000, 0),
    ) == store.cached_calls()


def test_a_column_that_holds_no_sums_is_made_again_from_the_events(
    url: str, sql: Callable[[str, str], None], open_writer: Callable[[str], EventStore]
) -> None:
    store = open_writer(url)
    judged(store, "d", (SOL, 0.25, read(10)))
    store.project()
    before = store.cached_calls()
    for text in ("[1]", "[[1, 2]]", "{", '[["a",null,0,-1.0,1,1,1,0,0,0,0]]'):
        sql(url, f"UPDATE debates SET cached_calls = '{text}'")

        assert before == store.cached_calls() != ()


def a_prepared_branch() -> Branch:
    elsewhere = KeptStore()
    asyncio.run(Run(elsewhere, case=a_case_with_records).execute())
    return a_branch(origin_in(elsewhere), "round-1/check", debate_id="branch")


def test_a_branch_is_stored_whole_and_counts_no_call_that_it_took_over(store: EventStore) -> None:
    branch = stored(store, a_prepared_branch())

    row = store.debate("branch")
    assert row is not None
    assert ("judging", None, 0) == (row.status, row.run_id, row.calls)
    assert row.simulated
    assert 3 + len(branch.kept) == len(events_of(store, "branch"))
    assert verify(store).ok


def test_a_branch_that_is_stored_again_changes_nothing(store: EventStore) -> None:
    branch = stored(store, a_prepared_branch())
    position = store.last_position()

    answers = store.append(branch.appends(store.next_epoch()))

    assert [3, len(branch.exchanges), len(branch.kept)] == [
        one.repeated for one in answers if isinstance(one, Appended)
    ]
    assert position == store.last_position()


@pytest.fixture
def kept(store: EventStore) -> Iterator[EventStore]:
    """A store that no runtime closes."""
    with patch.object(store, "close"):
        yield store


async def test_a_fork_counts_the_calls_that_it_made_and_its_origins_run_does_not(kept: EventStore) -> None:
    await Run(kept).execute()
    before = RunUsage.total(kept, "run")
    branch = stored(kept, a_branch(origin_in(kept), "round-1/started"))
    copies = len(calls_of(kept, branch.debate_id))
    unmade = kept.debate(branch.debate_id)
    await execute_branch(kept, branch)
    made = kept.debate(branch.debate_id)

    assert unmade is not None
    assert made is not None
    assert copies > 0
    assert (0, 0.0, 0) == (unmade.calls, unmade.cost, unmade.input_tokens)
    assert len(calls_of(kept, branch.debate_id)) - copies == made.calls > 0
    assert before == RunUsage.total(kept, "run")
    assert before.calls + made.calls == kept.totals().calls
    assert not kept.list_faults()


async def test_the_last_minute_of_a_run_has_no_call_of_a_fork(kept: EventStore) -> None:
    await Run(kept).execute()
    at = kept.read_all(limit=10_000)[-1].recorded_at
    recent = RecentEvents(kept, "run")
    before = recent.look(at, 0)
    branch = stored(kept, a_branch(origin_in(kept), "round-1/started", debate_id="run~d0~fork"))
    await execute_branch(kept, branch)

    assert before.calls > 0
    assert before == recent.look(at, 0)
    assert before == RecentEvents(kept, "run").look(at, 0)
