"""Ray during a command, started and stopped in a separate thread, so that Ctrl-C works meanwhile.

Ray's start takes seconds, on a busy machine a minute, mostly in calls that no signal interrupts; and it replaces our
signal handlers.
"""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from jury_cli.signals import exit_at_once, pending, signals_blocked
from jury_judge import end_own_processes

_LOOKS_EVERY = 0.05
"""Seconds."""


class _SignalMask:
    """`blocked`: signals are blocked in this process; processes that it starts must not inherit that."""

    blocked = False


@contextmanager
def ray_started(address: str | None, *, open_cluster: bool) -> Iterator[None]:
    """Ray, started or joined as by `start_ray`, and left again.

    A signal while Ray starts or stops ends the process at once, and the processes of its local cluster.
    """
    # Linux kills the processes of a local cluster when the thread that started them ends, so it lasts until then.
    thread = ThreadPoolExecutor(1)

    def start() -> None:
        from jury_judge.runs.ray import start_ray

        start_ray(address, open_cluster=open_cluster)

    def stop() -> None:
        from jury_judge.runs.ray import stop_ray

        stop_ray()

    try:
        try:
            _run_with_signals(thread, start)
            yield
        finally:
            _run_with_signals(thread, stop)
    finally:
        thread.shutdown()


def _run_with_signals(thread: ThreadPoolExecutor, work: Callable[[], None]) -> None:
    with signals_blocked():
        _SignalMask.blocked = True
        try:
            done = thread.submit(work)
            _look_for_signals_until(done)
        finally:
            _SignalMask.blocked = False
    done.result()


def _look_for_signals_until(done: "Future[None]") -> None:
    while wait([done], timeout=_LOOKS_EVERY).not_done:
        if pending():
            end_own_processes()
            exit_at_once()


def _let_signals_through() -> None:
    if _SignalMask.blocked:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


os.register_at_fork(after_in_child=_let_signals_through)
