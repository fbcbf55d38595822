"""A run in waves over the providers' own SDKs: whatever its batches suffer, it decides as a live run does."""

import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jury_actors import PATIENCE, Halted, batches_of
from jury_events import BatchItemsUnanswered, JurorAbstained, JurorEvaluated, decode_batch
from jury_providers import (
    NO_FAULTS,
    BatchLine,
    BatchProvider,
    BatchState,
    ItemEnd,
    Script,
    SdkBatches,
    batch_provider,
    simulation_server,
)
from jury_providers.simulated.http import server
from jury_replay import verify
from jury_store import EventStore
from support.nights import Night, SetClock, cancelled, exchanges, verdicts
from support.tiers import others_full
from support.vendors.batch_lives import ScriptedJob, ScriptedJobs
from support.vendors.batch_script import BatchScript

PANEL = """seats:
- {juror_id: a, model: openai/gpt-6-sol}
- {juror_id: b, model: openai-responses/gpt-6-sol}
- {juror_id: c, model: anthropic/claude-haiku-5-5}
- {juror_id: d, model: google/gemini-3.8-flash}
"""
AT_ONCE = PATIENCE._replace(arrival=0.0, again=0.0)
MOST_PASSES = 8


class Clients:
    """The batches of the providers, as one process has them."""

    def __init__(self) -> None:
        self._made: dict[str, BatchProvider] = {}

    def providers(self, name: str) -> BatchProvider:
        """For `BatchPlan`."""
        if name not in self._made:
            self._made[name] = batch_provider(name)
        return self._made[name]

    async def close(self) -> None:
        for client in self._made.values():
            await client.close()


class ServedNight(NamedTuple):
    """A run over a server of batches."""

    night: Night
    jobs: ScriptedJobs

    async def judged(self, **plan: Any) -> list[tuple[object, ...]]:
        """The verdicts, after as many passes of the same command as it takes."""
        for _ in range(MOST_PASSES):
            try:
                return verdicts(await self.once_more(**plan))
            except Halted:
                continue
        raise AssertionError(f"not ended after {MOST_PASSES} passes")

    async def once_more(self, **plan: Any) -> list[dict[str, Any]]:
        """A session of the run, with new clients."""
        clients = Clients()
        self.night.account = clients  # type: ignore[assignment]  # the session asks it for providers alone
        try:
            return await self.night.session(**{"patience": AT_ONCE, **plan})
        finally:
            await clients.close()

    @property
    def answered_twice(self) -> int:
        """Calls that the models answered more than once in batches."""
        bodies = Counter(body for batch in self.jobs.described() for body in batch["answered_bodies"])
        return sum(count > 1 for count in bodies.values())


@asynccontextmanager
async def served(
    folder: Path, keys: pytest.MonkeyPatch, script: BatchScript, live: Script = NO_FAULTS
) -> AsyncIterator[ServedNight]:
    panel = folder / "panel.yaml"
    panel.write_text(PANEL)
    scripted = partial(ScriptedJobs, script=script, clock=time.time)
    async with simulation_server(live, batches=scripted) as server:
        assert isinstance(server.batches, ScriptedJobs)
        for name, url in server.variables.items():
            keys.setenv(name, url)
        clients = Clients()
        yield ServedNight(Night(f"sqlite:///{folder / 'jury.db'}", clients, 3, str(panel)), server.batches)  # type: ignore[arg-type]  # as above


async def test_four_providers_decide_in_batches_as_live(tmp_path: Path, keys: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, keys, BatchScript()) as run:
        batched = await run.judged()
        live = verdicts(await run.night.live("day"))
        recorded = [one for one in run.night.read(exchanges) if one.via is not None]

    assert sorted(live) == sorted(batched)
    assert 0 == run.answered_twice
    assert len(recorded) == sum(batch["items"] for batch in run.jobs.described())
    assert {"batch"} == {one.usage.service_tier for one in recorded}
    assert {0.0} == {one.cost for one in recorded}


PRICES = """[[price]]
models = ["openai/*", "openai-responses/*", "anthropic/*", "google/*"]
input = 2.0
output = 10.0
"""


@pytest.mark.full
async def test_a_run_in_batches_costs_half_of_a_live_run_over_the_same_answers(
    tmp_path: Path, keys: pytest.MonkeyPatch
) -> None:
    """The models do not say that they are simulated, as what they answer would cost nothing."""
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    keys.setenv("JURY_PRICES", str(prices))
    keys.setattr(server, "HEADER", ("x-served-by", "test"))
    async with served(tmp_path, keys, BatchScript()) as run:
        await run.judged()
        await run.night.live("day")
        totals = run.night.read(lambda store: store.totals_by_run())

    assert totals["day"].cost > 0
    assert (totals["night"].calls, totals["night"].unknown_cost) == (totals["day"].calls, 0)
    assert totals["night"].cost == pytest.approx(totals["day"].cost / 2)


EVERY = 4
FAULTS: dict[str, tuple[BatchScript, bool]] = {
    **{
        name: (BatchScript(jobs=(name,) * EVERY), lost)
        for name, lost in (
            ("missing", True),
            ("truncated_lines", True),
            ("unknown_ids+doubled_ids", False),
            ("endless", False),
            ("bad_line", False),
            ("failed", False),
            ("cancelled", False),
        )
    },
    **{
        f"{call} {'+'.join(faults)}": (BatchScript(calls={call: faults}), False)
        for call, faults in (
            ("submit", ("lost", "lost")),
            ("submit", ("overloaded", "rate_limited", "html", "connection")),
            ("upload", ("overloaded", "connection", "html", "lost")),
            ("state", ("overloaded", "html", "connection", "cut")),
            ("results", ("cut", "overloaded", "connection", "html", "short", "rate_limited")),
        )
    },
}
"""Each with whether what the provider loses is paid twice."""


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_batches_suffer_the_verdicts_are_those_of_live_calls(
    tmp_path: Path, keys: pytest.MonkeyPatch, fault: str
) -> None:
    script, lost = FAULTS[fault]
    async with served(tmp_path, keys, script) as run:
        batched = await run.judged()
        live = verdicts(await run.night.live("day"))

    assert sorted(live) == sorted(batched)
    assert lost == (run.answered_twice > 0)


