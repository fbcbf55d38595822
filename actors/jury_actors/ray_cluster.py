"""Connecting to a Ray cluster, or starting one that ends with this process.

A local cluster listens on the loopback address only and requires a token. The token is drawn for it and passed to its
processes in their environment: it is in no file, no command line and no log.

Ray starts a log monitor, which sends the workers' logs to a driver that drops them; the API server of a dashboard, even
where there is no dashboard; the monitor of the autoscaler, on a cluster that never grows; and two agents of the node:
one reports to the dashboard, one prepares environments of workers, which all have that of the driver. `ray.init` has no
option that leaves them out. What they cost is in docs/ray.md.

`ray.shutdown` ignores the processes of a start that failed or was interrupted, and waits for a cluster that does not
answer. They are found by the cluster's token, which no other process has in its environment, so no other cluster is
touched. Ray is not imported here: its import may not have finished.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex
from typing import Any

import psutil
import ray
from ray._private import ray_constants, services, worker
from ray._private.node import Node
from ray._raylet import (  # type: ignore[attr-defined]  # not in Ray's own stub
    DASHBOARD_AGENT_LISTEN_PORT_NAME,
    METRICS_AGENT_PORT_NAME,
    METRICS_EXPORT_PORT_NAME,
    RUNTIME_ENV_AGENT_PORT_NAME,
    AuthenticationTokenLoader,
    Config,
    persist_port,
)

from jury_actors.errors import ClusterNotPrivate, ClusterNotStarted, ClusterUnreachable
from jury_actors.private_folder import ray_folder
from jury_actors.ray_address import AUTH_FILE_VARIABLE, AUTH_VARIABLE, token_for
from jury_actors.ray_survivors import end_watch, watch_survivors

MODE = "RAY_AUTH_MODE"
ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Off, on any system: the node's address is the loopback address, to which every server of Ray binds then."""

WORKER_NICENESS = "RAY_worker_niceness"
"""Ray's default is 15, so that nodes answer while workers compute; here the workers are the command."""

for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # A driver waits for the first workers of its cluster, for ever if Ray has given them up: 60 s is too soon.
    "RAY_worker_register_timeout_seconds": "300",
}.items():
    os.environ.setdefault(_name, _value)


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

    def started(command: list[str], *given: Any, **options: Any) -> Any:
        return start([_idle(argument) for argument in command], *given, **options)

    return started


def _idle(argument: str) -> str:
    return next((option + _IDLE for option in _AGENTS if argument.startswith(option)), argument)


_own: set[str] = set()
"""The tokens of clusters that this process started."""


def own(token: str) -> None:
    """Register the token of a local cluster that this process is about to start."""
    _own.add(token)


def end_own_processes() -> None:
    """Kill every process of the local clusters that this process started. Any thread may call it at any time."""
    while _own and (found := own_processes()):
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found, timeout=1)
    _own.clear()


def own_processes() -> set[psutil.Process]:
    """Those of the local clusters that this process started.

    Includes descendants: some of Ray's processes overwrite their environment with their title.
    """
    found: set[psutil.Process] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(AUTH_VARIABLE) in _own:
                found.update([process, *process.children(recursive=True)])
    return {process for process in found if _runs(process)}


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


_log = logging.getLogger(__name__)

_OBJECT_STORE_BYTES = 128 * 1024 * 1024
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": True}

_OFF = ("ENABLE_RAY_CLUSTER", "RAY_ENABLE_UV_RUN_RUNTIME_ENV")
"""What Ray read of its environment when it was imported, which may have been before this module was.

That a cluster may have other machines; that under `uv run` it gets the working directory, with .env and the database.
"""

_STARTS = 2
"""A busy machine often needs more than the 30 s that Ray allows a node; at the second start files are cached."""


def start_ray(address: str | None = None, *, open_cluster: bool = False) -> bool:
    """Start a local cluster, or join the one at `address` (host:port). Returns False when Ray runs already.

    Linux kills the processes of a local cluster when the calling thread ends: call it in a thread that lasts.

    Args:
        open_cluster: join it even where it requires no token.
    """
    if ray.is_initialized():
        return False
    # Ray prints messages of its nodes (a process died) to stdout, which is for results.
    worker.print_to_stdstream = _logged
    if address is None:
        _start(ray_folder())
    else:
        _join(address, token_for(address, open_cluster=open_cluster))
    return True


def stop_ray() -> None:
    """Leave the cluster; a local one ends."""
    ray.shutdown()
    _read_authentication()
    end_own_processes()
    end_watch()


def _start(folder: Path) -> None:
    for left in reversed(range(_STARTS)):
        try:
            _start_once(folder)
        except ClusterNotPrivate:
            raise
        except Exception as error:  # Ray has no type of error for a start that failed
            _log.info("a local Ray cluster could not be started", exc_info=True)
            if not left:
                raise ClusterNotStarted(
                    f"a local Ray cluster could not be started, in {_STARTS} tries ({_first_line(error)}); the machine "
                    "may be too busy: --in-process (in Python in_process=True) does without Ray"
                ) from error
        else:
            return


def _start_once(folder: Path) -> None:
    token = token_hex(32)
    niceness = os.environ.get(WORKER_NICENESS, "0")
    secret = {MODE: "token", AUTH_VARIABLE: token, AUTH_FILE_VARIABLE: None}
    own(token)
    with _starting({**secret, ONE_MACHINE: "0", WORKER_NICENESS: niceness}), without_unread_processes():
        ray.init(
            address="local",
            include_dashboard=False,
            num_cpus=max(2, os.cpu_count() or 1),
            object_store_memory=_OBJECT_STORE_BYTES,
            _temp_dir=str(folder),
            **_QUIET,
        )
        listens = head_address().rpartition(":")[0]
        if not ip_address(listens.strip("[]")).is_loopback:
            raise ClusterNotPrivate(
                f"this release of Ray ({ray.__version__}) listens on {listens}, where other machines reach it; "
                "install the release that jury-judge was made for, or use --in-process"
            )
    watch_survivors(own_processes())


def _join(address: str, token: str | None) -> None:
    mode = "disabled" if token is None else "token"
    with _starting({MODE: mode, AUTH_VARIABLE: token, AUTH_FILE_VARIABLE: None, ONE_MACHINE: "0"}):
        try:
            ray.init(address=address, **_QUIET)
        except Exception as error:
            raise ClusterUnreachable(
                f"the head of the Ray cluster at {address} answers, but the cluster cannot be joined "
                f"({_first_line(error)}); look at `ray status` there: is a node alive, and of the same release of Ray "
                "and Python as here?"
            ) from error


def head_address() -> str:
    """Where the head of the cluster listens, as `host:port`; Ray must be started."""
    address: str = ray.get_runtime_context().gcs_address
    return address


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _logged(data: Mapping[str, Any], *_args: object, **_options: object) -> None:
    for line in data.get("lines", ()):
        _log.info("Ray: %s", line)


@contextmanager
def _starting(variables: Mapping[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    read = {name: getattr(ray_constants, name) for name in _OFF}
    _put(variables)
    vars(ray_constants).update(dict.fromkeys(_OFF, False))
    _read_authentication()
    started = False
    try:
        yield
        started = True
    finally:
        vars(ray_constants).update(read)
        _put(before)
        if not started:
            # Ray ignores the processes of a start that failed, and would wait for them to answer.
            end_own_processes()
            stop_ray()


def _put(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _read_authentication() -> None:
    """Make Ray read mode and token again, the mode first: in token mode it ends the process without a token."""
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
