"""The kinds of faults, and how each is made: at a moment that the caller chose, while a run goes on.

A strike returns whether it struck: a process may be gone already, or a run may end before it needs what was taken away.
"""

import errno
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

from chaos.ground import Ground
from support.command import Started
from support.waiting import eventually

DAY = 86_400
_JUMPS = (-DAY, 0, DAY)
_WAITS = "it is tried again for"
"""What a run says when its store begins to fail."""
_GOES_ON = "the store can be used again"
"""What it says when that is over."""


class Target(NamedTuple):
    """What a strike may reach: the command that runs, what it shares, the folder of its store, its clock's file.

    `before` is how many strikes the scenario has had.
    """

    started: Started
    ground: Ground
    disk: Path
    clock: Path
    rng: random.Random
    before: int


Strike = Callable[[Target], bool]


class Kind(NamedTuple):
    """A kind of fault: its strike, and over which runtime and store it runs.

    `where` is `process`, `ray` (a cluster of the command's own), `nodes` (an existing one of two nodes), `served`
    (`jury serve`: see `server_scenario`) or `batches` (`jury run --batch`: see `batch_scenario`) or
    `storm` (many nights of it: see `batch_storm`); `store` is
    `sqlite`, `disk` (SQLite on a small one) or `postgres`; `kills`: each of its strikes kills a process. Of those
    served: how many `servers` there are, and whether `jury run` is a `writer` beside them.
    """

    strike: Strike
    where: str = "process"
    store: str = "sqlite"
    moves_clock: bool = False
    kills: bool = True
    servers: int = 0
    writer: bool = False


def kill_driver(target: Target) -> bool:
    """SIGKILL to the command's process alone."""
    if _over(target):
        return False
    target.started.process.kill()
    target.started.ends()
    return True


def kill_everything(target: Target) -> bool:
    """SIGKILL to the command and every process that it started."""
    if _over(target):
        return False
    target.started.kill_everything()
    return True


def stop_driver(target: Target) -> bool:
    """SIGSTOP to the process that writes; SIGCONT once the models have answered every call."""
    return _stop_for_a_while(target, psutil.Process(target.started.process.pid)) if not _over(target) else False


def stop_clerk(target: Target) -> bool:
    """The same on Ray."""
    found = target.ground.nodes.actors("ClerkActor")
    return _stop_for_a_while(target, found[-1]) if found else False


def kill_actor(kind: str) -> Strike:
    """SIGKILL to the processes of an actor's class; of several, one."""

    def kill(target: Target) -> bool:
        found = target.ground.nodes.actors(kind)
        if not found or _over(target):
            return False
        try:
            target.rng.choice(found).kill()
        except psutil.NoSuchProcess:
            return False
        return True

    return kill


def kill_node(target: Target) -> bool:
    """SIGKILL to the raylet of the second node, and another node joins."""
    if _over(target):
        return False
    target.ground.replace_node()
    return True


def kill_postgres(target: Target) -> bool:
    """SIGKILL to the postmaster; started again at once, or when the run has noticed.

    It is started again whatever happens: the scenarios that follow need it.
    """
    if _over(target):
        return False
    server = target.ground.postgres
    server.kill()
    try:
        if target.rng.random() < 0.5:
            # The run may still be in the outage of the strike before: then it says nothing new.
            eventually(lambda: _over(target) or _is_away(target))
    finally:
        server.start()
    return True


def fill_disk(target: Target) -> bool:
    """No byte is left on the store's disk until the run has noticed."""
    said = _notices(target)
    ballast = target.disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    eventually(lambda: _over(target) or _notices(target) > said)
    ballast.unlink()
    return _notices(target) > said


def move_clock(target: Target) -> bool:
    """The clock of the command's process jumps forward or back."""
    if _over(target):
        return False
    now = target.clock.read_text().strip()
    jump = target.rng.choice([jump for jump in _JUMPS if f"{jump:+}" != now])
    beside = target.clock.with_suffix(".new")
    beside.write_text(f"{jump:+}\n")
    beside.replace(target.clock)
    return True


def in_turn(*strikes: Strike) -> Strike:
    """One after the other, from strike to strike of a scenario."""
    return lambda target: strikes[target.before % len(strikes)](target)


KINDS: dict[str, Kind] = {
    "driver killed": Kind(kill_driver),
    "driver killed, in batches": Kind(kill_driver, where="batches"),
    "nights of batches": Kind(kill_driver, where="storm", kills=False),
    "nights of batches, PostgreSQL store": Kind(kill_driver, where="storm", store="postgres", kills=False),
    "writer stopped and continued": Kind(stop_driver, kills=False),
    "disk full": Kind(fill_disk, store="disk", kills=False),
    "clock moved": Kind(move_clock, moves_clock=True, kills=False),
    "PostgreSQL killed": Kind(kill_postgres, store="postgres"),
    "driver killed, PostgreSQL store": Kind(kill_driver, store="postgres"),
    "juror killed": Kind(kill_actor("JurorActor"), where="nodes", store="postgres"),
    "coordinator killed": Kind(kill_actor("CoordinatorActor"), where="nodes", store="postgres"),
    "clerk killed": Kind(kill_actor("ClerkActor"), where="nodes", store="postgres"),
    "limiter killed": Kind(kill_actor("LimiterActor"), where="nodes", store="postgres"),
    "clerk stopped and continued": Kind(stop_clerk, where="nodes", store="postgres", kills=False),
    "driver killed, Ray": Kind(kill_driver, where="nodes", store="postgres"),
    "PostgreSQL killed, Ray": Kind(kill_postgres, where="nodes", store="postgres"),
    "raylet of the second node killed": Kind(kill_node, where="nodes", store="postgres"),
    "each of Ray's in turn": Kind(
        in_turn(
            kill_actor("JurorActor"),
            kill_actor("CoordinatorActor"),
            kill_actor("ClerkActor"),
            kill_actor("LimiterActor"),
            kill_node,
            stop_clerk,
            kill_driver,
        ),
        where="nodes",
        store="postgres",
        kills=False,  # not each of them
    ),
    "driver and its own cluster killed": Kind(kill_everything, where="ray"),
    **{
        f"{name}{where}": Kind(kill_driver, "served", store, **of)
        for store, where in (("sqlite", ""), ("postgres", ", PostgreSQL store"))
        for name, of in (
            ("second server", {"servers": 2}),
            ("server beside a writer", {"servers": 1, "writer": True}),
        )
    },
}
"""By name, as reports show them."""


def _over(target: Target) -> bool:
    return target.started.process.poll() is not None


def _notices(target: Target) -> int:
    return target.started.stderr.count(_WAITS)


def _is_away(target: Target) -> bool:
    """The run has said last that its store fails."""
    said = target.started.stderr
    return said.rfind(_WAITS) > said.rfind(_GOES_ON)


def _stop_for_a_while(target: Target, process: psutil.Process) -> bool:
    try:
        os.kill(process.pid, signal.SIGSTOP)
        eventually(lambda: target.ground.models.in_flight == 0)
        os.kill(process.pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True
