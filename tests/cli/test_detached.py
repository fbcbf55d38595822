"""Runs that go on without a terminal: started, listed, followed by the same command, cancelled, and their mistakes."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.command_line import CommandLine, Outcome
from support.waiting import eventually

SLOW = ("--in-process", "--concurrency", "1", "--panel", "independent", "--simulate", "latency=2")
TWO_AT_ONCE = ("--in-process", "--concurrency", "2", "--simulate", "latency=8", "--simulate", "sigma=0")


class Detached:
    """Detached runs of one folder and store; those that still run are killed at the end."""

    def __init__(self, jury: CommandLine, url: str) -> None:
        self.jury = jury
        self.url = url
        self.processes: list[psutil.Process] = []

    def call(self, *arguments: str) -> Outcome:
        """A process of the command, to its end."""
        process = self.jury.start(*arguments, "--store", self.url)
        out, err = process.communicate()
        return Outcome(process.returncode, out.decode(), err.decode())

    def begin(self, cases: str, *options: str) -> Outcome:
        outcome = self.call("run", cases, "--detach", *options)
        if outcome.code == 0:
            eventually(self.runs)  # a run is listed once its first debate is open
        with suppress(psutil.NoSuchProcess):
            self.processes += [psutil.Process(self.pid(run)) for run in self.runs() if run["process"]]
        return outcome

    def follow(self, cases: str, *options: str) -> "subprocess.Popen[bytes]":
        """A process of the same command, once it follows."""
        process = self.jury.start("run", cases, "--jsonl", "--store", self.url, *options)
        assert process.stderr is not None
        while b"Ctrl-C leaves it going" not in (line := process.stderr.readline()):
            assert line, "it ended before it followed"
        return process

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.jury("runs", "--store", self.url, "--json").json
        return found

    @staticmethod
    def pid(run: dict[str, Any]) -> int:
        return int(run["process"]["process"].split()[0])


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def detached(request: pytest.FixtureRequest, jury: CommandLine) -> Iterator[Detached]:
    url = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    one = Detached(jury, url)
    yield one
    for process in one.processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.full
def test_a_detached_run_goes_on_and_the_same_command_prints_its_results(detached: Detached, cases: str) -> None:
    begun = detached.begin(cases, "--run", "r1", *SLOW)
    eventually(detached.runs)
    (running,) = detached.runs()
    process = detached.processes[0]
    process.suspend()
    again = detached.begin(cases, "--run", "r1", *SLOW)
    following = detached.follow(cases, "--run", "r1", *SLOW)
    process.resume()
    out, err = following.communicate()
    eventually(lambda: detached.runs()[0]["state"] != "running")
    after = detached.call("run", cases, "--run", "r1", "--jsonl", *SLOW)

    assert (0, "r1\n") == (begun.code, begun.out) == (again.code, again.out)
    assert following.returncode == 0, err
    assert "jury watch r1 shows it, jury cancel r1 ends it" in begun.err
    assert ("running", True) == (running["state"], running["process"]["detached"])
    assert f"goes on in process {running['process']['process']} already" in again.err
    assert ["polite", "leak", "返金"] == [json.loads(line)["case_id"] for line in out.splitlines()]
    assert after.out.encode() == out
    assert [("complete", 3)] == [(run["state"], run["completed"]) for run in detached.runs()]
    assert not any(run["asked_again"] for run in detached.jury("list", "--json", "--store", detached.url).json)


@pytest.mark.full
def test_a_detached_run_is_cancelled_as_any_other(detached: Detached, cases: str) -> None:
    detached.begin(cases, "--run", "r1", *TWO_AT_ONCE)
    eventually(lambda: [2] == [run["debates"] for run in detached.runs()])
    cancelled = detached.call("cancel", "r1", "--by", "ann")

    assert cancelled.code == 0, cancelled.err
    assert "run r1: 2 debates cancelled; 1 case not begun" in cancelled.err
    assert [("incomplete", 2, None)] == [(run["state"], run["cancelled"], run["process"]) for run in detached.runs()]


@pytest.mark.full
def test_a_follower_says_that_the_process_ended_and_the_same_command_goes_on(detached: Detached, cases: str) -> None:
    detached.begin(cases, "--run", "r1", *TWO_AT_ONCE)
    eventually(detached.runs)
    detached.processes[0].suspend()
    following = detached.follow(cases, "--run", "r1")
    detached.processes[0].kill()
    out, err = following.communicate()
    resumed = detached.call("run", cases, "--run", "r1", "--jsonl", "--in-process")

    assert (4, b"") == (following.returncode, out)
    assert b"the process ended before the run did" in err
    assert ["completed"] * 3 == [line["status"] for line in resumed.lines]


@pytest.mark.full
def test_ctrl_c_ends_the_following_and_not_the_run(detached: Detached, cases: str) -> None:
    detached.begin(cases, "--run", "r1", *SLOW)
    detached.processes[0].suspend()
    following = detached.follow(cases, "--run", "r1", *SLOW)
    following.send_signal(signal.SIGINT)
    following.communicate()
    detached.processes[0].resume()

    assert 130 == following.returncode
    eventually(lambda: [("complete", 3)] == [(run["state"], run["completed"]) for run in detached.runs()])


@pytest.mark.full
def test_a_run_without_an_id_prints_the_one_that_it_was_given(jury: CommandLine, cases: str, sqlite_url: str) -> None:
    detached = Detached(jury, sqlite_url)
    begun = detached.begin(cases, "--in-process")
    name = begun.out.strip()
    eventually(lambda: [(name, "complete")] == [(run["run_id"], run["state"]) for run in detached.runs()])

    assert begun.code == 0
    assert (Path(f"{jury.folder / 'jury.db'}.runs") / f"{name}.log").read_text()
