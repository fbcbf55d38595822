"""The actors of one process, what every runtime offers, and driving debates through it.

Events and texts live as long as their debates. The collector, which by default starts after every 700 new objects,
visits them again and again: 15 % of the CPU of 256 debates at once, and still 5 % where it starts after 20,000. A
debate leaves four objects in cycles, so that little memory waits for the collector.
"""

import asyncio
import gc
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from secrets import token_hex
from threading import Lock
from typing import NamedTuple

from jury_actors.admission.admission import Admission, AdmissionClient
from jury_actors.admission.budget import BUDGET, BudgetRule, BudgetService, RunBudget, Spent
from jury_actors.admission.limiter import Limiter
from jury_actors.admission.permit import ModelClasses
from jury_actors.admission.service import AdmissionInterface, AdmissionService
from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.coordinator import Coordinator, CoordinatorInterface, Coordinators, CoordinatorsClient
from jury_actors.effects import Backoff, Effects
from jury_actors.errors import ClusterLost
from jury_actors.juror import Juror, ProviderFactory
from jury_actors.messages import Chunk, Finished, Job
from jury_actors.notices import Say, say_nothing
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_actors.observation.process_observation import NO_OBSERVATION, ObservationSettings
from jury_actors.provider_halts import ProviderHalts
from jury_actors.store_retry import STORE_PATIENCE, StoreRetry
from jury_events.panel import Panel
from jury_providers.caching import CachePolicy, cache_policy
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices
from jury_providers.registry import NO_ENDPOINTS, SIMULATED, provider_factory
from jury_providers.simulated.script import Script
from jury_store.event_store import EventStore

RARELY = (200_000, 5, 100)
"""Thresholds of the three generations, as of `gc.set_threshold`."""

_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""For each runtime of this process, the thresholds before the first one started."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles rarely until every such context is left; then the thresholds are the earlier ones again."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        with _lock:
            earlier = _before.pop()
            if not _before:
                gc.set_threshold(*earlier)


def _unwatched(_finished: Finished) -> None:
    """For a runtime whose finished debates only its clients are interested in."""


class Runtime:
    """What drivers use: the coordinators, and the clerk, which alone writes the log.

    Args:
        coordinators: run debates; use them by `drive`.
        clerk: stores seals and run sizes, besides what the actors send.
    """

    def __init__(self, coordinators: Sequence[CoordinatorInterface], clerk: ClerkInterface) -> None:
        self.coordinators = Coordinators(coordinators)
        self.clerk = clerk
        self.on_finished: Callable[[Finished], None] = _unwatched
        """Called with each debate that ended or stopped, once a client."""
        self.problem: Exception | None = None
        """Once it is set, debates need another runtime."""
        self.budget: BudgetService | None = None
        """Of a run that is bounded, in this process: calls that no juror makes are counted there too."""
        self._clients: set[CoordinatorsClient] = set()

    @asynccontextmanager
    async def client(
        self,
        *,
        on_item: Callable[[Finished | Chunk], None],
        on_loss: Callable[[list[Job]], Iterable[Job]],
        on_error: Callable[[Exception], None],
    ) -> AsyncIterator[CoordinatorsClient]:
        """A client of the coordinators (see `CoordinatorsClient`); on leaving, the debates that only it waits for stop.

        Raises:
            Exception: the runtime's problem.
        """
        if self.problem is not None:
            raise self.problem

        def take(item: Finished | Chunk) -> None:
            on_item(item)
            if isinstance(item, Finished):
                if isinstance(item.problem, ClusterLost):
                    self.problem = self.problem or item.problem
                self.on_finished(item)

        client = CoordinatorsClient(
            token_hex(8), self.coordinators.all, on_item=take, on_loss=on_loss, on_error=on_error
        )
        self._clients.add(client)
        try:
            yield client
        finally:
            self._clients.discard(client)
            await client.close()
            if self.problem is None:
                await asyncio.shield(client.leave())

    def fail(self, problem: Exception) -> None:
        """Fail every driver, now and later."""
        self.problem = self.problem or problem
        for client in list(self._clients):
            client.fail(self.problem)


