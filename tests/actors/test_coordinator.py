"""Whole debates in a runtime in this process: run, cut off anywhere, resumed, taken over, disturbed."""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from itertools import count
from unittest.mock import patch

import pytest

from jury_actors import (
    Backoff,
    Broken,
    Clerk,
    Coordinator,
    Delivery,
    Finished,
    ForgetDebate,
    IncarnationLost,
    Juror,
    OtherPanel,
    Runtime,
    StepExecution,
    StepRequest,
    StepResult,
)
from jury_actors.debate_process import DebateProcess
from jury_debate import Assignment, Debate, IllegalEvent
from jury_events import DebateCancelled, DebateHistory, RoundStarted, Step, debate_stream, encode, make_part
from jury_providers import NO_FAULTS, Script
from jury_replay import verify
from jury_store import Append, Appended, EventStore, Fenced, StoreError, StoreFailed
from support.runtime_harness import (
    CutOff,
    KeptStore,
    Meter,
    Run,
    a_case_with_records,
    broken_promises,
    completed,
    fixed_effects,
    repeated_steps,
)
from support.tiers import others_full
from support.waiting import eventually, until

PRESETS = ("parallel-rounds", "adk-sequential", "independent")
TROUBLED = Script(scripted={"*/initial/sim-security/*": ("connection", "unparseable")})
"""One juror is unreachable once and talks nonsense once, so that its step takes three more exchanges."""


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_debate_of_each_preset_runs_to_its_end(store: KeptStore, preset: str) -> None:
    run = Run(store, preset=preset, case=a_case_with_records)
    found = await run.execute()

    assert completed(found.values())
    assert ("opened", "completed") == (run.event_ids()[0], run.event_ids()[-1])
    assert verify(store).ok


async def test_a_debate_on_sqlite_is_the_same_as_in_memory(
    store: KeptStore, new_sqlite: Callable[[], EventStore]
) -> None:
    there = Run(new_sqlite(), case=a_case_with_records)
    here = Run(store, case=a_case_with_records)
    await there.execute()
    await here.execute()

    assert here.event_bodies() == there.event_bodies()
    assert verify(there.store).ok


@pytest.mark.parametrize("preset", others_full(*PRESETS))
async def test_the_order_of_answers_does_not_change_a_debate(preset: str) -> None:
    debates = []
    for script in (NO_FAULTS, *(Script(latency=0.004, sigma=1.5, seed=seed) for seed in range(4))):
        run = Run(KeptStore(), debates=3, preset=preset, case=a_case_with_records)
        await run.execute(script=script)
        debates.append([run.event_bodies(debate) for debate in run.cases])

    assert all(debate == debates[0] for debate in debates[1:])


@pytest.mark.parametrize("replicas", others_full(3, 1))
async def test_one_pool_of_jurors_serves_many_debates_at_once(store: KeptStore, replicas: int) -> None:
    meter = Meter()
    meter.open.clear()
    run = Run(store, debates=40)
    running = asyncio.create_task(run.execute(meter=meter, replicas=replicas))
    await until(lambda: meter.running == 3 * 40)
    meter.open.set()

    assert completed((await running).values())
    assert meter.providers <= 4 * replicas
    assert verify(store).ok


async def test_no_more_debates_at_once_than_asked_for(store: KeptStore) -> None:
    meter = Meter()
    await Run(store, debates=9).execute(meter=meter, concurrency=2, script=Script(latency=0.001))

    assert meter.most_running == 2 * 3


@pytest.mark.parametrize(
    ("preset", "answered"),
    others_full(
        ("adk-sequential", True), ("adk-sequential", False), ("parallel-rounds", True), ("parallel-rounds", False)
    ),
)
async def test_a_debate_cut_off_after_any_append_continues_to_the_same_end(preset: str, answered: bool) -> None:
    cuts = await _cut_everywhere(KeptStore, answered=answered, preset=preset)

    assert cuts > 15


@pytest.mark.full
async def test_a_debate_on_sqlite_cut_off_after_any_append_continues_to_the_same_end(
    new_sqlite: Callable[[], EventStore],
) -> None:
    cuts = await _cut_everywhere(new_sqlite, answered=False, preset="parallel-rounds")

    assert cuts > 15


