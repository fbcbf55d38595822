"""A plugin of pytest: which test a process runs and where it stands, for when it does not end.

`.ci/deadline.py` names a folder in CI_RUNNING_TESTS, reads there what runs, and asks for stacks with SIGUSR2.
"""

import asyncio
import faulthandler
import io
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest
from pytest_timeout import Settings, is_debugging

FOLDER = "CI_RUNNING_TESTS"
BLOCKED = 60.0
"""So many seconds after its timeout a test is taken to be blocked outside of Python."""


class RunningTests:
    """Ends a process whose test pytest-timeout cannot interrupt: the rest of the run then names the test and ends.

    pytest-timeout raises in the test, which is reported, and the run goes on. Code in C may never return to where that
    is raised.
    """

    def __init__(self) -> None:
        self._stderr = os.dup(2)  # before pytest captures it

    def pytest_timeout_set_timer(self, settings: Settings) -> None:
        if not is_debugging():
            faulthandler.dump_traceback_later(settings.timeout + BLOCKED, exit=True, file=self._stderr)

    def pytest_timeout_cancel_timer(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    def pytest_enter_pdb(self) -> None:
        faulthandler.cancel_dump_traceback_later()


class NamedTests(RunningTests):
    """Also writes the running test's name into a file, and on the signal all stacks into another."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._test, self._stacks = (
            os.open(folder / f"{os.getpid()}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for kind in ("test", "stacks")
        )
        signal.signal(signal.SIGUSR2, self._write_tasks)
        # Written in C, also while the process is blocked there; then the handler above, where Python still runs.
        faulthandler.register(signal.SIGUSR2, file=self._stacks, chain=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[object]:
        os.write(self._test, item.nodeid.encode())
        try:
            return (yield)
        finally:
            os.ftruncate(self._test, 0)

    def _write_tasks(self, number: int, frame: FrameType | None) -> None:
        with suppress(RuntimeError):  # no event loop runs in this thread
            for task in asyncio.all_tasks():
                said = io.StringIO()
                task.print_stack(file=said)
                os.write(self._stacks, said.getvalue().encode())


def running_tests() -> RunningTests:
    """The plugin for this process: it names tests only where the folder is given."""
    folder = os.environ.get(FOLDER)
    return NamedTests(Path(folder)) if folder else RunningTests()
