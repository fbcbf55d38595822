"""A run in waves: what batches answer is recorded as what live calls answer, and decides the same."""

import asyncio
from collections import Counter
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from jury_actors.messages import Finished
from jury_cases.case_inputs import case_source
from jury_events.exchange import ExchangeRecorded
from jury_judge.batches.batch_plan import BatchPlan
from jury_judge.jury import Jury
from jury_judge.runs.preflight import preflight
from jury_judge.runs.run import Run
from jury_replay.verify import verify
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.batch_double import BatchAccountDouble

PANEL = None


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"c{one}", "question": f"Refund order {one}.", "response": "Refunded to 4242."} for one in range(count)
    ]


class Night:
    """One run over one store, judged in as many sessions as a test wants."""

    def __init__(self, url: str, account: BatchAccountDouble, count: int = 3, panel: Any = PANEL) -> None:
        self.url = url
        self.account = account
        self.panel = panel
        self.count = count
        self.said: list[str] = []
        self.problems: list[Finished] = []

    async def session(self, run_id: str = "night", **plan: Any) -> list[dict[str, Any]]:
        async def at_once(_seconds: float) -> None:
            await asyncio.sleep(0)

        batches = BatchPlan(self.account.providers, sleep=at_once)._replace(**plan)
        jury = Jury(self.panel, store=self.url)
        jury._say = self.said.append
        async with jury:
            run = Run(
                run_id=run_id,
                resolved=jury._loaded.resolved,
                cases=case_source(rows(self.count), (), None, None),
                concurrency=8,
            )
            checked = await asyncio.to_thread(preflight, run, jury.store)
            lines = jury.execute(run, checked, problems=self.problems, batches=batches)
            async with aclosing(lines):
                return [line async for line in lines]

    async def live(self, run_id: str) -> list[dict[str, Any]]:
        async with Jury(self.panel, store=self.url) as jury:
            run = Run(
                run_id=run_id,
                resolved=jury._loaded.resolved,
                cases=case_source(rows(self.count), (), None, None),
                concurrency=8,
            )
            checked = await asyncio.to_thread(preflight, run, jury.store)
            lines = jury.execute(run, checked, problems=self.problems)
            async with aclosing(lines):
                return [line async for line in lines]

    def read(self, work: Any) -> Any:
        """What `work` returns for the store."""
        with closing(open_store(self.url, write=False)) as store:
            return work(store)


def exchanges(store: EventStore) -> list[ExchangeRecorded]:
    return [one for history in store.histories([row.debate_id for row in store.debates()]) for one in history.exchanges]


def verdicts(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(line["case_id"], line["final_verdict"], line["final_score"], line["total_rounds"]) for line in lines]


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(f"sqlite:///{tmp_path / 'jury.db'}", BatchAccountDouble())


async def test_a_run_in_waves_decides_as_a_live_run_over_the_same_answers(night: Night) -> None:
    batched, live = await night.session(), await night.live("day")

    assert verdicts(batched) == verdicts(live)
    assert max(line["total_rounds"] for line in batched) > 0
    assert night.problems == []


async def test_every_call_is_recorded_once_via_its_batch_and_without_latency(night: Night) -> None:
    await night.session()
    recorded = night.read(exchanges)

    assert night.account.asked
    assert set(night.account.asked.values()) == {1}
    assert len(recorded) == len(night.account.asked)
    assert {one.via is not None and one.latency_ms == 0 for one in recorded} == {True}
    assert {one.via.batch for one in recorded} == set(night.read(lambda store: store.batch_ids("night")))


async def test_a_debate_of_batches_verifies_and_replays(night: Night) -> None:
    await night.session()
    report = night.read(lambda store: verify(store, deep=True))

    assert report.failures == ()
    assert (report.debates, report.replayed) == (night.count, night.count)


async def test_a_wave_is_no_resumption(night: Night) -> None:
    await night.session()
    types = night.read(lambda store: Counter(event.type for event in store.read_all(limit=10_000)))

    assert types["coordinator_resumed"] == 0


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
    night.account.live = lambda request: "/initial/juror-1/" in request.trace or "/a/" in request.trace
    batched, live = await night.session(), await night.live("day")

    recorded = [one for one in night.read(exchanges) if one.via is None]
    assert verdicts(batched) == verdicts(live)
    assert recorded
