"""The plain classes as Ray actors.

Each is built at the first call, inside the actor's event loop, so that a restarted actor is ready for calls again.
Actors find each other by name: a handle among a constructor's arguments can be lost before a restart (ray#53727).
"""

import asyncio
import gc
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from functools import partial
from secrets import token_hex
from typing import Any

import ray

from jury_actors.admission.budget import BUDGET, BudgetRule, BudgetService, RunBudget, Spent
from jury_actors.admission.limiter import Limiter
from jury_actors.admission.service import BEAT, AdmissionInterface, AdmissionService
from jury_actors.background import has_failed
from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.coordinator import Coordinator
from jury_actors.juror import Juror
from jury_actors.juror_client import JurorInterface, replicas_among
from jury_actors.mailbox import Delivery
from jury_actors.notices import Notices
from jury_actors.observation.process_observation import NO_OBSERVATION, ActorObservation, ObservationSettings, Observed
from jury_actors.ray_proxy import pack, ray_proxy, unpack
from jury_actors.runtime import RuntimeConfig, admission
from jury_actors.store_retry import StoreRetry
from jury_providers.caching import CachePolicy
from jury_providers.registry import provider_factory
from jury_store.event_store import EventStore

CLERK = "clerk"
LIMITER = "limiter"
"""Names of a runtime's actors in its namespace, beside `BUDGET`."""

SHARED_LIMITER = ("jury-judge", "limiter-2")
"""Namespace and name of the limiter of a cluster that several runs share; the number is its messages' version."""

_IDLE_BEATS = 12
"""Beats without a client after which a shared limiter ends itself."""

LINGER = 0.004
"""Seconds that a message between processes waits for more."""

LOCK_WAIT = 20.0
"""Seconds to wait for the lock of a writer that was killed a moment ago."""


class ServiceActor(ABC):
    """Serves the methods of one plain object, and notices for the driver's watch."""

    def __init__(self, name: str = "", observation: ObservationSettings = NO_OBSERVATION) -> None:
        self._observation = ActorObservation(name, observation)
        self._observer = self._observation.observer
        # Events and texts live as long as their debates: collecting cycles after every 700 objects costs an eighth.
        gc.freeze()
        gc.set_threshold(20_000, 50, 100)
        self._notices = Notices()
        self._made: asyncio.Task[Any] | None = None

    async def call(self, method: str, packed: bytes) -> bytes:
        """Call a method of the object; arguments and result are packed."""
        args, options = unpack(packed)
        return pack(await getattr(await self._service(), method)(*args, **options))

    async def notices(self, incarnation: str, ack: int) -> Delivery[str]:
        """Lines for the user; see `Notices.poll`."""
        return await self._notices.poll(incarnation, ack)

    async def observed(self, incarnation: str, number: int) -> Observed:
        """What was observed here; see `ActorObservation.since`."""
        return self._observation.since(incarnation, number)

    async def _service(self) -> Any:
        if self._made is None or has_failed(self._made):
            self._made = asyncio.create_task(self._make())
        return await asyncio.shield(self._made)

    @abstractmethod
    async def _make(self) -> Any:
        """Make the object."""


class ClerkActor(ServiceActor):
    """The process that writes the log."""

    def __init__(
        self, name: str, observation: ObservationSettings, store_url: str, run_id: str, store_patience: float
    ) -> None:
        super().__init__(name, observation)
        self._store_url = store_url
        self._run_id = run_id
        self._retry = StoreRetry(store_patience, self._notices.say)

    async def _make(self) -> Clerk:
        from jury_store.opening import open_store  # noqa: PLC0415  (no other actor pays for loading SQLAlchemy)

        def opened() -> Awaitable[EventStore]:
            return asyncio.to_thread(open_store, self._store_url, write=True, run=self._run_id, wait=LOCK_WAIT)

        # A run that cannot open its store fails at once; a restarted clerk waits for a store that it had opened.
        if ray.get_runtime_context().was_current_actor_reconstructed:
            store, _ = await self._retry.run(opened)
        else:
            store = await opened()
        return Clerk(store, self._retry, observer=self._observer)

    async def open(self) -> None:
        """Open the store; raises what `open_store` raises."""
        await self._service()

    async def close(self) -> None:
        """Store what waits and close the store."""
        if self._made is not None:
            clerk = await self._made
            await asyncio.to_thread(clerk.close)


