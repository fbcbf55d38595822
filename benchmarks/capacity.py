"""How many debates a second each actor on Ray could carry: CPU by actor, with one coordinator and with several in turn.

    uv run python benchmarks/capacity.py [--coordinators 1,2] [--debates 300] [--rounds 5] [--concurrency 256]
                                         [--latency 0] [--hold SHARE] [--json]

Debates have 13 calls with fixed answers, and are recorded in an empty SQLite store each round. Printed are medians over
the rounds: debates/s, CPU-ms a debate by actor, the share of a core that its busiest process used, and the computed
cap: the debates/s at which that process would use a whole core. Jurors have a process a seat; replicas raise their cap.
Caps suppose that nothing else is short of CPU: on a machine of few cores all actors together reach its cores first.

With `--hold 0.05` each coordinator is stopped and continued so that it gets a twentieth of a core at most. Then the
coordinators are what is short, as they are on a machine with CPUs to spare, and the rates show what another one adds.
"""

import argparse
import asyncio
import json
import math
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
from debates import jobs, processes

from jury_actors.messages import RunContext
from jury_actors.ray_runtime import ray_runtime, start_ray, stop_ray
from jury_actors.runtime import RuntimeConfig, drive
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_migrations.upgrading import upgrade
from jury_providers.simulated.script import Script

WARM = 30
"""Debates before the measurement: the first of each process load its code."""

KINDS = {"JurorActor": "jurors", "CoordinatorActor": "coordinators", "ClerkActor": "clerk", "driver": "driver"}
OTHERS = "other processes of Ray"

_TICK = 0.01
"""Seconds between two decisions to stop or continue a process."""


class Round(NamedTuple):
    """One round; CPU seconds are lists by kind of process."""

    debates: int
    wall: float
    cpu: dict[str, list[float]]

    def figures(self) -> dict[str, Any]:
        """Rates, and CPU-ms a debate."""
        total = sum(map(sum, self.cpu.values()))
        return {
            "debates_per_second": self.debates / self.wall,
            "cpu_ms_a_debate": total * 1000 / self.debates,
            "actors": {kind: self._actor(seconds) for kind, seconds in self.cpu.items()},
        }

    def _actor(self, seconds: list[float]) -> dict[str, float]:
        return {
            "processes": len(seconds),
            "cpu_ms_a_debate": sum(seconds) * 1000 / self.debates,
            "share_of_a_core": max(seconds, default=0.0) / self.wall,
            "cap_debates_per_second": self.debates / max(seconds) if any(seconds) else math.inf,
        }


async def measured(resolved: ResolvedPanel, url: str, given: argparse.Namespace, coordinators: int) -> Round:
    """Run the debates once."""
    script = Script(latency=given.latency, seed=1, answers="scripted")
    plan = RuntimeConfig((resolved.panel,), url, "capacity", script, replicas=1, coordinators=coordinators)
    async with ray_runtime(plan) as runtime:
        async for _ in drive(runtime, jobs(WARM, RunContext("warm", resolved)), concurrency=given.concurrency):
            pass
        with held(given.hold):
            before, started = processes(), time.perf_counter()
            fresh = jobs(given.debates, RunContext("run", resolved))
            async for finished in drive(runtime, fresh, concurrency=given.concurrency):
                assert finished.problem is None, finished.problem
            wall, after = time.perf_counter() - started, processes()
    cpu: dict[str, list[float]] = {kind: [] for kind in (*KINDS.values(), OTHERS)}
    for pid, (name, seconds) in after.items():
        used = seconds - before.get(pid, (name, 0.0))[1]
        if used or name in KINDS:
            cpu[KINDS.get(name, OTHERS)].append(used)
    return Round(given.debates, wall, cpu)


@contextmanager
def held(share: float | None) -> Iterator[None]:
    """Give each coordinator at most this share of a core; None: no bound."""
    if share is None:
        yield
        return
    coordinators = [psutil.Process(pid) for pid, (name, _) in processes().items() if name == "CoordinatorActor"]
    ended = threading.Event()
    thread = threading.Thread(target=_hold, args=(coordinators, share, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _hold(coordinators: list[psutil.Process], share: float, ended: threading.Event) -> None:
    began = {process.pid: (time.perf_counter(), _cpu(process)) for process in coordinators}
    while not ended.wait(_TICK):
        for process in coordinators:
            at, used = began[process.pid]
            too_much = _cpu(process) - used > share * (time.perf_counter() - at)
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGSTOP if too_much else signal.SIGCONT)
    for process in coordinators:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def medians(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure over rounds."""
    return {
        name: medians([one[name] for one in found]) if isinstance(value, dict) else median(one[name] for one in found)
        for name, value in found[0].items()
    }


def show(found: dict[int, dict[str, Any]]) -> None:
    """Print the table."""
    for coordinators, one in found.items():
        print(
            f"{coordinators} coordinator{'s' * (coordinators > 1)}: {one['debates_per_second']:.1f} debates/s, "
            f"{one['cpu_ms_a_debate']:.1f} CPU-ms and {one['stored_kb_a_debate']:.0f} KB stored a debate"
        )
        for kind, actor in one["actors"].items():
            print(
                f"  {kind:<24} {actor['processes']:3.0f} processes {actor['cpu_ms_a_debate']:6.2f} CPU-ms a debate, "
                f"busiest {actor['share_of_a_core']:4.0%} of a core, "
                f"cap {actor['cap_debates_per_second']:6.0f} debates/s"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coordinators", default="1,2", help="numbers, separated by commas")
    parser.add_argument("--debates", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--hold", type=float, default=None, metavar="SHARE")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    numbers = [int(number) for number in given.coordinators.split(",")]
    resolved = resolve(PanelSpec.model_validate({"discussion": {"end_early": False}}))
    rounds: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    start_ray()
    try:
        for turn in range(given.rounds):
            for number in numbers if turn % 2 == 0 else reversed(numbers):
                with tempfile.TemporaryDirectory() as folder:
                    url = f"sqlite:///{folder}/capacity.db"
                    upgrade(url)
                    found = asyncio.run(measured(resolved, url, given, number)).figures()
                    stored = Path(folder, "capacity.db").stat().st_size / (WARM + given.debates)
                    rounds[number].append({"stored_kb_a_debate": stored / 1000, **found})
    finally:
        stop_ray()
    over_rounds = {number: medians(of_number) for number, of_number in rounds.items()}
    if given.json:
        print(json.dumps({"options": vars(given), "medians": over_rounds, "rounds": rounds}, indent=2))
    else:
        show(over_rounds)


if __name__ == "__main__":
    main()