class RuntimeConfig(NamedTuple):
    """How a runtime is set up.

    Args:
        panels: whose debates run here; seats of one id are served by the same jurors.
        run_id: named in the store's lock.
        replicas: jurors a seat; None: on Ray as many processes as the cluster's CPUs can serve, else one.
        store_patience: seconds for which a store that fails is tried again.
        shared_cluster: other runs use the same Ray cluster, and share the providers' limits.
        observation: what actors in other processes observe.
        coordinators: how many share the debates; None: on Ray as many as `coordinators_for` says, else one.
    """

    panels: tuple[Panel, ...]
    store_url: str
    run_id: str
    script: Script = Script()
    replicas: int | None = None
    endpoints: Endpoints = NO_ENDPOINTS
    prices: Prices = Prices()
    budget: RunBudget = RunBudget()
    shared_cluster: bool = False
    store_patience: float = STORE_PATIENCE
    observation: ObservationSettings = NO_OBSERVATION
    coordinators: int | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all panels, each once."""
        models: dict[str, None] = {}
        for panel in self.panels:
            models.update(dict.fromkeys(panel.models))
        return tuple(models)

    @property
    def limited(self) -> bool:
        """Whether any model uses a rate-limited provider."""
        return any(model.partition("/")[0] != SIMULATED for model in self.models)

    @property
    def cache_policy(self) -> CachePolicy:
        """What providers are asked to keep of prompts."""
        return cache_policy(self.models, self.prices, self.endpoints, os.environ)

    @property
    def seats(self) -> tuple[str | None, ...]:
        """The seats, and None for the final judge where there is one."""
        seats: dict[str | None, None] = {}
        judge: tuple[None, ...] = ()
        for panel in self.panels:
            seats.update(dict.fromkeys(panel.juror_ids))
            judge = (None,) if panel.final.judge else judge
        return (*seats, *judge)


def admission(
    config: RuntimeConfig,
    client: str,
    *,
    limiter: AdmissionInterface | None,
    budget: AdmissionInterface | None,
    observer: Observer = UNOBSERVED,
) -> Admission | None:
    """Limits and budget of one juror process (`client`); None: its calls are unlimited."""
    if limiter is None and budget is None:
        return None
    return Admission(
        config.run_id,
        ModelClasses(config.endpoints),
        config.prices,
        limiter=None if limiter is None else AdmissionClient(limiter, client),
        budget=None if budget is None else AdmissionClient(budget, client),
        observer=observer,
    )


def _budget_service(budget: RunBudget, clerk: Clerk) -> BudgetService:
    async def store(lease: Spent) -> None:
        assert budget.run is not None
        await clerk.store_run_lease(budget.run, *lease)

    return BudgetService(BudgetRule(budget), BUDGET, store)


@asynccontextmanager
async def in_process_runtime(
    config: RuntimeConfig,
    open_store: Callable[[], EventStore],
    *,
    effects: Effects = Effects(),
    backoff: Backoff = Backoff(),
    wrap_providers: Callable[[ProviderFactory], ProviderFactory] = lambda providers: providers,
    say: Say = say_nothing,
    observer: Observer = UNOBSERVED,
) -> AsyncIterator[Runtime]:
    """The same classes as on Ray, in this process and event loop. On leaving, debates stop where they are.

    Args:
        open_store: called in a thread; the runtime closes the store.
        wrap_providers: may put something before the providers that jurors call.
        say: takes a line for the user when the store cannot be written for a while.
    """
    clerk = Clerk(await asyncio.to_thread(open_store), StoreRetry(config.store_patience, say), observer=observer)
    with closing(clerk), rare_collections():
        providers = wrap_providers(provider_factory(config.script, config.endpoints))
        limiter = None
        if config.limited:
            limiter = AdmissionService(Limiter(backoff=backoff, jitter=effects.jitter), "limiter")
        budget = _budget_service(config.budget, clerk) if config.budget.counted else None
        halts = ProviderHalts()

        names: dict[str | None, list[str]] = {}
        jurors: dict[str, Juror] = {}
        for seat in config.seats:
            names[seat] = []
            for number in range(config.replicas or 1):
                name = f"{seat}/{number}"
                names[seat].append(name)
                jurors[name] = Juror(
                    providers,
                    clerk,
                    admission=admission(config, name, limiter=limiter, budget=budget, observer=observer),
                    prices=config.prices,
                    effects=effects,
                    backoff=backoff,
                    observer=observer,
                    halts=halts,
                )
        coordinators = [
            Coordinator(
                clerk,
                names,
                jurors.__getitem__,
                name=str(number),
                effects=effects,
                observer=observer,
                cache_policy=config.cache_policy,
            )
            for number in range(config.coordinators or 1)
        ]
        try:
            runtime = Runtime(coordinators, clerk)
            runtime.budget = budget
            yield runtime
        finally:
            for coordinator in coordinators:
                await coordinator.close()
            for one in jurors.values():
                await one.close()
            if budget is not None:
                await budget.close_lease()
            for service in (service for service in (limiter, budget) if service is not None):
                service.close()


MAX_BYTES = 64 * 1024 * 1024
"""Case bytes in flight at most, however many debates that is; one debate is always admitted."""

_DRAWING_SECONDS = 0.005
"""A thread draws jobs for so long before the first of them start: a visit of the thread costs more than most jobs."""


async def _always(_job: Job) -> bool:
    return True


async def drive(
    runtime: Runtime,
    jobs: Iterator[Job | None],
    *,
    concurrency: int,
    on_chunk: Callable[[Chunk], None] = lambda _chunk: None,
    admits: Callable[[Job], Awaitable[bool]] = _always,
) -> AsyncGenerator[Finished, None]:
    """Run the debates of `jobs`, at most `concurrency` at once, and yield each as it ends.

    Close the generator (`aclosing`) where it may be left early: its debates then stop where they are.

    Args:
        runtime: may be used by several drivers at once.
        jobs: drawn, in a thread, only when there is room for a debate; to start no new ones, let the iterator end.
            None: there is no job now, and there may be one once a debate has ended and was yielded.
        concurrency: debates at once.
        on_chunk: called with the pieces of watched answers as they arrive.
        admits: a job that it refuses waits until another debate has ended; with none running, it is the last drawn.
    """
    window = _Window(jobs, concurrency, admits)
    inbox: asyncio.Queue[Finished | Chunk | Exception] = asyncio.Queue()
    fresh = await window.fill(inbox.empty)
    if not fresh:
        return

    def take(item: Finished | Chunk) -> None:
        if isinstance(item, Chunk) or window.remove(item.debate_id):
            inbox.put_nowait(item)

    async with runtime.client(
        on_item=take, on_loss=lambda _unconfirmed: list(window.running.values()), on_error=inbox.put_nowait
    ) as coordinator:
        while window.running or not inbox.empty():
            coordinator.send(*fresh)
            items = [await inbox.get()]
            while not inbox.empty():
                items.append(inbox.get_nowait())
            for item in items:
                if isinstance(item, Chunk):
                    on_chunk(item)
                elif isinstance(item, Finished):
                    yield item
                else:
                    if isinstance(item, ClusterLost):
                        runtime.fail(item)
                    raise item
            fresh = await window.fill(inbox.empty)


async def drive_one(runtime: Runtime, job: Job, on_chunk: Callable[[Chunk], None]) -> BaseException | None:
    """Run one debate; returns why it could not go on."""
    async with aclosing(drive(runtime, iter([job]), concurrency=1, on_chunk=on_chunk)) as driven:
        (problem,) = [finished.problem async for finished in driven]
    return problem


class _Window:
    """The debates in flight, bounded in number and bytes."""

    def __init__(self, jobs: Iterator[Job | None], most: int, admits: Callable[[Job], Awaitable[bool]]) -> None:
        self.running: dict[str, Job] = {}
        self._admits = admits
        self._drawn: deque[Job | _End] = deque()
        self._jobs: Iterator[Job | None] | None = jobs
        self._most = most
        self._size = 0

    async def fill(self, all_yielded: Callable[[], bool]) -> list[Job]:
        """Draw jobs while there is room for them.

        `all_yielded`: every debate that ended was yielded. Only then a job that is refused with none running stays
        refused: what admits jobs knows of an end once it was yielded.
        """
        fresh: list[Job] = []
        while self._jobs is not None:
            room = self._most - len(self.running) if self._size < MAX_BYTES or not self.running else 0
            if not room:
                break
            if not self._drawn:
                # In a thread: a job may have to be read, or its records fetched, while the others go on.
                drawn = await asyncio.to_thread(_draw, self._jobs, room, MAX_BYTES - self._size)
                # That there was none is not kept: an end may have brought one when it would be looked at.
                self._drawn.extend(filter(None, drawn))
                if not self._drawn:
                    break
            job = self._drawn.popleft()
            if isinstance(job, _End):
                self._jobs = None
                break
            if not await self._admits(job):
                self._drawn.appendleft(job)
                if not self.running and all_yielded():
                    self._jobs = None
                break
            self.running[job.debate_id] = job
            self._size += len(job.case)
            fresh.append(job)
        return fresh

    def remove(self, debate_id: str) -> bool:
        """The debate ended; returns whether it was running."""
        job = self.running.pop(debate_id, None)
        if job is not None:
            self._size -= len(job.case)
        return job is not None


class _End:
    """After the last job."""


def _draw(jobs: Iterator[Job | None], most: int, size: int) -> list[Job | _End | None]:
    """The next jobs, at least one, at most `most`, and none after `size` bytes; or None, where there is none now."""
    drawn: list[Job | _End | None] = []
    until = time.monotonic() + _DRAWING_SECONDS
    while not drawn or (len(drawn) < most and size > 0 and time.monotonic() < until):
        job = next(jobs, _End())
        drawn.append(job)
        if job is None or isinstance(job, _End):
            break
        size -= len(job.case)
    return drawn
