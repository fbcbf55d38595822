"""Processes that end with the test that started them, their pipes closed, also where the test fails."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import psutil

P = TypeVar("P", "subprocess.Popen[bytes]", psutil.Popen)

_started: list["subprocess.Popen[bytes] | psutil.Popen"] = []


def ends_with_the_test(process: P) -> P:
    """The process, which `processes_of_a_test` ends."""
    _started.append(process)
    return process


@contextmanager
def processes_of_a_test() -> Iterator[None]:
    """Kill what was started within the context and still runs, with its children, and close its pipes.

    An open pipe would be a warning of whichever test comes next to a collection of cycles.
    """
    before = len(_started)
    try:
        yield
    finally:
        while len(_started) > before:
            _end(_started.pop())


def _end(process: "subprocess.Popen[bytes] | psutil.Popen") -> None:
    if process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            of_it = psutil.Process(process.pid)
            for one in [*of_it.children(recursive=True), of_it]:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
