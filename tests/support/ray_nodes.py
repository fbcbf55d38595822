"""A program: a Ray cluster of several nodes on this machine, as `ray start` on several machines would be.

`python -m support.ray_nodes FOLDER VARIABLES…`: a node for each argument, the first is the head; VARIABLES is a JSON
object with the environment of its workers besides that of this process; its `CPUS` are those of the node, 2 by default.
Prints the address. `add VARIABLES` on standard
input adds a node, `kill N` kills the N-th of those that are left with its processes (0 is the head). The answer is a
line, `done` or what failed. The cluster ends when the input does.
"""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from socket import socket
from typing import Any

NODE = {
    "num_cpus": 2,
    "node_ip_address": "127.0.0.1",
    "object_store_memory": 100 * 1024 * 1024,
    "include_dashboard": False,
}

_AGENTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")

_JOINS_WITHIN = 240.0
"""Seconds; Ray's own 30 are too few on a busy machine."""


def main(folder: str, first: str, *others: str) -> None:
    from ray.cluster_utils import Cluster

    session = f"session_{token_hex(8)}"
    (Path(folder) / session).mkdir()

    def node(variables: str) -> dict[str, Any]:
        workers = json.loads(variables)
        cpus = int(workers.pop("CPUS", NODE["num_cpus"]))
        return {**NODE, "num_cpus": cpus, **patient_agents(Path(folder) / session, workers)}

    cluster = Cluster(initialize_head=True, head_node_args={**node(first), "temp_dir": folder, "session_name": session})
    nodes: list[Any] = [cluster.head_node]

    def add(variables: str) -> None:
        nodes.append(cluster.add_node(wait=False, **node(variables)))
        cluster._wait_for_node(nodes[-1], timeout=_JOINS_WITHIN)

    for variables in others:
        add(variables)
    say(cluster.address)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        try:
            if command == "add":
                add(argument)
            else:
                cluster.remove_node(nodes.pop(int(argument)), allow_graceful=False)
        except Exception as error:  # noqa: BLE001  (whoever gave the command names it; the other nodes go on)
            say(f"{command} failed: {error!r}".replace("\n", " "))
        else:
            say("done")
    cluster.shutdown()


def patient_agents(session: Path, variables: dict[str, str]) -> dict[str, Any]:
    """Options of a node that waits for its agents, however long they take to start.

    A raylet ends itself if its agents do not tell it their ports within 15 seconds (ray-project/ray#65983). So they
    have fixed ones; that of the dashboard's agent, which has none here, is read from a file in any case.
    """
    node_id = token_hex(28)
    (session / f"dashboard_agent_listen_port_{node_id}").write_text("-1")
    with ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket()) for _ in _AGENTS]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = {name: one.getsockname()[1] for name, one in zip(_AGENTS, sockets, strict=True)}
    return {**ports, "env_vars": {**variables, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": node_id}}


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
