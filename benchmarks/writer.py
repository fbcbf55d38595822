"""What the writer of a log costs a debate, by how its appends arrive: CPU of the writing thread alone.

    uv run python benchmarks/writer.py [--debates 256] [--concurrency 64] [--latency 1] [--rounds 5]
                                       [--window 0.125] [--json FILE]

One debate of 13 calls with fixed answers is recorded and its appends are repeated under many ids. They arrive at
computed times: `together`, as at zero latency; `apart`, so many debates at once whose models take a mean latency
(lognormal, sigma 0.5), in the groups that `CommitQueue` makes of them; `at once`, the same without waiting for company.
Time is computed and not waited for, so that other work on the machine changes no group: a commit counts as 3 ms. Lists
and search index follow as often as in a run.
"""

import argparse
import asyncio
import heapq
import json
import math
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from debates import jobs

from jury_actors.messages import RunContext
from jury_actors.runtime import RuntimeConfig, drive, in_process_runtime
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import resolve
from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent
from jury_events.parts import refs_in
from jury_migrations.upgrading import upgrade
from jury_providers.simulated.script import Script
from jury_store import group_commit
from jury_store.event_store import Append
from jury_store.opening import open_store

COMMIT_SECONDS = 0.003
AFTER_AN_ANSWER = 0.005
"""Seconds until the events of the debate that follow from an answer are appended."""
WAYS = ("together", "apart", "at once")


class Arrival(NamedTuple):
    """An append at a computed time in seconds."""

    at: float
    append: Append


class Cost(NamedTuple):
    """CPU-ms a debate of one round, and its commits a debate."""

    append: float
    lists: float
    search: float
    commits: float


async def recorded(folder: Path) -> DebateHistory:
    """One debate of 13 calls."""
    resolved = resolve(PanelSpec.model_validate({"discussion": {"end_early": False}}))
    url = f"sqlite:///{folder / 'one.db'}"
    upgrade(url)
    plan = RuntimeConfig((resolved.panel,), url, "benchmark", Script(seed=1, answers="scripted"))
    async with in_process_runtime(plan, lambda: open_store(url, write=True, run="benchmark")) as runtime:
        async for finished in drive(runtime, jobs(1, RunContext("r", resolved)), concurrency=1):
            debate_id = finished.debate_id
    store = open_store(url, write=False)
    history = store.history(debate_id)
    store.close()
    return history


def appends(history: DebateHistory) -> list[Append]:
    """The appends of the debate, in order, each event with the texts that it is the first to refer to.

    Events of the debate that were recorded at the same time are one append.
    """
    events = sorted((event for stream in history.streams.values() for event in stream), key=lambda one: one.position)
    left = {part.ref.part: part for part in history.parts.values()}
    found: list[Append] = []
    for event in events:
        parts = tuple(left.pop(ref) for ref in dict.fromkeys(refs_in(json.loads(event.body))) if ref in left)
        new = NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body, parts)
        debate = event.stream.startswith("debate/")
        last = found[-1] if found else None
        if debate and last is not None and last.epoch and last.events[0].recorded_at == new.recorded_at:
            found[-1] = last._replace(events=(*last.events, new))
        else:
            found.append(Append(event.stream, (new,), event.version - 1 if debate else None, 1 if debate else None))
    return found


def arrivals(one: list[Append], count: int, concurrency: int, latency: float, window: float = 0.0) -> list[Arrival]:
    """The appends of `count` debates, so many at once; a mean `latency` of 0: one step of all debates at a time.

    Answers of models are passed on at multiples of `window` seconds.
    """
    random_ = random.Random(7)
    slots = [0.0] * concurrency
    found = []
    for number in range(count):
        now = began = heapq.heappop(slots)
        for append in one:
            kind = append.stream.partition("/")[0]
            if kind == "calls" and latency:
                answered = began + random_.lognormvariate(-0.125, 0.5) * latency
                now = max(now, math.ceil(answered / window) * window if window else answered)
            else:
                now = began = now + AFTER_AN_ANSWER
            found.append(Arrival(now, append._replace(stream=f"{kind}/r~c{number}")))
        heapq.heappush(slots, now)
    return sorted(found, key=lambda arrival: arrival.at)


def together(coming: list[Arrival]) -> Iterator[tuple[float, list[Append]]]:
    """Groups of 64 by time, as they leave."""
    for start in range(0, len(coming), 64):
        chunk = coming[start : start + 64]
        yield chunk[-1].at, [one.append for one in chunk]


