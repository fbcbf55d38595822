"""A cluster of several nodes as a process of its own, see `support.ray_nodes`, and the processes of its jurors."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import psutil

_TESTS = Path(__file__).parents[1]
_STARTS = 3
_PATIENT = {
    "RAY_raylet_start_wait_time_s": "240",
    "RAY_agent_register_timeout_ms": "240000",
    "RAY_worker_register_timeout_seconds": "240",  # the first driver waits for ever for workers that were given up
}
"""Ray's own limits are too short for a node on a busy machine."""


class Nodes(NamedTuple):
    """A cluster; `env` is what a command needs to join it."""

    address: str
    env: dict[str, str]
    process: "subprocess.Popen[str]"

    def do(self, command: str) -> None:
        """Add or kill a node; see `support.ray_nodes`.

        Raises:
            AssertionError: it could not be done; says why.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == "done\n", f"{answer or 'the process of the cluster ended'} (the command was {command!r})"

    def jurors(self) -> list[set[int]]:
        """The ids of each node's juror processes, the newest node last."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        raylets = sorted((one for one in children if _name(one) == "raylet"), key=psutil.Process.create_time)
        return [
            {child.pid for child in one.children() if _name(child).startswith("ray::JurorActor")} for one in raylets
        ]

    def actors(self, kind: str) -> list[psutil.Process]:
        """The processes of its actors of such a class, oldest first."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        found = [one for one in children if _name(one).startswith(f"ray::{kind}")]
        return sorted(found, key=psutil.Process.create_time)


def _name(process: psutil.Process) -> str:
    try:
        return process.name() if process.name() == "raylet" else " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


@contextmanager
def ray_nodes(folder: str, *variables: Mapping[str, str]) -> Iterator[Nodes]:
    """A cluster with a node for each of `variables`, the environment of its workers; the first is the head.

    Args:
        folder: for Ray's files; its path must be short.
        variables: besides those of this process.
    """
    env = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32)}
    started, address = _cluster(folder, variables, env)
    try:
        yield Nodes(address, env, started)
    finally:
        started.communicate()


def _cluster(
    folder: str, variables: tuple[Mapping[str, str], ...], env: Mapping[str, str]
) -> "tuple[subprocess.Popen[str], str]":
    """The process of a cluster, and its address; started again where Ray gave up, as it does on a busy machine."""
    # Ray writes the address of such a cluster into a folder that it does not make; the default one may not exist.
    (Path(folder) / "ray").mkdir(exist_ok=True)
    for _ in range(_STARTS):
        started = subprocess.Popen(
            [sys.executable, "-m", "support.ray_nodes", folder, *map(json.dumps, variables)],
            cwd=_TESTS,
            env={**os.environ, **env, **_PATIENT, "RAY_TMPDIR": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert started.stdout is not None
        if address := started.stdout.readline().strip():
            return started, address
        started.communicate()
    raise AssertionError(f"{_STARTS} times no cluster of {len(variables)} nodes started; stderr says why")
