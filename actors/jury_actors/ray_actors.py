"""The plain classes as Ray actors.

Actors are built lazily, inside their event loop, so that a restarted one is ready for its first call again. They find
each other by name: a handle among the arguments of a constructor can be lost before a restart (ray#53727).
"""

import asyncio
import gc
import pickle
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from secrets import token_hex
from typing import Any

import ray

from jury_actors.admission.budget import Budget, Ceiling
from jury_actors.admission.desk import BEAT, Desk, Rule
from jury_actors.admission.limiter import Limiter
from jury_actors.clerk import Clerk, Recollection
from jury_actors.coordinator import Coordinator
from jury_actors.court import CourtPlan, admission
from jury_actors.failing import has_failed
from jury_actors.juror import Juror
from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_actors.notices import Notices
from jury_actors.patience import Patience
from jury_actors.providers.registry import provider_factory
from jury_actors.ray_ports import RayClerkPort, RayDeskPort, RayJurorPort, pack
from jury_store.errors import StoreError
from jury_store.event_store import Appended, EventStore
from jury_store.seals.seal import Seal

CLERK = "clerk"
"""The name of a court's clerk in its namespace."""

BUDGET = "budget"
LIMITER = "limiter"
"""The names of a court's desks in its namespace."""

SHARED_LIMITER = ("jury-judge", "limiter-1")
"""Namespace and name of the limiter of a cluster that several runs share; the number is that of its messages' form."""

_IDLE_BEATS = 12
"""Beats without a client after which a shared limiter ends itself."""

LINGER = 0.004
"""Seconds that a message waits for company between processes."""

LOCK_WAIT = 20.0
"""Seconds to wait for the lock of a writer that was killed a moment ago."""


def _settle() -> None:
    """Events and texts live as long as their debates: looking for cycles among them after every 700 costs an eighth."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


class _WatchedActor:
    """What every actor of a court does for the driver's watch."""

    def __init__(self) -> None:
        self._notices = Notices()

    async def notices(self, life: str, ack: int) -> Delivery[str]:
        """Lines for the person; see `Notices.poll`."""
        return await self._notices.poll(life, ack)


