"""A run in waves: what batches answer is recorded as what live calls answer, and decides the same."""

import asyncio
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jury_actors import BatchPatience, Effects, MetricTotals, OtherAccount, batches_of
from jury_actors.batches import batch_results
from jury_cli.views.debate_list import executed_run_lines
from jury_cli.views.live_run import live_lines
from jury_events import batch_stream, texts_of_debate
from jury_judge import (
    Budget,
    Jury,
    LiveRunReader,
    MetricsExposition,
    RunRefused,
    Selection,
)
from jury_judge.batches.recorded_batches import RecordedBatches
from jury_judge.batches.wave_metrics import StoreBatchMetrics
from jury_providers import BatchAccount, BatchLine, CachePolicy, ItemEnd, RefusedLine
from jury_replay import ErasureOrder, auditor, erase, verify, write_cassette
from jury_store import EventStore, open_store
from support.batch_double import SentBatch
from support.nights import ANOTHERS, Died, MovedClock, Night, dies_at, exchanges, live_verdicts, verdicts

EACH_DATABASE = pytest.mark.parametrize(
    "night", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)], indirect=True
)


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


async def test_one_pass_submits_and_waits_for_nothing(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    lines = await night.session(once=True)

    assert lines == []
    assert [len(sent.lines) for sent in night.account.batches.values()] == [3 * night.count]
    assert night.account.asked == Counter()


async def test_pass_after_pass_ends_a_run(night: Night) -> None:
    passes = 0
    while not await night.session(once=True):
        passes += 1

    assert passes > 1
    assert set(night.account.asked.values()) == {1}


async def test_what_has_no_batches_is_asked_live_in_the_same_wave(night: Night) -> None:
    night.account.live = lambda request: "/sim-policy/" in request.trace
    batched, live = await night.session(), await night.live("day")

    recorded = [one for one in night.read(exchanges) if one.via is None]
    assert verdicts(batched) == verdicts(live)
    assert recorded


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

    assert verdicts(lines) == await live_verdicts(night)
    assert len(night.read(exchanges)) == len(set(night.account.asked))
    assert night.sent_twice() == []
    facts = night.read(lambda store: list(batches_of(store, "night")))
    assert {frozenset()} == {one.unanswered for one in facts}
    assert len(night.account.asked) == sum(one.closed.answered for one in facts if one.closed is not None)


async def test_a_batch_that_may_be_on_its_way_is_looked_for_before_its_calls_are_made_again(night: Night) -> None:
    dies_at(night, "upload")
    with suppress(Died):
        await night.session()
    lines = await night.session(once=True)

    assert lines == []
    assert night.account.batches == {}


async def test_a_batch_that_is_found_by_time_and_count_is_believed_by_its_ids(night: Night) -> None:
    night.account.found_by_nonce = False
    dies_at(night, "submit")
    with suppress(Died):
        await night.session()
    sent = night.account.batches["sent-1"]
    others = tuple(line.replace(sent.nonce.encode(), ANOTHERS.encode()) for line in sent.lines)
    night.account.batches["sent-2"] = SentBatch(ANOTHERS, others, sent.created - 1)  # nearer to the time of sending
    await night.session()
    facts = night.read(lambda store: list(batches_of(store, "night")))

    assert facts[0].mistaken == ("sent-2",)
    assert facts[0].submitted is not None
    assert facts[0].submitted.provider_id == "sent-1"
    assert night.sent_twice() == []


async def test_a_run_with_an_open_batch_is_not_resumed_live(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)

    with pytest.raises(RunRefused, match=r"9 calls of run 'night' may be answered still in 1 batch"):
        await night.live("night")


async def test_another_account_is_refused(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    night.account.account = BatchAccount(night.account.account.address, "key 2")

    with pytest.raises(OtherAccount, match="--batch-same-account"):
        await night.session(once=True)
    night.account.ends = lambda _batch_id: True
    assert len(await night.session(same_account=True)) == night.count
    night.account.account = BatchAccount("elsewhere", "key 2")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (ItemEnd.EXPIRED, "expired"),
        (ItemEnd.CANCELLED, "cancelled"),
        (ItemEnd.UNREADABLE, "unreadably"),
        (None, "missing"),
    ],
)
async def test_what_is_no_answer_is_no_exchange_and_is_asked_again(
    night: Night, end: ItemEnd | None, said: str
) -> None:
    """The first item of the first batch has no answer, however often it is looked for; the other batches have all."""

    def without_first(lines: list[BatchLine]) -> list[BatchLine]:
        if len(night.account.batches) > 1:
            return lines
        first, *others = lines
        return others if end is None else [first._replace(end=end, response=None), *others]

    night.account.changes = without_first
    lines = await night.session()
    facts = night.read(lambda store: list(batches_of(store, "night")))

    assert verdicts(lines) == await live_verdicts(night)
    assert [sorted(one.unanswered) for one in facts if one.unanswered] == [[1]]
    assert [line for line in night.said if said in line] != []


