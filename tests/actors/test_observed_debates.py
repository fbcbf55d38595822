"""What actors report is what the log says, whichever observer takes it; without one nothing is kept."""

import asyncio
import logging
from contextlib import nullcontext
from unittest.mock import patch

import pytest

from jury_actors import (
    ACTORS_REPLACED,
    CALL_SECONDS,
    CALLS,
    CALLS_IN_FLIGHT,
    DEBATES_IN_FLIGHT,
    DEBATES_STOPPED,
    FIELDS,
    METRICS,
    PERMIT_SECONDS,
    QUEUE_LENGTH,
    RUNTIMES,
    Backoff,
    CountingObserver,
    HistogramCounts,
    MetricTotals,
    Tallies,
    TallySnapshot,
    in_process_runtime,
    observed_here,
)
from jury_judge import MetricsExposition
from jury_providers import NO_FAULTS, Script
from support.runtime_harness import KeptStore, Meter, Run, a_case_with_records, completed, fixed_effects
from support.scraped import counts, counts_of_log, samples
from support.waiting import until

FALLBACKS = [
    {"model": "simulated/juror", "juror_id": "a", "fallbacks": ["simulated/second"]},
    {"model": "simulated/juror", "juror_id": "b"},
]
FAULTS = Script(seed=5, rates={"timeout": 0.15, "unparseable": 0.2, "bad_request": 0.1, "truncated": 0.05})


async def execute(
    run: Run, totals: MetricTotals | None, script: Script = NO_FAULTS, meter: Meter | None = None
) -> None:
    plan = run.plan(script)
    factory = nullcontext() if meter is None else patch("jury_actors.runtime.provider_factory", meter.factory)
    with observed_here(totals) as observer, factory:
        runtime = in_process_runtime(
            plan, lambda: run.store, effects=fixed_effects(), backoff=Backoff(base=0.0, cap=0.0), observer=observer
        )
        async with runtime as opened:
            await run.execute_in(opened)


def page(totals: MetricTotals) -> str:
    return MetricsExposition(totals).page("").body.decode()


async def test_counts_are_those_of_the_log() -> None:
    run = Run(KeptStore(), debates=25, case=a_case_with_records, seats=FALLBACKS)
    totals = MetricTotals()
    await execute(run, totals, FAULTS)
    found = counts(page(totals))

    assert counts_of_log(run.store, run.cases) == found
    kinds = {name for name, _ in found}
    assert {f"jury_call_{kind}_total" for kind in ("retries", "repairs", "fallbacks")} <= kinds
    assert "jury_abstentions_total" in kinds


async def test_two_runtimes_are_added_and_one_that_is_closed_stays_counted() -> None:
    runs = [Run(KeptStore(), debates=3), Run(KeptStore(), debates=2)]
    totals = MetricTotals()
    for run in runs:
        await execute(run, totals)
    found = samples(page(totals))

    assert 5 == found["jury_debates_started_total", ("begun",)]
    assert 0 == found[RUNTIMES.name, ()]


async def test_gauges_show_what_runs_now_and_nothing_afterwards() -> None:
    run, totals, meter = Run(KeptStore(), debates=4), MetricTotals(), Meter()
    meter.open.clear()
    meter_patch = patch("jury_actors.runtime.provider_factory", meter.factory)
    with observed_here(totals) as observer, meter_patch:
        async with in_process_runtime(run.plan(), lambda: run.store, observer=observer) as runtime:
            running = asyncio.create_task(run.execute_in(runtime))
            await until(lambda: meter.running == 12)
            during = totals.snapshot().gauges
            meter.open.set()
            found = await running
            after = totals.snapshot().gauges

    assert completed(found.values())
    assert (4, 12) == (during[DEBATES_IN_FLIGHT.name, ("evaluation",)], during[CALLS_IN_FLIGHT.name, ("simulated",)])
    assert 12 == during[QUEUE_LENGTH.name, ("steps",)]
    assert {0.0} == {value for (name, _), value in after.items() if name != RUNTIMES.name}
    assert {(RUNTIMES.name, ()): 0.0} == totals.snapshot().gauges


async def test_a_debate_that_stops_is_counted_by_its_error() -> None:
    run, totals, meter = Run(KeptStore(), debates=2), MetricTotals(), Meter()
    meter.breaks = lambda trace: trace.startswith("d1/")
    await execute(run, totals, meter=meter)
    counters = totals.snapshot().counters

    assert 1 == counters[DEBATES_STOPPED.name, ("Broken",)]
    assert 1 == sum(value for (name, _), value in counters.items() if name == "jury_debates_finished")


