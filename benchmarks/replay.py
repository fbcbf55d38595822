"""Doing recorded debates again: each reader of the log beside the plain reading of the same rows, in the same run.

    uv run python benchmarks/replay.py [--debates 500] [--rounds 5] [--section NAME] [--folder PATH]

The log is made first: debates of 13 calls, run by simulated jurors without latency, in a SQLite file. The sides of a
section then work in turn, `--rounds` times, on the same store; printed are medians, and each side's rate as a share of
the first one's.
"""

import argparse
import asyncio
import gc
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from debates import jobs

from jury_actors.messages import RunContext
from jury_actors.runtime import RuntimeConfig, drive, in_process_runtime
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import resolve
from jury_events.codec import decode
from jury_events.ids import debate_stream
from jury_migrations.upgrading import upgrade
from jury_replay.integrity import check_debate
from jury_replay.replay import ReplayStatus, replay
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.selection import EVERYTHING
from jury_replay.verify import verify
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_store.sealer import Sealer
from jury_store.seals.keys import SealKey
from jury_views.result_lines import line_of

Side = Callable[[EventStore], None]
"""Works on every debate of the store."""


def read(store: EventStore) -> None:
    """Rows of events, heads and texts."""
    for chunk in EVERYTHING.chunks(store):
        store.histories(chunk)


def read_and_decode(store: EventStore) -> None:
    """The same, and every body decoded."""
    for chunk in EVERYTHING.chunks(store):
        for record in store.histories(chunk):
            for events in record.streams.values():
                for event in events:
                    decode(event)


def check(store: EventStore) -> None:
    """Chains, bodies and texts of every debate."""
    for chunk in EVERYTHING.chunks(store):
        for record in store.histories(chunk):
            assert not check_debate(record).failures


def verify_log(store: EventStore) -> None:
    """The whole log, its seals too."""
    report = verify(store)
    assert report.ok
    assert report.seals


def seal(store: EventStore) -> None:
    """One seal over the whole log."""
    bare = _Unsealed(store)
    assert Sealer(bare, SealKey("benchmark", bytes(32)), lambda: 0).next() is not None  # type: ignore[arg-type]


class _Unsealed:
    """The store as if it had no seal yet."""

    def __init__(self, store: EventStore) -> None:
        self.hashes = store.hashes
        self.latest_seal = lambda: None


def read_debates(store: EventStore) -> None:
    """The streams `debate/` alone."""
    for chunk in EVERYTHING.chunks(store):
        store.read_streams([debate_stream(one) for one in chunk])


def read_and_decode_debates(store: EventStore) -> None:
    """The same, and every body decoded."""
    for chunk in EVERYTHING.chunks(store):
        for events in store.read_streams([debate_stream(one) for one in chunk]).values():
            for event in events:
                decode(event)


def read_lines(store: EventStore) -> None:
    """The result line of every debate, as a run that is called again prints them."""
    for chunk in EVERYTHING.chunks(store):
        for history in store.event_histories(chunk):
            line_of(history)


def replay_all(store: EventStore) -> None:
    """Every debate replayed and compared."""
    for found in replay(store, EVERYTHING):
        assert found.status is ReplayStatus.EQUAL


def rescored(mode: Mode, grid: Grid) -> Side:
    """Every debate under every setting."""

    def side(store: EventStore) -> None:
        for found in rescore(store, EVERYTHING, grid, mode=mode):
            assert len(found) == len(grid.settings), found

    return side


ONE = Grid.of({"threshold": (0.67,)})
LONG = Grid.of({"quorum": (1,)})
TWENTY = Grid.of(
    {
        "threshold": (0.5, 0.67, 0.9, 1.0, 2.0),
        "method": ("majority_vote", "weighted_average", "median", "final_judge"),
    }
)

SECTIONS: dict[str, dict[str, Side]] = {
    "verify": {
        "read and decode": read_and_decode,
        "read": read,
        "check each debate": check,
        "verify with seals": verify_log,
        "seal from the start": seal,
    },
    "lines": {
        "read debate/": read_debates,
        "read and decode": read_and_decode_debates,
        "result lines": read_lines,
    },
    "replay": {
        "read": read,
        "read and decode": read_and_decode,
        "replay": replay_all,
    },
    "recount": {
        "read debate/": read_debates,
        "read and decode": read_and_decode_debates,
        "1 setting, 0 rounds": rescored("recount", ONE),
        "1 setting, all rounds": rescored("recount", LONG),
        "20 settings": rescored("recount", TWENTY),
    },
    "strict": {
        "read": read,
        "read and decode": read_and_decode,
        "1 setting, 0 rounds": rescored("strict", ONE),
        "1 setting, all rounds": rescored("strict", LONG),
        "20 settings": rescored("strict", TWENTY),
    },
}
"""Sides by section; the first of a section is what the others are compared with."""


async def record(url: str, count: int) -> None:
    """Run `count` debates."""
    resolved = resolve(PanelSpec.model_validate({"discussion": {"end_early": False}}))
    plan = RuntimeConfig((resolved.panel,), url, "benchmark")
    async with in_process_runtime(plan, lambda: open_store(url, write=True, run="benchmark")) as runtime:
        async for finished in drive(runtime, jobs(count, RunContext("benchmark", resolved)), concurrency=64):
            assert finished.problem is None, finished.problem


def seal_in_steps(url: str, steps: int) -> None:
    """The seals that a run would have left, `steps` of them."""
    store = open_store(url, write=True)
    key = SealKey("benchmark", bytes(32))
    last = store.last_position()
    for step in range(1, steps + 1):
        made = Sealer(_UpTo(store, last * step // steps), key, lambda: 0).next()  # type: ignore[arg-type]
        assert made is not None
        store.store_seal(made)
    store.close()


class _UpTo:
    """The store when its log ended with the event `last`."""

    def __init__(self, store: EventStore, last: int) -> None:
        self._store = store
        self._last = last
        self.latest_seal = store.latest_seal

    def hashes(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Those up to the last."""
        return self._store.hashes(after, min(limit, self._last - after)) if after < self._last else []


def measure(store: EventStore, sides: dict[str, Side], rounds: int, debates: int, events: int) -> None:
    """Every side in turn, so that a slow moment of the machine is shared; prints the medians."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            gc.collect()
            start = time.perf_counter()
            side(store)
            seconds[name].append(time.perf_counter() - start)
    first = statistics.median(next(iter(seconds.values())))
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(
            f"  {name:<22} {debates / median:9,.0f} debates/s {events / median:11,.0f} events/s {first / median:7.0%}"
        )


def main() -> None:
    """Make the log, run the sections."""
    parser = argparse.ArgumentParser(description="Reading recorded debates again, against plain reading.")
    parser.add_argument("--debates", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--section", choices=[*SECTIONS], action="append")
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="replay-", dir=options.folder))
    url = f"sqlite:///{folder / 'jury.db'}"
    try:
        upgrade(url)
        asyncio.run(record(url, options.debates))
        seal_in_steps(url, 10)
        store = open_store(url, write=False)
        events = store.last_position()
        print(f"{options.debates} debates, {events} events, {(folder / 'jury.db').stat().st_size / 1e6:.0f} MB")
        for name in options.section or SECTIONS:
            print(name)
            measure(store, SECTIONS[name], options.rounds, options.debates, events)
        store.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
