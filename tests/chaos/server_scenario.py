"""One scenario of `jury serve`: what was submitted is judged, whichever servers and writers of the store are killed."""

import json
import random
import re
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from chaos.counted_models import RUN
from chaos.ground import Ground
from chaos.scenario import (
    EVENTS_OF_A_DEBATE,
    Scenario,
    ScenarioReport,
    WarmCommand,
    broken_debates,
    case_file,
    case_rows,
    unsound,
)
from chaos.strikes import KINDS, Target
from jury_events import debate_id
from jury_store import EventStore, StoreError, open_store
from support.command import JURY, Started
from support.waiting import eventually

PANEL = "panel"
"""The name of the ground's panel in requests."""

SERVED = "served"
"""The run of what is submitted beside a writer, which has its own."""

_PATIENCE = 240.0
"""Seconds in which something must happen while something is left to do."""

_POSTS_AT_ONCE = 8
_ROLLS = 0.3
"""How often a server is also replaced without a strike."""

_URL = re.compile(r"http://\S+")


class ServeCommand(WarmCommand):
    """`jury serve` of a store, forked from a process that has imported it."""

    def __init__(self, folder: Path, panel: Path, store_url: str, env: dict[str, str]) -> None:
        super().__init__(folder, panel, store_url, env=env)
        options = ("--port", "0", "--panel", str(panel), "--store", store_url, "--concurrency", "2")
        self._arguments = [JURY, "serve", *options]


class Server:
    """One server, once it listens."""

    def __init__(self, started: Started) -> None:
        self.started = started
        eventually(lambda: started.process.poll() is not None or _URL.search(started.stderr))
        found = _URL.search(started.stderr)
        assert found is not None, started.stderr
        self.url = found.group()

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON that it answers."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return json.load(answer)


class Site:
    """A store, and the servers and the writer over it."""

    def __init__(self, ground: Ground, scenario: Scenario, folder: Path) -> None:
        kind = KINDS[scenario.kind]
        self._ground = ground
        self.scenario = scenario
        self.folder = folder
        self.url = ground.postgres_store() if kind.store == "postgres" else ground.sqlite_store(folder)
        env = {**ground.models.variables, "RAY_TMPDIR": str(folder / "private")}
        served = folder / "served"
        served.mkdir()
        self._command = ServeCommand(served, ground.panel, self.url, env)
        self._writer = WarmCommand(folder, case_file(folder, self.of_the_writer), self.url, RUN, env=env)
        self._writer_options = ("--panel", str(ground.panel), "--concurrency", "2", "--display", "none", "--in-process")
        self.reader = open_store(self.url, write=False)
        self.servers: list[Server] = []
        self.writer: Started | None = None
        self.all: list[Started] = []
        self._over = False

    @property
    def rows(self) -> list[dict[str, str]]:
        return case_rows(self.scenario)

    @property
    def of_the_writer(self) -> list[dict[str, str]]:
        """The cases that `jury run` judges; the others are submitted."""
        return self.rows[::2] if KINDS[self.scenario.kind].writer else []

    @property
    def submitted(self) -> list[dict[str, str]]:
        writes = {row["case_id"] for row in self.of_the_writer}
        return [row for row in self.rows if row["case_id"] not in writes]

    @property
    def run_id(self) -> str:
        """The run of what is submitted."""
        return SERVED if KINDS[self.scenario.kind].writer else RUN

    @property
    def wanted(self) -> list[str]:
        """The debates of what is submitted."""
        return [debate_id(self.run_id, row["case_id"]) for row in self.submitted]

    @property
    def debates(self) -> list[str]:
        """All debates."""
        return [*self.wanted, *(debate_id(RUN, row["case_id"]) for row in self.of_the_writer)]

    def serve(self) -> Server:
        """Start one more server."""
        server = Server(self._command.start())
        self.servers.append(server)
        self.all.append(server.started)
        return server

    def write(self) -> Started:
        """Start `jury run`."""
        self.writer = self._writer.start(*self._writer_options)
        return self.writer

    def submit(self, threads: ThreadPoolExecutor) -> list[Future[None]]:
        """Half as one run, half one by one, to any server that lives; a client asks again where its server died."""
        rows = self.submitted
        half = len(rows) // 2
        run = ("/api/runs", {"cases": rows[:half], "runId": self.run_id, "concurrency": 2})
        lone = [("/api/evaluations", {"case": row, "runId": self.run_id}) for row in rows[half:]]
        return [threads.submit(self._accepted, *one) for one in [run, *lone]]

    def _accepted(self, path: str, body: dict[str, Any]) -> None:
        while not self._over:
            for server in random.sample(self.servers, len(self.servers)):
                try:
                    state = server.ask(path, body)["state"]
                except HTTPError as error:
                    if error.code == 503 and error.headers["retry-after"]:  # another process writes to the SQLite file
                        continue
                    raise AssertionError(f"{path} got {error.code}: {error.read().decode()}") from error
                except (OSError, HTTPException):  # it was killed
                    continue
                assert state in {"running", "waiting", "finished"}, state
                return
            time.sleep(0.05)

    def kill(self, started: Started, report: ScenarioReport, rng: random.Random) -> None:
        """Strike a server, or the writer."""
        target = Target(started, self._ground, self.folder, self.folder / "clock", rng, report.struck)
        if KINDS[self.scenario.kind].strike(target):
            report.moments.append(_events(self.reader))

    def give_up(self) -> None:
        """Clients ask no more."""
        self._over = True

    def roll(self) -> Iterator[str]:
        """Replace a server as an operator does: the next one starts before the old one ends."""
        self.serve()
        old = self.servers.pop(0)
        old.started.process.send_signal(signal.SIGTERM)
        yield from _ended_badly(old)

    def end(self) -> Iterator[str]:
        """End the servers as an operator does, and run the writer's cases to their end."""
        for server in self.servers:
            server.started.process.send_signal(signal.SIGTERM)
        for server in self.servers:
            yield from _ended_badly(server)
        for _ in range(2):
            if self.writer is not None and self.writer.ends(_PATIENCE):
                self.write()
        if self.writer is not None and (code := self.writer.ends(_PATIENCE)):
            yield f"jury run ended with {code}: {self.writer.stderr[-500:]}"


