"""Runs listed, watched and cancelled from other processes than the one that executes them."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing

import pytest

from jury_events import DebateCancelled, decode
from jury_judge import Cancelled, CancelWaits, cancel_run
from jury_store import LockedFile, holder_fields, open_store, registry_folder, run_file
from support.command_line import CommandLine
from support.waiting import eventually

SLOW = ("--in-process", "--concurrency", "2", "--simulate", "latency=8", "--simulate", "sigma=0")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
def running(jury: CommandLine, cases: str, store_url: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run r2, two of whose three debates are open."""
    process = jury.start("run", cases, "--run", "r2", "--store", store_url, *SLOW)
    try:
        eventually(lambda: [2] == [run["debates"] for run in jury("runs", "--store", store_url, "--json").json])
        yield process
    finally:
        process.kill()
        process.communicate()


def cancelled_by(url: str) -> list[str]:
    with closing(open_store(url, write=False)) as store:
        events = [decode(event) for event in store.read_all(limit=10_000) if event.type == "debate_cancelled"]
    return [event.by for event in events if isinstance(event, DebateCancelled)]


def test_runs_are_listed_with_progress_verdicts_cost_and_state(judged: CommandLine) -> None:
    (line,) = judged("runs").out.splitlines()
    (run,) = judged("runs", "--json").json

    assert "  r1  complete  3 of 3 debates over: " in line
    assert line.endswith("unsafe_fail  $0.00")
    assert ("r1", 3, 3, 0, 0.0, "complete", None) == tuple(
        run[name] for name in ("run_id", "cases", "completed", "unfinished", "cost", "state", "process")
    )


def test_a_run_that_is_over_is_watched_in_one_look(judged: CommandLine) -> None:
    plain = judged("watch", "r1")
    (live,) = judged("watch", "r1", "--jsonl").lines

    assert plain.code == 0
    assert "run r1: 3 of 3 debates over, complete" == plain.out.splitlines()[0]
    assert "in memory  not known: no process executes the run" == plain.out.splitlines()[-1]
    assert ("complete", 3, 0, None) == tuple(live[name] for name in ("state", "ended", "not_begun", "process"))
    assert "no process executes the run" == live["process_reason"] == live["eta_reason"]


@pytest.mark.full
def test_a_run_that_another_process_executes_is_listed_watched_and_cancelled(
    jury: CommandLine, running: "subprocess.Popen[bytes]", store_url: str
) -> None:
    (listed,) = jury("runs", "--store", store_url, "--json").json
    watching = jury.start("watch", "r2", "--jsonl", "--store", store_url)
    assert watching.stdout is not None
    looks = [json.loads(watching.stdout.readline())]
    while looks[-1]["process"] is None or not any(seat["calling"] for seat in looks[-1]["process"]["seats"]):
        looks.append(json.loads(watching.stdout.readline()))
    cancelled = jury("cancel", "r2", "--by", "ann", "--store", store_url)
    rest, _ = watching.communicate()
    _, said = running.communicate()
    (after,) = jury("runs", "--store", store_url, "--json").json

    assert ("running", False) == (listed["state"], listed["process"]["detached"])
    assert listed["process"]["process"].startswith(f"{running.pid} on ")
    assert ("running", 3, 1) == tuple(looks[-1][name] for name in ("state", "cases", "not_begun"))
    assert cancelled.code == 0, cancelled.err
    assert "run r2: 2 debates cancelled; 1 case not begun" in cancelled.err
    assert ["ann", "ann"] == cancelled_by(store_url)
    assert (4, 0) == (running.returncode, watching.returncode)
    assert "incomplete" == json.loads(rest.splitlines()[-1])["state"]
    assert b"run r2 was cancelled by ann; 1 of its cases are left" in said
    assert ("incomplete", 2, 0, None) == tuple(after[name] for name in ("state", "cancelled", "unfinished", "process"))
    assert 0 == jury("verify", "--all", "--store", store_url).code
    assert 0 == jury("replay", "--all", "--store", store_url).code


@pytest.mark.full
def test_the_debates_of_a_run_that_was_killed_are_cancelled_by_the_command_itself(
    jury: CommandLine, running: "subprocess.Popen[bytes]", store_url: str, cases: str
) -> None:
    running.kill()
    running.communicate()
    outcome = jury("cancel", "r2", "--store", store_url)
    again = jury.run(cases, "--run", "r2", "--jsonl", "--store", store_url)

    assert outcome.code == 0, outcome.err
    assert "run r2: 2 debates cancelled; 1 case not begun" in outcome.err
    assert ["cancelled", "cancelled", "completed"] == [line["status"] for line in again.lines]
    assert "jury: 2 debates were cancelled: r2~" in again.err
    assert "jury resume r2 --again no_evaluation" in again.err
    assert 0 == jury("verify", "--all", "--store", store_url).code


@pytest.mark.full
def test_ctrl_c_ends_the_watching_and_not_the_run(
    jury: CommandLine, running: "subprocess.Popen[bytes]", store_url: str
) -> None:
    watching = jury.start("watch", "r2", "--store", store_url)
    assert watching.stdout is not None
    assert watching.stdout.readline().startswith(b"run r2: 0 of 3 debates over")
    watching.send_signal(2)
    watching.communicate()

    assert 130 == watching.returncode
    assert running.poll() is None


def test_nothing_is_left_beside_the_store_of_a_run_that_is_over(jury: CommandLine, cases: str) -> None:
    jury.run(cases, "--run", "r1")

    assert not any("runs" in path.name for path in jury.folder.iterdir())


async def test_a_process_that_does_not_end_after_its_debates_is_named_and_not_waited_for(judged: CommandLine) -> None:
    """The debates of r1 are over; its file stays locked, as by a process that hangs."""
    url = f"sqlite:///{judged.folder / 'jury.db'}"
    held = LockedFile.take(
        run_file(registry_folder(judged.folder / "jury.db"), "r1"),
        json.dumps(holder_fields(since="2026-01-01T00:00:00Z", detached=False)).encode(),
    )
    assert held is not None
    said: list[str] = []
    try:
        with closing(open_store(url, write=False)) as store:
            done = await cancel_run(store, url, "r1", "ann", said.append, waits=CancelWaits(0.0, 0.0, 0.0))
    finally:
        held.release()

    assert Cancelled(0, 0) == done
    wanted = (
        "it was asked to cancel it",
        "has not ended yet; its debates are over",
        "does not end, though all debates",
    )
    assert len(said) == len(wanted)
    assert all(words in line for words, line in zip(wanted, said, strict=True))
