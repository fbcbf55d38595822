"""A court on Ray: one clerk, one juror actor a seat (and replicas), one coordinator.

`import ray` costs seconds and reads its environment once, so this module is imported only to set up a court on Ray.
"""

from jury_actors.ray_cluster import head_address, start_ray, stop_ray

# Above all others, since it sets what Ray reads when it is imported.
# isort: split
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from jury_actors.driver import CoordinatorPort
from jury_actors.notices import Say, unheard
from jury_actors.ray_actors import (
    BUDGET,
    CLERK,
    LIMITER,
    BudgetActor,
    ClerkActor,
    CoordinatorActor,
    JurorActor,
    LimiterActor,
)
from jury_actors.ray_head import HeadWatchedPort
from jury_actors.ray_processes import end_own_processes
from jury_actors.ray_proxy import RayClerkPort, RayCoordinatorPort
from jury_actors.ray_watch import RayWatch, Watched
from jury_actors.runtime import RuntimeConfig

__all__ = ["ray_runtime", "start_ray", "stop_ray"]

_PATIENCE = 2.0
_PATIENCE_WITH_OTHERS = 15.0
"""Seconds that the head of a cluster may refuse connections. One that others run may be set up to come back."""


@asynccontextmanager
async def ray_runtime(plan: RuntimeConfig, *, say: Say = unheard) -> AsyncIterator[CoordinatorPort]:
    """Actors for one run, in a namespace of their own; they end with it. Ray must be started.

    `say` takes a line for the person when an actor dies or has something to tell. One that dies again and again ends
    the run: the port raises `ClusterLost` (see `ray_watch`).

    Raises:
        StoreError: the store cannot be opened for writing.
        ClusterLost: by calls of the port, once the cluster is gone.
    """
    namespace = f"jury-{token_hex(8)}"
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    local_file = {"scheduling_strategy": here} if plan.store_url.startswith("sqlite") else {}
    places = {
        place: [f"juror-{seat}-{replica}" for replica in range(plan.replicas)] for seat, place in enumerate(plan.places)
    }

    def actor(cls: type, name: str, *args: Any, **options: Any) -> Any:
        return _actor(cls, name=name, namespace=namespace, **options).remote(*args)

    clerk = actor(ClerkActor, CLERK, _absolute(plan.store_url), plan.run_id, plan.store_patience, **local_file)
    watched = [Watched("the clerk's process", "another takes its place and goes on with the log", clerk)]
    others = []
    if plan.limited and not plan.shared_cluster:
        others.append(actor(LimiterActor, LIMITER))
    if plan.ceiling.bounded:
        others.append(actor(BudgetActor, BUDGET, plan.ceiling))
        watched.append(Watched("the process that keeps the budget", "no further call can be made", others[-1]))
    # Of the endpoints a plain table: a mapping proxy does not pickle.
    sent = plan._replace(endpoints=dict(plan.endpoints))
    for place, names in places.items():
        whose = "the final judge's process" if place is None else f"the process of juror {place}"
        for name in names:
            others.append(actor(JurorActor, name, namespace, sent))
            watched.append(
                Watched(whose, "another takes its place and is asked again what was not answered", others[-1])
            )
    others.append(coordinator := actor(CoordinatorActor, "coordinator", namespace, places))
    watched.append(
        Watched("the coordinator's process", "another takes its place and goes on with the debates", coordinator)
    )
    watch = RayWatch(watched, say)
    patience = _PATIENCE_WITH_OTHERS if plan.shared_cluster else _PATIENCE
    port = HeadWatchedPort(RayCoordinatorPort(coordinator, watch.ended), head_address(), patience=patience)
    try:
        async with port:
            await port.unless_lost(RayClerkPort(clerk).open())
            yield port
            await watch.close()
            # Whoever writes is stopped first, then the clerk stores what waits.
            while others:
                ray.kill(others.pop())
            await port.unless_lost(RayClerkPort(clerk).close())
    finally:
        await watch.close()
        if port.lost:
            # Actors cannot be killed without a head. Those of a local cluster end here, others when Ray notices.
            end_own_processes()
        else:
            for handle in [*others, clerk]:
                ray.kill(handle)


def _actor(cls: type, **options: object) -> Any:
    """An actor class that is restarted whenever it dies; what it was doing is ours to repeat, not Ray's."""
    actor: Any = ray.remote(cls)
    return actor.options(num_cpus=0, max_restarts=-1, max_task_retries=0, enable_task_events=False, **options)


def _absolute(store_url: str) -> str:
    """A worker's working directory is not ours: a relative SQLite path becomes absolute."""
    prefix = "sqlite:///"
    if store_url.startswith(prefix) and not store_url.startswith("sqlite:////"):
        return prefix + str(Path(store_url.removeprefix(prefix)).resolve())
    return store_url
