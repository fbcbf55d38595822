"""The runtime on Ray.

`import ray` costs seconds, so this module is imported only to set up such a runtime.

Actors reach each other without the head, so its end is noticed by no call: Ray is silent for a minute, and then ends
the process.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from jury_actors.admission.budget import BUDGET
from jury_actors.background import in_daemon_thread
from jury_actors.clerk import ClerkInterface
from jury_actors.coordinator import CoordinatorInterface, Coordinators, coordinators_for
from jury_actors.errors import ClusterLost
from jury_actors.mailbox import IncarnationLost
from jury_actors.notices import Say, say_nothing
from jury_actors.observation.process_observation import Observed
from jury_actors.observation.tallies import MetricTotals
from jury_actors.ray_actors import (
    CLERK,
    LIMITER,
    BudgetActor,
    ClerkActor,
    CoordinatorActor,
    JurorActor,
    LimiterActor,
)
from jury_actors.ray_cluster import end_own_processes, head_address, start_ray, stop_ray
from jury_actors.ray_nodes import CheckedNodes
from jury_actors.ray_proxy import ray_proxy, remotely, repeated, unless_ended
from jury_actors.ray_watch import RayWatch, Watched, actor_state
from jury_actors.replica_scaler import ClusterView, JurorPlace, ReplicaScaler
from jury_actors.runtime import Runtime, RuntimeConfig

_EVERY = 0.5
"""Seconds between two connections to the head."""

_ANSWERS_WITHIN = 10.0
"""Seconds that a busy machine has to take a connection."""


class HeadWatch:
    """Sets `ClusterLost` on `gone` and `ended` once the head has refused connections for long enough.

    Args:
        head: where the head listens, as `host:port`.
        ended: the runtime's end, which may have other causes.
        patience: seconds in which a head that refuses connections may come back.
        every: seconds between two connections.
    """

    def __init__(self, head: str, ended: "asyncio.Future[None]", *, patience: float, every: float = _EVERY) -> None:
        self._head = head
        self._ended = ended
        self._patience = patience
        self._every = every
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        clock = asyncio.get_running_loop().time
        seen = clock()
        while clock() - seen <= self._patience:
            await asyncio.sleep(self._every)
            if await self._listens():
                seen = clock()
        for future in (self.gone, self._ended):
            if not future.done():
                future.set_exception(ClusterLost(f"its head at {self._head} is gone"))
                future.exception()  # marks it as retrieved: there may be no further call

    async def _listens(self) -> bool:
        host, _, port = self._head.rpartition(":")
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN):
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        except TimeoutError:
            return True  # too busy to answer; a machine that is gone is noticed by Ray
        except OSError:
            return False
        writer.close()
        return True


_log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two calls."""

_AT_END = 5.0
"""Seconds that the last calls may take."""


class ObservedActor(NamedTuple):
    """An actor: `name` is its name in the runtime's namespace."""

    name: str
    handle: Any


class RayCollection:
    """Passes counts to `totals`, and log records to this process's log; a lost actor is left out until it is back.

    Args:
        totals: None: nothing is counted.
        every: seconds between two calls.
    """

    def __init__(self, totals: MetricTotals | None, *, every: float = EVERY) -> None:
        self._totals = totals
        self._every = every
        self._runtime = token_hex(8)
        self._seen: dict[str, tuple[str, int]] = {}
        # A task each: an actor that does not answer delays no other.
        self._tasks: dict[ObservedActor, asyncio.Task[None]] = {}

    def add(self, actor: ObservedActor) -> None:
        """Fetch what this actor observes from now on."""
        self._tasks[actor] = asyncio.create_task(self._fetch_again_and_again(actor))

    async def remove(self, name: str) -> None:
        """Fetch for the last time from the actor of this name, which is about to be ended."""
        await self._end([actor for actor in self._tasks if actor.name == name])

    async def close(self) -> None:
        """Fetch for the last time from all; may be called again."""
        await self._end(list(self._tasks))

    async def _end(self, actors: Sequence[ObservedActor]) -> None:
        tasks = [self._tasks.pop(actor) for actor in actors]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        last = [asyncio.create_task(self._fetch(actor)) for actor in actors]
        if last:
            _, late = await asyncio.wait(last, timeout=_AT_END)
            for task in late:
                task.cancel()
        if self._totals is not None:
            for actor in actors:
                self._totals.end(self._source(actor))

    async def _fetch_again_and_again(self, actor: ObservedActor) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self._fetch(actor)

    async def _fetch(self, actor: ObservedActor) -> None:
        incarnation, number = self._seen.get(actor.name, ("", 0))
        try:
            observed: Observed = await remotely(actor.handle.observed, incarnation, number)
        except (IncarnationLost, ClusterLost):
            return  # others report it
        except Exception:  # noqa: BLE001  (debates go on unobserved)
            _log.info("%s cannot be observed", actor.name, exc_info=True)
            return
        self._seen[actor.name] = observed.incarnation, observed.upto
        for record in observed.records:
            _pass_on(logging.makeLogRecord(record))
        if self._totals is not None and observed.snapshot is not None:
            self._totals.receive(self._source(actor), actor.name, observed.incarnation, observed.snapshot)

    def _source(self, actor: ObservedActor) -> str:
        return f"{self._runtime}/{actor.name}"


