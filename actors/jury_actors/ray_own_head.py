"""A local cluster without the processes that nobody needs.

Ray starts a log monitor, which sends the workers' logs to a driver that drops them; the API server of a dashboard, even
where there is no dashboard; the monitor of the autoscaler, on a cluster that never grows; and two agents of the node:
one reports to the dashboard, one prepares environments of workers, which all have that of the driver. `ray.init` has no
option that leaves them out. What they cost is in docs/ray.md.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray._private import services
from ray._private.node import Node
from ray._raylet import (  # type: ignore[attr-defined]  # not in Ray's own stub
    DASHBOARD_AGENT_LISTEN_PORT_NAME,
    METRICS_AGENT_PORT_NAME,
    METRICS_EXPORT_PORT_NAME,
    RUNTIME_ENV_AGENT_PORT_NAME,
    persist_port,
)

_UNREAD = ("start_log_monitor", "start_api_server", "start_monitor")
"""Methods of Ray's `Node`, each of which starts one of these processes."""

_PORTS = (
    DASHBOARD_AGENT_LISTEN_PORT_NAME,
    METRICS_AGENT_PORT_NAME,
    METRICS_EXPORT_PORT_NAME,
    RUNTIME_ENV_AGENT_PORT_NAME,
)
"""The ports of the agents: a node starts no worker before it finds them in files."""

_NOT_IN_USE = -1
"""What Ray's own agents write where they serve nothing."""

_AGENTS = ("--dashboard_agent_command=", "--runtime_env_agent_command=")
"""Options of a node, which ends as soon as one of these processes does."""

_IDLE = subprocess.list2cmdline([sys.executable, "-I", "-S", str(Path(__file__).with_name("ray_idle_agent.py"))])


@contextmanager
def without_unread_processes() -> Iterator[None]:
    """Heads that are started in the context do without; where a release of Ray has no such method, nothing changes."""
    instead = {**dict.fromkeys(_UNREAD, _start_nothing), "start_raylet": _with_ports(Node.start_raylet)}
    before = {name: getattr(Node, name) for name in instead if hasattr(Node, name)}
    start = services.start_ray_process
    for name in before:
        setattr(Node, name, instead[name])
    services.start_ray_process = _with_idle_agents(start)
    try:
        yield
    finally:
        services.start_ray_process = start
        for name, method in before.items():
            setattr(Node, name, method)


def _start_nothing(_node: Node, **_options: object) -> None:
    """Instead of a method that starts a process."""


def _with_ports(start: Callable[..., None]) -> Callable[..., None]:
    """The method that starts a node, which finds the ports of agents that serve nothing."""

    def started(node: Node, *given: Any, **options: Any) -> None:
        folder = node.get_session_dir_path()  # type: ignore[no-untyped-call]
        for name in _PORTS:
            persist_port(folder, node.node_id, name, _NOT_IN_USE)
        start(node, *given, **options)

    return started


def _with_idle_agents(start: Callable[..., Any]) -> Callable[..., Any]:
    """The function that starts Ray's processes, with idle ones as the agents of a node."""

    def started(command: list[str], *given: Any, **options: Any) -> Any:
        return start([_idle(argument) for argument in command], *given, **options)

    return started


def _idle(argument: str) -> str:
    return next((option + _IDLE for option in _AGENTS if argument.startswith(option)), argument)
