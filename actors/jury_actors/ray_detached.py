"""A detached run on a Ray cluster: a detached actor that keeps one `jury` process on a node of the cluster.

`import ray` costs seconds, so this module is imported only where a run is detached to a cluster.
"""

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import ray
from ray.exceptions import OutOfMemoryError, RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from jury_actors.errors import DetachedRunLost
from jury_actors.private_folder import private_folder
from jury_actors.ray_cluster import head_address
from jury_actors.ray_proxy import loss_reason
from jury_store.locked_file import read_locked

_NAMESPACE = "jury-runs"
_MOST_OUTPUT = 64 * 1024
_KEPT_SECONDS = 30.0
"""How long the actor answers after its process ended."""

_ENTRY = "from jury_cli.entry import main; main()"


class ProcessState(NamedTuple):
    """`code` is None while the process lives; `running`: it executes the run; `output`: the end of what it wrote."""

    code: int | None
    running: bool
    output: str


class DetachedRunActor:
    """Keeps one process; ends soon after it.

    Args:
        log: the name of the log in the node's folder of this user.
    """

    def __init__(self, log: str) -> None:
        folder = private_folder()
        self._log = folder / log
        self._log.parent.mkdir(mode=0o700, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._status = Path()

    def start(self, arguments: Sequence[str], handed: bytes, status: str | None) -> None:
        """Start `jury`.

        Args:
            status: the path of the run's status file; a relative one is in this user's folder on the node.
        """
        self._status = private_folder() / (status or "")
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  (our own command)
                [sys.executable, "-c", _ENTRY, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(handed)
        threading.Thread(target=self._wait, args=(ray.get_runtime_context().current_actor,), daemon=True).start()

    def state(self) -> ProcessState:
        """How the process does."""
        assert self._process is not None
        code = self._process.poll()
        output = self._log.read_bytes()[-_MOST_OUTPUT:].decode("utf-8", "replace")
        return ProcessState(code, code is None and read_locked(self._status) is not None, output)

    def _wait(self, own: Any) -> None:
        assert self._process is not None
        self._process.wait()
        threading.Timer(_KEPT_SECONDS, ray.kill, (own,)).start()


class DetachedRun:
    """The actor of one run of one store, from a driver that joined the cluster.

    Its calls raise `DetachedRunLost` once the actor is gone.

    Args:
        here: keep the process on this node, as its store is a file of this machine.
    """

    def __init__(self, run_id: str, *, here: bool) -> None:
        node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        place: dict[str, Any] = {"scheduling_strategy": node} if here else {}
        self._run_id = run_id
        actor: Any = ray.remote(DetachedRunActor)
        self._actor = actor.options(
            name=f"{run_id}-{token_hex(4)}",
            namespace=_NAMESPACE,
            lifetime="detached",
            num_cpus=0,
            max_restarts=0,
            enable_task_events=False,
            **place,
        ).remote(f"runs/{run_id}.log")
        self.address = head_address()

    def start(self, arguments: Sequence[str], handed: bytes, status: str | None) -> None:
        """See `DetachedRunActor.start`."""
        self._answer(self._actor.start.remote(arguments, handed, status))

    def state(self) -> ProcessState:
        """See `DetachedRunActor.state`."""
        found: ProcessState = self._answer(self._actor.state.remote())
        return found

    def kill(self) -> None:
        """End the actor; the process that it started, if any, stays."""
        ray.kill(self._actor)

    def _answer(self, call: Any) -> Any:
        try:
            return ray.get(call)
        except (RayActorError, OutOfMemoryError) as error:
            raise DetachedRunLost(self._run_id, loss_reason(error)) from error
