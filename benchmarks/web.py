"""What the server needs for its heaviest answers: a debate with a 10 MB statement, and lists over 100,000 debates.

    uv run python benchmarks/web.py [--debates 100000] [--statistics 1000] [--rounds 7] [--folder PATH]

The log is made first, in a SQLite file (a minute or two), and kept where `--folder` names a place. Each address is
asked `--rounds` times over a socket, one request at a time; printed are the median and the slowest, in milliseconds,
from the request to the last byte, and the query plans of the lists. `--debates 0` leaves all of that out.

The page of statistics is of a run of `--statistics` debates of three seats, labels and two rounds. Each round starts a
new server, whose first answer is computed, and whose second is kept; the first round also imports the packages.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import httpx2
from sqlalchemy import create_engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import ballots

from jury_events.conditions import parse_conditions
from jury_events.verdict import FAIL
from jury_migrations.upgrading import upgrade
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import Append, EventStore
from jury_store.list_order import NEWEST
from jury_store.list_queries import debates_query
from jury_store.opening import open_store
from jury_store.sql_dialects import SQLITE
from support.debates import DebateScript
from support.running_server import running_server
from support.writing import Writing

RUNS = 7
STATEMENT = "発言の本文。" * (10 * 1024 * 1024 // len("発言の本文。".encode()))
"""10 MB of UTF-8."""

LISTS = {
    "newest": "",
    "of a run": "run=run-3",
    "of a status that none has": "status=failed",
    "of a verdict that none has": f"verdict={FAIL}",
    "search, one found": "search=c99999",
    "search, none found": "search=zzz",
    "where: all have the tag": "where=tags=common",
    "where: one has the tag": "where=tags=rare",
    "where: a tag that none contains": "where=tags~zzz",
    "where: none is without the tag": "where=tags!=common",
    "where: one of five": "where=metadata.level=3",
    "evidence that none has": "evidence=not_found",
    "the last page": "after=200",
    "search, in nine of ten": "search=because",
    "search, one word of one text": "search=zebra",
    "sorted by score": "sort=score",
    "sorted by case, ascending": "sort=case&order=asc",
    "sorted by cost, of a run": "sort=cost&run=run-3",
    "of a model": "model=simulated/reader",
    "added up": "totals=true",
}


def fill(store: EventStore, debates: int) -> None:
    """Small debates of seven runs, a tenth of them not over; and one with a 10 MB statement."""
    for start in range(0, debates, 500):
        group = []
        for number in range(start, min(start + 500, debates)):
            run = f"run-{number % RUNS}"
            script = DebateScript(f"{run}~c{number}", run_id=run, seed=number)
            opened = script.opened(
                tags=("common", f"t{number % 50}", *(("rare",) if number == 17 else ())),
                cluster=f"c{number % 20}",
                metadata={"level": number % 5, "source": f"file-{number % 1000}", "share": number / RUNS},
            )
            said = script.evaluated("because of a zebra" if number == 4711 else "because")
            events = (opened, said, *script.whole()[2:]) if number % 10 else (opened,)
            group.append(Append(script.stream, events, 0, 1))
        store.append(group)
        store.project()
        store.index_texts(5000)
    writing = Writing(store, "big", seed=debates, run_id=None)
    script = writing.script
    writing.write(*script.begins(), script.checked(over=False), script.round_started(1), writing.statement(STATEMENT))
    writing.write(script.checked(1), script.judged(), script.completed())
    while store.project() or store.index_texts():
        pass


def plans(path: Path) -> None:
    """How SQLite answers the lists."""
    wanted = {
        "newest": DebateFilter(),
        "of a run": DebateFilter(run_id="run-3"),
        "of a status": DebateFilter(status="failed"),
        "search": DebateFilter(search="zzz"),
        "where: has": DebateFilter(where=parse_conditions(["tags=rare"])),
        "where: contains": DebateFilter(where=parse_conditions(["tags~zzz"])),
        "where: has not": DebateFilter(where=parse_conditions(["tags!=common"])),
    }
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        for name, one in wanted.items():
            compiled = debates_query(SQLITE, one, NEWEST, limit=200, after=None).compile(
                engine, compile_kwargs={"literal_binds": True}
            )
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")
            print(f"{name:<30} {'; '.join(row[3] for row in rows)}")
    engine.dispose()


async def measure(base: str, rounds: int) -> None:
    """Ask each address, one after another."""
    paths = {
        "API: debate, 10 MB statement": "/api/debates/big",
        "API: its events": "/api/debates/big/events",
        "API: its live events": "/api/debates/big/live",
        **{f"API: list, {name}": f"/api/debates?{query}" for name, query in LISTS.items()},
        "API: runs": "/api/runs",
        "page: debate, 10 MB statement": "/debates/big",
        "page: list": "/",
        "page: list, search, none found": "/?search=zzz",
        "page: runs": "/runs",
        "page: run": "/runs/run-3",
    }
    print(f"{'':<40} {'median ms':>10} {'slowest':>8} {'KB':>8}")
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        for name, path in paths.items():
            times = []
            for _ in range(rounds):
                begun = time.perf_counter()
                answer = await client.get(quote(path, safe="/?=&~!"))
                times.append((time.perf_counter() - begun) * 1000)
                answer.raise_for_status()
            print(f"{name:<40} {statistics.median(times):>10.1f} {max(times):>8.1f} {len(answer.content) / 1024:>8.0f}")


async def _milliseconds(base: str, path: str) -> float:
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        begun = time.perf_counter()
        answer = await client.get(path)
        answer.raise_for_status()
        assert "notice" not in answer.text, answer.text
        return (time.perf_counter() - begun) * 1000


def measure_statistics(folder: Path, debates: int, rounds: int) -> None:
    """Ask new servers for the page of a run's statistics."""
    url = f"sqlite:///{folder / 'statistics.db'}"
    ballots.fill(url, debates)
    with closing(create_engine(url).raw_connection()) as connection:
        connection.execute("INSERT INTO runs VALUES ('run-1', 1, ?, ?, 0, 0, 0, 0, 0, 1, 2)", (debates, debates))
        connection.commit()
    times: list[tuple[float, float]] = []
    for _ in range(rounds + 1):
        with running_server(open_store(url, write=False)) as (base, _):
            asyncio.run(_milliseconds(base, "/runs"))
            path = "/runs/run-1/stats"
            times.append((asyncio.run(_milliseconds(base, path)), asyncio.run(_milliseconds(base, path))))
    print(f"page: statistics of {debates} debates, ms: with imports {times[0][0]:.1f}")
    for name, column in zip(("computed", "kept"), zip(*times[1:], strict=True), strict=True):
        print(f"{name:<40} {statistics.median(column):>10.1f} {max(column):>8.1f}")


def main() -> None:
    """Make the log, serve it, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, default=100_000)
    parser.add_argument("--statistics", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if given.statistics:
            measure_statistics(Path(temporary), given.statistics, given.rounds)
        if not given.debates:
            return
        path = (given.folder or Path(temporary)) / "web.db"
        url = f"sqlite:///{path}"
        if not path.exists():
            upgrade(url)
            store = open_store(url, write=True)
            fill(store, given.debates)
            store.close()
        plans(path)
        with running_server(open_store(url, write=False)) as (base, _):
            asyncio.run(measure(base, given.rounds))


if __name__ == "__main__":
    main()