def play_served(ground: Ground, scenario: Scenario) -> ScenarioReport:
    """Submit, strike at moments drawn by the seed, and look at everything that is left once all is judged."""
    kind = KINDS[scenario.kind]
    folder = ground.folder / f"s{scenario.number}"
    folder.mkdir()
    rng = random.Random(scenario.seed)
    report = ScenarioReport(scenario)
    with ExitStack() as ends:
        site = Site(ground, scenario, folder)
        reader = site.reader
        ends.callback(reader.close)
        ends.callback(_kill_all, site)
        if kind.writer:
            writer = site.write()
            eventually(lambda: writer.process.poll() is not None or _events(reader))
        for _ in range(kind.servers):
            site.serve()
        threads = ends.enter_context(ThreadPoolExecutor(_POSTS_AT_ONCE))
        ends.callback(site.give_up)
        asked = site.submit(threads)
        _strike(site, reader, report, rng)
        for one in asked:
            one.result(_PATIENCE)
        report.violations += _left(site, reader)
        report.violations += site.end()
        report.calls = len(site.all)
        report.violations += broken_debates(ground, report, reader, site.debates)
        report.violations += _unclean(site)
        report.violations += unsound(folder, site.url)
    return report


def _strike(site: Site, reader: EventStore, report: ScenarioReport, rng: random.Random) -> None:
    """Kill a server, or the writer once; another server starts before that, so that both live for a while, or after."""
    scenario = site.scenario
    apart = scenario.cases * EVENTS_OF_A_DEBATE // (scenario.strikes + 1)
    while report.struck < scenario.strikes:
        until = _events(reader) + rng.randrange(1, apart)
        _moves(reader, lambda until=until: _events(reader) >= until or _done(site, reader))
        if _done(site, reader):
            return
        writer = site.writer
        if writer is not None and writer.process.poll() is None and rng.random() < 0.25:
            site.kill(writer, report, rng)
            continue
        killed = site.servers.pop(rng.randrange(len(site.servers)))
        if overlaps := rng.random() < 0.5:
            site.serve()
        site.kill(killed.started, report, rng)
        if not overlaps:
            site.serve()
        if rng.random() < _ROLLS:
            report.violations += site.roll()


def _ended_badly(server: Server) -> Iterator[str]:
    if code := server.started.ends(_PATIENCE):
        yield f"a server ended with {code}: {server.started.stderr[-500:]}"


def _moves(reader: EventStore, done: Callable[[], bool]) -> None:
    """Wait until it is done, as long as the log grows."""
    while not done():
        seen = _events(reader)
        eventually(lambda: done() or _events(reader) > seen, seconds=_PATIENCE)  # noqa: B023  (awaited here)


def _events(reader: EventStore) -> int:
    try:
        return reader.last_position()
    except StoreError:
        return 0


def _done(site: Site, reader: EventStore) -> bool:
    return len(reader.ended_positions(site.wanted)) == len(site.wanted)


def _left(site: Site, reader: EventStore) -> Iterator[str]:
    """Debates that nobody goes on with, and servers that say what is not so."""
    try:
        _moves(reader, lambda: _done(site, reader))
    except AssertionError:
        left = len(site.wanted) - len(reader.ended_positions(site.wanted))
        yield f"nothing happened for {_PATIENCE:g} s, and {left} submissions were left"
        return
    for server in site.servers:
        for debate in site.wanted:
            path = f"/api/evaluations/{debate}"
            found = server.ask(path)
            if found["state"] != "finished":
                yield f"{path} is {found['state']}: {found['problem']}"


def _unclean(site: Site) -> Iterator[str]:
    for one in site.all:
        if "Traceback" in one.stderr:
            yield f"a traceback: {one.stderr[-800:]}"


def _kill_all(site: Site) -> None:
    for one in [*site.all, *([] if site.writer is None else [site.writer])]:
        if one.process.poll() is None:
            one.process.kill()
            one.ends()
