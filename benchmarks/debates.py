"""What a recorded debate costs: 13 calls a debate with fixed answers, in one process and on Ray.

    uv run python benchmarks/debates.py [--debates 1000] [--concurrency 256] [--latency 0] [--ray] [--store URL]
                                        [--answers read] [--memory] [--calls] [--json FILE]

Answers are scripted, so that the engine is measured; with `--answers read` rule-based readers read every case.

Prints debates/s, CPU-ms a debate by process, events and bytes a debate, and beside them, from the same run, the rate
at which the same events are appended alone: the ratio of the two is the figure to watch (target: at least 50 %). With a
latency (mean seconds, lognormal, sigma 0.5) also the wall time over the critical path: the slowest debate's model
latencies alone (target for 1,000 at once: at most 1.05). With `--memory` also what a debate in flight needs: the
proportional set size of all processes at its peak less that before, over the debates at once (it costs CPU; measure
that without). With `--calls` also the Python calls of this process a debate, by room: they are nearly the same whatever
else the machine does (counting costs three times the CPU).
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType

import psutil

from jury_actors.messages import Job, RunContext
from jury_actors.runtime import RuntimeConfig, drive, in_process_runtime
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import SIMULATED_IDS, resolve
from jury_events.case import Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.envelope import NewEvent
from jury_events.ids import calls_stream, debate_stream
from jury_events.transcript import Item, Message, ToolResult, Transcript
from jury_migrations.upgrading import upgrade
from jury_providers.simulated.script import ANSWERS, Script
from jury_store.event_store import Append
from jury_store.group_commit import GroupCommitter
from jury_store.opening import open_store


def a_case(number: int) -> Case:
    """About 3 KB of transcript."""
    said = (
        "Please refund my order from last week. The parcel arrived open, and the lamp that was in it does not work.",
        "I will look up the order and check the refund policy before I promise anything.",
        '{"order": 17, "age_days": 12, "status": "delivered", "total": "48.00 EUR", "paid_by": "card ending 4242"}',
        "The order is 12 days old and the policy allows refunds within 30 days, so I refund it to the same card.",
    )
    items = tuple(
        _item(turn % 4, f"{said[turn % 4]} (case {number}, turn {turn}) " + "Thank you. " * 20) for turn in range(9)
    )
    scenario = Scenario(
        scenario_id="1",
        question=QuestionSpec(prompt="Refund order 17.", policy="Refund within 30 days."),
        execution=ExecutionResult(response="Refunded.", transcript=Transcript(items=items)),
    )
    return Case(case_id=f"case-{number}", scenarios=(scenario,))


def _item(place: int, text: str) -> Item:
    if place == 2:
        return ToolResult(text=text)
    if place == 0:
        return Message(kind="user", origin="user", text=text)
    return Message(kind="assistant", origin="model", text=text)


def jobs(count: int, context: RunContext) -> Iterator[Job]:
    """One a case."""
    for number in range(count):
        yield Job(f"{context.run_id}~case-{number}", a_case(number).model_dump_json().encode(), context)


def processes() -> dict[int, tuple[str, float]]:
    """Name and CPU seconds of this process and everything below it."""
    found = {}
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times, line = process.cpu_times(), process.cmdline()
        except psutil.Error:
            continue
        name = line[0].split(":")[-1].split(".")[0] if line and line[0].startswith("ray::") else process.name()
        name = "driver" if process.pid == os.getpid() else name
        found[process.pid] = (name, times.user + times.system)
    return found


def memory() -> Counter[str]:
    """Proportional set size in bytes by process name, of this process and everything below it."""
    found: Counter[str] = Counter()
    for pid, (name, _) in processes().items():
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            found[name] += 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found


class PeakMemory:
    """The memory at its peak while debates run, so many at once, sampled in a thread."""

    def __init__(self, debates: int) -> None:
        self._debates = debates
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def begin(self) -> None:
        """Sample from now on."""
        self.peak = self.before = memory()
        self._thread.start()

    def _sample(self) -> None:
        while not self._ended.wait(0.5):
            now = memory()
            if now.total() > self.peak.total():
                self.peak = now

    def report(self) -> None:
        """Stop sampling, print KB a debate in flight, by process."""
        debates = self._debates
        self._ended.set()
        self._thread.join()
        added = Counter({name: size - self.before[name] for name, size in self.peak.items()})
        print(f"  {added.total() / debates / 1000:.0f} KB of memory a debate in flight, peak - idle (PSS)")
        for name, size in added.most_common():
            if abs(size) / debates >= 500:
                print(f"    {name:<20} {size / debates / 1000:6.1f} KB")


class PythonCalls:
    """The calls of Python functions for so many debates, of this thread and of those that begin later."""

    def __init__(self, debates: int) -> None:
        self._debates = debates
        self._counted: Counter[CodeType] = Counter()
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def _count(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self._counted[frame.f_code] += 1

    def begin(self) -> None:
        """Forget what was counted."""
        self._counted.clear()

    def report(self) -> None:
        """Stop counting, print calls a debate by room."""
        sys.setprofile(None)
        debates = self._debates
        by_room: Counter[str] = Counter()
        for code, count in self._counted.items():
            room = re.search(r"\bjury_[a-z]+\b", code.co_filename)
            by_room[room[0] if room else "libraries, and what they generate"] += count
        print(f"  {by_room.total() / debates:.0f} Python calls a debate")
        for name, count in by_room.most_common():
            if count >= debates:
                print(f"    {name:<34} {count / debates:6.0f}")


async def measure(plan: RuntimeConfig, context: RunContext, options: argparse.Namespace) -> dict[str, float]:
    """Run the debates, print what they cost; the figures that `--json` writes."""
    count, concurrency = options.debates, options.concurrency
    watches: list[PythonCalls | PeakMemory] = [PythonCalls(count)] if options.calls else []
    watches += [PeakMemory(min(concurrency, count))] if options.memory else []
    if options.ray:
        from jury_actors.ray_runtime import ray_runtime, start_ray, stop_ray

        start_ray()
        entered = ray_runtime(plan)
    else:
        entered = in_process_runtime(plan, lambda: open_store(plan.store_url, write=True, run=plan.run_id))
    async with entered as runtime:
        warm = RunContext("warm", context.resolved)
        async for _ in drive(runtime, jobs(50, warm), concurrency=concurrency):
            pass
        for one in watches:
            one.begin()
        before, started = processes(), time.perf_counter()
        async for finished in drive(runtime, jobs(count, context), concurrency=concurrency):
            assert finished.problem is None, finished.problem
        wall, after = time.perf_counter() - started, processes()
        for one in watches:
            one.report()
    if options.ray:
        stop_ray()
    cpu: Counter[str] = Counter()
    for pid, (name, seconds) in after.items():
        cpu[name] += seconds - before.get(pid, (name, 0.0))[1]
    total = sum(cpu.values()) * 1000 / count
    say_critical_path(plan, context, count, wall)
    figures = {"debates": count, "seconds": wall, "cpu_seconds": sum(cpu.values())}
    print(f"{count} debates in {wall:.2f} s: {count / wall:.0f} debates/s, {total:.2f} CPU-ms a debate")
    for name, seconds in cpu.most_common():
        if seconds * 1000 / count >= 0.01:
            print(f"  {name:<20} {seconds * 1000 / count:6.2f} CPU-ms a debate")
    return {**figures, "share": report(plan, context, count, wall)}


def say_critical_path(plan: RuntimeConfig, context: RunContext, count: int, wall: float) -> None:
    """Print the wall time over the slowest debate's model latencies, where there are latencies."""
    if plan.script.latency:
        longest = max(critical_path(plan.script, f"{context.run_id}~case-{number}") for number in range(count))
        print(f"slowest debate's model latencies alone: {longest:.2f} s; wall is {wall / longest:.3f} of it")


