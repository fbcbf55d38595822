"""A run in a process of its own that belongs to no terminal: its own session, its output in a log file."""

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from jury_judge.running.status_file import read_status, status_folder
from jury_store.run_registry import RunHolder, open_registry

_LOOK_EVERY = 0.05
_MOST_LOGGED = 64 * 1024
"""Bytes of a log that are read back."""

_ENTRY = "from jury_cli.entry import main; main()"


class DetachedProcess(NamedTuple):
    """A process that was started; `logged` is the size of its log before."""

    process: "subprocess.Popen[bytes]"
    log: Path
    logged: int

    def output(self) -> str:
        """What it wrote to its log; of very much, the end."""
        with self.log.open("rb") as log:
            log.seek(max(self.logged, self.log.stat().st_size - _MOST_LOGGED))
            return log.read().decode("utf-8", "replace")


def detached_holder(url: str, run_id: str) -> RunHolder | None:
    """The detached process that executes a run; None where there is none."""
    with closing(open_registry(url)) as registry:
        holder = registry.holders([run_id]).get(run_id)
    return holder if holder is not None and holder.detached else None


def start_detached(arguments: Sequence[str], url: str, run_id: str) -> DetachedProcess:
    """Start `jury` with these arguments; its log is appended to.

    Args:
        arguments: of the command.
        url: of the store.
        run_id: the run that it executes, which names the log.

    Raises:
        OSError: the log cannot be written.
        FolderNotPrivate: the folder of this user cannot be used.
    """
    log = log_file(url, run_id)
    log.parent.mkdir(mode=0o700, exist_ok=True)
    with log.open("ab") as output:
        logged = log.stat().st_size
        process = subprocess.Popen(  # noqa: S603  (the command itself, with the arguments that it was given)
            [sys.executable, "-c", _ENTRY, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # results are in the store
            stderr=output,
            start_new_session=True,
        )
    return DetachedProcess(process, log, logged)


def log_file(url: str, run_id: str) -> Path:
    """The log of a detached run: beside a SQLite store, else in a folder of this user."""
    return status_folder(url) / f"{run_id}.log"


def wait_until_running(started: DetachedProcess, url: str, run_id: str) -> int | None:
    """Wait until the process executes the run; returns its exit code if it ended before."""
    while (code := started.process.poll()) is None:
        if read_status(url, run_id) is not None:
            return None
        time.sleep(_LOOK_EVERY)
    return code