class _AdmissionActor(ServiceActor):
    """The process of a limiter or a budget; where it `ends_alone`, it does so once no client is left."""

    def __init__(
        self,
        name: str = "",
        observation: ObservationSettings = NO_OBSERVATION,
        *,
        ends_alone: bool = False,
    ) -> None:
        super().__init__(name, observation)
        self._ends_alone = ends_alone
        self._sweeper: asyncio.Task[None] | None = None

    @abstractmethod
    def _served(self) -> AdmissionService:
        """Decides on requests."""

    async def _make(self) -> AdmissionService:
        service = self._served()
        self._sweeper = asyncio.create_task(self._sweep(service))
        return service

    async def _sweep(self, service: AdmissionService) -> None:
        idle = 0
        while idle < _IDLE_BEATS:
            await asyncio.sleep(BEAT)
            idle = 0 if service.clients() or not self._ends_alone else idle + 1
        ray.kill(ray.get_runtime_context().current_actor)


class LimiterActor(_AdmissionActor):
    """The process of a limiter."""

    def _served(self) -> AdmissionService:
        return AdmissionService(Limiter(), token_hex(8), linger=LINGER)


class BudgetActor(_AdmissionActor):
    """The process of a run's budget. A successor does not know what is reserved: it halts every call."""

    def __init__(self, name: str, observation: ObservationSettings, namespace: str, budget: RunBudget) -> None:
        super().__init__(name, observation)
        self._namespace = namespace
        self._budget = budget

    def _served(self) -> AdmissionService:
        rule = BudgetRule(self._budget, lost=ray.get_runtime_context().was_current_actor_reconstructed)
        clerk = ray_proxy(ClerkInterface, partial(ray.get_actor, CLERK, namespace=self._namespace), repeats=True)

        async def store(lease: Spent) -> None:
            assert self._budget.run is not None
            await clerk.store_run_lease(self._budget.run, *lease)

        return BudgetService(rule, token_hex(8), store, linger=LINGER)

    async def close(self) -> None:
        """Store what is settled and reserved."""
        if self._made is not None:
            await (await self._made).close_lease()


class JurorActor(ServiceActor):
    """The process of one juror."""

    def __init__(self, name: str, observation: ObservationSettings, namespace: str, config: RuntimeConfig) -> None:
        super().__init__(name, observation)
        self._namespace = namespace
        self._config = config

    async def _make(self) -> Juror:
        config, find = self._config, partial(ray.get_actor, namespace=self._namespace)
        limiter = shared_limiter if config.shared_cluster else partial(find, LIMITER)
        calls = admission(
            config,
            token_hex(8),
            limiter=ray_proxy(AdmissionInterface, limiter, replaceable=True) if config.limited else None,
            budget=ray_proxy(AdmissionInterface, partial(find, BUDGET)) if config.budget.counted else None,
            observer=self._observer,
        )
        providers = provider_factory(config.script, config.endpoints)
        clerk = ray_proxy(ClerkInterface, partial(find, CLERK), repeats=True)
        return Juror(providers, clerk, admission=calls, prices=config.prices, linger=LINGER, observer=self._observer)


class CoordinatorActor(ServiceActor):
    """The process of one coordinator. It finds the replicas of `seats` by name, as a successor must."""

    def __init__(
        self,
        name: str,
        observation: ObservationSettings,
        namespace: str,
        seats: Sequence[str | None],
        cache_policy: CachePolicy,
    ) -> None:
        super().__init__(name, observation)
        self._name = name
        self._namespace = namespace
        self._seats = seats
        self._cache_policy = cache_policy

    async def _make(self) -> Coordinator:
        find = partial(ray.get_actor, namespace=self._namespace)

        def connect(name: str) -> JurorInterface:
            return ray_proxy(JurorInterface, partial(find, name))

        clerk = ray_proxy(ClerkInterface, partial(find, CLERK), repeats=True)
        everywhere = await asyncio.to_thread(ray.util.list_named_actors, all_namespaces=True)
        names = [actor["name"] for actor in everywhere if actor["namespace"] == self._namespace]
        replicas = replicas_among(names, self._seats)
        return Coordinator(
            clerk,
            replicas,
            connect,
            name=self._name,
            linger=LINGER,
            observer=self._observer,
            cache_policy=self._cache_policy,
        )


def shared_limiter() -> Any:
    """The limiter of this cluster, made by the first who asks."""
    namespace, name = SHARED_LIMITER
    actor: Any = ray.remote(LimiterActor)
    options = {"namespace": namespace, "name": name, "lifetime": "detached", "get_if_exists": True}
    return actor.options(num_cpus=0, max_restarts=0, enable_task_events=False, **options).remote(ends_alone=True)