async def test_a_debate_with_decision_models_cut_off_after_any_append_continues_to_the_same_end() -> None:
    seats = (
        {"model": "simulated/juror", "juror_id": "sim-policy"},
        {"model": "simulated/decider", "juror_id": "sim-security", "questions": 1},
        {"model": "simulated/decider", "juror_id": "sim-misuse", "questions": 1},
    )
    cuts = await _cut_everywhere(KeptStore, answered=False, preset="parallel-rounds", seats=seats)

    assert cuts > 10


async def _cut_everywhere(new_store: Callable[[], EventStore], *, answered: bool, preset: str, **spec: object) -> int:
    """Once after each append, until the cut comes after the end; gives how many cuts there were."""
    whole = Run(KeptStore(), preset=preset, case=a_case_with_records, **spec)
    await whole.execute(script=TROUBLED)
    for after in count():
        where = f"cut off after append {after}"
        store = new_store()
        run = Run(store, preset=preset, case=a_case_with_records, **spec)
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


async def test_a_debate_cut_off_again_and_again_comes_to_the_same_end() -> None:
    whole = Run(KeptStore(), case=a_case_with_records)
    await whole.execute(script=TROUBLED)
    run = Run(KeptStore(), case=a_case_with_records)
    meter = Meter()
    cuts = 0
    while not completed((await _execute_cut_off(run, 3, meter)).values()):
        cuts += 1

    assert cuts > 5
    assert whole.event_bodies() == run.event_bodies()
    assert not broken_promises(run.store, "d0", meter.served_of("d0"))


async def _execute_cut_off(run: Run, after: int, meter: Meter) -> dict[str, Finished]:
    cut = CutOff(run.store, after, answered=False)
    try:
        return await run.execute(script=TROUBLED, meter=meter)
    finally:
        cut.mend()


async def test_debates_of_a_runtime_that_was_closed_are_resumed_by_another(store: KeptStore) -> None:
    meter = Meter()
    run = Run(store, debates=10)
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 30)
    meter.open.set()
    found = await run.execute(meter=meter)

    assert completed(found.values())
    assert not [broken for debate in run.cases for broken in broken_promises(store, debate, meter.served_of(debate))]


async def test_a_debate_that_another_process_wrote_to_after_the_log_was_read_is_read_again(
    store: KeptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter()
    run = Run(store)
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 3)
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

    old.open.clear()
    async with run.runtime(meter=old) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: old.running == 3)
        monkeypatch.setattr(store, "append", slowly)
        found = await run.execute(meter=new)

    assert completed(found.values())
    assert {1} == set((old.served + new.served).values())


async def test_a_resumed_debate_names_the_steps_that_it_asks_again(store: KeptStore) -> None:
    meter = Meter()
    run = Run(store)
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 3)
    meter.open.set()
    await run.execute(meter=meter)

    assert {"initial/sim-policy": 1, "initial/sim-security": 1, "initial/sim-misuse": 1} == repeated_steps(store, "d0")


async def test_a_debate_of_another_panel_is_not_resumed(store: KeptStore) -> None:
    meter = Meter()
    run = Run(store)
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 3)

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
    old, new = Meter(), Meter()
    run = Run(store)
    old.open.clear()
    async with run.runtime(meter=old) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: old.running == 3)
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


async def test_debates_that_a_failing_store_left_can_be_resumed(store: KeptStore) -> None:
    run = Run(store, debates=5)
    meter = Meter()
    cut = CutOff(store, 20, answered=True)
    await run.execute(meter=meter)
    cut.mend()
    found = await run.execute(meter=meter)

    assert completed(found.values())
    assert not [broken for debate in run.cases for broken in broken_promises(store, debate, meter.served_of(debate))]


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
    store.append([Append(debate_stream("d0"), (event,), expected_version=1, epoch=store.next_epoch())])
    found = await run.execute()

    assert ("unfinished", IllegalEvent) == (found["d0"].status, type(found["d0"].problem))
    assert ["opened", "round-5/started"] == run.event_ids("d0")
    assert "completed" == found["d1"].status


