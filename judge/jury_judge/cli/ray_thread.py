"""Ray for the time of a command, started and stopped in a thread of its own, so that Ctrl-C is heard meanwhile.

Ray's start takes seconds, on a busy machine a minute, most of it in calls that no signal interrupts; and it puts
handlers of its own in the place of ours.
"""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from jury_actors.ray_processes import end_own_processes
from jury_judge.signals import exit_at_once, held_back, pending

_LOOKS_EVERY = 0.05
"""Seconds."""


class _State:
    """`held_back`: signals are, in this process; those that it starts are not to inherit that."""

    held_back = False


@contextmanager
def ray_started(address: str | None, *, open_cluster: bool) -> Iterator[None]:
    """Ray, started or joined as by `start_ray`, and left again.

    A signal while Ray starts or stops ends the process at once, and the processes of its own cluster.

    Raises:
        ActorError: as `start_ray`.
    """
    # The kernel kills the processes of a local cluster when the thread that started them ends: it lasts until then.
    thread = ThreadPoolExecutor(1)

    def start() -> None:
        from jury_actors import ray_runtime

        ray_runtime.start_ray(address, open_cluster=open_cluster)

    def stop() -> None:
        from jury_actors import ray_runtime

        ray_runtime.stop_ray()

    try:
        try:
            _hear_signals_during(thread, start)
            yield
        finally:
            _hear_signals_during(thread, stop)
    finally:
        thread.shutdown()


def _hear_signals_during(thread: ThreadPoolExecutor, work: Callable[[], None]) -> None:
    with held_back():
        _State.held_back = True
        try:
            done = thread.submit(work)
            _look_for_signals_until(done)
        finally:
            _State.held_back = False
    done.result()


def _look_for_signals_until(done: "Future[None]") -> None:
    while wait([done], timeout=_LOOKS_EVERY).not_done:
        if pending():
            end_own_processes()
            exit_at_once()


def _let_signals_through() -> None:
    if _State.held_back:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


os.register_at_fork(after_in_child=_let_signals_through)
