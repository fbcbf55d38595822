"""A run in waves: what batches answer is recorded as what live calls answer, and decides the same."""

import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jury_actors import (
    BatchPatience,
    Effects,
    MetricTotals,
    OtherAccount,
    batches_of,
)
from jury_actors.batches import batch_results
from jury_cli import executed_run_lines, live_lines
from jury_events import BatchFacts, batch_stream, texts_of_debate
from jury_judge import (
    Budget,
    Jury,
    LiveRunReader,
    MetricsExposition,
    RecordedBatches,
    RunRefused,
    Selection,
    StoreBatchMetrics,
)
from jury_providers import BatchAccount, BatchLimits, BatchLine, CachePolicy, ItemEnd, RefusedLine
from jury_replay import ErasureOrder, auditor, erase, verify
from jury_store import open_store
from support import nights
from support.nights import Died, MovedClock, Night, dies_at, exchanges, live_verdicts, verdicts
from support.tiers import others_full

EACH_DATABASE = pytest.mark.parametrize(
    "night", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)], indirect=True
)


def batches(night: Night) -> list[BatchFacts]:
    found: list[BatchFacts] = night.read(lambda store: list(batches_of(store, "night")))
    return found


@EACH_DATABASE
async def test_a_run_in_waves_decides_and_is_recorded_as_a_live_run_over_the_same_answers(night: Night) -> None:
    batched = await night.session()
    recorded = night.read(exchanges)
    types = night.read(lambda store: Counter(event.type for event in store.read_all(limit=10_000)))
    report = night.read(lambda store: verify(store, deep=True))
    live = await night.live("day")

    assert verdicts(live) == verdicts(batched)
    assert max(line["total_rounds"] for line in batched) > 0
    assert [] == night.problems
    assert 0 == types["coordinator_resumed"]  # a wave is no resumption
    assert ((), night.count, night.count) == (report.failures, report.debates, report.replayed)
    assert {1} == set(night.account.asked.values())
    assert len(night.account.asked) == len(recorded)
    assert {True} == {one.via is not None and one.latency_ms == 0 for one in recorded}
    assert set(night.read(lambda store: store.batch_ids("night"))) == {one.via.batch for one in recorded}