async def test_waits_for_permits_are_counted_by_provider() -> None:
    tallies = Tallies()
    CountingObserver(tallies).permit_granted("openai/gpt", 0.2)

    assert (0, 0, 1) == tallies.snapshot().histograms[PERMIT_SECONDS.name, ("openai",)].counts[:3]


async def test_without_totals_and_logs_nothing_is_observed(caplog: pytest.LogCaptureFixture) -> None:
    run = Run(KeptStore())
    await execute(run, None)

    assert [] == [one for one in caplog.records if hasattr(one, FIELDS)]


async def test_debates_and_failed_calls_are_logged_with_their_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "jury_actors")
    run = Run(KeptStore(), seats=FALLBACKS)
    await execute(run, None, Script(scripted={"initial/a": ("timeout",), "round-*": ("bad_request",)}))
    logged = [getattr(one, FIELDS) for one in caplog.records if hasattr(one, FIELDS)]

    first, failed = logged[0], next(one for one in logged if one["event"] == "call_failed")
    assert ("debate_begun", "run", "d0", None) == tuple(first[name] for name in ("event", "run", "debate", "step"))
    assert ("run", "d0", "initial/a", "timeout") == tuple(failed[name] for name in ("run", "debate", "step", "outcome"))
    assert {"simulated"} == {one["provider"] for one in logged if one["event"] == "call_failed"}
    assert "debate_completed" == logged[-1]["event"]
    assert "call_answered" not in {one["event"] for one in logged}, "it is of level debug"


def test_each_metric_has_a_name_of_its_own() -> None:
    assert len(METRICS) == len({one.name for one in METRICS})
    assert all(one.name.startswith("jury_") and one.says.endswith(".") for one in METRICS)
    assert all((one.kind == "histogram") == bool(one.bounds) for one in METRICS)


LABELS = ("p", "m", "answered")
KEY = CALLS.name, LABELS


def counted(calls: int, in_flight: int = 0) -> TallySnapshot:
    tallies = Tallies()
    tallies.add(CALLS, LABELS, calls)
    tallies.observe(CALL_SECONDS, 0.07, ("p", "m"))
    tallies.read_at_snapshots(CALLS_IN_FLIGHT, lambda: [(("p",), float(in_flight))])
    return tallies.snapshot()


def test_counters_do_not_go_backwards_when_an_actor_is_replaced() -> None:
    totals, seen = MetricTotals(), []
    for incarnation, calls in (("one", 3), ("one", 7), ("two", 0), ("two", 2), ("three", 1)):
        totals.receive("runtime/juror", "juror", incarnation, counted(calls))
        seen.append(totals.snapshot().counters[KEY])

    assert [3, 7, 7, 9, 10] == seen
    assert 2 == totals.snapshot().counters[ACTORS_REPLACED.name, ("juror",)]


def test_actors_are_added_and_one_that_ended_keeps_its_counters_without_its_gauges() -> None:
    totals = MetricTotals()
    totals.receive("runtime/a", "a", "one", counted(4, in_flight=2))
    totals.receive("runtime/b", "b", "one", counted(5, in_flight=3))
    before = totals.snapshot()
    totals.end("runtime/a")
    after = totals.snapshot()

    assert (9, 9) == (before.counters[KEY], after.counters[KEY])
    assert (5, 3) == (before.gauges[CALLS_IN_FLIGHT.name, ("p",)], after.gauges[CALLS_IN_FLIGHT.name, ("p",)])
    assert 2 == sum(after.histograms[CALL_SECONDS.name, ("p", "m")].counts)


def test_a_value_on_a_bound_belongs_to_the_bucket_below_it() -> None:
    tallies = Tallies()
    for value in (0.05, 0.0500001, 1000.0):
        tallies.observe(CALL_SECONDS, value, ("p", "m"))
    found = tallies.snapshot().histograms[CALL_SECONDS.name, ("p", "m")]

    assert (1, 1, 1) == (found.counts[0], found.counts[1], found.counts[-1])
    assert HistogramCounts((1, 2), 3.0).plus(HistogramCounts((0, 1), 1.0)) == HistogramCounts((1, 3), 4.0)