def _pass_on(record: logging.LogRecord) -> None:
    log = logging.getLogger(record.name)
    if log.isEnabledFor(record.levelno):
        log.handle(record)


__all__ = ["ray_runtime", "start_ray", "stop_ray"]

_PATIENCE = 2.0
_PATIENCE_WITH_OTHERS = 15.0
"""Seconds that the head of a cluster may refuse connections; of a shared cluster it may be set up to come back."""


@asynccontextmanager
async def ray_runtime(
    config: RuntimeConfig, *, say: Say = say_nothing, totals: MetricTotals | None = None
) -> AsyncIterator[Runtime]:
    """Actors for one run, in their own namespace; they end with it. Ray must be started.

    What they observe, as `config` says, comes to `totals` and to this process's log every few seconds.

    `say` takes a line for the user when an actor dies or has a notice. Once an actor dies again and again, or the head
    is gone, calls of the runtime raise `ClusterLost`.
    """
    loop = asyncio.get_running_loop()

    def say_later(line: str) -> None:
        loop.call_soon_threadsafe(say, line)

    nodes = CheckedNodes(config, say_later)
    await in_daemon_thread(nodes.check)
    ended: asyncio.Future[None] = loop.create_future()
    watch = RayWatch(say, ended)
    collection = RayCollection(totals, every=EVERY)
    actors = _Actors(config, nodes, watch, collection, say)
    patience = _PATIENCE_WITH_OTHERS if config.shared_cluster else _PATIENCE
    head = HeadWatch(head_address(), ended, patience=patience)
    try:
        await unless_ended(ended, repeated(remotely, actors.clerk.open))
        clerk = ray_proxy(ClerkInterface, lambda: actors.clerk, repeats=True, ended=ended)
        runtime = Runtime([_coordinator(handle, ended) for handle in actors.coordinators], clerk)
        async with _until_left(actors.follow_nodes(runtime.coordinators)):
            yield runtime
        await watch.close()
        await collection.close()
        if actors.budget is not None:
            await unless_ended(head.gone, repeated(remotely, actors.budget.close))
        # First those that write, then the clerk, which stores what waits.
        actors.kill_writers()
        await unless_ended(head.gone, repeated(remotely, actors.clerk.close))
    finally:
        await watch.close()
        await collection.close()
        await head.close()
        if head.gone.done():
            # Actors cannot be killed without a head. Those of a local cluster end here, others when Ray notices.
            end_own_processes()
        else:
            actors.kill_writers()
            ray.kill(actors.clerk)


def _coordinator(handle: Any, ended: "asyncio.Future[None]") -> CoordinatorInterface:
    return ray_proxy(CoordinatorInterface, lambda: handle, ended=ended)


