"""A juror's process killed at every point around a call of a real SDK: nothing recorded is lost or asked again."""

import asyncio
import json
from collections import Counter
from typing import Any
from unittest.mock import patch

import psutil
import pytest

from jury_actors import ray_runtime
from jury_events import calls_stream, exchange_id
from jury_providers import (
    NoResponse,
    ProtocolHandler,
    Script,
    SimulationBackend,
    Transmission,
    read_prompt,
    simulation_server,
)
from jury_replay import verify
from jury_store import EventStore, open_store
from support.endpoints import endpoints
from support.runtime_harness import Run, a_case_with_records, broken_promises, completed, repeated_steps

pytestmark = [pytest.mark.ray, pytest.mark.kill, pytest.mark.usefixtures("ray_cluster"), pytest.mark.timeout(300)]

POINTS = ("asked", "answered", "recorded")
"""The request is there and nothing is answered; the answer is on its way; it is recorded and not delivered yet."""


class KillingBackend(SimulationBackend):
    """Kills the jurors at points of each call, each once: at all of the first call and at one of the others, or `all`.

    `calls` are the requests by exchange id.
    """

    def __init__(self, script: Script, seed: int, **options: Any) -> None:
        super().__init__(script, seed, **options)
        self.calls: Counter[str] = Counter()
        self.killed: list[tuple[str, str]] = []
        self.all = False
        self.store: EventStore
        self.models: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def answer(self, protocol: ProtocolHandler, raw: bytes, path: dict[str, object]) -> Transmission | NoResponse:
        exchange = self._exchange(protocol, {**json.loads(raw), **path})
        self.calls[exchange] += 1
        left = [point for point in self._points(exchange) if (exchange, point) not in self.killed]
        if not left:
            return await super().answer(protocol, raw, path)
        self.killed.append((exchange, left[0]))
        if left[0] == "asked":
            kill_jurors()
            return NoResponse.HANGING
        recorded = self._recorded()
        answered = await super().answer(protocol, raw, path)
        self._tasks.append(asyncio.create_task(self._kill_after(left[0], recorded)))
        return answered

    def _points(self, exchange: str) -> tuple[str, ...]:
        nth = list(self.calls).index(exchange)
        return POINTS if self.all or not nth else POINTS[nth % 3 :][:1]

    async def _kill_after(self, point: str, recorded: int) -> None:
        if point == "answered":
            for _ in range(5):  # the answer is written in one of the next turns of this loop
                await asyncio.sleep(0)
        else:
            async with asyncio.timeout(120):
                while self._recorded() == recorded:  # noqa: ASYNC110  (another process records it)
                    await asyncio.sleep(0.001)
        kill_jurors()

    def _recorded(self) -> int:
        return len(self.store.read_stream(calls_stream("d0")))

    def _exchange(self, protocol: ProtocolHandler, body: dict[str, object]) -> str:
        request = protocol.read(body).request
        place = read_prompt(request).step
        step = "final" if place == "final" else f"{place.partition('/')[0]}/one"
        turn = 1 + any(message.role == "tool" for message in request.messages)
        return exchange_id(step, self.models[request.model], turn, 1)


def kill_jurors() -> None:
    """Every process of a juror, at once."""
    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[0].startswith("ray::JurorActor"):
                process.kill()
        except (psutil.NoSuchProcess, psutil.ZombieProcess, IndexError):
            continue


@pytest.mark.parametrize(
    ("seat", "judge", "everywhere"),
    [
        ("openai/seat", None, False),
        pytest.param("openai/seat", "anthropic/judge", True, marks=pytest.mark.long),
        pytest.param("anthropic/seat", "google/judge", True, marks=pytest.mark.long),
        pytest.param("google/seat", "openai-responses/judge", True, marks=pytest.mark.long),
    ],
)
async def test_no_recorded_call_is_repeated_wherever_a_juror_is_killed(
    sqlite_url: str, seat: str, judge: str | None, *, everywhere: bool
) -> None:
    reader = open_store(sqlite_url, write=False)
    run = Run(
        reader,
        case=a_case_with_records,
        seats=[{"model": seat, "juror_id": "one", "role": "security_leak_risk", "fallbacks": []}],
        discussion={"max_rounds": 1},
        final={"judge": {"model": judge, "fallbacks": []}} if judge else {"method": "majority_vote"},
    )
    backends: list[KillingBackend] = []

    def make_backend(*args: Any, **options: Any) -> KillingBackend:
        backends.append(KillingBackend(*args, **options))
        backends[0].store = reader
        backends[0].all = everywhere
        backends[0].models = {model.partition("/")[2]: model for model in (seat, judge) if model}
        return backends[0]

    with (
        patch("jury_providers.simulated.http.server.SimulationBackend", make_backend),
        patch("jury_actors.ray_watch.MOST_DEATHS", 1000),
    ):
        async with simulation_server() as simulation:
            plan = run.plan(url=sqlite_url)._replace(endpoints=endpoints(simulation.url))
            async with ray_runtime.ray_runtime(plan) as runtime:
                found = await run.execute_in(runtime, seconds=240)
    calls = backends[0].calls
    recorded, again = run.exchange_ids(), repeated_steps(reader, "d0")
    broken = broken_promises(reader, "d0", calls)
    sound = verify(reader).ok
    reader.close()

    assert completed(found.values())
    assert sound
    asked = Counter({"initial/one": 2, "round-1/one": 1}) + Counter({"final": 1} if judge else {})
    assert asked == Counter(step.rsplit("/", 3)[0] for step in recorded)
    assert broken == []
    assert set(POINTS[:2]) <= {point for _, point in backends[0].killed}
    assert set(recorded) == {exchange for exchange, _ in backends[0].killed}, "every call was met by a death"
    assert set(again) <= {"initial/one", "round-1/one", "final"}
    assert sum(calls.values()) > len(recorded)
