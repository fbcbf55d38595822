"""A run in a process of its own that belongs to no terminal: its own session, its output in a log file."""

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from jury_judge.runs.supervision import read_status, status_folder, status_place
from jury_store.run_registry import RunHolder, open_registry

_LOOK_EVERY = 0.05
_MOST_LOGGED = 64 * 1024
"""Bytes of a log that are read back."""

RESUME = ("resume", "--handed")
"""The command of such a process, before the run: it reads the settings from its standard input."""

_ENTRY = "from jury_cli.entry import main; main()"


class EndedEarly(NamedTuple):
    """A process that ended before it executed the run: its exit code, and the end of what it wrote."""

    code: int
    output: str


def detached_holder(url: str, run_id: str) -> RunHolder | None:
    """The detached process that executes a run; None where there is none."""
    with closing(open_registry(url)) as registry:
        holder = registry.holders([run_id]).get(run_id)
    return holder if holder is not None and holder.detached else None


def start_detached(message: bytes, url: str, run_id: str) -> tuple[int, EndedEarly | None]:
    """Have a process of this machine judge a run that is listed; returns once it does, or has ended.

    Args:
        message: see `jury_judge.runs.resumed_run`.
        run_id: the run, which names the log; that is appended to.

    Returns:
        The id of the process, and how it ended; None: it executes the run.

    Raises:
        OSError: the log cannot be written.
    """
    log = log_file(url, run_id)
    log.parent.mkdir(mode=0o700, exist_ok=True)
    with log.open("ab") as output:
        logged = log.stat().st_size
        process = subprocess.Popen(  # noqa: S603  (the command itself)
            [sys.executable, "-c", _ENTRY, *RESUME, run_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # results are in the store
            stderr=output,
            start_new_session=True,
        )
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(message)
        while (code := process.poll()) is None:
            if read_status(url, run_id) is not None:
                return process.pid, None
            time.sleep(_LOOK_EVERY)
    except KeyboardInterrupt:
        process.terminate()
        raise
    with log.open("rb") as written:
        written.seek(max(logged, log.stat().st_size - _MOST_LOGGED))
        return process.pid, EndedEarly(code, written.read().decode("utf-8", "replace"))


def start_on_cluster(message: Callable[[str], bytes], url: str, run_id: str) -> EndedEarly | None:
    """The same in a process of the cluster that this one joined; one with a SQLite store stays on this node.

    Args:
        message: see `jury_judge.runs.resumed_run`; made from the address of the cluster.
    """
    from jury_actors.ray_detached import DetachedRun

    there = DetachedRun(run_id, here=url.startswith("sqlite"))
    there.start((*RESUME, run_id), message(there.address), str(status_place(url, run_id)))
    while not (state := there.state()).running:
        if state.code is not None:
            return EndedEarly(state.code, state.output)
        time.sleep(_LOOK_EVERY)
    return None


def log_file(url: str, run_id: str) -> Path:
    """The log of a detached run: beside a SQLite store, else in a folder of this user."""
    return status_folder(url) / f"{run_id}.log"