@pytest.mark.full
async def test_an_answer_that_is_not_used_is_recorded_with_its_cost(tmp_path: Path, keys: pytest.MonkeyPatch) -> None:
    """Of each provider: to read it, nothing of what was asked has to be known."""
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    keys.setenv("JURY_PRICES", str(prices))
    keys.setattr(server, "HEADER", ("x-served-by", "test"))
    async with served(tmp_path, keys, BatchScript()) as run:
        night = run.night
        await run.once_more(once=True)
        await cancelled(night)
        await run.once_more(once=True)
        found = night.read(lambda store: list(batches_of(store, "night")))

    assert {"openai", "openai-responses", "anthropic", "google"} == {one.prepared.provider for one in found}
    assert {3} == {len(one.unanswered) for one in found}
    assert {True} == {one.closed is not None and one.unused_cost > 0 for one in found}
    assert {("superseded", True)} == {
        (one.end, one.text is not None) for page in pages_of(night) for one in page.unanswered
    }
    assert () == night.read(lambda store: verify(store, deep=True)).failures


def pages_of(night: Night) -> list[BatchItemsUnanswered]:
    return [
        page
        for event in night.read(lambda store: list(store.read_all(limit=10_000)))
        if event.type == "batch_items_unanswered" and isinstance(page := decode_batch(event), BatchItemsUnanswered)
    ]


@pytest.mark.full
@pytest.mark.parametrize("hours", [100.0, -100.0])
async def test_lost_submissions_are_found_wherever_the_clock_went_and_strangers_left_alone(
    tmp_path: Path, keys: pytest.MonkeyPatch, hours: float
) -> None:
    """A stranger of the same account has batches with as many items at each provider, nearer to our sending."""
    async with served(tmp_path, keys, BatchScript()) as run:
        jobs = run.jobs
        clock = SetClock()
        clock.hours = -hours
        jobs.script.calls = {"submit": ("lost",) * 4}
        await run.once_more(once=True, clock=clock)
        ours = list(jobs.lives)
        strangers = [copied(jobs, job) for job in ours]
        clock.hours = hours
        batched = await run.judged(clock=clock)
        live = verdicts(await run.night.live("day"))
        own = Counter(body for job in jobs.lives if job not in strangers for body in job.bodies)

    assert 4 == len(ours)
    assert [None] * 4 == [job.cancelled_at for job in strangers]
    assert sorted(live) == sorted(batched)
    assert {1} == set(own.values())


def copied(jobs: ScriptedJobs, job: ScriptedJob) -> ScriptedJob:
    """A batch of another process of the same account: other ids, the same number of items, no nonce of ours."""
    spool = jobs.files.new_path()
    lines = [json.loads(line) for line in job.spool.read_bytes().splitlines()]
    for number, line in enumerate(lines):
        line["key" if "key" in line else "custom_id"] = f"strangers-{number}"
    spool.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    prefix = next(one for one in ("batches/", "msgbatch_", "batch_") if job.identity.startswith(one))
    copy = jobs.new_job(
        job.account,
        spool,
        prefix=prefix,
        label="{}" if prefix == "batch_" else "",
        model=job.model,
        endpoint=job.endpoint,
    )
    copy.created = job.created - 1.0
    jobs.jobs[copy.identity] = copy
    return copy


@pytest.mark.full
async def test_a_provider_that_refuses_the_key_keeps_no_answer_of_the_others(
    tmp_path: Path, keys: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, keys, BatchScript()) as run:
        await run.once_more(once=True)
        run.jobs.script.calls = {"state": ("authentication",)}
        with pytest.raises(Halted):
            await run.once_more(once=True)
        facts = run.night.read(lambda store: list(batches_of(store, "night")))

    assert [False, True, True, True] == sorted(one.closed is not None for one in facts)


@pytest.mark.parametrize(("live", "evaluated"), others_full((NO_FAULTS, 12), (Script(rates={"bad_request": 1.0}), 0)))
async def test_a_wave_of_which_every_line_fails_decides_no_debate(
    tmp_path: Path, keys: pytest.MonkeyPatch, live: Script, evaluated: int
) -> None:
    """One more call is made live: by it the run learns whether the provider answers at all."""
    refused = json.dumps({"error": {"message": "No.", "type": None, "code": None}}).encode()
    read = SdkBatches.results

    async def results(self: SdkBatches, batch_id: str, state: BatchState) -> AsyncIterator[BatchLine]:
        async for line in read(self, batch_id, state):
            yield line._replace(end=ItemEnd.ERRORED, response=refused, status=400)

    keys.setattr(SdkBatches, "results", results)
    async with served(tmp_path, keys, BatchScript(), live) as run:
        with suppress(Halted):
            for _ in range(2):
                await run.once_more()
        voted = run.night.read(lambda store: Counter(_votes(store)))

    assert (evaluated, 0) == (voted[JurorEvaluated], voted[JurorAbstained])


def _votes(store: EventStore) -> Iterator[type]:
    for history in store.histories([row.debate_id for row in store.debates(run_id="night")]):
        yield from (type(event) for event in history.events)
