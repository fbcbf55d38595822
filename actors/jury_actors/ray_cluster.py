"""The Ray cluster of this process: one of its own, closed to everybody else, or one that others started.

A local cluster listens on the loopback address alone and answers nobody without its token. The token is drawn for it,
and travels to its processes in their environment: it is in no file, no command line and no log, and ends with them.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from secrets import token_hex
from typing import Any

from jury_actors.errors import ClusterNotPrivate
from jury_actors.private_folder import private_folder
from jury_actors.ray_access import TOKEN, TOKEN_FILE, token_for

# Before `import ray`: without the first, `uv run` zips the working directory (with .env and the database) into the
# cluster.
for _name, _value in {
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}.items():
    os.environ.setdefault(_name, _value)

import ray  # noqa: E402
from ray._private import ray_constants  # noqa: E402
from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]  # noqa: E402

_OBJECT_STORE_BYTES = 128 * 1024 * 1024
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": True}

_MODE = "RAY_AUTH_MODE"
_ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Off, on any system: the node's own address is the loopback one, and to that every server of Ray binds."""


def start_ray(address: str | None = None, *, open_cluster: bool = False) -> bool:
    """Start a local cluster, or join the one at `address` (host:port). Gives False when Ray runs already.

    Args:
        address: of the cluster to join.
        open_cluster: join it even where it asks nobody for a token.

    Raises:
        ClusterUnreachable: nobody, or something else than Ray, listens at `address`.
        ClusterOpen: the cluster there asks for no token, and `open_cluster` is not set.
        ClusterRefused: it asks for a token, and there is none here, or another.
        FolderNotPrivate, ClusterNotPrivate: a local cluster cannot be kept from others.
    """
    if ray.is_initialized():
        return False
    if address is None:
        _start()
    else:
        _join(address, token_for(address, open_cluster=open_cluster))
    return True


def stop_ray() -> None:
    """Leave the cluster; a local one ends, and its token with it."""
    ray.shutdown()
    _read_authentication()


def _start() -> None:
    folder = private_folder() / "ray"
    with _starting({_MODE: "token", TOKEN: token_hex(32), TOKEN_FILE: None, _ONE_MACHINE: "0"}):
        ray.init(
            address="local",
            include_dashboard=False,
            num_cpus=max(2, os.cpu_count() or 1),
            object_store_memory=_OBJECT_STORE_BYTES,
            _temp_dir=str(folder),
            **_QUIET,
        )
        listens = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        if not ip_address(listens).is_loopback:
            raise ClusterNotPrivate(
                f"this release of Ray ({ray.__version__}) listens on {listens}, where other machines reach it; "
                "install the release that jury-judge was made for, or use --in-process"
            )


def _join(address: str, token: str | None) -> None:
    mode = "disabled" if token is None else "token"
    with _starting({_MODE: mode, TOKEN: token, TOKEN_FILE: None, _ONE_MACHINE: "0"}):
        ray.init(address=address, **_QUIET)


@contextmanager
def _starting(variables: Mapping[str, str | None]) -> Iterator[None]:
    """What Ray, and the processes that it starts, find in the environment; afterwards ours is as it was before."""
    before = {name: os.environ.get(name) for name in variables}
    clusters = ray_constants.ENABLE_RAY_CLUSTER
    _put(variables)
    # Ray read `_ONE_MACHINE` when it was imported, which may have been before this module was.
    ray_constants.ENABLE_RAY_CLUSTER = False
    _read_authentication()
    started = False
    try:
        yield
        started = True
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = clusters
        _put(before)
        if not started:
            stop_ray()


def _put(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _read_authentication() -> None:
    """Let Ray read mode and token anew, the mode first: in token mode it ends the process where there is no token."""
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
