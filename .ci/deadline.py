#!/usr/bin/env python3
"""Runs a command that ends in time: after a deadline it says what runs, ends every process of it, and fails.

    CI_SECONDS=4200 .ci/deadline.py COMMAND [ARGUMENT …]

The exit code is the command's; 124 after the deadline, which is CI_SECONDS from the start, or when SIGALRM comes. The
command reads nothing: its stdin is /dev/null. At the deadline these are printed:

- each running test, its process and its stacks: pytest of this repository writes them into the folder CI_RUNNING_TESTS
  (`tests/support/running_tests.py`);
- each process that the command started and that is alive: id, age, command line, and the test that started it.

A process that a test started and that is still there when the command has ended is printed too, ended, and a failure
(exit code 123); CI_GRACE is how many seconds it may take to end, 60 by default. The command's processes are its
children, their children, whatever has CI_RUN of this run in its environment, and whatever is in a session of one of
these. Nothing else is ended. It needs Linux's /proc.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

LATE, LEFT_BEHIND = 124, 123
SECONDS = 70 * 60
GRACE = float(os.environ.get("CI_GRACE", "60"))
"""In seconds, how long what a test started may take to end after the command, and how long a stack is waited for."""
_TIDYING = 10.0
_KILLING = 60.0
_LOOK_EVERY = 5.0
_TICKS = os.sysconf("SC_CLK_TCK")
_ENDING = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STACKS_SIGNAL = signal.SIGUSR2
"""Lets a process that runs tests write its stacks."""


class Stopped(Exception):
    """A signal came that ends the run."""

    def __init__(self, number: int) -> None:
        self.number = number


class Process(NamedTuple):
    """A process as /proc shows it; `started` in ticks since the machine's start."""

    pid: int
    parent: int
    session: int
    started: int

    def read(self, name: str) -> str:
        """A file of it, its lines of C separated by spaces; nothing where it ended or belongs to another user."""
        try:
            return Path(f"/proc/{self.pid}/{name}").read_bytes().replace(b"\0", b"\n").decode(errors="replace")
        except OSError:
            return ""

    def variable(self, name: str) -> str:
        """A variable of the environment that it was started with."""
        found = re.search(rf"^{name}=(.*)$", self.read("environ"), re.MULTILINE)
        return found[1] if found else ""

    def line(self) -> str:
        """Id, age and command line, and the test that started it."""
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - self.started / _TICKS
        command = " ".join(self.read("cmdline").split()) or f"[{self.read('comm').strip()}]"
        test = self.variable("PYTEST_CURRENT_TEST")
        return f"{self.pid} ({age:.0f}s) {command[:200]}" + (f"\n    started by {test}" if test else "")


def processes() -> Iterator[Process]:
    """All of this machine, but for those that have ended and are not yet collected."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            yield Process(int(folder.name), int(stat[1]), int(stat[3]), int(stat[19]))


class Family:
    """The processes that come from one, the root, also where their parents have ended."""

    def __init__(self, root: int, mark: str) -> None:
        self._mark = mark
        self._seen = {(one.pid, one.started) for one in processes() if one.pid == root}

    def alive(self) -> list[Process]:
        """Those that run now. Called now and then, it also knows those whose parents ended meanwhile."""
        everyone = list(processes())
        found = {
            one.pid: one
            for one in everyone
            if (one.pid, one.started) in self._seen or self._mark in one.variable("CI_RUN")
        }
        found.pop(os.getpid(), None)
        before = -1
        while before != len(found):
            before = len(found)
            sessions = {one.session for one in found.values()} - {os.getsid(0)}
            found |= {one.pid: one for one in everyone if one.parent in found or one.session in sessions}
        self._seen = {(one.pid, one.started) for one in found.values()}
        return list(found.values())

    def end(self, spared: int = 0) -> None:
        """SIGKILL to all but one, until there is none; the kernel may hold one for ever, which is not waited for."""
        until = time.monotonic() + _KILLING
        while (others := [one for one in self.alive() if one.pid != spared]) and time.monotonic() < until:
            for one in others:
                with suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
            time.sleep(0.01)


def say(text: str) -> None:
    """A line to stderr, at once."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201  (what CI shows)


def running_tests(folder: Path, family: list[Process]) -> None:
    """Print each running test with the stacks of its process, which writes them when it is asked."""
    for one in family:
        test = folder / f"{one.pid}.test"
        if not test.exists() or not (name := test.read_text()):
            continue
        stacks = folder / f"{one.pid}.stacks"
        before = -1
        with suppress(ProcessLookupError):
            os.kill(one.pid, STACKS_SIGNAL)
        until = time.monotonic() + GRACE
        # Written from first to last, in C, then from Python where Python still runs: complete when nothing is added.
        while time.monotonic() < until and (before <= 0 or before != stacks.stat().st_size):
            before = stacks.stat().st_size
            time.sleep(0.5)
        say(f"\n-- RUNNING: {name} (process {one.pid})\n{stacks.read_text(errors='replace')}")


def left_by_tests(family: Family) -> list[Process]:
    """What tests started and is still there after a while."""
    until = time.monotonic() + GRACE
    while found := [one for one in family.alive() if one.variable("PYTEST_CURRENT_TEST")]:
        if time.monotonic() > until:
            break
        time.sleep(0.2)
    return found


def call(command: list[str], seconds: float, folder: Path) -> int:
    """Run the command; gives the exit code."""
    mark = secrets.token_hex(8)
    # A run within a run belongs to both.
    environment = {**os.environ, "CI_RUN": f"{os.environ.get('CI_RUN', '')} {mark}", "CI_RUNNING_TESTS": str(folder)}
    environment.pop("PYTEST_CURRENT_TEST", None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)  # noqa: S603
    family = Family(child.pid, mark)
    for number in _ENDING:
        signal.signal(number, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with _looked_at(family):
            code = child.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if left := left_by_tests(family):
            say("\n== FAILED: tests left these processes behind")
            say("\n".join(one.line() for one in left))
            code = code or LEFT_BEHIND
    except Stopped as stopped:
        code = 128 + stopped.number
        if stopped.number == signal.SIGALRM:
            code = LATE
            say(f"\n== FAILED: not done after {seconds:.0f} seconds")
            alive = family.alive()
            running_tests(folder, alive)
            say("\n-- PROCESSES:")
            say("\n".join(one.line() for one in alive))
    # A shell sees its step end and tidies up.
    family.end(spared=child.pid)
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_TIDYING)
    family.end()
    return code


@contextmanager
def _looked_at(family: Family) -> Iterator[None]:
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_EVERY):
            family.alive()

    watch = threading.Thread(target=look)
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join()


def _stop(number: int, _frame: object) -> NoReturn:
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise Stopped(number)


def main() -> int:
    """Run the command in the arguments."""
    folder = Path(tempfile.mkdtemp(prefix="ci-"))
    try:
        return call(sys.argv[1:], float(os.environ.get("CI_SECONDS", SECONDS)), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
