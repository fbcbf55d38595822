"""Which debates of a log to process (named, of a run, by conditions, or all), and the worker processes for them."""

import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar

from jury_events.conditions import Condition
from jury_events.ids import is_batch
from jury_events.ladder import Aside
from jury_replay.quarantine import set_aside
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore
from jury_store.opening import open_store

_REACHING_OUT = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.bind"})


class _Guard:
    """The audit hook of the process, which cannot be removed again; it refuses while `inside` is not 0."""

    installed = False
    inside = 0

    @classmethod
    def hook(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if not cls.inside or event not in _REACHING_OUT:
            return
        if isinstance(arguments[0], socket.socket) and arguments[0].family == getattr(socket, "AF_UNIX", None):
            return
        raise PermissionError(f"{event}: a record is worked on without a network")


@contextmanager
def no_network() -> Iterator[None]:
    """Refuse every connection and name lookup of Python code in this process.

    The store's connection is made by its driver in C and is not affected, nor are pipes and Unix sockets.
    """
    if not _Guard.installed:
        sys.addaudithook(_Guard.hook)
        _Guard.installed = True
    _Guard.inside += 1
    try:
        yield
    finally:
        _Guard.inside -= 1


_REPLACED: Aside = "replaced"

CHUNK = 50
"""Debates that are read at once."""

_AHEAD = 2
"""Chunks that wait for each process, so that none of them idles and memory does not grow with the log."""

R = TypeVar("R")
Work = Callable[[EventStore, Sequence[str]], R]
"""What is done with the debates of one chunk; for several processes it must pickle, and so must its result."""


class DebateSelection(NamedTuple):
    """`debate_ids` in the order given; else the debates of `run_id` as they opened; else all, by id.

    With `where`, only those whose cases meet all conditions, as they opened; named debates are not filtered. Debates in
    quarantine, those that wait, and those whose case was judged again are left out unless they are named, or
    `quarantined` asks for all that is stored; `replaced`: those that were judged again are not left out.
    """

    debate_ids: tuple[str, ...] | None = None
    run_id: str | None = None
    where: tuple[Condition, ...] = ()
    quarantined: bool = False
    replaced: bool = False

    def chunks(self, store: EventStore, size: int = CHUNK) -> Iterator[Sequence[str]]:
        """The ids, `size` at a time, read as they are needed."""
        if self.debate_ids is not None:
            for start in range(0, len(self.debate_ids), size):
                yield self.debate_ids[start : start + size]
        elif self.run_id is not None or self.where:
            position = 0
            while rows := store.debates(run_id=self.run_id, where=self.where, limit=size, after=position):
                if ids := [row.debate_id for row in rows if self.replaced or row.aside != _REPLACED]:
                    yield ids
                position = rows[-1].position
        else:
            after = ""
            while ids := store.debate_ids(after, size):
                yield ids if self.quarantined else _in_view(store, ids, replaced=self.replaced)
                after = ids[-1]


def _in_view(store: EventStore, ids: Sequence[str], *, replaced: bool) -> Sequence[str]:
    """The debates that are not in quarantine, have begun, and are not replaced unless such are wanted."""
    debates = [one for one in ids if not is_batch(one)]
    aside = set_aside(store, debates)
    with suppress(StoreDamaged):  # where the list cannot be read, nothing is left out for what it says
        left_out = None if replaced else _REPLACED
        for name, case in store.cases_of(debates).items():
            if case.status == "waiting" or (left_out is not None and case.aside == left_out):
                aside.add(name)
    return [one for one in debates if one not in aside] if aside else debates


EVERYTHING = DebateSelection()
ALL_STORED = DebateSelection(quarantined=True)
"""Debates in quarantine, those that wait, those that were replaced, and batches too, for verification."""

_WORTH_IT = 400
"""Debates from which on more processes pay for their start."""


def processes_for(
    store: EventStore, selection: DebateSelection, wanted: int | None = None, *, worth_it: int = _WORTH_IT
) -> int:
    """How many processes are to work: as many as `wanted`, else one a core from `worth_it` debates on."""
    if wanted is not None:
        return wanted
    try:
        some = next(selection.chunks(store, worth_it), ())
    except StoreDamaged:
        return 1  # what can still be read is read one by one
    return 1 if len(some) < worth_it else os.cpu_count() or 1


def spread(
    store: EventStore, chunks: Iterable[Sequence[str]], work: Work[R], *, url: str = "", processes: int = 1
) -> Iterator[R]:
    """`work` on every chunk, the results in the order of the chunks.

    Args:
        url: where the store is; needed for more than one process, each of which opens it for reading.
        processes: how many work; 1 is this one.
    """
    if processes == 1:
        for chunk in chunks:
            yield work(store, chunk)
        return
    others = set(active_children())
    # Spawned, not forked: the parent has threads and connections that a copy of it must not share.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _open, (url,))
    waiting: deque[Future[R]] = deque()
    finished = False
    try:
        for chunk in chunks:
            waiting.append(_submit(pool, work, chunk))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        finished = True
    finally:
        with _interrupts_blocked():
            if not finished:
                _stop(set(active_children()) - others)
            pool.shutdown(cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, work: Work[R], chunk: Sequence[str]) -> Future[R]:
    # Workers start here, and inherit that signals are blocked: a Ctrl-C that comes before they ignore it would end
    # them in the middle of their imports.
    with _interrupts_blocked():
        return pool.submit(_work, work, chunk)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_STOP = signal.SIGUSR1
"""Makes a worker drop its work. SIGTERM could end one that has sent half a result, and the pool would wait
for the other half."""


def _stop(workers: Iterable[BaseProcess]) -> None:
    """Stop workers at once: a chunk can take minutes under a large grid, and its result is not needed."""
    for worker in workers:
        assert worker.pid is not None
        with suppress(ProcessLookupError):
            os.kill(worker.pid, _STOP)


class _Stopped(BaseException):
    """The parent wants no more of it; no `except Exception` of the work may go on after it."""


class _Worker:
    """The store of a worker process, and where it stands."""

    store: EventStore
    working = False
    stopped = False


def _open(url: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends its workers
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # the pool ends them by it when one of them has died
    signal.signal(_STOP, _stopping)
    _Worker.store = open_store(url, write=False)


def _stopping(_number: int, _frame: object) -> None:
    first, _Worker.stopped = not _Worker.stopped, True
    if first and _Worker.working:
        raise _Stopped


def _work(work: Work[R], chunk: Sequence[str]) -> R:
    if _Worker.stopped:
        raise _Stopped
    _Worker.working = True
    try:
        with no_network():
            return work(_Worker.store, chunk)
    finally:
        _Worker.working = False