async def _cancelled_midway(run: Run, meter: Meter) -> str:
    """Cancel d0 while its first steps are asked; what the coordinator then says of it."""
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 3)
        event = encode(DebateCancelled(by="ops", reason=None), recorded_at=1)
        epoch = run.store.next_epoch()
        run.store.append([Append(debate_stream("d0"), (event,), expected_version=1, epoch=epoch)])
        meter.open.set()
        (finished,) = (await runtime.coordinators.all[0].poll("test", "", 0)).items
        await until(lambda: len(run.exchange_ids()) == 3)
    return finished.status


async def test_a_cancelled_debate_takes_no_late_answer_but_keeps_it(store: KeptStore) -> None:
    run = Run(store)
    meter = Meter()
    await _cancelled_midway(run, meter)

    assert ["opened", "cancelled"] == run.event_ids()
    assert set(meter.served_of("d0")) == set(run.exchange_ids())


async def test_a_cancelled_debate_never_continues(store: KeptStore) -> None:
    run = Run(store)
    await _cancelled_midway(run, Meter())
    meter = Meter()
    found = await run.execute(meter=meter)

    assert ("cancelled", None) == (found["d0"].status, found["d0"].problem)
    assert not meter.served
    assert ["opened", "cancelled"] == run.event_ids()


async def test_a_case_that_cannot_be_read_leaves_only_its_debate_unfinished(store: KeptStore) -> None:
    run = Run(store, debates=2)
    broken, fine = run.jobs
    async with run.runtime() as runtime:
        found = await run.execute_in(runtime, jobs=[broken._replace(case=b"{}"), fine])

    assert {"d0": "unfinished", "d1": "completed"} == {debate: one.status for debate, one in found.items()}


class MortalJuror:
    """A juror's process as the coordinator reaches it. It can die, or be replaced before a client notices."""

    def __init__(self, make: Callable[[], Juror]) -> None:
        self._make = make
        self.juror = make()
        self._death = asyncio.Event()
        self.submitted = 0
        self.received: Counter[bytes] = Counter()
        self.answers = asyncio.Event()
        self.answers.set()

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        self.submitted += 1
        requests = [message for message in messages if isinstance(message, StepRequest)]
        self.received.update(text for request in requests for text in request.texts.values())
        await self.juror.submit(messages)

    async def poll(self, reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult]:
        await self.answers.wait()
        death = self._death
        poll, died = (
            asyncio.ensure_future(self.juror.poll(reply_to, incarnation, ack)),
            asyncio.ensure_future(death.wait()),
        )
        await asyncio.wait({poll, died}, return_when=asyncio.FIRST_COMPLETED)
        poll.cancel()
        died.cancel()
        if death.is_set():
            raise IncarnationLost
        return poll.result()

    async def die(self) -> None:
        await self.be_replaced()
        self.be_missed()

    async def be_replaced(self) -> None:
        await self.juror.close()
        self.juror = self._make()

    def be_missed(self) -> None:
        self._death.set()
        self._death = asyncio.Event()


class MortalRuntime:
    """A runtime whose jurors can die, over a store in memory; `script` is played by every model."""

    def __init__(self, **spec: object) -> None:
        self.run = Run(KeptStore(), case=a_case_with_records, **spec)
        self.meter = Meter()
        self._clerk = Clerk(self.run.store)
        effects = fixed_effects()
        make = partial(Juror, self.meter.factory(TROUBLED), self._clerk, effects=effects, backoff=Backoff(base=0.0))
        self.jurors: dict[str | None, MortalJuror] = {place: MortalJuror(make) for place in self.run.plan().seats}
        ports = {str(place): juror for place, juror in self.jurors.items()}
        replicas = {place: [str(place)] for place in self.jurors}
        self.coordinator = Coordinator(self._clerk, replicas, ports.__getitem__, effects=effects)
        self.runtime = Runtime([self.coordinator], self._clerk)

    async def close(self) -> None:
        await self.coordinator.close()
        for juror in self.jurors.values():
            await juror.juror.close()
        self._clerk.close()

    async def comes_to_the_same_end(self, running: "asyncio.Task[dict[str, Finished]]") -> bool:
        whole = Run(KeptStore(), case=a_case_with_records, preset=self.run.resolved.panel.name)
        await whole.execute(script=TROUBLED)
        return completed((await running).values()) and whole.event_bodies() == self.run.event_bodies()