async def test_a_run_waits_for_its_batches_in_sight_and_pass_after_pass_ends_it(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    lines = await night.session(once=True)
    live = night.read(lambda store: LiveRunReader(store, night.url, "night").read())
    async with Jury(store=night.url) as jury:
        listed = await jury.runs()
    with pytest.raises(RunRefused, match=r"9 calls of run 'night' may be answered still in 1 batch"):
        await night.live("night")

    assert [] == lines
    assert [3 * night.count] == [len(sent.lines) for sent in night.account.batches.values()]
    assert Counter() == night.account.asked
    assert live.batches is not None
    assert (1, 1, {"waiting": 9}) == (live.batches.wave, live.batches.batches, live.batches.calls)
    assert [["batches", "wave", "1:"]] == [line.split()[:3] for line in live_lines(live) if line.startswith("batches")]
    assert [] != [line for line in executed_run_lines(listed) if "wave 1 in batches" in line]

    night.account.ends = lambda _batch_id: True
    passes = 1
    while not await night.session(once=True):
        passes += 1
    assert passes > 1
    assert {1} == set(night.account.asked.values())


async def test_what_has_no_batches_is_asked_live_in_the_same_wave(night: Night) -> None:
    night.account.live = lambda request: "/sim-policy/" in request.trace
    lines = await night.session()

    assert [] != [one for one in night.read(exchanges) if one.via is None]
    assert verdicts(lines) == await live_verdicts(night)


@pytest.fixture
def with_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases with records, which jurors read by tools."""
    record = {"id": "r1", "verdict": "needs_review", "reason": "It refunded without asking.", "prompt": "Refund."}
    plain = nights.rows
    monkeypatch.setattr(
        nights, "rows", lambda count: [one | {"security_gate_records": [record]} for one in plain(count)]
    )


@pytest.mark.usefixtures("with_records")
async def test_the_turns_after_a_tool_are_live(night: Night) -> None:
    lines = await night.session()
    recorded = night.read(exchanges)

    assert {(1, True), (2, False)} == {(min(one.turn, 2), one.via is not None) for one in recorded}
    assert verdicts(lines) == await live_verdicts(night)


@pytest.mark.parametrize("bound", others_full("items", "bytes"))
async def test_waves_are_split_by_what_a_batch_may_have(night: Night, bound: str) -> None:
    most, size = (4, 50_000_000) if bound == "items" else (10**9, 30_000)
    night.account.limits = BatchLimits(most, size, True, True, 24, 24)
    lines = await night.session()
    sent = [list(one.lines) for one in night.account.batches.values()]

    assert len(sent) > 3
    assert max(map(len, sent)) <= most
    assert max(sum(len(line) + 1 for line in one) for one in sent) <= size
    assert [] == night.sent_twice()
    assert verdicts(lines) == await live_verdicts(night)


@EACH_DATABASE
@pytest.mark.parametrize("call", ["upload", "submit", "state", "results"])
async def test_a_process_that_dies_sends_nothing_twice_and_loses_nothing(
    night: Night, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_results, "_AT_ONCE", 1)  # what is read of results before the end is recorded then
    dies_at(night, call)
    with suppress(Died):
        await night.session()
    lines = await night.session(patience=BatchPatience(arrival=0.0))
    facts = batches(night)

    assert verdicts(lines) == await live_verdicts(night)
    assert len(night.read(exchanges)) == len(set(night.account.asked))
    assert [] == night.sent_twice()
    assert {frozenset()} == {one.unanswered for one in facts}
    assert len(night.account.asked) == sum(one.closed.answered for one in facts if one.closed is not None)


async def test_another_account_is_refused(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    night.account.account = BatchAccount(night.account.account.address, "key 2")

    with pytest.raises(OtherAccount, match="--batch-same-account"):
        await night.session(once=True)
    night.account.ends = lambda _batch_id: True
    assert night.count == len(await night.session(same_account=True))


async def test_what_is_no_answer_is_no_exchange_and_is_asked_again(night: Night) -> None:
    """Items of the first batch have no answer, however often they are looked for; lines name another, and one twice."""

    def odd(lines: list[BatchLine]) -> list[BatchLine]:
        if len(night.account.batches) > 1:
            return lines
        ends = (ItemEnd.EXPIRED, ItemEnd.CANCELLED, ItemEnd.UNREADABLE)
        bad = [line._replace(end=end, response=None) for line, end in zip(lines, ends, strict=False)]
        good = lines[4:]
        return [*bad, *reversed(good), good[0], good[0]._replace(custom_id="of-another-batch")]

    night.account.changes = odd
    lines = await night.session()
    first, *others = batches(night)

    assert verdicts(lines) == await live_verdicts(night)
    assert {1, 2, 3, 4} == first.unanswered
    assert {frozenset()} == {one.unanswered for one in others}
    assert first.closed is not None
    assert (1, 1, 5) == (first.closed.unknown, first.closed.doubled, first.closed.answered)
    for said in ("expired", "cancelled", "unreadably", "missing"):
        assert [] != [line for line in night.said if f"1 call {said}" in line or f"1 call answered {said}" in line]


async def test_one_bad_line_is_a_failed_call_and_the_others_are_sent_again(night: Night) -> None:
    night.account.refused["sent-1"] = (RefusedLine(2, "no such parameter"),)
    lines = await night.session()
    recorded = night.read(exchanges)

    assert night.count == len(lines)
    assert ["bad_request"] == [one.outcome for one in recorded if one.outcome != "answered"]


@EACH_DATABASE
async def test_texts_of_a_debate_are_erased_in_its_batches_too(night: Night) -> None:
    await night.session()
    with closing(open_store(night.url, write=True)) as store:
        erase(store, "night~c1", ErasureOrder("privacy office", "request 17"), 1)
        batch, *_ = store.batch_ids("night")
        events = store.read_stream(batch_stream(batch))
        gone = texts_of_debate(events, "night~c1")
        kept = texts_of_debate(events, "night~c0")

        assert gone
        assert gone.isdisjoint(store.parts(batch))
        assert kept <= store.parts(batch).keys()
        assert () == verify(store).failures


@EACH_DATABASE
async def test_a_budget_counts_what_is_in_flight_at_its_upper_bound(night: Night) -> None:
    night.budget = Budget(max_calls=5)
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)

    assert 5 == sum(len(sent.lines) for sent in night.account.batches.values())
    assert "the budget of 5 calls is used up" in str(night.problems[0].problem)

    night.budget = Budget(max_calls=21)
    night.problems.clear()
    night.account.ends = lambda _batch_id: True
    while not await night.session(once=True):
        pass
    assert [] == night.problems
    assert 5 < len(night.read(exchanges)) == sum(night.account.asked.values()) <= 21


@EACH_DATABASE
async def test_batches_go_with_their_run_to_another_store(
    night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    other = Night(f"sqlite:///{tmp_path / 'other.db'}", night.account)
    async with Jury(store=night.url) as jury:
        await jury.export_cassettes(Selection(run_id="night"), tmp_path / "out")
    async with Jury(store=other.url) as jury:
        await jury.import_cassettes([tmp_path / "out"])
    (cassette,) = (tmp_path / "out").glob("*.batch.jsonl")

    assert other.read(lambda store: store.batch_ids("night")) == night.read(lambda store: store.batch_ids("night"))
    assert () == other.read(lambda store: verify(store).failures)
    with pytest.raises(RunRefused):
        await other.live("night")
    monkeypatch.setattr(sys, "argv", ["auditor", str(cassette)])
    assert 0 == auditor.main(), capsys.readouterr()  # the second verifier


async def test_metrics_show_what_is_in_batches_whatever_process_follows_them(night: Night) -> None:
    shown: list[dict[str, float]] = []
    night.account.ends = lambda _batch_id: len(shown) > 1
    store = night.read(lambda _store: open_store(night.url, write=False))
    metrics, of_store = StoreBatchMetrics(store, Effects().clock), MetricTotals()

    async def looks(_seconds: float) -> None:
        metrics.look()
        shown.extend((figures(night.totals), figures(of_store)))

    with closing(store), metrics.shown(of_store):
        await night.session(sleep=looks, clock=MovedClock())
        metrics.look()
        after, ended = figures(night.totals), figures(of_store)
        again = RecordedBatches(store).open()

    of_run, of_server = shown[:2]
    waiting = "jury_batch_calls stage=waiting"
    assert (1.0, 9.0, 9.0) == (of_run["jury_waves_total"], of_run[waiting], of_server[waiting])
    assert of_run["jury_batch_oldest_seconds"] >= 3600
    assert 0.0 == of_run["jury_batch_reserved_dollars"]  # simulated models cost nothing
    assert after["jury_waves_total"] > 1
    assert (False, False) == (waiting in after, waiting in ended)
    assert 0 == ended["jury_batch_oldest_seconds"]
    assert [] == again


def figures(totals: MetricTotals) -> dict[str, float]:
    page = MetricsExposition(totals).page("").body.decode()
    return {
        " ".join((one.name, *(f"{name}={value}" for name, value in one.labels.items()))): one.value
        for family in text_string_to_metric_families(page)
        for one in family.samples
        if "wave" in one.name or "batch" in one.name
    }


KEPT = """seats:
- {juror_id: a, model: anthropic/claude-haiku-5-5}
- {juror_id: b, model: anthropic/claude-haiku-5-5}
- {juror_id: c, model: openai/gpt-6-sol}
discussion: {max_rounds: 1}
final: {method: majority_vote}
"""


async def test_calls_that_begin_alike_ask_to_keep_the_case_and_are_used_whatever_is_worth_keeping_later(
    night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.panel = tmp_path / "panel.yaml"
    night.panel.write_text(KEPT)
    await night.session(once=True)
    asked: dict[str, Any] = {trace.split("/")[2]: request.cache for trace, request in night.account.requests.items()}
    monkeypatch.setattr(CachePolicy, "choose", lambda *_: "1h")
    lines = await night.session()

    assert {"a": "5m", "b": "5m", "c": "none"} == asked
    assert night.count == len(lines)
    assert {1} == set(night.account.asked.values())
    assert {True} == {one.via is not None for one in night.read(exchanges)}


async def test_seats_that_judge_twice_take_one_more_wave(
    night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(count: int) -> list[dict[str, Any]]:
        said = {"role": "assistant", "content": "At nine.", "thought": "It must be so."}
        return [{"id": f"c{n}", "messages": [{"role": "user", "content": "Open?"}, said]} for n in range(count)]

    monkeypatch.setattr(nights, "rows", rows)
    night.panel = tmp_path / "panel.yaml"
    night.panel.write_text(KEPT.replace("max_rounds: 1", "max_rounds: 0") + "reasoning: after\n")
    lines = await night.session()
    steps = Counter(one.step.partition("/")[0] for one in night.read(exchanges))
    report = night.read(lambda store: verify(store, deep=True))

    assert night.count == len(lines)
    assert {"initial": 3 * night.count, "reasoning": 3 * night.count} == dict(steps)
    assert ((), night.count) == (report.failures, report.replayed)
