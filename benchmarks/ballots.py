"""What ballots cost: their share of durable appends, and reading them all.

    python benchmarks/ballots.py [--debates N] [--rounds N] [--read N] [--folder PATH] [--json FILE]

Appends: the events of one simulated debate, under the ids of many, appended in groups, with lists and search index
brought forward in between, in one thread; with the projection of ballots and without, in turn. Ballots cost what the
lists take more, as CPU seconds of that thread: what appends and search index take on a busy machine is as long in both
rounds of a pair, and its scatter is left out. The share is that of all CPU without ballots, the median of the pairs.
Reading: a store with the
lists of many debates of three seats and two rounds, whose log is empty; the rows alone, and the Arrow table.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self
from unittest import mock

import pyarrow as pa
from sqlalchemy import create_engine, select

from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.verdict import FAIL, PASS, Verdict
from jury_judge import Jury
from jury_judge.tables.ballot_table import ballot_table
from jury_migrations.upgrading import upgrade
from jury_store import listing, projection
from jury_store.ballot_sheet import BallotSheet
from jury_store.event_store import Append
from jury_store.opening import open_store
from jury_store.schema import ballots, debates

WIDTH = 64
"""Debates that run at once."""

LISTS_EVERY = 10 * WIDTH
"""Events after which the lists follow."""


class NoSheet(BallotSheet):
    """Ballots that are not projected."""

    __slots__ = ()

    @classmethod
    def opened(cls, event: StoredEvent, body: Callable[[], Any]) -> Self:  # noqa: ARG003  (the interface)
        """Without a look at the panel."""
        return cls(None, [], [])

    def fold(self, event: StoredEvent, body: Callable[[], Any]) -> None:
        """Nothing."""


async def recorded(folder: Path) -> DebateHistory:
    """One debate of simulated jurors."""
    async with Jury("parallel-rounds", store=f"sqlite:///{folder / 'one.db'}") as jury:
        result = await jury.evaluate({"id": "c", "question": "Open?", "response": "The password is hunter2. " * 40})
        return await jury.read(result.debate_id)


def appends(history: DebateHistory, count: int) -> list[Append]:
    """The events of the debate under other ids, one an append, in the order of the log, `WIDTH` debates at a time."""
    events = sorted((event for stream in history.streams.values() for event in stream), key=lambda one: one.position)
    found = []
    for start in range(0, count, WIDTH):
        for event in events:
            kind = event.stream.partition("/")[0]
            parts = tuple(history.parts.values()) if event.type == "debate_opened" else ()
            new = NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body, parts)
            version = event.version - 1
            found += [
                Append(f"{kind}/r~c{number}", (new,), version, 1) for number in range(start, min(start + WIDTH, count))
            ]
    return found


class Seconds(NamedTuple):
    """CPU seconds of one round: appends, lists and search index; the lists alone."""

    everything: float
    lists: float


def append_all(url: str, requests: list[Append]) -> Seconds:
    """Append in groups; lists and search index follow every `LISTS_EVERY` events, as of a run in a second."""
    store = open_store(url, write=True)
    gc.collect()
    lists, begun = 0.0, time.thread_time()
    for first in range(0, len(requests), WIDTH):
        store.append(requests[first : first + WIDTH])
        if first % LISTS_EVERY == 0 or first + WIDTH >= len(requests):
            started = time.thread_time()
            while store.project():
                pass
            lists += time.thread_time() - started
            while store.index_texts():
                pass
    everything = time.thread_time() - begun
    store.close()
    return Seconds(everything, lists)


def _stored(*, ballots: bool) -> contextlib.AbstractContextManager[Any]:
    """With no rows of ballots written, unless they are wanted."""
    return contextlib.nullcontext() if ballots else mock.patch.object(listing, "_save_ballots")


def measure_appends(folder: Path, count: int, rounds: int) -> dict[str, float]:
    """Print the share of ballots in the CPU of durable appends; the medians."""
    history = asyncio.run(recorded(folder))
    requests = appends(history, count)
    sides: dict[str, type[BallotSheet]] = {"with ballots": BallotSheet, "without": NoSheet}
    empty, path = folder / "empty.db", folder / "appends.db"
    upgrade(f"sqlite:///{empty}")
    found: dict[str, list[Seconds]] = {name: [] for name in sides}
    for round_ in range(rounds):
        for name in sides if round_ % 2 else reversed(sides):
            shutil.copyfile(empty, path)
            with mock.patch.object(projection, "BallotSheet", sides[name]), _stored(ballots=name == "with ballots"):
                found[name].append(append_all(f"sqlite:///{path}", requests))
            for one in folder.glob("appends.db*"):
                one.unlink()
    pairs = list(zip(found["with ballots"], found["without"], strict=True))
    shares = sorted((more.lists - less.lists) / less.everything for more, less in pairs)
    ballots_ms = statistics.median(more.lists - less.lists for more, less in pairs) / count * 1000
    print(f"{count} debates of {len(requests) / count:.0f} events, {rounds} pairs: CPU-ms a debate, medians")
    print(f"{'':14} {'lists':>7} {'all':>7}")
    for name, rounds_ in found.items():
        lists, everything = (
            statistics.median(column) / count * 1000 for column in list(zip(*rounds_, strict=True))[::-1]
        )
        print(f"{name:14} {lists:7.2f} {everything:7.2f}")
    least = min(one.lists for one in found["with ballots"]) - min(one.lists for one in found["without"])
    share, low, high = statistics.median(shares), shares[len(shares) // 4], shares[-1 - len(shares) // 4]
    print(
        f"{'ballots':14} {ballots_ms:7.2f}, {share:.1%} of all; the middle half of the pairs: {low:.1%} to {high:.1%}"
    )
    least_share = least / min(one.everything for one in found["without"])
    print(f"{'least rounds':14} {least / count * 1000:7.2f}, {least_share:.1%}")
    return {
        "ballots_cpu_ms": ballots_ms,
        "share": share,
        "least_share": least_share,
        "share_low": low,
        "share_high": high,
    }


def sheet(random_: random.Random) -> str:
    """A packed sheet: three seats, first evaluations and two rounds."""
    count = 9
    verdicts = random_.choices([one.value for one in Verdict], k=count)
    models = ["anthropic/claude-x", "google/gemini-x", "openai/gpt-x"]
    packed = {
        "seats": ["security", "privacy", "quality"],
        "weights": [1.0, 1.0, 1.0],
        "models": models,
        "rounds": 2,
        "round": [0, 0, 0, 1, 1, 1, 2, 2, 2],
        "seat": [0, 1, 2] * 3,
        "kind": ["own"] * count,
        "verdict": verdicts,
        "score": [float(random_.randrange(101)) for _ in range(count)],
        "confidence": [random_.randrange(101) / 100 for _ in range(count)],
        "changed": [None] * 3 + [False] * 6,
        "asked": [0, 1, 2] * 3,
        "answered": [0, 1, 2] * 3,
        "calls": [1] * count,
        "input_tokens": [random_.randrange(9000) for _ in range(count)],
        "output_tokens": [random_.randrange(900) for _ in range(count)],
        "cost": [random_.randrange(1000) / 10_000 for _ in range(count)],
    }
    return json.dumps(packed, separators=(",", ":"))


def _debate_row(number: int, random_: random.Random) -> dict[str, Any]:
    verdict = random_.choice((PASS.value, FAIL.value))
    return {
        "debate_id": f"run-1~case-{number:07}",
        "position": number + 1,
        "run_id": "run-1",
        "case_id": f"case-{number:07}",
        "status": "completed",
        "rounds": 2,
        "method": "majority_vote",
        "simulated": False,
        "label": verdict,
        "tags": (),
        "metadata": {},
        "not_shown": 0,
        "case_part": bytes(32),
        "opened_at": 1,
        "updated_at": 2,
        "ended_at": 2,
        "final_verdict": verdict,
        "final_score": 50,
        "calls": 9,
        "input_tokens": 0,
        "output_tokens": 0,
        "cached_input_tokens": 0,
        "cache_write_tokens": 0,
        "cached_calls": (),
        "cost": 0.0,
        "asked_again": 0,
        "models": (),
        "reviews": (),
        "assignments": (),
    }


def fill(url: str, count: int) -> None:
    """Lists of `count` completed debates of three seats and two rounds in a new store, without a log."""
    upgrade(url)
    engine = create_engine(url)
    random_ = random.Random(7)
    for start in range(0, count, 5000):
        numbers = range(start, min(start + 5000, count))
        with engine.begin() as connection:
            connection.execute(debates.insert(), [_debate_row(number, random_) for number in numbers])
            rows = [
                {"debate_id": f"run-1~case-{number:07}", "panel": "0123456789abcdef", "votes": sheet(random_)}
                for number in numbers
            ]
            connection.execute(ballots.insert(), rows)
    engine.dispose()


def plain_read(url: str) -> int:
    """Characters of all packed sheets, row by row."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = sum(len(row[0]) for row in connection.execute(select(ballots.c.votes)))
    engine.dispose()
    return found