@pytest.fixture
async def mortal() -> AsyncIterator[Callable[..., MortalRuntime]]:
    made: list[MortalRuntime] = []

    def make(**spec: object) -> MortalRuntime:
        made.append(MortalRuntime(**spec))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def test_a_text_travels_to_a_juror_once_a_debate_the_case_too(mortal: Callable[..., MortalRuntime]) -> None:
    it = mortal(preset="parallel-rounds", discussion={"end_early": False})
    (case,) = it.run.cases.values()
    await it.run.execute_in(it.runtime)

    for place, juror in it.jurors.items():
        assert (place is not None) == (case.to_part() in juror.received), "jurors of seats call tools over the case"
        assert {1} == set(juror.received.values())


async def test_debates_that_ended_leave_nothing_in_coordinator_and_jurors(mortal: Callable[..., MortalRuntime]) -> None:
    it = mortal(preset="parallel-rounds", debates=3)
    before = held_objects()
    await it.run.execute_in(it.runtime)
    await until(lambda: not any(juror.juror._texts for juror in it.jurors.values()))

    assert before == held_objects()
    assert not any(juror.juror._results for juror in it.jurors.values())


def held_objects() -> dict[str, int]:
    """How many objects of debates and steps exist, by type."""
    gc.collect()
    kinds = (DebateProcess, Debate, StepExecution, Assignment, StepRequest, StepResult)
    return {kind.__name__: sum(type(one) is kind for one in gc.get_objects()) for kind in kinds}


@pytest.mark.parametrize("died", ["initial/sim-policy", "round-1/sim-security", "final"])
async def test_the_steps_of_a_juror_that_died_are_asked_again_and_named(
    mortal: Callable[..., MortalRuntime], died: str
) -> None:
    it = mortal(preset="parallel-rounds")
    it.meter.closed_for = lambda trace: trace.startswith(f"d0/{died}/")
    running = asyncio.create_task(it.run.execute_in(it.runtime))
    await until(lambda: any(one.startswith(f"d0/{died}/") for one in it.meter.served))
    it.meter.closed_for = lambda _trace: False
    await it.jurors[Step.parse(died).juror_id].die()

    assert await it.comes_to_the_same_end(running)
    assert {died: 1} == repeated_steps(it.run.store, "d0")
    assert not broken_promises(it.run.store, "d0", it.meter.served_of("d0"))


async def test_a_debate_cancelled_while_a_lost_step_is_about_to_be_asked_again_ends(
    mortal: Callable[..., MortalRuntime],
) -> None:
    it = mortal(preset="parallel-rounds")
    it.meter.closed_for = lambda trace: trace.startswith("d0/initial/sim-policy/")
    running = asyncio.create_task(it.run.execute_in(it.runtime))
    await until(lambda: any(one.startswith("d0/initial/sim-policy/") for one in it.meter.served))
    clerk, reads, may_read = it.coordinator.clerk, asyncio.Event(), asyncio.Event()
    recall = clerk.recall

    async def recalled_late(debate_ids: Sequence[str]) -> dict[str, DebateHistory]:
        reads.set()
        await may_read.wait()
        return await recall(debate_ids)

    with patch.object(clerk, "recall", recalled_late):
        await it.jurors["sim-policy"].die()
        await reads.wait()
        await it.coordinator.cancel("run", "ann")
        may_read.set()
        found = await running

    assert {"d0": "cancelled"} == {debate_id: finished.status for debate_id, finished in found.items()}


