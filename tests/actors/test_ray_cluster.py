"""A local cluster is closed to everybody else; a cluster that others started is joined as its state allows."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from jury_actors import ClusterUnreachable, ray_runtime
from jury_actors.ray_address import OPENING, answers
from support.command_line import CommandLine
from support.ray_head import ray_head
from support.runtime_harness import KeptStore, Run
from support.started_processes import ends_with_the_test

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]

TESTS = Path(__file__).parents[1]
CASE = {"case_id": "polite", "question": "Refund order 17.", "response": "Refunded."}

SERVICES = (
    OPENING,
    "ActorInfoGcsService/RegisterActor",
    "InternalKVGcsService/InternalKVGet",
    "NodeManagerService/RequestWorkerLease",
    "ObjectManagerService/Push",
    "CoreWorkerService/PushTask",
)
"""A call of each server of Ray: the head's, the node's two, and that of every worker and of the driver."""


class Cluster(NamedTuple):
    """The processes of a run, the address of its head, its token, and the folder of its session."""

    processes: list[psutil.Process]
    address: str
    token: str
    session: Path

    def listening(self) -> list[tuple[str, int]]:
        """Addresses and ports of every socket that any process could send to."""
        found = [one for process in self.processes for one in of(process, "net_connections", "inet")]
        return [tuple(one.laddr) for one in found if one.status == psutil.CONN_LISTEN or not one.raddr]


def of(process: psutil.Process, what: str, *arguments: str) -> Any:
    """An attribute of a process by psutil; empty if the process just ended, as those of an earlier runtime do."""
    try:
        return getattr(process, what)(*arguments)
    except psutil.NoSuchProcess:
        return ()


@pytest.fixture
def cluster() -> Cluster:
    """The local cluster before a runtime is on it."""
    import ray

    driver = psutil.Process()
    node = ray._private.worker._global_node
    [raylet] = [one for one in driver.children() if of(one, "name") == "raylet"]
    return Cluster(
        [driver, *driver.children(recursive=True)],
        ray.get_runtime_context().gcs_address,
        raylet.environ()["RAY_AUTH_TOKEN"],
        Path(node.get_session_dir_path()),
    )


@pytest.fixture
async def with_runtime(cluster: Cluster, sqlite_url: str) -> AsyncIterator[Cluster]:
    """The same with a runtime on it."""
    async with ray_runtime.ray_runtime(Run(KeptStore()).plan(url=sqlite_url)):
        driver = cluster.processes[0]
        yield cluster._replace(processes=[driver, *driver.children(recursive=True)])


async def test_every_socket_is_on_the_loopback_address_and_requires_the_token(with_runtime: Cluster) -> None:
    sockets = with_runtime.listening()
    loopback = [ip_address(host.removeprefix("::ffff:")).is_loopback for host, _ in sockets]
    replies = {method: [reply(port, method) for _, port in sockets] for method in SERVICES}

    assert len(sockets) >= 8, "the head's, the node's, its agent's, the driver's, and those of four actors"
    assert all(loopback), sockets
    # Each call is known to some server, or it would prove nothing.
    assert [] == [method for method, found in replies.items() if found.count("refused") == 0]
    assert [] == [method for method, found in replies.items() if found.count("answered") > 0]


def reply(port: int, method: str) -> str:
    """What a call without a token gets."""
    try:
        return "answered" if answers(f"127.0.0.1:{port}", method=method) else "refused"
    except ClusterUnreachable:
        return "not known"


async def test_the_token_is_in_no_command_line_no_file_and_not_in_the_environment_of_the_driver(
    with_runtime: Cluster,
) -> None:
    token = with_runtime.token.encode()
    lines = [line for process in with_runtime.processes for line in of(process, "cmdline")]
    private = with_runtime.session.parents[1]
    files = [path for path in with_runtime.session.rglob("*") if path.is_file()]
    environments = [Path(f"/proc/{process.pid}/environ") for process in with_runtime.processes]
    left_in_home = Path.home() / ".ray" / "auth_token"

    assert len(token) == 64
    assert [line for line in lines if with_runtime.token in line] == []
    assert [path for path in files if path.suffix in {".log", ".out", ".err"}]
    assert [path for path in files if token in path.read_bytes()] == []
    assert not left_in_home.exists() or left_in_home.read_bytes().strip() != token
    assert with_runtime.token not in os.environ.values()
    assert [path for path in environments if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    assert (private.stat().st_uid, stat.S_IMODE(private.stat().st_mode)) == (os.getuid(), 0o700)


@pytest.mark.full
def test_another_process_joins_with_the_token_only(cluster: Cluster, tmp_path: Path) -> None:
    tries = {
        "none": {"RAY_AUTH_MODE": "disabled"},
        "another": {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64},
        "its own": {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": cluster.token},
    }
    joining = {
        name: ends_with_the_test(
            subprocess.Popen(
                [sys.executable, "-m", "support.join_ray", cluster.address],
                env=outside(tmp_path) | variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        for name, variables in tries.items()
    }
    said = {name: process.communicate()[0].decode() for name, process in joining.items()}

    assert {"none": "ConnectionError", "another": "ConnectionError", "its own": "ran code"} == said


def test_a_local_cluster_has_no_process_that_nobody_reads(cluster: Cluster) -> None:
    started = {Path(argument).name for process in cluster.processes for argument in of(process, "cmdline")}

    assert "gcs_server" in started
    assert "ray_idle_agent.py" in started
    assert set() == started & {"log_monitor.py", "dashboard.py", "monitor.py", "agent.py", "main.py"}


def test_workers_have_minutes_to_start(cluster: Cluster) -> None:
    """On a busy machine they need them. A driver waits for ever for the first ones if its node has given them up."""
    [raylet] = [one for one in cluster.processes if of(one, "name") == "raylet"]

    assert int(raylet.environ()["RAY_worker_register_timeout_seconds"]) >= 240


def outside(home: Path) -> dict[str, str]:
    """The environment of a process that knows the cluster's address and has no token; Ray tries for 5 s, not for 20."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": str(TESTS),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_NUM_REDIS_GET_RETRIES": "5",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    }