def at_once(coming: list[Arrival]) -> Iterator[tuple[float, list[Append]]]:
    """Each with those that arrived during the commit before."""
    free = 0.0
    place = 0
    while place < len(coming):
        free = max(free, coming[place].at)
        start = place
        while place < len(coming) and coming[place].at <= free:
            place += 1
        yield free, [one.append for one in coming[start:place]]
        free += COMMIT_SECONDS


def apart(coming: list[Arrival]) -> Iterator[tuple[float, list[Append]]]:
    """As `CommitQueue` says."""
    from jury_store.group_commit import CommitQueue, WaitingCommit  # here, as older versions have none

    queue = CommitQueue(256)
    free = 0.0
    place = 0
    while place < len(coming) or queue.leaves_at < math.inf:
        leaves = max(free, queue.leaves_at) if queue.leaves_at < math.inf else None
        if place < len(coming) and (leaves is None or coming[place].at <= leaves):
            queue.put(WaitingCommit([coming[place].append], 0, Future()), coming[place].at)
            place += 1
            continue
        assert leaves is not None
        # Where enough wait, the moment is long past: they leave with the last that came.
        now = max(leaves, coming[place - 1].at)
        group = queue.take()
        yield now, [request for one in group for request in one.requests]
        free = now + COMMIT_SECONDS
        queue.stored(group, free)


def measure(folder: Path, groups: Iterator[tuple[float, list[Append]]], count: int) -> Cost:
    """Append the groups, and let lists and search index follow as often as in a run."""
    path = folder / "writer.db"
    shutil.copyfile(folder / "empty.db", path)
    store = open_store(f"sqlite:///{path}", write=True)
    cpu = {"append": 0.0, "lists": 0.0, "search": 0.0}
    commits, lists_at, search_at = 0, 0.0, 0.0

    def lists() -> None:
        started = time.thread_time()
        while store.project(2000) >= 2000:
            pass
        cpu["lists"] += time.thread_time() - started

    def search() -> None:
        started = time.thread_time()
        while store.index_texts(1000) >= 1000:
            pass
        cpu["search"] += time.thread_time() - started

    for now, group in groups:
        started = time.thread_time()
        store.append(group)
        cpu["append"] += time.thread_time() - started
        commits += 1
        if now >= lists_at:
            lists()
            lists_at = now + group_commit.PROJECT_EVERY_SECONDS
        if now >= search_at:
            search()
            search_at = now + group_commit.INDEX_EVERY_SECONDS
    lists()
    search()
    store.close()
    for one in folder.glob("writer.db*"):
        one.unlink()
    return Cost(*(seconds / count * 1000 for seconds in cpu.values()), commits / count)


def main() -> None:
    """Measure the ways in turn, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, default=256)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--window", type=float, default=0.0, help="seconds: answers are passed on at multiples of it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--json", type=Path, help="also write the medians to this file")
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="writer-", dir=options.folder))
    try:
        upgrade(f"sqlite:///{folder / 'empty.db'}")
        one = appends(asyncio.run(recorded(folder)))
        latent = arrivals(one, options.debates, options.concurrency, options.latency, options.window)
        dense = arrivals(one, options.debates, options.concurrency, 0.0)
        found: dict[str, list[Cost]] = {way: [] for way in options.ways}
        for _ in range(options.rounds):
            for way, costs in found.items():
                groups = {"together": together(dense), "apart": apart(latent), "at once": at_once(latent)}[way]
                costs.append(measure(folder, groups, options.debates))
    finally:
        shutil.rmtree(folder)
    medians = {way: Cost(*map(statistics.median, zip(*costs, strict=True))) for way, costs in found.items()}
    print(f"{options.debates} debates of {len(one)} appends, {options.rounds} rounds in turn: CPU-ms a debate, medians")
    print(f"{'':10} {'appends':>8} {'lists':>6} {'search':>7} {'all':>6} {'commits a debate':>17}")
    for way, cost in medians.items():
        everything = cost.append + cost.lists + cost.search
        print(
            f"{way:10} {cost.append:8.2f} {cost.lists:6.2f} {cost.search:7.2f} {everything:6.2f} {cost.commits:17.1f}"
        )
    if options.json:
        options.json.write_text(json.dumps({way: cost._asdict() for way, cost in medians.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