class ClerkActor(_WatchedActor):
    """The process that writes the log."""

    def __init__(self, store_url: str, run_id: str, store_patience: float) -> None:
        super().__init__()
        _settle()
        self._store_url = store_url
        self._run_id = run_id
        self._patience = Patience(store_patience, self._notices.say)
        self._clerk: asyncio.Task[Clerk] | None = None

    async def _ready(self) -> Clerk:
        if self._clerk is None or has_failed(self._clerk):
            self._clerk = asyncio.create_task(self._open())
        return await asyncio.shield(self._clerk)

    async def _open(self) -> Clerk:
        from jury_store.opening import open_store  # noqa: PLC0415  (no other actor pays for loading SQLAlchemy)

        def opened() -> Awaitable[EventStore]:
            return asyncio.to_thread(open_store, self._store_url, write=True, run=self._run_id, wait=LOCK_WAIT)

        # A run that cannot reach its store at all is told at once; one that goes on waits for it.
        if ray.get_runtime_context().was_current_actor_reconstructed:
            store, _ = await self._patience.see_through(opened)
        else:
            store = await opened()
        return Clerk(store, self._patience)

    async def open(self) -> None:
        """Open the store; raises what `open_store` raises."""
        await self._ready()

    async def record(self, packed: bytes) -> list[Appended | StoreError]:
        """See `ClerkPort`."""
        return await (await self._ready()).record(pickle.loads(packed))

    async def next_epoch(self) -> int:
        """See `ClerkPort`."""
        return await (await self._ready()).next_epoch()

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, Recollection]:
        """See `ClerkPort`."""
        return await (await self._ready()).recall(debate_ids)

    async def recorded(self, debate_id: str) -> frozenset[str]:
        """See `ClerkPort`."""
        return await (await self._ready()).recorded(debate_id)

    async def store_seal(self, seal: Seal) -> bool:
        """See `ClerkPort`."""
        return await (await self._ready()).store_seal(seal)

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `ClerkPort`."""
        await (await self._ready()).store_run_size(run_id, cases)

    async def close(self) -> None:
        """Store what waits and let go of the database."""
        if self._clerk is not None:
            clerk = await self._clerk
            await asyncio.to_thread(clerk.close)


class _DeskActor(_WatchedActor, ABC):
    """The process of a desk; where it `ends_alone`, it does so once no client is left."""

    def __init__(self, *, ends_alone: bool = False) -> None:
        super().__init__()
        self._ends_alone = ends_alone
        self._desk: Desk | None = None
        self._sweeper: asyncio.Task[None] | None = None

    @abstractmethod
    def _rule(self) -> Rule:
        """What decides."""

    def _ready(self) -> Desk:
        if self._desk is None:
            self._desk = Desk(self._rule(), token_hex(8), linger=LINGER)
            self._sweeper = asyncio.create_task(self._sweep(self._desk))
        return self._desk

    async def _sweep(self, desk: Desk) -> None:
        """Drop the clients that died: what they held is free again."""
        idle = 0
        while idle < _IDLE_BEATS:
            await asyncio.sleep(BEAT)
            idle = 0 if desk.clients() or not self._ends_alone else idle + 1
        ray.kill(ray.get_runtime_context().current_actor)

    async def submit(self, client: str, packed: bytes) -> None:
        """See `DeskPort`."""
        await self._ready().submit(client, pickle.loads(packed))

    async def poll(self, client: str, life: str, ack: int) -> bytes:
        """See `DeskPort`."""
        return pack(await self._ready().poll(client, life, ack))


class LimiterActor(_DeskActor):
    """The process of a limiter."""

    def _rule(self) -> Rule:
        return Limiter()


class BudgetActor(_DeskActor):
    """The process of a run's budget. One that takes another's place does not know what is reserved: it halts."""

    def __init__(self, ceiling: Ceiling) -> None:
        super().__init__()
        self._ceiling = ceiling

    def _rule(self) -> Rule:
        return Budget(self._ceiling, lost=ray.get_runtime_context().was_current_actor_reconstructed)


class JurorActor(_WatchedActor):
    """The process of one juror."""

    def __init__(self, namespace: str, plan: CourtPlan) -> None:
        super().__init__()
        _settle()
        self._namespace = namespace
        self._plan = plan
        self._juror: Juror | None = None

    def _ready(self) -> Juror:
        if self._juror is None:
            plan = self._plan
            clerk = RayClerkPort(ray.get_actor(CLERK, self._namespace))
            way = admission(
                plan,
                token_hex(8),
                limiter=RayDeskPort(self._limiter) if plan.limited else None,
                budget=RayDeskPort(self._budget) if plan.ceiling.bounded else None,
            )
            providers = provider_factory(plan.script, plan.endpoints)
            self._juror = Juror(providers, clerk, admission=way, prices=plan.prices, linger=LINGER)
        return self._juror

    def _limiter(self) -> Any:
        return shared_limiter() if self._plan.shared_cluster else ray.get_actor(LIMITER, self._namespace)

    def _budget(self) -> Any:
        return ray.get_actor(BUDGET, self._namespace)

    async def submit(self, packed: bytes) -> None:
        """See `JurorPort`."""
        asks, release = pickle.loads(packed)
        await self._ready().submit(asks, release)

    async def poll(self, life: str, ack: int) -> bytes:
        """See `JurorPort`."""
        return pack(await self._ready().poll(life, ack))


class CoordinatorActor(_WatchedActor):
    """The process that drives the debates."""

    def __init__(self, namespace: str, jurors: Mapping[str | None, Sequence[str]]) -> None:
        super().__init__()
        _settle()
        self._namespace = namespace
        self._jurors = jurors
        self._coordinator: Coordinator | None = None

    def _ready(self) -> Coordinator:
        if self._coordinator is None:
            ports = {
                place: [RayJurorPort(ray.get_actor(name, self._namespace)) for name in names]
                for place, names in self._jurors.items()
            }
            clerk = RayClerkPort(ray.get_actor(CLERK, self._namespace))
            self._coordinator = Coordinator(clerk, ports, linger=LINGER)
        return self._coordinator

    async def submit(self, jobs: Sequence[Job]) -> None:
        """See `CoordinatorPort`."""
        await self._ready().submit(jobs)

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """See `CoordinatorPort`."""
        return await self._ready().poll(life, ack)

    async def release(self, debate_ids: Sequence[str]) -> None:
        """See `CoordinatorPort`."""
        await self._ready().release(debate_ids)

    async def store_seal(self, seal: Seal) -> bool:
        """See `CoordinatorPort`."""
        return await self._ready().store_seal(seal)

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `CoordinatorPort`."""
        await self._ready().store_run_size(run_id, cases)


def shared_limiter() -> Any:
    """The limiter of this cluster; whoever finds none makes it."""
    namespace, name = SHARED_LIMITER
    actor: Any = ray.remote(LimiterActor)
    options = {"namespace": namespace, "name": name, "lifetime": "detached", "get_if_exists": True}
    return actor.options(num_cpus=0, max_restarts=0, enable_task_events=False, **options).remote(ends_alone=True)