@pytest.fixture(scope="module")
def open_cluster() -> Iterator[str]:
    """The address of a cluster that requires no token."""
    # Short, for the sockets in it.
    folder = Path(tempfile.mkdtemp(prefix="jury-"))
    process = subprocess.Popen(
        [sys.executable, "-m", "support.open_ray", str(folder)],
        env=outside(folder) | {"RAY_AUTH_MODE": "disabled"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    yield process.stdout.readline().decode().strip()
    process.communicate()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def jury(tmp_path: Path) -> CommandLine:
    """The command, in a new folder with a case."""
    command = CommandLine(tmp_path)
    command.write("cases.jsonl", CASE)
    command.write("panel.json", {"preset": "independent", "seats": [{"model": "simulated/juror"}]})
    return command


def ended(jury: CommandLine, *arguments: str, **variables: str) -> tuple[int, str]:
    """Exit code and output of a process of `jury`."""
    process = jury.start(*arguments, env=outside(jury.folder) | variables)
    out, err = process.communicate()
    return process.returncode, (out + err).decode()


RUN = ("run", "cases.jsonl", "--panel", "panel.json", "--store", "sqlite:///joined.db", "--ray-address")


@pytest.mark.full
def test_an_open_cluster_is_not_joined(jury: CommandLine) -> None:
    with ray_head(None) as address:
        refused = ended(jury, *RUN, address)

    assert refused[0] == 2
    assert f"the Ray cluster at {address} requires no token" in refused[1]


@pytest.mark.long
def test_an_open_cluster_is_joined_where_that_is_accepted(jury: CommandLine, open_cluster: str) -> None:
    refused = ended(jury, *RUN, open_cluster)
    accepted = ended(jury, *RUN, open_cluster, "--ray-open-cluster", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="elsewhere")

    assert refused[0] == 2
    assert f"the Ray cluster at {open_cluster} requires no token" in refused[1]
    assert accepted[0] == 0, accepted[1]
    assert "polite" in accepted[1]


@pytest.mark.full
def test_a_cluster_with_a_token_is_joined_with_it(jury: CommandLine, cluster: Cluster) -> None:
    (jury.folder / "token").write_text(cluster.token)
    without = ended(jury, *RUN, cluster.address)
    with_it = ended(jury, *RUN, cluster.address, RAY_AUTH_TOKEN_PATH=str(jury.folder / "token"))

    assert without[0] == 2
    assert "asks for a token, and none is set" in without[1]
    assert with_it[0] == 0, with_it[1]
    assert "polite" in with_it[1]
    assert cluster.token not in with_it[1]


KILLED = """
import time
import ray
from jury_actors.ray_cluster import start_ray
start_ray()
print("started", flush=True)
time.sleep(3600)
"""


@pytest.mark.full
@pytest.mark.kill
def test_no_process_of_a_local_cluster_outlives_a_killed_driver() -> None:
    with tempfile.TemporaryDirectory(prefix="jury") as folder:
        driver = ends_with_the_test(
            subprocess.Popen(
                [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": folder}
            )
        )
        assert driver.stdout is not None
        assert b"started\n" == driver.stdout.readline()
        processes = psutil.Process(driver.pid).children(recursive=True)
        (watcher,) = [one for one in processes if any("ray_survivors" in word for word in one.cmdline())]
        driver.kill()
        _, waiting = psutil.wait_procs([watcher], timeout=240)

    assert [] == waiting
    assert len(processes) > 3
    assert [] == [one for one in processes if of(one, "status") not in {"", (), psutil.STATUS_ZOMBIE}]
