"""A court: clerk, jurors and coordinator set up to hold debates, in one process or on Ray."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from jury_actors.backoff import Backoff
from jury_actors.clerk import Clerk
from jury_actors.coordinator import Coordinator
from jury_actors.holding import CoordinatorPort
from jury_actors.juror import Juror
from jury_actors.providers.endpoints import Endpoints
from jury_actors.providers.registry import NO_ENDPOINTS, provider_factory
from jury_actors.providers.simulated.script import Script
from jury_actors.sources import Sources
from jury_events.panel import Panel
from jury_store.event_store import EventStore


class CourtPlan(NamedTuple):
    """What a court needs to know of a run.

    Args:
        panel: names the seats.
        store_url: where the log is.
        run_id: named in the store's lock.
        script: latencies and faults of simulated jurors.
        replicas: juror processes a seat.
        endpoints: where providers are reached.
    """

    panel: Panel
    store_url: str
    run_id: str
    script: Script = Script()
    replicas: int = 1
    endpoints: Endpoints = NO_ENDPOINTS

    @property
    def places(self) -> tuple[str | None, ...]:
        """The seats, and None for the final judge where there is one."""
        return (*self.panel.juror_ids, *((None,) if self.panel.final.judge else ()))


@asynccontextmanager
async def in_process_court(
    plan: CourtPlan, open_store: Callable[[], EventStore], *, sources: Sources = Sources(), backoff: Backoff = Backoff()
) -> AsyncIterator[CoordinatorPort]:
    """The same classes as on Ray, in this process and event loop. On leaving, what runs stops where it is."""
    clerk = Clerk(await asyncio.to_thread(open_store))
    try:
        providers = provider_factory(plan.script, plan.endpoints)
        jurors = {
            place: [Juror(providers, clerk, sources=sources, backoff=backoff) for _ in range(plan.replicas)]
            for place in plan.places
        }
        coordinator = Coordinator(clerk, jurors, sources=sources)
        try:
            yield coordinator
        finally:
            await coordinator.close()
            for juror in (juror for replicas in jurors.values() for juror in replicas):
                await juror.close()
    finally:
        clerk.close()
