"""Durable appends a second: the store against the raw driver's group commit, same columns, same disk, one run.

    python benchmarks/append.py [--events N] [--group N] [--folder PATH] [--postgres URL]

Both sides have the tables, keys and guards of a migrated store, both flush every commit. The raw side inserts rows that
were made beforehand; the store also works out versions, hashes and positions, checks heads and keeps texts apart.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from jury_events.envelope import NewEvent
from jury_events.parts import make_part
from jury_migrations.upgrading import upgrade
from jury_store.event_store import Append, Appended
from jury_store.group_commit import GroupCommitter
from jury_store.opening import open_store

BODY_BYTES = 1000
TEXT_BYTES = 500
EVENTS_A_STREAM = 35
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "cache_size=-8192")


def requests(count: int, width: int = 64) -> Iterator[Append]:
    """One event and one text each, `width` debates at a time."""
    sent = 0
    generation = 0
    while sent < count:
        for version in range(EVENTS_A_STREAM):
            for debate in range(width):
                if sent == count:
                    return
                sent += 1
                part = make_part(os.urandom(TEXT_BYTES // 2).hex().encode(), os.urandom(16))
                filler = "x" * (BODY_BYTES - 120)
                body = json.dumps({"filler": filler, "text": {"part": part.ref.part}, "type": "juror_evaluated"})
                event = NewEvent(
                    f"round-{version}/statement", "juror_evaluated", 1, 1_700_000_000, body.encode(), (part,)
                )
                yield Append(f"debate/run~{generation}-{debate}", (event,), version, 1)
        generation += 1


def raw_sqlite(path: Path, appends: list[Append], group: int) -> float:
    """Seconds for the same rows through `sqlite3` alone."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    rows = [
        (n, a.stream, (a.expected_version or 0) + 1, e.event_id, e.type, e.schema, e.recorded_at, e.body, bytes(32))
        for n, a in enumerate(appends, 1)
        for e in a.events
    ]
    texts = [(a.stream[7:], *part) for a in appends for event in a.events for part in event.parts]
    known: set[str] = set()
    start = time.perf_counter()
    for first in range(0, len(rows), group):
        connection.execute("BEGIN IMMEDIATE")
        last = min(first + group, len(rows))
        heads = {row[1]: (row[2], 1, row[8], row[1]) for row in rows[first:last]}
        connection.executemany("INSERT INTO parts VALUES (?, ?, ?, ?)", texts[first:last])
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows[first:last])
        connection.execute("UPDATE counters SET value = ? WHERE name = 'position'", (last,))
        connection.executemany(
            "INSERT INTO streams (version, epoch, hash, stream) VALUES (?, ?, ?, ?)",
            [head for stream, head in heads.items() if stream not in known],
        )
        connection.executemany(
            "UPDATE streams SET version = ?, epoch = ?, hash = ? WHERE stream = ?",
            [head for stream, head in heads.items() if stream in known],
        )
        known |= heads.keys()
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return seconds


def through_store(url: str, appends: list[Append], group: int) -> float:
    """Seconds for the store alone, one `append` a group."""
    store = open_store(url, write=True)
    start = time.perf_counter()
    remaining = iter(appends)
    while chunk := list(islice(remaining, group)):
        answers = store.append(chunk)
        assert all(isinstance(answer, Appended) for answer in answers), answers
    seconds = time.perf_counter() - start
    store.close()
    return seconds


def through_committer(url: str, appends: list[Append], group: int, batch: int) -> float:
    """Seconds for the store behind group commit, one future a batch, the lists brought forward beside it."""
    store = open_store(url, write=True)
    start = time.perf_counter()
    with GroupCommitter(store, max_group=group) as committer:
        futures = [committer.submit(appends[first : first + batch]) for first in range(0, len(appends), batch)]
        for future in futures:
            future.result()
        seconds = time.perf_counter() - start
    store.close()
    return seconds


def main() -> None:
    """Run every side a few times, in turn, and print the medians."""
    parser = argparse.ArgumentParser(description="Durable appends a second, against the raw driver.")
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--group", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    parser.add_argument("--postgres", help="URL of an empty database to measure as well")
    options = parser.parse_args()
    appends = list(requests(options.events))
    folder = Path(tempfile.mkdtemp(prefix="append-", dir=options.folder))
    try:
        upgrade(f"sqlite:///{folder / 'empty.db'}")
        sides: dict[str, Callable[[Path], float]] = {
            "raw sqlite3": lambda path: raw_sqlite(path, appends, options.group),
            "store": lambda path: through_store(f"sqlite:///{path}", appends, options.group),
            "committer, 64": lambda path: through_committer(f"sqlite:///{path}", appends, options.group, 64),
            "committer, 1": lambda path: through_committer(f"sqlite:///{path}", appends, options.group, 1),
        }
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for round_ in range(options.rounds):
            for name, side in sides.items():
                path = folder / f"{round_}.db"
                shutil.copyfile(folder / "empty.db", path)
                seconds[name].append(side(path))
                path.unlink()
    finally:
        shutil.rmtree(folder)
    raw = statistics.median(seconds["raw sqlite3"])
    print(f"{'':14} {'events/s':>9}  {'of raw':>6}   ({options.events} events, {options.group} a transaction)")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"{name:14} {options.events / median:9,.0f}  {raw / median:6.0%}")
    if options.postgres:
        upgrade(options.postgres)
        taken_there = through_store(options.postgres, appends, options.group)
        print(f"{'postgresql':14} {options.events / taken_there:9,.0f}")


if __name__ == "__main__":
    main()
