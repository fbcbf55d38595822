"""Ends what is left of a local Ray cluster when the process that started it was killed.

Linux ends the head and the node with that process. The node's agents notice it too, and then wait a minute for the
head, to report it. So a further process holds the end of a pipe: once the pipe is closed, it kills those of its list.
This file is that process too, without this package and without Ray.
"""

import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

import psutil

_LASTS = 10.0
"""Seconds to end, at most: the processes of its list are gone by then, or killed."""

_watching: list["subprocess.Popen[bytes]"] = []


def watch_survivors(processes: Iterable[psutil.Process]) -> None:
    """Have these processes killed once this one is dead: a precaution, without an error where it cannot be taken."""
    with suppress(OSError, psutil.Error):
        pids = [str(process.pid) for process in processes]
        watcher = subprocess.Popen(  # noqa: S603  (this file)
            [sys.executable, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt of the terminal is not for it
        )
        _watching.append(watcher)
        assert watcher.stdin is not None
        watcher.stdin.write(f"{' '.join(pids)}\n".encode())
        watcher.stdin.flush()


def end_watch() -> None:
    """The cluster ended: the watching process kills what may be left of it, and ends."""
    while _watching:
        watcher = _watching.pop()
        with suppress(OSError, subprocess.TimeoutExpired):
            watcher.communicate(timeout=_LASTS)
        with suppress(OSError):
            watcher.kill()
            watcher.wait()


def _watch() -> None:
    survivors = []
    for pid in sys.stdin.readline().split():
        with suppress(psutil.Error):
            survivors.append(psutil.Process(int(pid)))
    sys.stdin.read()  # returns when the other end of the pipe is closed
    for process in survivors:
        with suppress(psutil.Error):
            process.kill()  # not another one of its number: psutil compares when they were created
    psutil.wait_procs(survivors, timeout=_LASTS)


if __name__ == "__main__":
    _watch()
