"""The real command line as a process that can be killed with all its children."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil

from jury_store import EventStore, open_store
from support.command_line import CommandLine
from support.started_processes import ends_with_the_test
from support.waiting import eventually

JURY = str(Path(sys.executable).with_name("jury"))
_OF_A_RUN = ("run_id", "debate_id")


class Command:
    """`jury run` over a file of cases, as run "r" of one store.

    Args:
        folder: where its output goes.
        cases: the file.
        store_url: the store.
        run_id: names the run.
        env: variables besides those of this process.
    """

    def __init__(
        self,
        folder: Path,
        cases: Path,
        store_url: str,
        run_id: str = "r",
        *,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.folder = folder
        self.store_url = store_url
        self.env = env
        self._arguments = [JURY, "run", str(cases), "--jsonl", "--run", run_id, "--store", store_url]
        self._calls = 0

    def start(self, *options: str) -> "Started":
        """Start it in a new session."""
        self._calls += 1
        out, err = (self.folder / f"{self._calls}.{kind}" for kind in ("out", "err"))
        return Started(self.spawn([*self._arguments, *options], out, err), out, err)

    def spawn(self, arguments: list[str], out: Path, err: Path) -> psutil.Popen:
        """A process that writes into these files."""
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return ends_with_the_test(
                psutil.Popen(
                    arguments,
                    stdout=stdout,
                    stderr=stderr,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd=self.folder,
                    env=self.environment(),
                )
            )

    def environment(self) -> dict[str, str]:
        """Its variables."""
        return {**os.environ, "PYTHONWARNINGS": "default", **self.env}

    def call(self, *options: str) -> "Started":
        """Let it run to its end."""
        started = self.start(*options)
        started.ends()
        return started

    def verified(self) -> int:
        """The exit code of `jury verify --all`."""
        return CommandLine(self.folder)("verify", "--all", "--store", self.store_url).code

    def reader(self) -> EventStore:
        """The store, once the command made it."""
        if self.store_url.startswith("sqlite"):
            path = Path(self.store_url.removeprefix("sqlite:///"))
            eventually(path.exists)
        return open_store(self.store_url, write=False)

    def events(self) -> int:
        """How many events there are."""
        store = self.reader()
        try:
            return store.last_position()
        finally:
            store.close()


class Started:
    """A command that runs, or ran."""

    def __init__(self, process: psutil.Popen, out: Path, err: Path) -> None:
        self.process = process
        self._out = out
        self._err = err

    @property
    def stderr(self) -> str:
        """So far."""
        return self._err.read_text()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The results so far, without the ids that a run gives."""
        results = map(json.loads, self.whole_lines)
        return [{key: value for key, value in result.items() if key not in _OF_A_RUN} for result in results]

    @property
    def whole_lines(self) -> list[str]:
        """The results that were printed to their end: a process may have died in the middle of a line."""
        return [line for line in self._out.read_text().splitlines(keepends=True) if line.endswith("\n")]

    @property
    def raw_lines(self) -> list[str]:
        """The results as printed."""
        return self._out.read_text().splitlines()

    def ends(self, seconds: float = 300.0) -> int:
        """Its exit code, once it ends."""
        code: int = self.process.wait(seconds)
        return code

    def comes_to(self, events: int, store: Command, seconds: float = 180.0) -> None:
        """Wait until the store has so many events, or the command ends."""
        eventually(lambda: self.process.poll() is not None or _events(store) >= events, seconds)

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill_everything(self) -> None:
        """SIGKILL to it in the middle, so that it can clean up nothing, and to every process that it started."""
        assert self.process.poll() is None, self.stderr
        tree = [self.process, *self.process.children(recursive=True)]
        for process in tree:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(tree, timeout=60)


def _events(command: Command) -> int:
    from jury_store import OpeningFailed

    try:
        return command.events()
    except OpeningFailed:
        return 0
