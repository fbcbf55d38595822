"""Debates over HTTP with faults, halted and resumed: the records replay equal."""

import asyncio
from pathlib import Path

import pytest

from jury_actors import Backoff, Job, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_events import Case, ExchangeRecorded, ExecutionResult, decode
from jury_migrations import upgrade
from jury_providers import WIRE_FAULTS, WireScript, simulation_server
from jury_providers.simulated.script import FAULTS
from jury_replay import DebateSelection, ReplayStatus, replay, verify
from jury_store import EventStore, open_store
from support.matrix import canary_keys
from support.runtime_harness import a_case_with_records, a_resolved

DEBATES = tuple(f"r~c{number}" for number in range(24))
MODELS = ("openai/m", "anthropic/m", "google/m", "openai-responses/m")
_SESSIONS = 60
_SELDOM = {"authentication": 0.01, "quota": 0.01, "timeout": 0.02, "answered": 0.0}

FAULTY = {fault: _SELDOM.get(fault, 0.03) for fault in (*FAULTS, *WIRE_FAULTS) if fault != "answered"}


@pytest.mark.full
@pytest.mark.parametrize("preset", ["parallel-rounds", pytest.param("adk-sequential", marks=pytest.mark.long)])
async def test_a_recorded_debate_takes_the_same_course_when_it_is_replayed(tmp_path: Path, preset: str) -> None:
    store_url = f"sqlite:///{tmp_path / 'jury.db'}"
    await asyncio.to_thread(upgrade, store_url)
    script = WireScript(rates=FAULTY, seed=7)
    async with simulation_server(script) as simulation:
        with canary_keys(simulation.variables):
            unfinished = [*DEBATES]
            sessions = 0
            while unfinished:
                sessions += 1
                assert sessions <= _SESSIONS
                unfinished = await _session(store_url, preset, unfinished)
        served = simulation.served.requests
    store = open_store(store_url, write=False)
    outcomes = _outcomes(store)
    replayed = list(replay(store, DebateSelection(DEBATES)))
    failures = verify(store).failures
    store.close()

    assert sessions > 1, "no key was ever refused"
    assert {"answered", "authentication", "quota", "timeout", "blocked", "truncated"} <= set(outcomes)
    # On a busy machine a call's second may be over before the server has read it.
    assert served <= len(outcomes) <= served + outcomes.count("timeout")
    assert ([], []) == ([one for one in replayed if one.status is not ReplayStatus.EQUAL], list(failures))


async def _session(store_url: str, preset: str, debates: list[str]) -> list[str]:
    """Run debates until they end or are halted; returns those that are not over."""
    settings = {"timeout_seconds": 1.0, "tries": 2}
    seats = [{"model": model, "fallbacks": ["openai/spare"], "settings": settings} for model in MODELS[:3]]
    judge = {"model": MODELS[3], "fallbacks": ["google/spare"], "settings": settings}
    resolved = a_resolved(preset=preset, seats=seats, final={"judge": judge})
    context = RunContext("r", resolved, watched=True)
    jobs = [Job(debate, _case(debate[2:]).model_dump_json().encode(), context) for debate in debates]
    plan = RuntimeConfig((resolved.panel,), store_url, "r")
    entered = in_process_runtime(
        plan, lambda: open_store(store_url, write=True, run="r", wait=5), backoff=Backoff(base=0.0, cap=0.0)
    )
    async with entered as runtime:
        return [one.debate_id async for one in drive(runtime, iter(jobs), concurrency=24) if one.status == "unfinished"]


def _case(case_id: str) -> Case:
    """Each debate has its own faults: they follow from its case."""
    case = a_case_with_records(case_id)
    scenario = case.scenarios[0].changed(execution=ExecutionResult(response=f"Refunded the order of {case_id}."))
    return case.changed(scenarios=(scenario,))


def _outcomes(store: EventStore) -> list[str]:
    events = [decode(event) for event in store.read_all(limit=1_000_000)]
    return [event.outcome.value for event in events if isinstance(event, ExchangeRecorded)]