async def test_a_juror_replaced_unnoticed_is_sent_the_texts_that_it_lacks(
    mortal: Callable[..., MortalRuntime],
) -> None:
    it = mortal(preset="adk-sequential")
    it.meter.closed_for = lambda trace: trace.startswith("d0/round-1/sim-policy/")
    running = asyncio.create_task(it.run.execute_in(it.runtime))
    await until(lambda: any(one.startswith("d0/round-1/sim-policy/") for one in it.meter.served))
    mortal_juror = it.jurors["sim-security"]
    await mortal_juror.be_replaced()
    before = mortal_juror.submitted
    it.meter.closed_for = lambda _trace: False
    it.meter.open_again()
    await until(lambda: mortal_juror.juror._outbox("")._items)
    mortal_juror.answers.clear()
    mortal_juror.be_missed()
    await until(lambda: mortal_juror.submitted == before + 1)
    mortal_juror.answers.set()

    assert await it.comes_to_the_same_end(running)
    assert "round-1/sim-security" in repeated_steps(it.run.store, "d0")
    assert not broken_promises(it.run.store, "d0", it.meter.served_of("d0"))


async def test_jurors_that_die_repeatedly_delay_a_debate_but_do_not_change_it(
    mortal: Callable[..., MortalRuntime],
) -> None:
    it = mortal(preset="parallel-rounds")
    running = asyncio.create_task(it.run.execute_in(it.runtime))
    for exchanges in range(0, 12, 2):
        await until(lambda reached=exchanges: len(it.run.exchange_ids()) >= reached or running.done())
        for juror in it.jurors.values():
            await juror.die()

    assert await it.comes_to_the_same_end(running)
    assert not broken_promises(it.run.store, "d0", it.meter.served_of("d0"))


async def test_a_debate_whose_client_leaves_stops_and_is_resumed_when_it_is_submitted_again(store: KeptStore) -> None:
    run, meter = Run(store, debates=2), Meter()
    meter.closed_for = lambda trace: trace.startswith("d0/")
    async with run.runtime(meter=meter) as runtime:
        driving = asyncio.create_task(run.execute_in(runtime, jobs=run.jobs[1:]))
        await runtime.coordinators.all[0].submit("test", run.jobs[:1])
        await until(lambda: len(meter.served_of("d0")) == 3)
        await runtime.coordinators.all[0].leave("test")
        running = [task.get_coro().__qualname__ for task in asyncio.all_tasks() if task.get_coro()]
        found = await driving
        meter.open_again()
        found |= await run.execute_in(runtime, jobs=run.jobs[:1])

    assert completed(found.values())
    assert {"d0", "d1"} == set(found)
    assert running.count("Coordinator._run") <= 1
    assert [] == broken_promises(store, "d0", meter.served_of("d0"))
    assert verify(store).ok


async def test_late_results_of_a_stopped_debate_do_not_disturb_it_when_it_is_resumed(
    mortal: Callable[..., MortalRuntime],
) -> None:
    mortal_runtime = mortal()
    jurors = [juror for seat, juror in mortal_runtime.jurors.items() if seat is not None]
    for juror in jurors:
        juror.answers.clear()
    mortal_runtime.meter.open.clear()
    await mortal_runtime.coordinator.submit("test", mortal_runtime.run.jobs)
    await until(lambda: mortal_runtime.meter.running == 3)
    await mortal_runtime.coordinator.leave("test")
    await until(lambda: not any(juror.juror._texts for juror in jurors))
    mortal_runtime.meter.open.set()
    await until(lambda: not any(juror.juror._working for juror in jurors))
    submitted = [juror.submitted for juror in jurors]
    running = asyncio.create_task(mortal_runtime.run.execute_in(mortal_runtime.runtime))
    await until(lambda: any(juror.submitted > before for juror, before in zip(jurors, submitted, strict=True)))
    for juror in jurors:
        juror.answers.set()

    assert await mortal_runtime.comes_to_the_same_end(running)
    assert [] == broken_promises(mortal_runtime.run.store, "d0", mortal_runtime.meter.served_of("d0"))


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


async def test_each_driver_gets_its_own_debates_back(store: KeptStore) -> None:
    run = Run(store, debates=6)
    async with run.runtime() as runtime:
        found = await asyncio.gather(*(run.execute_in(runtime, jobs=run.jobs[n::3]) for n in range(3)))

    assert [{"d0", "d3"}, {"d1", "d4"}, {"d2", "d5"}] == [set(one) for one in found]
    assert all(completed(one.values()) for one in found)


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
    assert ["opened"] == run.event_ids("d0")
    assert not repeated_steps(store, "d1")
