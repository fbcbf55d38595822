"""A run in batches whose provider is a double, judged in as many sessions as a test wants: one night, say."""

import asyncio
import json
import os
from collections import Counter
from contextlib import aclosing, closing
from datetime import date
from typing import Any

from jury_actors import Effects, Finished, MetricTotals
from jury_cases import case_source
from jury_events import ExchangeRecorded
from jury_judge import BatchPlan, Budget, Jury, Observation, PreflightReport, RunExecution, RunInput, preflight
from jury_judge.runs.run import RunProgress
from jury_judge.runs.run_budget import run_budget
from jury_judge.runs.supervision import RunSupervision
from jury_judge.runs.wave_driving import WaveDriving
from jury_judge.store_access.open_batches import WaveMetrics
from jury_migrations import upgrade
from jury_providers import Prices, load_prices
from jury_store import EventStore, PublicKey, open_store
from support.batch_double import BatchAccountDouble

HOUR = 3_600_000_000
START = 1_800_000_000_000_000


PANEL = None
TODAY = date(2026, 11, 25)
ANOTHERS = "b" * 26


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"c{one}", "question": f"Refund order {one}.", "response": "Refunded to 4242."} for one in range(count)
    ]


def _prices() -> Prices:
    """Those of the variable, and no list prices."""
    return load_prices(os.environ["JURY_PRICES"]) if "JURY_PRICES" in os.environ else Prices()


class Died(Exception):
    """Ends a process in the middle of a wave."""


class Night:
    """One run over one store, judged in as many sessions as a test wants."""

    def __init__(self, url: str, account: BatchAccountDouble, count: int = 3, panel: Any = PANEL) -> None:
        self.url = url
        self.account = account
        self.panel = panel
        self.count = count
        self.budget = Budget()
        self.said: list[str] = []
        self.problems: list[Finished] = []
        self.totals = MetricTotals()
        self.adopt: tuple[PublicKey, ...] = ()
        self.seconds = 0.0

    async def pass_by(self, seconds: float) -> None:
        """Let time pass by every clock but that of this machine."""
        self.seconds += seconds
        if isinstance(self.account, BatchAccountDouble) and self.account.passed is not None:
            self.account.passed += seconds
        await asyncio.sleep(0)

    async def session(self, run_id: str = "night", **plan: Any) -> list[dict[str, Any]]:
        clock, supervision, stopping = (plan.pop(name, None) for name in ("clock", "supervision", "stopping"))
        own = BatchPlan(self.account.providers, sleep=self.pass_by, monotonic=lambda: self.seconds)
        batches = own._replace(**plan)
        budget = self.read(lambda store: run_budget(store, run_id, _prices(), TODAY, self.budget.bounds))
        jury = Jury(self.panel, store=self.url, budget=self.budget, observation=Observation(metrics=self.totals))
        jury._actors.config = jury._actors.config._replace(budget=budget)
        effects = Effects() if clock is None else Effects(clock=clock)
        by_person, stopping = stopping, stopping or asyncio.Event()
        supervision = supervision or RunSupervision(self.url, run_id)
        async with jury:
            run = RunInput(
                run_id=run_id,
                resolved=jury._loaded.resolved,
                cases=case_source(rows(self.count), (), None, None),
                concurrency=8,
                adopt=self.adopt,
                batched=True,
            )
            checked = await asyncio.to_thread(preflight, run, jury.store)
            driving = WaveDriving(
                run,
                jury.store,
                batches,
                stopping,
                prices=_prices(),
                say=self.said.append,
                metrics=WaveMetrics(self.totals, effects.clock),
                cancelled_by=lambda: supervision.cancelled_by,
                interrupted=lambda: by_person is not None and by_person.is_set(),
                effects=effects,
            )
            return await self._lines(
                jury, run, checked, stopping=stopping, driving=driving, supervision=supervision, store_patience=60.0
            )

    async def live(self, run_id: str) -> list[dict[str, Any]]:
        async with Jury(self.panel, store=self.url) as jury:
            run = RunInput(
                run_id=run_id,
                resolved=jury._loaded.resolved,
                cases=case_source(rows(self.count), (), None, None),
                concurrency=8,
            )
            checked = await asyncio.to_thread(preflight, run, jury.store)
            return await self._lines(jury, run, checked, stopping=asyncio.Event())

    async def _lines(self, jury: Jury, run: RunInput, checked: PreflightReport, **options: Any) -> list[dict[str, Any]]:
        state = RunProgress(checked.total, checked.size, problems=self.problems)
        execution = RunExecution(
            run=run, checked=checked, store=jury.store, actors=jury._actors, state=state, **options
        )
        async with aclosing(execution.lines()) as lines:
            return [line async for line in lines]

    def sent_twice(self) -> list[str]:
        """Calls that stand in two batches, or were made live and in a batch."""
        own = [one for one in self.account.batches.values() if one.nonce != ANOTHERS]
        sent = Counter(json.loads(line)["trace"] for one in own for line in one.lines)
        return [trace for trace, count in sent.items() if count > 1]

    def read(self, work: Any) -> Any:
        """What `work` returns for the store, which is made where there is none."""
        upgrade(self.url)
        with closing(open_store(self.url, write=False)) as store:
            return work(store)


class MovedClock:
    """An hour goes by at each look."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000_000

    def __call__(self) -> int:
        self.now += 3_600_000_000
        return self.now


def exchanges(store: EventStore) -> list[ExchangeRecorded]:
    return [
        one
        for history in store.histories([row.debate_id for row in store.debates(run_id="night")])
        for one in history.exchanges
    ]


def verdicts(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(line["case_id"], line["final_verdict"], line["final_score"], line["total_rounds"]) for line in lines]


_DECIDED_LIVE: dict[str, list[tuple[Any, ...]]] = {}


async def live_verdicts(night: Night) -> list[tuple[Any, ...]]:
    """What live calls decide on the same cases, which each process of tests judges once."""
    key = json.dumps([str(night.panel), rows(night.count)])
    if key not in _DECIDED_LIVE:
        _DECIDED_LIVE[key] = verdicts(await night.live("day"))
    return _DECIDED_LIVE[key]


def dies_at(night: Night, call: str) -> None:
    night.account.fails[call] = Died()  # type: ignore[assignment]


class SetClock:
    """Says these hours after its start."""

    hours = 0.0

    def __call__(self) -> int:
        return START + round(self.hours * HOUR)


async def cancelled(night: Night) -> list[str]:
    said: list[str] = []
    async with Jury(store=night.url) as jury:
        await jury.cancel("night", by="the operator", say=said.append)
    return said
