"""A runtime on Ray: one clerk, one juror actor a seat (and replicas), one coordinator.

`import ray` costs seconds and reads its environment once, so this module is imported only to set up such a runtime.
"""

from jury_actors.ray_cluster import head_address, start_ray, stop_ray

# Above all others, since it sets what Ray reads when it is imported.
# isort: split
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from jury_actors.clerk import ClerkInterface
from jury_actors.coordinator import CoordinatorInterface
from jury_actors.notices import Say, say_nothing
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
from jury_actors.ray_head import HeadWatch
from jury_actors.ray_processes import end_own_processes
from jury_actors.ray_proxy import ray_proxy, remotely, repeated, unless_ended
from jury_actors.ray_watch import RayWatch, Watched
from jury_actors.runtime import Runtime, RuntimeConfig

__all__ = ["ray_runtime", "start_ray", "stop_ray"]

_PATIENCE = 2.0
_PATIENCE_WITH_OTHERS = 15.0
"""Seconds that the head of a cluster may refuse connections; of a shared cluster it may be set up to come back."""


@asynccontextmanager
async def ray_runtime(config: RuntimeConfig, *, say: Say = say_nothing) -> AsyncIterator[Runtime]:
    """Actors for one run, in their own namespace; they end with it. Ray must be started.

    `say` takes a line for the user when an actor dies or has a notice. Once an actor dies again and again, or the head
    is gone, calls of the runtime raise `ClusterLost`.

    Raises:
        StoreError: the store cannot be opened for writing.
        ClusterLost: the cluster is gone.
    """
    actors = _Actors(config)
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    watch = RayWatch(actors.watched, say, ended)
    patience = _PATIENCE_WITH_OTHERS if config.shared_cluster else _PATIENCE
    head = HeadWatch(head_address(), ended, patience=patience)
    try:
        await unless_ended(ended, repeated(remotely, actors.clerk.open))
        yield Runtime(
            ray_proxy(CoordinatorInterface, lambda: actors.coordinator, ended=ended),
            ray_proxy(ClerkInterface, lambda: actors.clerk, repeats=True, ended=ended),
        )
        await watch.close()
        # First those that write, then the clerk, which stores what waits.
        actors.kill_writers()
        await unless_ended(head.gone, repeated(remotely, actors.clerk.close))
    finally:
        await watch.close()
        await head.close()
        if head.gone.done():
            # Actors cannot be killed without a head. Those of a local cluster end here, others when Ray notices.
            end_own_processes()
        else:
            actors.kill_writers()
            ray.kill(actors.clerk)


class _Actors:
    """The actors of a runtime, `watched` as the user reads of them."""

    def __init__(self, config: RuntimeConfig) -> None:
        self._namespace = f"jury-{token_hex(8)}"
        self._writers: list[Any] = []
        self.watched: list[Watched] = []
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        local_file = {"scheduling_strategy": here} if config.store_url.startswith("sqlite") else {}
        store_url = _absolute(config.store_url)
        self.clerk = self._start(ClerkActor, CLERK, store_url, config.run_id, config.store_patience, **local_file)
        self._watch(self.clerk, "the clerk's process", "another takes its place and goes on with the log")
        if config.limited and not config.shared_cluster:
            self._start_writer(LimiterActor, LIMITER)
        if config.ceiling.bounded:
            budget = self._start_writer(BudgetActor, BUDGET, config.ceiling)
            self._watch(budget, "the process that keeps the budget", "no further call can be made")
        names = {
            seat: [f"juror-{number}-{replica}" for replica in range(config.replicas)]
            for number, seat in enumerate(config.seats)
        }
        # Of the endpoints a plain dict: a mapping proxy does not pickle.
        config = config._replace(endpoints=dict(config.endpoints))
        for seat, replicas in names.items():
            name = "the final judge's process" if seat is None else f"the process of juror {seat}"
            for replica in replicas:
                juror = self._start_writer(JurorActor, replica, self._namespace, config)
                self._watch(juror, name, "another takes its place and is asked again what was not answered")
        self.coordinator = self._start_writer(CoordinatorActor, "coordinator", self._namespace, names)
        self._watch(
            self.coordinator, "the coordinator's process", "another takes its place and goes on with the debates"
        )

    def kill_writers(self) -> None:
        """End every actor but the clerk."""
        while self._writers:
            ray.kill(self._writers.pop())

    def _watch(self, handle: Any, name: str, then: str) -> None:
        self.watched.append(Watched(name, then, handle))

    def _start_writer(self, cls: type, name: str, *args: Any) -> Any:
        self._writers.append(self._start(cls, name, *args))
        return self._writers[-1]

    def _start(self, cls: type, name: str, *args: Any, **options: Any) -> Any:
        """An actor that is restarted whenever it dies; its clients repeat their calls, not Ray."""
        actor: Any = ray.remote(cls)
        options |= {"name": name, "namespace": self._namespace, "num_cpus": 0, "enable_task_events": False}
        return actor.options(max_restarts=-1, max_task_retries=0, **options).remote(*args)


def _absolute(store_url: str) -> str:
    """A worker has another working directory: a relative SQLite path becomes absolute."""
    prefix = "sqlite:///"
    if store_url.startswith(prefix) and not store_url.startswith("sqlite:////"):
        return prefix + str(Path(store_url.removeprefix(prefix)).resolve())
    return store_url