async def test_results_that_name_unknown_and_doubled_ids_are_counted_and_not_used(night: Night) -> None:
    night.account.changes = lambda lines: [
        *reversed(lines),
        lines[0],
        lines[0]._replace(custom_id="of-another-batch"),
    ]
    lines = await night.session()
    facts = night.read(lambda store: list(batches_of(store, "night")))

    assert verdicts(lines) == await live_verdicts(night)
    assert {(one.closed.unknown, one.closed.doubled) for one in facts if one.closed is not None} == {(1, 1)}


async def test_one_bad_line_is_a_failed_call_and_the_others_are_sent_again(night: Night) -> None:
    night.account.refused["sent-1"] = (RefusedLine(2, "no such parameter"),)
    lines = await night.session()
    recorded = night.read(exchanges)

    assert len(lines) == night.count
    assert [one.outcome for one in recorded if one.outcome != "answered"] == ["bad_request"]


async def test_a_batch_that_never_ends_is_cancelled_then_given_up(night: Night) -> None:
    clock = MovedClock()
    night.account.ends = lambda batch_id: batch_id != "sent-1"
    night.account.stuck.add("sent-1")
    lines = await night.session(clock=clock)

    assert verdicts(lines) == await live_verdicts(night)
    assert "sent-1" in night.account.cancelled
    assert [line for line in night.said if "may be paid twice" in line] != []


@EACH_DATABASE
async def test_a_late_answer_stands_in_its_batch_with_its_cost_and_decides_nothing(night: Night) -> None:
    clock = MovedClock()
    night.account.ends = lambda batch_id: batch_id != "sent-1" or len(night.account.batches) > 1
    night.account.stuck.add("sent-1")
    await night.session(clock=clock)
    (first, *_) = night.read(lambda store: list(batches_of(store, "night")))
    report = night.read(lambda store: verify(store, deep=True))

    assert first.closed is not None
    assert len(first.unanswered) == first.prepared.items
    assert report.failures == ()


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
        assert verify(store).failures == ()


@EACH_DATABASE
async def test_a_budget_counts_what_is_in_flight_at_its_upper_bound(night: Night) -> None:
    night.budget = Budget(max_calls=10)
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)

    assert sum(len(sent.lines) for sent in night.account.batches.values()) == 9  # three seats, three debates


async def test_a_budget_that_is_too_low_sends_what_it_covers(night: Night) -> None:
    night.budget = Budget(max_calls=5)
    await night.session()

    assert sum(len(sent.lines) for sent in night.account.batches.values()) == 5
    assert "the budget of 5 calls is used up" in str(night.problems[0].problem)


async def test_a_session_after_the_answers_counts_what_they_cost(night: Night) -> None:
    night.budget = Budget(max_calls=21)
    passes = 0
    while not await night.session(once=True):
        passes += 1

    assert night.problems == []
    assert len(night.read(exchanges)) == 21


@EACH_DATABASE
async def test_batches_go_with_their_run_to_another_store(night: Night, tmp_path: Path) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    other = Night(f"sqlite:///{tmp_path / 'other.db'}", night.account)
    async with Jury(store=night.url) as jury:
        await jury.export_cassettes(Selection(run_id="night"), tmp_path / "out")
    async with Jury(store=other.url) as jury:
        await jury.import_cassettes([tmp_path / "out"])

    assert other.read(lambda store: store.batch_ids("night")) == night.read(lambda store: store.batch_ids("night"))
    assert other.read(lambda store: verify(store).failures) == ()
    with pytest.raises(RunRefused):
        await other.live("night")


