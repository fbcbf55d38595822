"""Runtimes in this process: debates over a store, counted calls, stores that fail from a chosen append on."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any
from unittest.mock import patch

from jury_actors import (
    Backoff,
    Chunk,
    Effects,
    Finished,
    Job,
    RunContext,
    Runtime,
    RuntimeConfig,
    drive,
    in_process_runtime,
)
from jury_debate import PROMPTS_VERSION, PanelSpec, ResolvedPanel, resolve
from jury_events import ArtifactRecord, Case, CoordinatorResumed, calls_stream, debate_stream, decode
from jury_providers import (
    NO_ENDPOINTS,
    NO_FAULTS,
    Endpoints,
    ModelReply,
    ModelRequest,
    OnChunk,
    Provider,
    Script,
    SimulatedProvider,
)
from jury_store import Append, Appended, EventStore, MemoryEventStore, StoreError, StoreFailed, open_store
from support.debate_harness import a_case

RECORDS = tuple(ArtifactRecord.from_json({"verdict": verdict, "probe": verdict}) for verdict in ("fail", "pass"))


def a_case_with_records(case_id: str = "refund") -> Case:
    """One whose jurors call tools, so that a step takes several exchanges."""
    return a_case(case_id, security_gate_records=RECORDS)


def a_resolved(**spec: object) -> ResolvedPanel:
    """A panel as in a panel file; three simulated seats."""
    return resolve(PanelSpec.model_validate(spec))


def fixed_effects() -> Effects:
    """The same salts and secrets each time, so that equal debates are equal bytes; incarnations still differ."""
    incarnations, ticks = count(1), count(1)

    def entropy(size: int) -> bytes:
        return next(incarnations).to_bytes(8) if size == 8 else bytes(range(size))

    return Effects(clock=lambda: next(ticks), entropy=entropy, jitter=lambda: 0.0)


class KeptStore(MemoryEventStore):
    """Outlives the runtime that closes it."""

    def close(self) -> None:
        return


class Meter:
    """Every call that the simulated models serve, by trace.

    `open` lets calls through, except those that are `closed_for`; `breaks` says which raise.
    """

    def __init__(self) -> None:
        self.served: Counter[str] = Counter()
        self.providers = 0
        self.running = 0
        self.most_running = 0
        self.open = asyncio.Event()
        self.open.set()
        self.closed_for: Callable[[str], bool] = lambda _trace: False
        self.breaks: Callable[[str], bool] = lambda _trace: False
        self._opened_again = asyncio.Event()

    def open_again(self) -> None:
        """Let the calls continue that wait because of `closed_for`."""
        self._opened_again.set()

    async def passed(self, trace: str) -> None:
        """Wait until the call may go on."""
        await self.open.wait()
        if self.closed_for(trace):
            await self._opened_again.wait()

    def factory(self, script: Script, endpoints: Endpoints = NO_ENDPOINTS) -> Callable[[str], Provider]:
        def make(_name: str) -> Provider:
            self.providers += 1
            return MeteredProvider(self, script)

        return make

    def served_of(self, debate_id: str) -> Counter[str]:
        """By exchange id."""
        start = f"{debate_id}/"
        return Counter({one.removeprefix(start): n for one, n in self.served.items() if one.startswith(start)})


class MeteredProvider(SimulatedProvider):
    """A simulated provider under a meter."""

    def __init__(self, meter: Meter, script: Script) -> None:
        super().__init__(script)
        self._meter = meter

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        meter = self._meter
        meter.served[request.trace] += 1
        meter.running += 1
        meter.most_running = max(meter.most_running, meter.running)
        try:
            await meter.passed(request.trace)
            if meter.breaks(request.trace):
                raise RuntimeError(f"the adapter broke at {request.trace}")
            return await super().call(request, on_chunk)
        finally:
            meter.running -= 1


TWO_SEATS: Mapping[str, Any] = {
    "seats": [{"model": "simulated/juror", "juror_id": name} for name in ("a", "b")],
    "final": {"method": "majority_vote"},
}
"""A panel with few actors: on Ray each costs more than a second of start."""


class Run:
    """Debates d0, d1 … over one case each, before one panel and one store; a list in `watched` takes chunks."""

    def __init__(
        self, store: EventStore, *, debates: int = 1, case: Callable[[str], Case] = a_case, **spec: object
    ) -> None:
        self.store = store
        self.watched: list[Chunk] | None = None
        self.patience = 0.0
        self.prompts = PROMPTS_VERSION
        self.operator_policy: str | None = None
        self.resolved = a_resolved(**spec)
        self.cases = {f"d{number}": case(f"c{number}") for number in range(debates)}

    @property
    def jobs(self) -> list[Job]:
        context = RunContext(
            "run", self.resolved._replace(prompts=self.prompts), self.watched is not None, self.operator_policy
        )
        return [Job(debate, case.model_dump_json().encode(), context) for debate, case in self.cases.items()]

    def plan(
        self, script: Script = NO_FAULTS, replicas: int = 1, url: str = "", coordinators: int | None = None
    ) -> RuntimeConfig:
        return RuntimeConfig(
            (self.resolved.panel,),
            url,
            "run",
            script,
            replicas,
            store_patience=self.patience,
            coordinators=coordinators,
        )

    def runtime(
        self,
        *,
        script: Script = NO_FAULTS,
        meter: Meter | None = None,
        replicas: int = 1,
        coordinators: int | None = None,
    ) -> AbstractAsyncContextManager[Runtime]:
        """A runtime in this process over the store, which it does not close."""
        plan = self.plan(script, replicas, coordinators=coordinators)
        return _MeteredRuntime(plan, self.store, meter or Meter())

    async def execute(
        self,
        *,
        script: Script = NO_FAULTS,
        meter: Meter | None = None,
        replicas: int = 1,
        coordinators: int | None = None,
        concurrency: int = 100,
    ) -> dict[str, Finished]:
        """Run every debate in a new runtime; the results by debate."""
        runtime_of = self.runtime(script=script, meter=meter, replicas=replicas, coordinators=coordinators)
        async with runtime_of as runtime:
            return await self.execute_in(runtime, concurrency=concurrency)

    async def execute_in(
        self,
        runtime: Runtime,
        *,
        jobs: Sequence[Job] | None = None,
        concurrency: int = 100,
        seconds: float = 60,
    ) -> dict[str, Finished]:
        """Run every debate (or `jobs`) in this runtime; exactly one result each."""
        found: dict[str, Finished] = {}
        async with asyncio.timeout(seconds):
            work = iter(self.jobs if jobs is None else jobs)
            on_chunk = (lambda _chunk: None) if self.watched is None else self.watched.append
            async for finished in drive(runtime, work, concurrency=concurrency, on_chunk=on_chunk):
                assert finished.debate_id not in found
                found[finished.debate_id] = finished
        return found

    def event_bodies(self, debate_id: str = "d0") -> list[tuple[str, bytes]]:
        """The debate's events, ids and bodies, without those of a takeover."""
        return event_bodies(self.store, debate_id)

    def event_ids(self, debate_id: str = "d0") -> list[str]:
        return [event.event_id for event in self.store.read_stream(debate_stream(debate_id))]

    def exchange_ids(self, debate_id: str = "d0") -> list[str]:
        return [event.event_id for event in self.store.read_stream(calls_stream(debate_id))]