def critical_path(script: Script, debate: str) -> float:
    """Seconds that a debate takes when nothing but its models takes time: the slowest seat of each phase, added up."""
    phases = [
        max(script.seconds(f"{debate}/{phase}/{seat}/simulated%2Fjuror/1/1") for seat in SIMULATED_IDS)
        for phase in ("initial", "round-1", "round-2", "round-3")
    ]
    return sum(phases) + script.seconds(f"{debate}/final/simulated%2Fjudge/1/1")


def report(plan: RuntimeConfig, context: RunContext, count: int, wall: float) -> float:
    """Print events and bytes a debate, and the rate of appending the same events alone; the run's share of that."""
    store = open_store(plan.store_url, write=False)
    names = [f"{context.run_id}~case-{number}" for number in range(count)]
    streams = store.read_streams([stream for name in names for stream in (debate_stream(name), calls_stream(name))])
    parts = store.parts_of(names)
    store.close()
    events = sum(map(len, streams.values()))
    bodies = sum(len(event.body) for stream in streams.values() for event in stream)
    texts = [part for found in parts.values() for part in found.values()]
    size = sum(len(part.content) for part in texts)
    print(
        f"  {events / count:.1f} events, {len(texts) / count:.1f} texts a debate; "
        f"{bodies / count / 1000:.1f} KB of bodies, {size / count / 1000:.1f} KB of texts"
    )
    if plan.store_url.startswith("sqlite"):
        path = Path(plan.store_url.removeprefix("sqlite:///"))
        print(f"  {path.stat().st_size / (count + 50) / 1000:.1f} KB of database a debate")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/append.db"
        upgrade(url)
        other = open_store(url, write=True)
        requests = []
        for name, stream in streams.items():
            kept = parts.get(name.split("/", 1)[1], {}).values() if name.startswith("debate/") else ()
            new = [NewEvent(e.event_id, e.type, e.schema, e.recorded_at, e.body) for e in stream]
            new[0] = new[0]._replace(parts=tuple(kept))
            debate = name.startswith("debate/")
            requests += [
                Append(name, (event,), expected_version=at if debate else None, epoch=1 if debate else None)
                for at, event in enumerate(new)
            ]
        with GroupCommitter(other) as committer:
            started = time.perf_counter()
            futures = [committer.submit(requests[at : at + 64]) for at in range(0, len(requests), 64)]
            for future in futures:
                future.result()
            alone = len(requests) / (time.perf_counter() - started)
        other.close()
    possible = alone / (events / count)
    share = count / wall / possible
    print(f"  appended alone: {alone:.0f} events/s = {possible:.0f} debates/s; run: {share:.0%} of that")
    return share


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--store", default=None)
    parser.add_argument("--answers", choices=ANSWERS, default="scripted")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    resolved = resolve(PanelSpec.model_validate({"discussion": {"end_early": False}}))
    with tempfile.TemporaryDirectory() as folder:
        url = options.store or f"sqlite:///{folder}/debates.db"
        upgrade(url)
        plan = RuntimeConfig(
            (resolved.panel,), url, "benchmark", Script(latency=options.latency, seed=1, answers=options.answers)
        )
        context = RunContext(f"b{time.time_ns() // 1000}", resolved)
        figures = asyncio.run(measure(plan, context, options))
    if options.json is not None:
        options.json.write_text(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
