"""Sums over calls with prompt caches, in the lists of every store: what they follow from, and how they stay right."""

from collections.abc import Callable

import pytest

from jury_events import CacheWrite, Usage
from jury_store import PROMPT_STEP, Append, CachedCalls, DebateFilter, EventStore
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")

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
