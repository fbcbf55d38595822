"""SIGINT and SIGTERM in the `jury` command: from its first instruction on it ends with 130 and one line.

Imports nothing that takes long, as it is loaded before everything else.
"""

import atexit
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM)

INTERRUPTED = 130
"""The exit code."""

_Handler = Callable[[int, FrameType | None], Any] | int | None
"""A result of `signal.getsignal`."""

_IMPORTING = "<frozen importlib._bootstrap>"
"""The file name of import frames."""


class _SignalState:
    """`raising`: a command works, and has to hear of an interruption to clean up."""

    raising = False


class _Loop(Protocol):
    """The used part of an event loop."""

    def call_soon_threadsafe(self, callback: Callable[[], object]) -> object: ...


def take_signals() -> None:
    """Handle both signals from now on; one that the caller of the process chose to ignore stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)
    # Registered first, so it runs last: the interpreter would set the default actions again before it ends.
    atexit.register(_ignore_signals)


@contextmanager
def raising() -> Iterator[None]:
    """A command works: a signal raises KeyboardInterrupt, so that files and processes are closed in order."""
    _SignalState.raising = True
    try:
        yield
    finally:
        _SignalState.raising = False


@contextmanager
def handled_by(loop: _Loop, take: Callable[[], object]) -> Iterator[None]:
    """Both signals call `take` in the event loop, blocked or not before; afterwards they do what they did before.

    asyncio's own handlers are not used: they lose a signal that comes during the last step before the loop ends,
    however long that takes. Here it is taken on leaving. A signal that is ignored stays ignored.
    """
    before = dict(zip(SIGNALS, map(signal.getsignal, SIGNALS), strict=True))
    waiting = 0

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal waiting
        waiting += 1
        loop.call_soon_threadsafe(take_next)

    def take_next() -> None:
        nonlocal waiting
        if waiting:
            waiting -= 1
            take()

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        yield
    finally:
        _put(before)
        while waiting:
            take_next()


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Signals wait until this is over; `pending` returns whether one waits. Threads that begin meanwhile never get any.

    Libraries may put handlers of their own in the place of ours meanwhile: ours are put back.
    """
    handlers = dict(zip(SIGNALS, map(signal.getsignal, SIGNALS), strict=True))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        _put(handlers)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def pending() -> bool:
    """Whether a signal waits."""
    return bool(signal.sigpending() & set(SIGNALS))


def exit_at_once() -> NoReturn:
    """End the process and the worker processes that it started at once."""
    workers = getattr(sys.modules.get("multiprocessing"), "active_children", list)
    for worker in workers():
        worker.kill()
    with suppress(Exception):  # whatever state it is in: what was printed is to be whole, if that can be
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, b"jury: interrupted\n")
    os._exit(INTERRUPTED)


def _put(handlers: dict[signal.Signals, _Handler]) -> None:
    for number, handler in handlers.items():
        if handler is not None:  # one that a library installed, which Python does not know
            signal.signal(number, handler)


def _handle(_number: int, frame: FrameType | None) -> None:
    """An exception out of an import can come out as another one, or be swallowed: there the process just ends."""
    if _SignalState.raising and not _is_importing(frame):
        # Work that was made and not yet begun: Python would complain about it on stderr.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        raise KeyboardInterrupt
    exit_at_once()


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return True
        frame = frame.f_back
    return False


def _ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
