"""Live figures of several runs for a server: read at most once a second each, for any number of clients."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from jury_judge.running.live_run import LiveRun, LiveRunReader
from jury_store.event_store import EventStore

FRESH = 1.0
"""Seconds for which figures are given again."""

_MOST = 16
"""Runs that are followed at once; beyond that the least recently requested one is dropped."""


class _Followed:
    """One run: its reader, which one thread uses at a time, and the last figures."""

    def __init__(self, reader: LiveRunReader) -> None:
        self.reader = reader
        self.lock = Lock()
        self.live: LiveRun | None = None
        self.read_at = 0.0


class LiveRuns:
    """The live figures of the runs of a store; may be used by several threads.

    Args:
        store: open for reading.
        url: of the store; None where it is in memory.
        clock: seconds.
    """

    def __init__(self, store: EventStore, url: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._url = url
        self._clock = clock
        self._lock = Lock()
        self._followed: OrderedDict[str, _Followed] = OrderedDict()

    def read(self, run_id: str) -> LiveRun:
        """The figures of a run, at most `FRESH` seconds old.

        Raises:
            DebateNotFound: there is no such run.
            StoreError: the store cannot be read.
        """
        one = self._follow(run_id)
        with one.lock:
            if one.live is None or self._clock() - one.read_at >= FRESH:
                one.live = one.reader.read()
                one.read_at = self._clock()
            return one.live

    def close(self) -> None:
        """Close their connections; the store stays open."""
        with self._lock:
            while self._followed:
                self._close_oldest()

    def _follow(self, run_id: str) -> _Followed:
        with self._lock:
            if run_id not in self._followed:
                while len(self._followed) >= _MOST:
                    self._close_oldest()
                self._followed[run_id] = _Followed(LiveRunReader(self._store, self._url, run_id))
            self._followed.move_to_end(run_id)
            return self._followed[run_id]

    def _close_oldest(self) -> None:
        _, one = self._followed.popitem(last=False)
        with one.lock:
            one.reader.close()
