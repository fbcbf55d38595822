"""A runtime: clerk, jurors and coordinator set up to run debates, in this process or on Ray (`ray_runtime`)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from secrets import token_hex
from typing import NamedTuple

from jury_actors.admission.admission import Admission
from jury_actors.admission.budget import Budget, Ceiling
from jury_actors.admission.client import AdmissionClient
from jury_actors.admission.limiter import Limiter
from jury_actors.admission.model_class import ModelClasses
from jury_actors.admission.service import AdmissionInterface, AdmissionService
from jury_actors.backoff import Backoff
from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.coordinator import Coordinator, CoordinatorInterface
from jury_actors.effects import Effects
from jury_actors.juror import Juror, ProviderFactory
from jury_actors.mailbox import MailboxClient
from jury_actors.messages import Chunk, Finished, Job
from jury_actors.notices import Say, say_nothing
from jury_actors.store_retry import STORE_PATIENCE, StoreRetry
from jury_events.panel import Panel
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices
from jury_providers.registry import NO_ENDPOINTS, SIMULATED, provider_factory
from jury_providers.simulated.script import Script
from jury_store.event_store import EventStore


class Runtime:
    """What drivers use: the coordinator, and the clerk, which alone writes the log.

    Args:
        coordinator: runs debates; use it by `driver.drive`.
        clerk: stores seals and run sizes, besides what the actors send.
    """

    def __init__(self, coordinator: CoordinatorInterface, clerk: ClerkInterface) -> None:
        self.coordinator = coordinator
        self.clerk = clerk
        self.problem: Exception | None = None
        """Once it is set, debates need another runtime."""
        self._clients: set[MailboxClient[Job, Finished | Chunk]] = set()

    @asynccontextmanager
    async def client(
        self,
        *,
        on_item: Callable[[Finished | Chunk], None],
        on_loss: Callable[[list[Job]], Iterable[Job]],
        on_error: Callable[[Exception], None],
    ) -> AsyncIterator[MailboxClient[Job, Finished | Chunk]]:
        """A client of the coordinator (see `MailboxClient`); on leaving, the debates that only it waits for stop.

        Raises:
            Exception: the runtime's problem.
        """
        if self.problem is not None:
            raise self.problem
        name = token_hex(8)
        submit, poll = partial(self.coordinator.submit, name), partial(self.coordinator.poll, name)
        client = MailboxClient(submit, poll, on_item=on_item, on_loss=on_loss, on_error=on_error)
        self._clients.add(client)
        try:
            yield client
        finally:
            self._clients.discard(client)
            await client.close()
            if self.problem is None:
                with suppress(Exception):  # a lost coordinator runs nothing, and others report a lost cluster
                    await asyncio.shield(self.coordinator.leave(name))

    def fail(self, problem: Exception) -> None:
        """Fail every driver, now and later."""
        self.problem = self.problem or problem
        for client in list(self._clients):
            client.fail(self.problem)


class RuntimeConfig(NamedTuple):
    """How a runtime is set up.

    Args:
        panel: has the seats.
        store_url: of the log.
        run_id: named in the store's lock.
        script: latencies and faults of simulated jurors.
        replicas: juror processes a seat.
        endpoints: addresses and limits of providers.
        prices: of models.
        ceiling: the budget of the run.
        store_patience: seconds for which a store that fails is tried again.
        shared_cluster: other runs use the same Ray cluster, and share the providers' limits.
    """

    panel: Panel
    store_url: str
    run_id: str
    script: Script = Script()
    replicas: int = 1
    endpoints: Endpoints = NO_ENDPOINTS
    prices: Prices = Prices()
    ceiling: Ceiling = Ceiling()
    shared_cluster: bool = False
    store_patience: float = STORE_PATIENCE

    @property
    def limited(self) -> bool:
        """Whether any model uses a rate-limited provider."""
        return any(model.partition("/")[0] != SIMULATED for model in self.panel.models)

    @property
    def seats(self) -> tuple[str | None, ...]:
        """The seats, and None for the final judge where there is one."""
        return (*self.panel.juror_ids, *((None,) if self.panel.final.judge else ()))


def admission(
    config: RuntimeConfig, client: str, *, limiter: AdmissionInterface | None, budget: AdmissionInterface | None
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
    )


@asynccontextmanager
async def in_process_runtime(
    config: RuntimeConfig,
    open_store: Callable[[], EventStore],
    *,
    effects: Effects = Effects(),
    backoff: Backoff = Backoff(),
    wrap_providers: Callable[[ProviderFactory], ProviderFactory] = lambda providers: providers,
    say: Say = say_nothing,
) -> AsyncIterator[Runtime]:
    """The same classes as on Ray, in this process and event loop. On leaving, debates stop where they are.

    Args:
        config: of the runtime.
        open_store: called in a thread; the runtime closes the store.
        effects: clock, entropy and jitter.
        backoff: between attempts of a failed call.
        wrap_providers: may put something before the providers that jurors call.
        say: takes a line for the user when the store cannot be written for a while.
    """
    clerk = Clerk(await asyncio.to_thread(open_store), StoreRetry(config.store_patience, say))
    try:
        providers = wrap_providers(provider_factory(config.script, config.endpoints))
        rule = Limiter(backoff=backoff, jitter=effects.jitter)
        limiter = AdmissionService(rule, "limiter") if config.limited else None
        budget = AdmissionService(Budget(config.ceiling), "budget") if config.ceiling.bounded else None

        def juror(client: str) -> Juror:
            calls = admission(config, client, limiter=limiter, budget=budget)
            return Juror(providers, clerk, admission=calls, prices=config.prices, effects=effects, backoff=backoff)

        jurors = {seat: [juror(f"{seat}/{replica}") for replica in range(config.replicas)] for seat in config.seats}
        coordinator = Coordinator(clerk, jurors, effects=effects)
        try:
            yield Runtime(coordinator, clerk)
        finally:
            await coordinator.close()
            for one in (one for replicas in jurors.values() for one in replicas):
                await one.close()
            for service in (service for service in (limiter, budget) if service is not None):
                service.close()
    finally:
        clerk.close()
