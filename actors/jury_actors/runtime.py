"""A court: clerk, jurors and coordinator set up to hold debates, in one process or on Ray."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from jury_actors.admission.admission import Admission
from jury_actors.admission.budget import Budget, Ceiling
from jury_actors.admission.client import AdmissionClient
from jury_actors.admission.limiter import Limiter
from jury_actors.admission.model_class import ModelClasses
from jury_actors.admission.service import AdmissionInterface, Desk
from jury_actors.backoff import Backoff
from jury_actors.clerk import Clerk
from jury_actors.coordinator import Coordinator
from jury_actors.driver import CoordinatorPort
from jury_actors.effects import Effects
from jury_actors.juror import Juror, ProviderFactory
from jury_actors.notices import Say, unheard
from jury_actors.prices import Prices
from jury_actors.providers.endpoints import Endpoints
from jury_actors.providers.registry import NO_ENDPOINTS, SIMULATED, provider_factory
from jury_actors.providers.simulated.script import Script
from jury_actors.store_retry import STORE_PATIENCE, StoreRetry
from jury_events.panel import Panel
from jury_store.event_store import EventStore


class RuntimeConfig(NamedTuple):
    """What a court needs to know of a run.

    Args:
        panel: names the seats.
        store_url: where the log is.
        run_id: named in the store's lock.
        script: latencies and faults of simulated jurors.
        replicas: juror processes a seat.
        endpoints: where providers are reached, and what they grant.
        prices: what models cost.
        ceiling: what the run may spend.
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
        """Whether a model of the panel is somebody's who grants so much and no more."""
        return any(model.partition("/")[0] != SIMULATED for model in self.panel.models)

    @property
    def places(self) -> tuple[str | None, ...]:
        """The seats, and None for the final judge where there is one."""
        return (*self.panel.juror_ids, *((None,) if self.panel.final.judge else ()))


def admission(
    plan: RuntimeConfig, client: str, *, limiter: AdmissionInterface | None, budget: AdmissionInterface | None
) -> Admission | None:
    """What the calls of one juror process (`client`) wait for; None: for nothing."""
    if limiter is None and budget is None:
        return None
    return Admission(
        plan.run_id,
        ModelClasses(plan.endpoints),
        plan.prices,
        limiter=None if limiter is None else AdmissionClient(limiter, client),
        budget=None if budget is None else AdmissionClient(budget, client),
    )


@asynccontextmanager
async def in_process_runtime(
    plan: RuntimeConfig,
    open_store: Callable[[], EventStore],
    *,
    sources: Effects = Effects(),
    backoff: Backoff = Backoff(),
    around: Callable[[ProviderFactory], ProviderFactory] = lambda providers: providers,
    say: Say = unheard,
) -> AsyncIterator[CoordinatorPort]:
    """The same classes as on Ray, in this process and event loop. On leaving, what runs stops where it is.

    `around` may put something before the providers that jurors get; `say` takes a line for the person when the store
    cannot be written for a while.
    """
    clerk = Clerk(await asyncio.to_thread(open_store), StoreRetry(plan.store_patience, say))
    try:
        providers = around(provider_factory(plan.script, plan.endpoints))
        rule = Limiter(backoff=backoff, jitter=sources.jitter)
        limiter = Desk(rule, "limiter") if plan.limited else None
        budget = Desk(Budget(plan.ceiling), "budget") if plan.ceiling.bounded else None

        def juror(client: str) -> Juror:
            way = admission(plan, client, limiter=limiter, budget=budget)
            return Juror(providers, clerk, admission=way, prices=plan.prices, sources=sources, backoff=backoff)

        jurors = {place: [juror(f"{place}/{replica}") for replica in range(plan.replicas)] for place in plan.places}
        coordinator = Coordinator(clerk, jurors, sources=sources)
        try:
            yield coordinator
        finally:
            await coordinator.close()
            for one in (one for replicas in jurors.values() for one in replicas):
                await one.close()
            for desk in (desk for desk in (limiter, budget) if desk is not None):
                desk.close()
    finally:
        clerk.close()
