"""`jury run` as a process: killed at any point it resumes, prints the same and repeats no recorded call."""

import random

import pytest

from support.command import Command, Started
from support.waiting import eventually

pytestmark = [pytest.mark.kill]

SLOW = ("--simulate", "latency=0.15")
QUICK = ("--simulate", "latency=0.03")
CASES = 12


def goes_on_to_the_same_end(command: Command, undisturbed: Started, *options: str) -> Started:
    """The lines of an undisturbed run, each debate once."""
    last = command.call(*options)

    assert last.process.returncode == 0, last.stderr
    assert undisturbed.lines == last.lines
    assert len({line["case_id"] for line in last.lines}) == len(last.lines) == CASES
    return last


def is_done(command: Command, last: Started) -> None:
    """Called once more it prints the same and does nothing; the log is whole."""
    events = command.events()
    again = command.call("--in-process")

    assert last.raw_lines == again.raw_lines
    assert events == command.events()
    assert command.verified() == 0


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.full), pytest.param(8, marks=pytest.mark.long)])
def test_a_run_in_one_process_killed_at_many_moments_comes_to_the_same_end(
    command: Command, undisturbed: Started, times: int
) -> None:
    chance = random.Random(7)
    reached = 0
    for _ in range(times):
        reached += chance.randint(15, 120 // times)
        running = command.start("--in-process", "--concurrency", "4", *QUICK)
        running.comes_to(reached, command)
        running.kill_everything()

    is_done(command, goes_on_to_the_same_end(command, undisturbed, "--in-process"))


@pytest.mark.full
@pytest.mark.ray
@pytest.mark.parametrize("moments", [(60,), pytest.param((40, 120), marks=pytest.mark.long)])
def test_a_run_on_ray_killed_with_every_process_comes_to_the_same_end(
    command: Command, undisturbed: Started, moments: tuple[int, ...]
) -> None:
    for reached in moments:
        running = command.start("--ray", *SLOW)
        running.comes_to(reached, command)
        running.kill_everything()

    is_done(command, goes_on_to_the_same_end(command, undisturbed))


@pytest.mark.full
@pytest.mark.parametrize(
    "where", ["--in-process", pytest.param("--ray", marks=[pytest.mark.ray, pytest.mark.long], id="on Ray")]
)
def test_a_run_that_is_interrupted_once_finishes_its_debates_and_can_be_resumed(
    command: Command, undisturbed: Started, where: str
) -> None:
    running = command.start(where, "--concurrency", "3", *SLOW)
    running.comes_to(25, command)
    running.interrupt()
    eventually(lambda: "Ctrl-C again" in running.stderr)
    code = running.ends()

    assert code == 130, running.stderr
    assert 3 <= len(running.lines) < CASES
    assert {line["status"] for line in running.lines} == {"completed"}
    assert "--run r" in running.stderr
    goes_on_to_the_same_end(command, undisturbed, "--in-process")


@pytest.mark.full
@pytest.mark.ray
def test_a_run_on_ray_that_is_interrupted_twice_stops_at_once(command: Command) -> None:
    running = command.start("--ray", "--simulate", "latency=60", "--simulate", "sigma=0")
    running.comes_to(12, command)
    running.interrupt()
    eventually(lambda: "Ctrl-C again" in running.stderr)
    running.interrupt()
    code = running.ends()

    assert code == 130, running.stderr
    assert "Traceback" not in running.stderr
    assert command.verified() == 0
