"""`jury` forked from a process that has imported it: a start takes a tenth of the CPU, so that many can be killed."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["chaos.warm_start", "chaos.preloaded"])


def _nothing() -> None:
    """Before the command."""


class WarmProcess:
    """One such process, with the methods of `psutil.Popen` that a `Started` command uses.

    `first` is called in it before the command.
    """

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        out: Path,
        err: Path,
        first: Callable[[], None] = _nothing,
    ) -> None:
        self._process = _CONTEXT.Process(target=_become, args=(list(argv), folder, dict(env), out, err, first))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        """Its exit code, once it ended; −9 after a SIGKILL."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code.

        Raises:
            psutil.TimeoutExpired: it goes on.
        """
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            raise psutil.TimeoutExpired(timeout or 0, self.pid)
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def children(self, *, recursive: bool = False) -> list[psutil.Process]:
        return psutil.Process(self.pid).children(recursive=recursive)


def _become(
    argv: list[str], folder: Path, env: dict[str, str], out: Path, err: Path, first: Callable[[], None]
) -> None:
    """What an exec of the command would set up, then its entry point."""
    os.setsid()
    for path, to in ((Path(os.devnull), 0), (out, 1), (err, 2)):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if to else 0), 0o644)
        os.dup2(descriptor, to)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = argv
    from jury_cli.main import main

    first()
    main()
