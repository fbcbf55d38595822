"""Commands that judge: their event loop and notes, Ctrl-C, Ray meanwhile, and one heap for all threads of a run."""

import asyncio
import ctypes
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from jury_cli.signals import SIGNALS, exit_at_once, handled_by, pending, signals_blocked
from jury_cli.streams import note
from jury_judge import ClusterLost, Notice

if TYPE_CHECKING:
    from jury_judge.settings.jury import RuntimeSettings


T = TypeVar("T")

WAIT_SECONDS = 10.0
"""Seconds from the first signal to the first note of what is waited for, and between two of them."""

_CANCELS = 2
"""The signal that cancels the work; the next one ends the process."""


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """An event loop for `until_interrupted`.

    Signals wait until work begins: an exception while asyncio sets the loop up would leave it half made.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        with asyncio.Runner() as runner:
            yield runner
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def until_interrupted(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
    *,
    says: str | None = None,
    waits_for: Callable[[], Awaitable[str]] | None = None,
    every: float = WAIT_SECONDS,
) -> tuple[T | None, bool]:
    """Run `work(stopping)`; returns its result (None if it was cancelled) and whether a signal came.

    The first signal sets `stopping`, so that work can finish, and prints `says`. The second one cancels the work, a
    third one ends the process.

    Args:
        work: an event is given to it.
        says: the note at the first signal.
        waits_for: says what the work waits for, in words; asked and printed again and again after the first signal.
        every: seconds between two of these notes.
    """
    signals = 0
    stopping = asyncio.Event()
    task = asyncio.create_task(work(stopping))
    saying: list[asyncio.Task[None]] = []

    def interrupt() -> None:
        nonlocal signals
        signals += 1
        if signals > _CANCELS:
            from jury_judge import end_own_processes

            end_own_processes()
            exit_at_once()
        if signals == _CANCELS:
            _cancel(saying)
            task.cancel()
            return
        stopping.set()
        if task.done():
            return
        if says is not None:
            note(says)
        if waits_for is not None:
            saying.append(asyncio.create_task(_say_again(waits_for, every)))

    result = None
    try:
        with handled_by(asyncio.get_running_loop(), interrupt):
            result = await task
    except asyncio.CancelledError:
        if not signals:
            raise
    finally:
        _cancel(saying)
    return result, bool(signals)


async def _say_again(waits_for: Callable[[], Awaitable[str]], every: float) -> None:
    while True:
        await asyncio.sleep(every)
        note(f"jury: waiting for {await waits_for()}; Ctrl-C again stops at once")


def _cancel(tasks: Iterable["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()


def run_interruptibly(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()`; a signal cancels it."""
    signalled = False

    async def until_signalled() -> T:
        task = asyncio.create_task(work())

        def interrupt() -> None:
            nonlocal signalled
            signalled = True
            task.cancel()

        with handled_by(asyncio.get_running_loop(), interrupt):
            return await task

    try:
        with event_loop() as loop:
            result = loop.run(until_signalled())
    except asyncio.CancelledError:
        if not signalled:
            raise
    if signalled:
        raise KeyboardInterrupt
    return result


_M_ARENA_MAX = -8
"""Of `mallopt` in malloc.h."""


# Otherwise each thread takes memory from a heap of its own, which keeps what was free in it: a run of 5,000 debates in
# batches had 40 MB more so, and no less CPU.
def share_heap() -> None:
    """Have threads that begin from now on share it; the environment wins, and other C libraries stay as they are."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(AttributeError, OSError, TypeError):  # TypeError: Windows
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


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
        from jury_judge.runs.panel_actors import start_ray

        start_ray(address, open_cluster=open_cluster)

    def stop() -> None:
        from jury_judge.runs.panel_actors import stop_ray

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
            from jury_judge import end_own_processes

            end_own_processes()
            exit_at_once()


def _let_signals_through() -> None:
    if _SignalMask.blocked:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


os.register_at_fork(after_in_child=_let_signals_through)


def note_line(text: str) -> None:
    """A line of the application for the user."""
    event, fields = (text.event, dict[str, Any](text.fields)) if isinstance(text, Notice) else ("notice", {})
    note(f"jury: {text}", event, **fields)


@contextmanager
def judging_loop(settings: "RuntimeSettings", *, on_ray: bool, resume_hint: str) -> Iterator[asyncio.Runner]:
    """The event loop in which a Jury judges, and Ray while it lasts, if debates run there.

    Args:
        settings: name the cluster to join instead of a local one.
        on_ray: whether Ray is needed.
        resume_hint: how to resume, for the message of a lost cluster.
    """
    with ExitStack() as stack:
        if on_ray:
            stack.enter_context(ray_started(settings.ray_address, open_cluster=settings.ray_open_cluster))
        try:
            with event_loop() as loop:
                yield loop
        except ClusterLost as error:
            raise type(error)(error.reason, resume_hint) from error


def finishing(resume_hint: str) -> str:
    """The note at the first Ctrl-C."""
    return f"jury: finishing the debates that run; press Ctrl-C again to stop at once ({resume_hint})"


def note_end(*, interrupted: bool, resume_hint: str, sealed: int | None = None) -> None:
    """Note that the command was interrupted, and how many events are sealed."""
    if interrupted:
        note_line(f"stopped; {resume_hint}")
    if sealed is not None:
        note(f"the log is sealed over {sealed} events; keep the note elsewhere: jury seal show")
