"""One scenario of `jury serve`: what was submitted is judged, whichever servers and writers of the store are killed."""

import json
import os
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
from unittest.mock import patch
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
    debates_of,
    unsound,
)
from chaos.strikes import KINDS, Target
from jury_cases import case_of
from jury_events import debate_id
from jury_judge import KeptSubmission, KeptSubmissions, kept_submissions
from jury_judge.serving.kept_submissions import KeptFile
from jury_store import EventStore, StoreError, open_store
from support.command import JURY, Started
from support.waiting import eventually

PANEL = "panel"
"""The name of the ground's panel in requests."""

DAMAGED = frozenset({"evaluation-truncated", "evaluation-binary", "run-folder", "run-link", "run-pipe"})
"""Files of a full folder that are no submissions."""

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
    """A store, the folder of its submissions, and the servers and the writer over it."""

    def __init__(self, ground: Ground, scenario: Scenario, folder: Path) -> None:
        kind = KINDS[scenario.kind]
        self._ground = ground
        self.scenario = scenario
        self.folder = folder
        self.url = ground.postgres_store() if kind.store == "postgres" else ground.sqlite_store(folder)
        self._private = str(folder / "private")
        env = {**ground.models.variables, "RAY_TMPDIR": self._private}
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
        half = 0 if KINDS[self.scenario.kind].writer else len(rows) // 2  # its run is executed by the writer
        run = ("/api/runs", {"cases": rows[:half], "runId": RUN, "concurrency": 2})
        lone = [("/api/evaluations", {"case": row, "runId": RUN}) for row in rows[half:]]
        return [threads.submit(self._accepted, *one) for one in [*([run] if half else []), *lone]]

    def _accepted(self, path: str, body: dict[str, Any]) -> None:
        while not self._over:
            for server in random.sample(self.servers, len(self.servers)):
                try:
                    state = server.ask(path, body)["state"]
                except HTTPError as error:
                    raise AssertionError(f"{path} got {error.code}: {error.read().decode()}") from error
                except (OSError, HTTPException):  # it was killed
                    continue
                assert state in {"running", "waiting", "finished"}, state
                return
            time.sleep(0.05)

    def keep(self) -> None:
        """Leave submissions in the folder as a killed server does, among damaged and special files."""
        kept = self.kept
        for row in self.submitted:
            case = case_of(row)
            kept.keep(KeptSubmission("evaluation", debate_id(RUN, case.case_id), PANEL, [case], RUN))
        whole = next(kept.folder.glob("*.json")).read_bytes()
        (kept.folder / "evaluation-truncated.json").write_bytes(whole[:50])
        (kept.folder / "evaluation-binary.json").write_bytes(b"\xff\xfe")
        (kept.folder / "run-folder.json").mkdir()
        (kept.folder / "run-link.json").symlink_to("run-link.json")
        os.mkfifo(kept.folder / "run-pipe.json")

    @property
    def kept(self) -> KeptSubmissions:
        """The folder, where the servers have it."""
        with patch.dict(os.environ, RAY_TMPDIR=self._private):
            return kept_submissions(self.url)

    def damaged(self) -> list[KeptFile]:
        """The files that stay."""
        return [file for file in self.kept.left() if file.stem in DAMAGED]

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
        if kind.folder_full:
            site.keep()
        if kind.writer:
            writer = site.write()
            eventually(lambda: writer.process.poll() is not None or _events(reader))
        for _ in range(kind.servers):
            site.serve()
        threads = ends.enter_context(ThreadPoolExecutor(_POSTS_AT_ONCE))
        ends.callback(site.give_up)
        asked = [] if kind.folder_full else site.submit(threads)
        _strike(site, reader, report, rng)
        for one in asked:
            one.result(_PATIENCE)
        report.violations += _left(site, reader)
        report.violations += site.end()
        report.calls = len(site.all)
        report.violations += broken_debates(ground, report, reader)
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


def _wanted(site: Site) -> set[str]:
    return {debate_id(RUN, row["case_id"]) for row in site.submitted}


def _done(site: Site, reader: EventStore) -> bool:
    wanted = _wanted(site)
    return len(reader.ended_positions(wanted)) == len(wanted)


def _left(site: Site, reader: EventStore) -> Iterator[str]:
    """Debates that nobody goes on with, and servers that say what is not so."""
    try:
        _moves(reader, lambda: _done(site, reader))
    except AssertionError:
        ended = reader.ended_positions(_wanted(site))
        yield f"nothing happened for {_PATIENCE:g} s, and {len(_wanted(site)) - len(ended)} submissions were left"
        return
    eventually(lambda: not site.kept.left(site.damaged()), seconds=_PATIENCE)
    for server in site.servers:
        for debate in debates_of(site.scenario):
            if debate not in _wanted(site):
                continue
            path = f"/api/evaluations/{debate}"
            found = server.ask(path)
            if found["state"] != "finished":
                yield f"{path} is {found['state']}: {found['problem']}"


def _unclean(site: Site) -> Iterator[str]:
    for one in site.all:
        if "Traceback" in one.stderr:
            yield f"a traceback: {one.stderr[-800:]}"
    if KINDS[site.scenario.kind].folder_full:
        last = site.all[-1].stderr
        for file in site.damaged():
            if last.count(f"{file.stem}.json: ") != 1:
                yield f"the last server named {file.stem} {last.count(f'{file.stem}.json: ')} times: {last[-500:]}"


def _kill_all(site: Site) -> None:
    for one in [*site.all, *([] if site.writer is None else [site.writer])]:
        if one.process.poll() is None:
            one.process.kill()
            one.ends()
