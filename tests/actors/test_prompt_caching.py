"""Seats of one model wait until the first begins to be answered; every call says what is to be kept of its prompt."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from jury_actors import Backoff, Clerk, Coordinator, Juror, Runtime
from jury_events import CallOutcome, Case
from jury_providers import ModelReply, ModelRequest, OnChunk, SimulatedProvider, cache_policy, load_prices
from support.debate_harness import a_case
from support.each_row import each_row
from support.long_records import a_long_case as a_session
from support.runtime_harness import KeptStore, Run, completed, fixed_effects

MODEL = "openai/gpt-6-sol"
SEATS = [{"model": MODEL, "juror_id": name} for name in "abc"]
NEVER = 3600.0


def a_long_case(case_id: str = "c") -> Case:
    return a_case(case_id, artifact_summary="All tests pass. " * 500)


class Models(SimulatedProvider):
    """Simulated models that keep what they were asked; `first` plays the calls of seat a in phase 1."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[ModelRequest] = []
        self.others_asked = asyncio.Event()
        self.first: Callable[[ModelRequest, OnChunk | None], Any] | None = None

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        self.asked.append(request)
        if len(self.steps("initial")) == len(SEATS):
            self.others_asked.set()
        if self.first is not None and request.trace.startswith("d0/initial/a/"):
            reply = await self.first(request, on_chunk)
            if reply is not None:
                assert isinstance(reply, ModelReply)
                return reply
        return await super().call(request, on_chunk)

    def steps(self, phase: str) -> set[str]:
        return {request.trace.split("/")[2] for request in self.asked if f"/{phase}" in request.trace}

    def caching(self, phase: str) -> list[object]:
        return [request.cache for request in self.asked if f"/{phase}" in request.trace]


class _Running:
    def __init__(self, warm_seconds: float, **spec: object) -> None:
        spec = {"seats": SEATS, "final": {"method": "majority_vote"}, **spec}
        self.run = Run(KeptStore(), case=a_long_case, **spec)
        self.models = Models()
        self.clerk = Clerk(self.run.store)
        effects = fixed_effects()
        make = partial(Juror, lambda _name: self.models, self.clerk, effects=effects, backoff=Backoff(base=0.0))
        self.jurors = {place: make() for place in self.run.plan().seats}
        ports = {str(place): juror for place, juror in self.jurors.items()}
        self.coordinator = Coordinator(
            self.clerk,
            {place: [str(place)] for place in self.jurors},
            ports.__getitem__,
            effects=effects,
            cache_policy=cache_policy([MODEL], load_prices()),
            warm_seconds=warm_seconds,
        )
        self.runtime = Runtime([self.coordinator], self.clerk)

    async def play(self) -> None:
        assert completed((await self.run.execute_in(self.runtime)).values())

    async def close(self) -> None:
        await self.coordinator.close()
        for juror in self.jurors.values():
            await juror.close()
        self.clerk.close()


@asynccontextmanager
async def running(warm_seconds: float = NEVER, **spec: object) -> AsyncIterator[_Running]:
    one = _Running(warm_seconds, **spec)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(one.close)
        yield one


async def test_the_others_are_asked_once_the_first_begins_to_be_answered() -> None:
    async with running() as it:
        alone = []

        async def begins(_request: ModelRequest, on_chunk: OnChunk | None) -> None:
            await settled()
            alone.append(it.models.steps("initial"))
            assert on_chunk is not None
            on_chunk("{")
            on_chunk('"')
            await it.models.others_asked.wait()

        it.models.first = begins
        await it.play()

    assert [{"a"}] == alone


async def test_the_others_are_asked_when_the_first_call_fails() -> None:
    async with running() as it:

        async def fails(request: ModelRequest, _on_chunk: OnChunk | None) -> ModelReply | None:
            if request.trace.endswith("/1"):
                return ModelReply(CallOutcome.OVERLOADED, error="no room")
            await it.models.others_asked.wait()
            return None

        it.models.first = fails
        await it.play()


async def test_the_others_are_asked_after_some_seconds_though_the_first_does_not_begin() -> None:
    async with running(warm_seconds=0.0) as it:

        async def thinks(_request: ModelRequest, _on_chunk: OnChunk | None) -> None:
            await it.models.others_asked.wait()

        it.models.first = thinks
        await it.play()


@each_row("settings", [{"warm": "off"}, {"cache": "off"}])
async def test_nobody_waits_where_the_settings_say_so(settings: dict[str, str]) -> None:
    seats = [{**seat, "settings": settings} for seat in SEATS]
    async with running(seats=seats) as it:

        async def waits_for_the_others(_request: ModelRequest, _on_chunk: OnChunk | None) -> None:
            await it.models.others_asked.wait()

        it.models.first = waits_for_the_others
        await it.play()


async def test_a_debate_is_cancelled_while_seats_wait() -> None:
    async with running() as it:
        asked = asyncio.Event()

        async def is_cancelled(_request: ModelRequest, _on_chunk: OnChunk | None) -> None:
            await it.coordinator.cancel("run", "ann")
            asked.set()

        it.models.first = is_cancelled
        ended = await it.run.execute_in(it.runtime)
        await asked.wait()

        assert {"d0": "cancelled"} == {debate: finished.status for debate, finished in ended.items()}
        assert {"a"} == it.models.steps("initial")


async def test_every_call_keeps_the_prompt_where_rounds_follow() -> None:
    async with running(discussion={"max_rounds": 2, "end_early": False}) as it:
        await it.play()

    assert ["30m"] * 3 == it.models.caching("initial")
    assert ["30m"] * 6 == it.models.caching("round")


async def test_a_prompt_that_nobody_reads_again_is_not_kept() -> None:
    seats = [{"model": MODEL, "juror_id": "a"}, *({"model": "other/model", "juror_id": name} for name in "bc")]
    async with running(seats=seats, discussion={"max_rounds": 0}) as it:
        await it.play()

    assert {"none", None} == set(it.models.caching("initial"))


def in_windows(count: int) -> dict[str, Any]:
    seats = [{"model": MODEL, "juror_id": name, "window": 32_000} for name in "abc"[:count]]
    return {"seats": seats, "discussion": {"max_rounds": 2, "end_early": False}}


async def test_seats_of_equal_windows_read_the_parts_that_the_first_one_wrote() -> None:
    async with running(**in_windows(3)) as it:
        it.run.cases = {"d0": a_session(100)}
        alone: list[set[str]] = []

        async def begins(_request: ModelRequest, on_chunk: OnChunk | None) -> None:
            await settled()
            alone.append(it.models.steps("initial"))
            assert on_chunk is not None
            on_chunk("{")
            on_chunk('"')
            await it.models.others_asked.wait()

        it.models.first = begins
        await it.play()

    assert {"a"} == alone[0]
    assert {"30m"} == set(it.models.caching("initial/a/"))


async def test_parts_that_no_other_seat_reads_are_not_kept_though_rounds_follow() -> None:
    async with running(**in_windows(1)) as it:
        it.run.cases = {"d0": a_session(100)}
        await it.play()

    assert {"none"} == set(it.models.caching("initial"))


async def settled() -> None:
    """Let every task that can go on do so."""
    for _ in range(50):
        await asyncio.sleep(0)
