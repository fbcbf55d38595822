"""Many writers, one transaction at a time: what waits is stored together.

A commit costs a disk flush whatever it holds, so a group of 256 costs about as much as a single append.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Self

from jury_store.errors import StoreClosed, StoreError
from jury_store.event_store import Append, Appended, EventStore

_log = logging.getLogger(__name__)

Answers = list[Appended | StoreError]

_PROJECT_EVERY_SECONDS = 0.5
_PROJECT_BATCH = 2000
_PROJECT_SECONDS = 0.1
_INDEX_EVERY_SECONDS = 1.0
_INDEX_BATCH = 300
_INDEX_REST = 4.0
"""So many times as long as a batch took the next one waits, so that who appends has most of the thread."""

_INDEX_AT_END_SECONDS = 3.0
"""What is not done by then is left to the next writer, or to `jury db rebuild`."""
_OVERHEAD_BYTES = 500

_LISTS = "the lists of debates and runs were not brought forward"
_TEXTS = "what jurors wrote was not made searchable"


class _Waiting(NamedTuple):
    requests: Sequence[Append]
    size: int
    resolve: Callable[[Answers], None]
    fail: Callable[[BaseException], None]


class GroupCommitter:
    """The one thread that writes to `store`; the store stays the caller's to close.

    Futures are resolved in that thread: a callback on one must return at once, and must not submit.

    Args:
        store: where the events go.
        max_group: requests a transaction, at most (a batch that is larger goes alone).
        max_waiting_bytes: how much may wait; `submit` blocks beyond it.
    """

    def __init__(self, store: EventStore, max_group: int = 256, max_waiting_bytes: int = 64 * 1024 * 1024) -> None:
        self._store = store
        self._max_group = max_group
        self._max_bytes = max_waiting_bytes
        self._waiting: deque[_Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closing = False
        # Of what could not be brought forward, what was said: once, as a database that is away fails at every try.
        self._told: set[str] = set()
        # When the lists are to be carried forward; at once first, for what another process left behind.
        self._due: float | None = time.monotonic()
        # When the next texts are to be made searchable; that costs more, and is done while nobody waits.
        self._index_due: float | None = self._due
        self._thread = threading.Thread(target=self._work, name="jury-group-commit", daemon=True)
        self._thread.start()

    def submit(self, request: Append) -> "Future[Appended]":
        """The future of one append: its result, the reason why it was refused, or the database's failure.

        Blocks while too much waits.

        Raises:
            StoreClosed: the committer was closed.
        """
        future: Future[Appended] = Future()

        def resolve(answers: Answers) -> None:
            (answer,) = answers
            if isinstance(answer, StoreError):
                _settle(future, future.set_exception, answer)
            else:
                _settle(future, future.set_result, answer)

        self._put([request], resolve, lambda error: _settle(future, future.set_exception, error))
        return future

    def submit_many(self, requests: Sequence[Append]) -> "Future[Answers]":
        """One future for several appends, stored in one transaction; refusals are among its answers, in order."""
        future: Future[Answers] = Future()
        self._put(
            list(requests),
            lambda answers: _settle(future, future.set_result, answers),
            lambda error: _settle(future, future.set_exception, error),
        )
        return future

    def close(self) -> None:
        """Store what waits, bring the lists forward, end the thread; twice is allowed."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(
        self, requests: Sequence[Append], resolve: Callable[[Answers], None], fail: Callable[[BaseException], None]
    ) -> None:
        size = sum(_size(request) for request in requests)
        with self._changed:
            # Something larger than the bound is let in when nothing else waits.
            self._changed.wait_for(lambda: self._closing or not self._bytes or self._bytes + size <= self._max_bytes)
            if self._closing:
                raise StoreClosed("the writer of this store was closed; nothing of this append was stored")
            self._waiting.append(_Waiting(requests, size, resolve, fail))
            self._bytes += size
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting and not self._closing:
                    due = min(filter(None, (self._due, self._index_due)), default=None)
                    patience = None if due is None else max(0.0, due - time.monotonic())
                    self._changed.wait_for(lambda: bool(self._waiting) or self._closing, patience)
                group = self._take()
                idle = not group and not self._waiting
                closing = self._closing
            if group:
                self._commit(group)
                now = time.monotonic()
                self._due = now + _PROJECT_EVERY_SECONDS if self._due is None else self._due
                self._index_due = now + _INDEX_EVERY_SECONDS if self._index_due is None else self._index_due
            if self._due is not None and ((closing and not group) or time.monotonic() >= self._due):
                self._project()
            if closing and not group and self._due is None:
                self._index_at_end()
                return
            if idle and self._index_due is not None and time.monotonic() >= self._index_due:
                self._index()

    def _take(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        count = 0
        while self._waiting and (not group or count + len(self._waiting[0].requests) <= self._max_group):
            one = self._waiting.popleft()
            group.append(one)
            count += len(one.requests)
            self._bytes -= one.size
        if group:
            self._changed.notify_all()
        return group

    def _commit(self, group: list[_Waiting]) -> None:
        try:
            answers = self._store.append([request for one in group for request in one.requests])
        except Exception as error:  # noqa: BLE001  (the waiting writers get it; the thread must live on)
            for one in group:
                one.fail(error)
            return
        start = 0
        for one in group:
            one.resolve(answers[start : start + len(one.requests)])
            start += len(one.requests)

    def _project(self) -> None:
        """Lists are a convenience, made from the log: no append fails with them, or waits for them for long."""
        until = time.monotonic() + _PROJECT_SECONDS
        behind = True
        try:
            while behind and time.monotonic() < until:
                behind = self._store.project(_PROJECT_BATCH) >= _PROJECT_BATCH
        except Exception as error:  # noqa: BLE001  (tried again after the next append)
            behind = False
            self._tell(_LISTS, error)
        else:
            self._told.discard(_LISTS)
        self._due = time.monotonic() if behind else None

    def _index(self) -> None:
        """One batch of texts; as with the lists, no append fails with it."""
        begun = time.monotonic()
        try:
            behind = self._store.index_texts(_INDEX_BATCH) >= _INDEX_BATCH
        except Exception as error:  # noqa: BLE001  (tried again after the next append)
            behind = False
            self._tell(_TEXTS, error)
        else:
            self._told.discard(_TEXTS)
        now = time.monotonic()
        self._index_due = now + _INDEX_REST * (now - begun) if behind else None

    def _tell(self, what: str, error: Exception) -> None:
        _log.log(logging.INFO if what in self._told else logging.WARNING, "%s: %s", what, error)
        self._told.add(what)

    def _index_at_end(self) -> None:
        until = time.monotonic() + _INDEX_AT_END_SECONDS
        while self._index_due is not None and time.monotonic() < until:
            self._index()


def _size(request: Append) -> int:
    return _OVERHEAD_BYTES + sum(
        len(event.body) + sum(len(part.content) for part in event.parts) + _OVERHEAD_BYTES for event in request.events
    )


def _settle(future: "Future[Any]", give: Callable[[Any], None], value: Any) -> None:
    """A future that its owner cancelled takes no result; its append is stored all the same."""
    if future.set_running_or_notify_cancel():
        give(value)