@asynccontextmanager
async def _until_left(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do `work` within the context."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Actors:
    """The actors of a runtime, watched by `watch`, their observations fetched by `collection`."""

    def __init__(
        self, config: RuntimeConfig, nodes: CheckedNodes, watch: RayWatch, collection: RayCollection, say: Say
    ) -> None:
        self._nodes = nodes
        self._observation = config.observation
        self._collection = collection
        self._namespace = f"jury-{token_hex(8)}"
        self._watched_by = watch
        self._writers: dict[str, Any] = {}
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        local_file = {"scheduling_strategy": here} if config.store_url.startswith("sqlite") else {}
        store_url = _absolute(config.store_url)
        self.clerk = self._start(ClerkActor, CLERK, store_url, config.run_id, config.store_patience, **local_file)
        self._watch(self.clerk, "the clerk's process", "another takes its place and goes on with the log")
        if config.limited and not config.shared_cluster:
            self._start_writer(LimiterActor, LIMITER)
        self.budget = None
        if config.budget.counted:
            self.budget = budget = self._start_writer(BudgetActor, BUDGET, self._namespace, config.budget)
            self._watch(budget, "the process that keeps the budget", "no further call can be made")
        # Of the endpoints a plain dict: a mapping proxy does not pickle.
        self._config = config._replace(endpoints=dict(config.endpoints))
        starts = self._start_juror, self._end_juror
        self._replicas = ReplicaScaler(config.seats, *starts, self._look_at_nodes, fixed=config.replicas, say=say)
        found = self._look_at_nodes()
        self._replicas.start(found)
        wanted = config.coordinators or coordinators_for(sum(found.cpus.values()))
        self.coordinators = [self._start_coordinator(number) for number in range(wanted)]

    async def follow_nodes(self, coordinators: Coordinators) -> None:
        """Adapt the replicas until cancelled, on a shared cluster; a local one has one node for good."""
        if self._config.shared_cluster:
            await self._replicas.follow(coordinators)

    def kill_writers(self) -> None:
        """End every actor but the clerk."""
        while self._writers:
            ray.kill(self._writers.popitem()[1])

    def _start_coordinator(self, number: int) -> Any:
        coordinator = self._start_writer(
            CoordinatorActor, f"coordinator-{number}", self._namespace, self._config.seats, self._config.cache_policy
        )
        self._watch(coordinator, "a coordinator's process", "another takes its place and goes on with its debates")
        return coordinator

    def _start_juror(self, seat: int, name: str, node: str) -> None:
        juror_id = self._config.seats[seat]
        shown = "the final judge's process" if juror_id is None else f"the process of juror {juror_id}"
        place = _on_node(node) if self._config.shared_cluster else {}
        juror = self._start_writer(JurorActor, name, self._namespace, self._config, **place)
        self._watch(juror, shown, "another takes its place and is asked again what was not answered")

    def _look_at_nodes(self, jurors: Collection[str] = ()) -> ClusterView:
        """The nodes of the cluster, and where these jurors are. May block for long."""
        cpus = self._nodes.cpus()
        states = {name: actor_state(self._writers[name]) for name in jurors}
        # One that Ray has not started yet is not among the places: it is on its way to the node that it was meant for.
        places = {
            name: JurorPlace(found.node, found.alive)
            for name, found in states.items()
            if found is not None and (found.alive or found.restarts)
        }
        return ClusterView(cpus, places, self._nodes.names)

    async def _end_juror(self, name: str) -> None:
        juror = self._writers.pop(name)
        await self._watched_by.remove(juror)
        if self._observation.is_on:
            await self._collection.remove(name)
        ray.kill(juror)

    def _watch(self, handle: Any, name: str, then: str) -> None:
        self._watched_by.add(Watched(name, then, handle))

    def _start_writer(self, cls: type, name: str, *args: Any, **options: Any) -> Any:
        self._writers[name] = self._start(cls, name, *args, **options)
        return self._writers[name]

    def _start(self, cls: type, name: str, *args: Any, **options: Any) -> Any:
        """An actor that is restarted whenever it dies; its clients repeat their calls, not Ray."""
        actor: Any = ray.remote(cls)
        options |= {"name": name, "namespace": self._namespace, "num_cpus": 0, "enable_task_events": False}
        handle = actor.options(max_restarts=-1, max_task_retries=0, **options).remote(name, self._observation, *args)
        if self._observation.is_on:
            self._collection.add(ObservedActor(name, handle))
        return handle


def _on_node(node: str) -> dict[str, Any]:
    """Options of an actor that starts on this node, and on another only once this one is lost.

    Ray's `NodeAffinitySchedulingStrategy(soft=True)` puts an actor without CPUs elsewhere about every other time.
    """
    label = "ray.io/node-id"
    return {"label_selector": {label: node}, "fallback_strategy": [{"label_selector": {label: f"!{node}"}}]}


def _absolute(store_url: str) -> str:
    """A worker has another working directory: a relative SQLite path becomes absolute."""
    prefix = "sqlite:///"
    if store_url.startswith(prefix) and not store_url.startswith("sqlite:////"):
        return prefix + str(Path(store_url.removeprefix(prefix)).resolve())
    return store_url