def read_table(url: str) -> pa.Table:
    """All ballots as an Arrow table."""
    store = open_store(url, write=False)
    try:
        return ballot_table(store)
    finally:
        store.close()


def _timed(name: str, work: Callable[[], Any]) -> Any:
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:14} {wall:6.2f} s {cpu:6.2f} CPU-s, peak so far {peak:.0f} MB")
    return found


def measure_reading(folder: Path, count: int) -> None:
    """Print seconds of the plain read of the rows and of the table, and the peak of memory."""
    url = f"sqlite:///{folder / 'read.db'}"
    fill(url, count)
    size = (folder / "read.db").stat().st_size
    print(f"{count} debates of nine ballots, a file of {size / 1e6:.0f} MB")
    _timed("rows", partial(plain_read, url))
    table = _timed("table", partial(read_table, url))
    print(f"{'':14} {table.num_rows} ballots, {table.nbytes / 1e6:.0f} MB")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description="What ballots cost.")
    parser.add_argument("--debates", type=int, default=500, help="appended a round; 0: not measured")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the figures of the appends to this file")
    parser.add_argument("--read", type=int, default=100_000, help="debates whose ballots are read; 0: not measured")
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ballots-", dir=options.folder))
    try:
        if options.read:
            measure_reading(folder, options.read)
        if options.debates:
            figures = measure_appends(folder, options.debates, options.rounds)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
