"""A court on Ray: one clerk, one juror actor a seat (and replicas), one coordinator.

`import ray` costs seconds and reads its environment once, so this module is imported only to set up a court on Ray.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from jury_actors.court import CourtPlan
from jury_actors.errors import ClusterUnreachable
from jury_actors.holding import CoordinatorPort

# Before `import ray`: without the first, `uv run` zips the working directory (with .env and the database) into the
# cluster; without the last, a local cluster writes a token into the user's home.
for _name, _value in {
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}.items():
    os.environ.setdefault(_name, _value)

import ray  # noqa: E402
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402

from jury_actors.ray_actors import (  # noqa: E402
    BUDGET,
    CLERK,
    LIMITER,
    BudgetActor,
    ClerkActor,
    CoordinatorActor,
    JurorActor,
    LimiterActor,
)
from jury_actors.ray_ports import RayClerkPort, RayCoordinatorPort  # noqa: E402

_OBJECT_STORE_BYTES = 128 * 1024 * 1024
_SETTINGS_FRAME = b"\x04"
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00" + _SETTINGS_FRAME + b"\x00" * 5
"""How a client opens an HTTP/2 connection (RFC 9113, 3.4), with empty settings of its own."""


def start_ray(address: str | None = None) -> bool:
    """Start a local cluster, or join the one at `address` (host:port). Gives False when Ray runs already.

    Raises:
        ClusterUnreachable: nobody, or something else than Ray, listens at `address`.
    """
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": True}
    if address is None:
        ray.init(
            address="local",
            include_dashboard=False,
            num_cpus=max(2, os.cpu_count() or 1),
            object_store_memory=_OBJECT_STORE_BYTES,
            **quiet,
        )
        return True
    _check_address(address)
    ray.init(address=address, **quiet)
    return True


def _check_address(address: str) -> None:
    """Ray itself would try for minutes, deaf to signals: a cluster speaks HTTP/2 and answers with its settings."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(_HTTP2_PREFACE)
            answer = connection.recv(9)
        if answer[3:4] != _SETTINGS_FRAME:
            raise ConnectionError("something else than Ray listens there")
    except (OSError, ValueError) as error:
        raise ClusterUnreachable(
            f"no Ray cluster answers at {address} ({error}); start one with `ray start --head`, or name none"
        ) from error


def stop_ray() -> None:
    """Leave the cluster; a local one ends."""
    ray.shutdown()


@asynccontextmanager
async def ray_court(plan: CourtPlan) -> AsyncIterator[CoordinatorPort]:
    """Actors for one run, in a namespace of their own; they end with it. Ray must be started.

    Raises:
        StoreError: the store cannot be opened for writing.
    """
    namespace = f"jury-{token_hex(8)}"
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    local_file = {"scheduling_strategy": here} if plan.store_url.startswith("sqlite") else {}
    places = {
        place: [f"juror-{seat}-{replica}" for replica in range(plan.replicas)] for seat, place in enumerate(plan.places)
    }

    def actor(cls: type, name: str, *args: Any, **options: Any) -> Any:
        return _actor(cls, name=name, namespace=namespace, **options).remote(*args)

    clerk = actor(ClerkActor, CLERK, _absolute(plan.store_url), plan.run_id, **local_file)
    others = []
    if plan.limited and not plan.shared_cluster:
        others.append(actor(LimiterActor, LIMITER))
    if plan.ceiling.bounded:
        others.append(actor(BudgetActor, BUDGET, plan.ceiling))
    # Of the endpoints a plain table: a mapping proxy does not pickle.
    sent = plan._replace(endpoints=dict(plan.endpoints))
    others += [actor(JurorActor, name, namespace, sent) for names in places.values() for name in names]
    others.append(coordinator := actor(CoordinatorActor, "coordinator", namespace, places))
    try:
        await RayClerkPort(clerk).open()
        yield RayCoordinatorPort(coordinator)
        # Whoever writes is stopped first, then the clerk stores what waits.
        while others:
            ray.kill(others.pop())
        await RayClerkPort(clerk).close()
    finally:
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
