"""Whole debates in a runtime in this process: cut off after each append, resumed, taken over, refused.

`test_disturbed_debates.py` has what comes of losses in any order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from jury_actors import (
    Broken,
    Coordinator,
    Finished,
    Job,
    NotResumable,
    OtherPanel,
    Runtime,
)
from jury_debate import IllegalEvent
from jury_events import (
    DebateImported,
    DebateQuarantined,
    RoundStarted,
    VersionRange,
    debate_stream,
    encode,
    local_stream,
    make_part,
)
from jury_providers import NO_FAULTS, Script
from jury_replay import verify
from jury_store import Append, Appended, EventStore, Fenced, StoreError, StoreFailed
from support.each_row import each_row
from support.runtime_harness import (
    CutOff,
    KeptStore,
    Meter,
    Run,
    a_case_with_records,
    broken_promises,
    completed,
    repeated_steps,
)
from support.tiers import others_full
from support.waiting import eventually, until

PRESETS = ("parallel-rounds", "adk-sequential", "independent")
TROUBLED = Script(scripted={"*/initial/sim-security/*": ("connection", "unparseable")})
"""One juror is unreachable once and talks nonsense once, so that its step takes three more exchanges."""


@each_row("preset", PRESETS)
async def test_neither_the_order_of_answers_nor_the_database_changes_a_debate(
    new_sqlite: Callable[[], EventStore], preset: str
) -> None:
    runs = [Run(store, preset=preset, case=a_case_with_records) for store in (KeptStore(), KeptStore(), new_sqlite())]
    for run, script in zip(runs, (NO_FAULTS, Script(latency=0.004, sigma=1.5, seed=1), NO_FAULTS), strict=True):
        assert completed((await run.execute(script=script)).values())
        assert verify(run.store).ok

    assert all(runs[0].event_bodies() == run.event_bodies() for run in runs)
    assert ("opened", "completed") == (runs[0].event_ids()[0], runs[0].event_ids()[-1])


@each_row("replicas", [3, 1])
async def test_one_pool_of_jurors_serves_many_debates_at_once(replicas: int) -> None:
    run, meter = Run(KeptStore(), debates=10), Meter()
    meter.open.clear()
    running = asyncio.create_task(run.execute(meter=meter, replicas=replicas))
    await until(lambda: meter.running == 3 * 10)
    meter.open.set()

    assert completed((await running).values())
    assert meter.providers <= 4 * replicas
    assert verify(run.store).ok


async def test_no_more_debates_at_once_than_asked_for(store: KeptStore) -> None:
    meter = Meter()
    await Run(store, debates=6).execute(meter=meter, concurrency=2, script=Script(latency=0.001))

    assert meter.most_running == 2 * 3


DECIDERS = (
    {"model": "simulated/juror", "juror_id": "sim-policy"},
    {"model": "simulated/decider", "juror_id": "sim-security", "questions": 1},
    {"model": "simulated/decider", "juror_id": "sim-misuse", "questions": 1},
)


@pytest.mark.parametrize(
    ("spec", "answered", "on_sqlite"),
    others_full(
        ({"preset": "parallel-rounds", "seats": DECIDERS}, False, False),
        ({"preset": "adk-sequential"}, True, False),
        ({"preset": "parallel-rounds"}, False, True),
    ),
    ids=["decision models", "in sequence", "on sqlite"],
)
async def test_a_debate_cut_off_after_any_append_continues_to_the_same_end(
    new_sqlite: Callable[[], EventStore], spec: dict[str, object], *, answered: bool, on_sqlite: bool
) -> None:
    cuts = await _cut_everywhere(new_sqlite if on_sqlite else KeptStore, answered=answered, **spec)

    assert cuts > 10


async def _cut_everywhere(new_store: Callable[[], EventStore], *, answered: bool, **spec: object) -> int:
    """Once after each append, until the cut comes after the end; gives how many cuts there were."""
    whole = Run(KeptStore(), case=a_case_with_records, **spec)
    await whole.execute(script=TROUBLED)
    for after in count():
        where = f"cut off after append {after}"
        store = new_store()
        run = Run(store, case=a_case_with_records, **spec)
        cut = CutOff(store, after, answered=answered)
        first, second = Meter(), Meter()
        stopped = await run.execute(script=TROUBLED, meter=first)
        cut.mend()
        if completed(stopped.values()):
            return after
        recorded = set(run.exchange_ids())
        resumed = await run.execute(script=TROUBLED, meter=second)

        assert isinstance(stopped["d0"].problem, StoreFailed), where
        assert completed(resumed.values()), where
        assert whole.event_bodies() == run.event_bodies(), where
        assert sorted(whole.exchange_ids()) == sorted(run.exchange_ids()), where
        assert not recorded & set(second.served_of("d0")), where
        assert not broken_promises(store, "d0", first.served_of("d0") + second.served_of("d0")), where
        assert verify(store).ok, where
    raise AssertionError("a debate without an end")


@asynccontextmanager
async def asking(run: Run, meter: Meter) -> AsyncIterator[Runtime]:
    """A runtime whose models were asked the first steps of d0, and do not answer until `meter` opens."""
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 3)
        yield runtime


async def test_a_debate_that_another_process_wrote_to_after_the_log_was_read_is_read_again(
    store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, meter = Run(store), Meter()
    async with asking(run, meter):
        pass
    meter.open.set()
    heads, stale = store.heads, iter([True])
    monkeypatch.setattr(store, "heads", lambda streams: {} if next(stale, False) else heads(streams))

    found = await run.execute(meter=meter)

    assert completed(found.values())
    assert [] == list(broken_promises(store, "d0", meter.served_of("d0")))


async def test_exchanges_that_a_predecessor_records_during_a_takeover_are_used_and_not_asked(
    store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, run = Meter(), Meter(), Run(store)
    append, loop = store.append, asyncio.get_running_loop()

    def slowly(requests: Sequence[Append]) -> list[Appended | StoreError]:
        answers = append(requests)
        if any(event.type == "coordinator_resumed" for request in requests for event in request.events):
            loop.call_soon_threadsafe(old.open.set)
            eventually(lambda: len(run.exchange_ids()) == 3)
        return answers

    async with asking(run, old):
        monkeypatch.setattr(store, "append", slowly)
        found = await run.execute(meter=new)

    assert completed(found.values())
    assert {1} == set((old.served + new.served).values())


async def test_a_resumed_debate_names_the_steps_that_it_asks_again(store: KeptStore) -> None:
    run, meter = Run(store), Meter()
    async with asking(run, meter):
        pass
    meter.open.set()
    await run.execute(meter=meter)

    assert {"initial/sim-policy": 1, "initial/sim-security": 1, "initial/sim-misuse": 1} == repeated_steps(store, "d0")


async def test_a_debate_of_another_panel_is_not_resumed(store: KeptStore) -> None:
    run, meter = Run(store), Meter()
    async with asking(run, meter):
        pass

    found = await Run(store, preset="independent").execute()

    assert isinstance(found["d0"].problem, OtherPanel)


async def test_the_result_of_a_debate_that_is_over_needs_no_call_and_no_event(store: KeptStore) -> None:
    run = Run(store, debates=2)
    await run.execute()
    position = store.last_position()
    meter = Meter()
    found = await run.execute(meter=meter)

    assert completed(found.values())
    assert (0, position) == (meter.served.total(), store.last_position())


async def test_a_debate_submitted_twice_runs_once(store: KeptStore) -> None:
    meter = Meter()
    run = Run(store)
    async with run.runtime(meter=meter) as runtime:
        await asyncio.gather(
            runtime.coordinators.all[0].submit("test", run.jobs), runtime.coordinators.all[0].submit("test", run.jobs)
        )
        delivery = await runtime.coordinators.all[0].poll("test", "", 0)

    assert [("d0", "completed", None)] == delivery.items
    assert not broken_promises(store, "d0", meter.served_of("d0"))
    assert not repeated_steps(store, "d0")


async def test_a_coordinator_whose_debate_another_took_over_is_fenced_off(store: KeptStore) -> None:
    old, new, run = Meter(), Meter(), Run(store)
    async with asking(run, old) as runtime:
        taken_over = await run.execute(meter=new)
        before = run.event_ids()
        old.open.set()
        (fenced,) = (await runtime.coordinators.all[0].poll("test", "", 0)).items

    assert completed(taken_over.values())
    assert ("unfinished", Fenced) == (fenced.status, type(fenced.problem))
    assert before == run.event_ids()


async def test_a_store_that_fails_leaves_every_debate_unfinished_with_the_reason(store: KeptStore) -> None:
    run = Run(store, debates=5)
    CutOff(store, 20, answered=True)
    found = await run.execute()

    assert [("unfinished", StoreFailed)] * 5 == [(one.status, type(one.problem)) for one in found.values()]


async def test_a_coordinator_whose_first_epoch_could_not_be_drawn_draws_another_for_the_next_debate(
    store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(store)

    def full() -> int:
        raise StoreFailed("the disk is full")

    async with run.runtime() as runtime:
        with monkeypatch.context() as disk:
            disk.setattr(store, "next_epoch", full)
            with pytest.raises(StoreFailed):
                await run.execute_in(runtime)
        found = await run.execute_in(runtime)

    assert completed(found.values())


async def test_a_store_that_refuses_one_debate_leaves_the_others_alone(
    store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = store.append

    def refusing(requests: list[Append]) -> list[Appended | StoreError]:
        return [StoreFailed("no") if "d1" in one.stream else append([one])[0] for one in requests]

    monkeypatch.setattr(store, "append", refusing)
    found = await Run(store, debates=3).execute()

    assert {"d0": "completed", "d1": "unfinished", "d2": "completed"} == {d: one.status for d, one in found.items()}


async def test_a_juror_that_breaks_leaves_only_its_debate_unfinished(store: KeptStore) -> None:
    meter = Meter()
    meter.breaks = lambda trace: trace.startswith("d1/round-1/sim-security")
    run = Run(store, debates=3)
    found = await run.execute(meter=meter)
    meter.breaks = lambda _trace: False
    later = await run.execute(meter=meter)

    assert {"d0": None, "d1": Broken, "d2": None} == {d: one.problem and type(one.problem) for d, one in found.items()}
    assert completed(later.values())


async def test_a_stream_that_the_rules_did_not_write_is_reported_and_left_alone(store: KeptStore) -> None:
    run = Run(store, debates=2)
    cut = CutOff(store, 1, answered=True)
    await run.execute(concurrency=1)
    cut.mend()
    strange = make_part(b"round 5", bytes(16))
    event = encode(
        RoundStarted(round=5, speaker_order=("sim-policy",), instruction=strange.ref), recorded_at=1, parts=(strange,)
    )
    store.append([Append(debate_stream("d0"), (event,), expected_version=2, epoch=store.next_epoch())])
    found = await run.execute()

    assert ("unfinished", IllegalEvent) == (found["d0"].status, type(found["d0"].problem))
    assert ["opened", "begun", "round-5/started"] == run.event_ids("d0")
    assert "completed" == found["d1"].status


async def test_a_case_that_cannot_be_read_leaves_only_its_debate_unfinished(store: KeptStore) -> None:
    run = Run(store, debates=2)
    broken, fine = run.jobs
    async with run.runtime() as runtime:
        found = await run.execute_in(runtime, jobs=[broken._replace(case=b"{}"), fine])

    assert {"d0": "unfinished", "d1": "completed"} == {debate: one.status for debate, one in found.items()}


async def test_a_debate_submitted_while_the_coordinator_closes_is_not_begun(store: KeptStore) -> None:
    run = Run(store)
    async with run.runtime() as runtime:
        assert isinstance(runtime.coordinators.all[0], Coordinator)
        before = asyncio.all_tasks()
        handing = asyncio.create_task(runtime.coordinators.all[0].submit("test", run.jobs))
        await asyncio.sleep(0)
        await runtime.coordinators.all[0].close()
        await asyncio.gather(handing, return_exceptions=True)
        left = {str(task.get_coro()) for task in asyncio.all_tasks() - before}

    assert not any("Coordinator._run" in one for one in left)


async def test_a_driver_that_leaves_stops_its_debates_unless_another_waits_for_them(store: KeptStore) -> None:
    run, meter = Run(store, debates=2), Meter()
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        leaves = asyncio.create_task(run.execute_in(runtime))
        stays = asyncio.create_task(run.execute_in(runtime, jobs=run.jobs[1:]))
        await until(lambda: meter.running == 6)
        leaves.cancel()
        await asyncio.gather(leaves, return_exceptions=True)
        meter.open.set()
        found = await stays

    assert completed(found.values())
    assert ["opened", "begun"] == run.event_ids("d0")
    assert not repeated_steps(store, "d1")


CAME = VersionRange(after=0, until=1)
IMPORTED = DebateImported(
    debate=CAME,
    calls=VersionRange(after=0, until=0),
    review=VersionRange(after=0, until=0),
    seal=None,
    sealed_by=None,
    verified_with=None,
    lengths=None,
    number=1,
)
SET_ASIDE = DebateQuarantined(by="ops", reason="under investigation", number=1)


async def begun(store: KeptStore) -> Run:
    """A run whose debate is open, and has no answer yet."""
    run, meter = Run(store), Meter()
    meter.breaks = lambda _trace: True
    await run.execute(meter=meter)
    return run


async def resumed(
    run: Run, mark: DebateImported | DebateQuarantined, *, adopted: bool = False
) -> tuple[Finished, Meter]:
    """How the debate ends where the store says so of it, and the calls that were made."""
    run.store.append([Append(local_stream("d0"), (encode(mark, recorded_at=1),), 0)])
    meter = Meter()
    async with run.runtime(meter=meter) as runtime:
        jobs: list[Job] = [job._replace(adopted=adopted) for job in run.jobs]
        found = await run.execute_in(runtime, jobs=jobs)
    return found["d0"], meter


@pytest.mark.parametrize("mark", [IMPORTED, SET_ASIDE], ids=["imported", "set aside"])
async def test_it_is_left_as_it_is_and_no_model_is_called(
    store: KeptStore, mark: DebateImported | DebateQuarantined
) -> None:
    run = await begun(store)
    before = run.event_ids()
    finished, meter = await resumed(run, mark)

    assert isinstance(finished.problem, NotResumable)
    assert not meter.served
    assert before == run.event_ids()


async def test_one_that_the_run_adopts_goes_on(store: KeptStore) -> None:
    finished, _ = await resumed(await begun(store), IMPORTED, adopted=True)

    assert completed([finished])


class EpochsSeen(KeptStore):
    """Notes the epoch and the expected version of every append to a debate."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: set[int | None] = set()
        self.unversioned: list[str] = []

    def append(self, requests: Sequence[Append], **options: Any) -> list[Appended | StoreError]:
        for one in requests:
            if one.stream.startswith("debate/"):
                self.epochs.add(one.epoch)
                self.unversioned += [one.stream] if one.expected_version is None else []
        return super().append(requests, **options)


async def test_every_append_to_a_debate_carries_the_epoch_that_was_drawn_and_the_version_that_it_follows() -> None:
    store = EpochsSeen()
    found = await Run(store, debates=2, case=a_case_with_records).execute()
    await Run(store, debates=3, case=a_case_with_records).execute()

    assert completed(found.values())
    assert {1, 2} == store.epochs
    assert [] == store.unversioned
