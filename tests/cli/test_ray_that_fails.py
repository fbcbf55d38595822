"""Ray cannot be started, cannot be joined, or goes away: one line that says so and how to go on."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from support.command_line import CommandLine, environment
from support.ray_head import ray_head
from support.waiting import eventually

TESTS = Path(__file__).parents[1]


def said_where_ray_fails(jury: CommandLine, *arguments: str) -> tuple[int, str, list[str]]:
    process = subprocess.run(
        [sys.executable, "-m", "support.ray_that_fails", *arguments],
        cwd=jury.folder,
        env=environment({"PYTHONPATH": str(TESTS), "RAY_AUTH_TOKEN": "right"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    lines = process.stderr.splitlines()
    return process.returncode, process.stdout, lines[next(n for n, line in enumerate(lines) if "ray.init" in line) :]


@pytest.mark.full
def test_a_local_cluster_that_does_not_start_is_tried_twice_and_the_way_without_it_is_named(jury):
    code, out, lines = said_where_ray_fails(jury, "demo")

    assert (4, "") == (code, out)
    assert ["ray.init(local)", "ray.init(local)"] == lines[:2]
    assert lines[2:] == [
        (
            "jury: a local Ray cluster could not be started, in 2 tries (it is too slow.); the machine may be too busy:"
            " --in-process (in Python in_process=True) does without Ray"
        )
    ]


@pytest.mark.full
def test_a_head_without_a_node_differs_from_an_output_that_cannot_be_written(jury):
    with ray_head("right") as address:
        code, out, lines = said_where_ray_fails(jury, "demo", "--ray-address", address)

    assert (2, "") == (code, out)
    assert [f"ray.init({address})", f"jury: the head of the Ray cluster at {address} answers, but"] == [
        lines[0],
        lines[1].partition(" the cluster cannot")[0],
    ]
    assert "(it is too slow.)" in lines[1]


@pytest.mark.full
@pytest.mark.ray
@pytest.mark.kill
def test_a_run_whose_cluster_goes_away_stops_within_seconds_and_nothing_of_ray_is_on_stdout(jury):
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "q", "response": "a"} for n in range(24)))
    process = jury.start(
        *("run", cases, "--run", "r1", "--jsonl", "--ray", "--concurrency", "3"),
        *("--simulate", "latency=0.3", "--simulate", "sigma=0"),
    )
    assert process.stdout is not None
    first = [process.stdout.readline()]
    assert first[0], process.communicate()
    kill(process.pid, "ray::JurorActor")
    # The juror's place is taken, and Ray has reported its death, before more debates end.
    first += [process.stdout.readline() for _ in range(6)]
    niceness = {one.nice() for one in processes(process.pid)}
    kill(process.pid, "gcs_server")
    # Ray itself notices after a minute, and ends the process with another code and message.
    out, err = process.communicate()
    lines = err.decode().splitlines()
    printed = (b"".join(first) + out).decode().splitlines()
    goes_on = jury.run(cases, "--run", "r1", "--jsonl")

    assert process.returncode == 4, lines
    assert lines[-1].startswith("jury: the Ray cluster was lost (its head at 127.0.0.1:")
    assert lines[-1].endswith("; the same command with --run r1 goes on from here")
    assert [line for line in lines if "raylet" in line or "\x1b" in line or "[2" in line] == []
    assert {psutil.Process().nice()} == niceness
    assert [f"c{n}" for n in range(24)] == [line["case_id"] for line in goes_on.lines]
    assert printed == goes_on.out.splitlines()[: len(printed)]
    assert jury("verify", "--all").code == 0


def processes(parent: int) -> list[psutil.Process]:
    found = [psutil.Process(parent), *psutil.Process(parent).children(recursive=True)]
    return [one for one in found if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def kill(parent: int, name: str) -> None:
    killed = [one for one in processes(parent) if one.name() == name]
    for one in killed:
        one.send_signal(signal.SIGKILL)

    assert killed
    eventually(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in killed))