async def resume_in_process(run: Run, url: str) -> dict[str, Finished]:
    """Resume a run that stopped, in this process, where a runtime starts at once."""
    store = open_store(url, write=True)  # the runtime closes it
    going_on = Run(store)
    going_on.resolved, going_on.cases = run.resolved, run.cases
    return await going_on.execute()


class _MeteredRuntime(AbstractAsyncContextManager[Runtime]):
    """Enters the runtime with the meter's providers."""

    def __init__(self, plan: RuntimeConfig, store: EventStore, meter: Meter) -> None:
        self._meter = meter
        self._runtime = in_process_runtime(
            plan, lambda: store, effects=fixed_effects(), backoff=Backoff(base=0.0, cap=0.0)
        )

    async def __aenter__(self) -> Runtime:
        with patch("jury_actors.runtime.provider_factory", self._meter.factory):
            return await self._runtime.__aenter__()

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._runtime.__aexit__(*error)  # type: ignore[arg-type]


class CutOff:
    """From its `after`-th append on, the store keeps nothing.

    The last append that it keeps is answered, or, where `answered` is off, kept without an answer to its writer.
    """

    def __init__(self, store: EventStore, after: int, *, answered: bool) -> None:
        self._store = store
        self._append = store.append
        self._after = after
        self._answered = answered
        self.appends = 0
        store.append = self.append  # type: ignore[method-assign]

    def append(self, requests: Sequence[Append], *, atomic: bool = False) -> list[Appended | StoreError]:
        kept = list(requests[: max(self._after - self.appends, 0)])
        reached = self.appends + len(kept) == self._after
        self.appends += len(kept)
        answers = self._append(kept, atomic=atomic) if kept else []
        if kept and reached and not self._answered:
            raise StoreFailed("cut off")
        return [*answers, *(StoreFailed("cut off") for _ in requests[len(kept) :])]

    def mend(self) -> None:
        self._store.append = self._append  # type: ignore[method-assign]


def event_bodies(store: EventStore, debate_id: str) -> list[tuple[str, bytes]]:
    """A debate's events, ids and bodies, without those of a takeover."""
    events = store.read_stream(debate_stream(debate_id))
    return [(event.event_id, event.body) for event in events if event.type != "coordinator_resumed"]


def repeated_steps(store: EventStore, debate_id: str) -> Counter[str]:
    """The steps that events name as asked again, and how often."""
    events = [decode(stored) for stored in store.read_stream(debate_stream(debate_id))]
    return Counter(step for event in events if isinstance(event, CoordinatorResumed) for step in event.repeated_steps)


def step_of(exchange: str) -> str:
    """The step of an exchange id."""
    return exchange.rsplit("/", 3)[0]


def broken_promises(store: EventStore, debate_id: str, served: Counter[str]) -> list[str]:
    """Where recorded ≤ served ≤ recorded + asked again is false; `served` by exchange id."""
    recorded = Counter(event.event_id for event in store.read_stream(calls_stream(debate_id)))
    again = repeated_steps(store, debate_id)
    return [
        f"{exchange}: recorded {recorded[exchange]}, served {served[exchange]}, asked again {again[step_of(exchange)]}"
        for exchange in sorted({*recorded, *served})
        if not recorded[exchange] <= served[exchange] <= recorded[exchange] + again[step_of(exchange)]
    ]


def completed(found: Iterable[Finished]) -> bool:
    """Every debate is completed."""
    return all(finished.status == "completed" and finished.problem is None for finished in found)