def test_a_cassette_of_a_batch_passes_the_second_verifier(night: Night, tmp_path: Path) -> None:
    asyncio.run(night.session(once=True))

    def exported(store: EventStore) -> bytes:
        (history,) = store.histories(store.batch_ids("night")[:1])
        return write_cassette(history)

    place = tmp_path / "one.batch.jsonl"
    place.write_bytes(night.read(exported))
    done = subprocess.run([sys.executable, auditor.__file__, str(place)], capture_output=True, check=False)

    assert done.returncode == 0, done.stdout


async def test_what_is_in_batches_is_among_the_figures_of_a_run(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    live = night.read(lambda store: LiveRunReader(store, night.url, "night").read())

    assert live.batches is not None
    assert (live.batches.wave, live.batches.batches, live.batches.calls) == (1, 1, {"waiting": 9})
    assert [line.split()[:3] for line in live_lines(live) if line.startswith("batches")] == [["batches", "wave", "1:"]]


async def test_metrics_show_what_is_in_batches_while_it_is_waited_for(night: Night) -> None:
    night.account.ends = lambda _batch_id: bool(shown)
    shown: list[dict[str, float]] = []

    async def looks(_seconds: float) -> None:
        shown.append(figures(night.totals))

    await night.session(sleep=looks, clock=MovedClock())
    after = figures(night.totals)

    assert {"jury_waves_total": 1.0, "jury_batch_calls stage=waiting": 9.0} == {
        name: value
        for name, value in shown[0].items()
        if name in {"jury_waves_total", "jury_batch_calls stage=waiting"}
    }
    assert shown[0]["jury_batch_oldest_seconds"] >= 3600
    assert shown[0]["jury_batch_reserved_dollars"] == 0.0  # simulated models cost nothing
    assert after["jury_waves_total"] > 1
    assert "jury_batch_calls stage=waiting" not in after


async def test_a_server_shows_what_is_in_batches_whatever_process_follows_them(night: Night) -> None:
    night.panel, night.count = "independent", 1
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    with closing(open_store(night.url, write=False)) as store:
        metrics, totals = StoreBatchMetrics(store, Effects().clock), MetricTotals()
        with metrics.shown(totals):
            metrics.look()
            one = figures(totals)
            await night.session("another", once=True)
            metrics.look()
            two = figures(totals)
            night.account.ends = lambda _batch_id: True
            await night.session()
            await night.session("another")
            metrics.look()
            ended = figures(totals)
        again = RecordedBatches(store).open()

    name = "jury_batch_calls stage=waiting"
    assert (3.0, 6.0) == (one[name], two[name])
    assert one["jury_batch_oldest_seconds"] > 0
    assert name not in ended
    assert 0 == ended["jury_batch_oldest_seconds"]
    assert [] == again


def figures(totals: MetricTotals) -> dict[str, float]:
    page = MetricsExposition(totals).page("").body.decode()
    families = text_string_to_metric_families(page)
    return {
        " ".join((one.name, *(f"{name}={value}" for name, value in one.labels.items()))): one.value
        for family in families
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


async def test_calls_of_one_batch_that_begin_alike_ask_to_keep_the_case(night: Night, tmp_path: Path) -> None:
    night.panel = tmp_path / "panel.yaml"
    night.panel.write_text(KEPT)
    await night.session(once=True)
    asked = {trace.split("/")[2]: request.cache for trace, request in night.account.requests.items()}

    assert {"a": "5m", "b": "5m", "c": "none"} == asked


async def test_answers_are_used_though_prices_say_otherwise_now_what_is_worth_keeping(
    night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.panel = tmp_path / "panel.yaml"
    night.panel.write_text(KEPT)
    await night.session(once=True)
    monkeypatch.setattr(CachePolicy, "choose", lambda *_: "1h")
    lines = await night.session()

    assert len(lines) == night.count
    assert set(night.account.asked.values()) == {1}
    assert {one.via is not None for one in night.read(exchanges)} == {True}


async def test_the_list_of_runs_says_which_wait_for_batches(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    async with Jury(store=night.url) as jury:
        listed = await jury.runs()

    assert [one.batches is not None for one in listed] == [True]
    assert [line for line in executed_run_lines(listed) if "wave 1 in batches" in line] != []
