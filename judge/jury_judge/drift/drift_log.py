"""The stream of a baseline, read and appended to."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from jury_events.codec import DriftEvent, encode
from jury_events.drift_facts import DriftFacts
from jury_events.errors import DebateNotFound
from jury_events.ids import drift_stream
from jury_events.text import visible_line
from jury_judge.stores.stores import lend_writer, open_or_create
from jury_replay.drift_checks import DriftRecord, intact_drift
from jury_store.appends import first_refusal
from jury_store.errors import StoreMissing
from jury_store.event_store import Append, EventStore
from jury_store.opening import open_store

_WAIT = 20.0
"""Seconds to wait for another writer of a SQLite store."""


class DriftLog:
    """The events of one baseline in a store; each method opens the store for itself.

    Args:
        url: of the store.
        drift_id: the baseline.
    """

    def __init__(self, url: str, drift_id: str) -> None:
        self._url, self._drift_id = url, drift_id

    def store(self) -> EventStore:
        """The store, open for reading; the caller closes it."""
        return open_store(self._url, write=False)

    @contextmanager
    def reading(self) -> Iterator[EventStore]:
        """The store, open for reading meanwhile; created where there is none."""
        with closing(open_or_create(self._url)) as store:
            yield store

    def find(self) -> DriftFacts | None:
        """The baseline; None: there is none of that id. Raises as `intact_drift`."""
        with self.reading() as store:
            if not store.heads([drift_stream(self._drift_id)]):
                return None
            return intact_drift(store, self._drift_id).facts

    def read(self) -> DriftRecord:
        """The baseline, and what decides its next check.

        Raises:
            DebateNotFound: there is no such baseline.
            MalformedBody: it was altered.
            StoreError: the store cannot be read.
        """
        try:
            with closing(self.store()) as store:
                return intact_drift(store, self._drift_id)
        except StoreMissing as error:
            name = visible_line(self._drift_id, 60)
            raise DebateNotFound(f"there is no baseline {name!r}: {error}") from error

    def append(self, version: int, event: DriftEvent) -> DriftFacts:
        """Record an event after the one of that version; the facts with it.

        Raises:
            WrongVersion: another process recorded something meanwhile.
            StoreError: the store cannot be written.
        """
        encoded = encode(event, recorded_at=time.time_ns() // 1000)
        with closing(lend_writer(self._url, run=self._drift_id, wait=_WAIT)) as store:
            refusal = first_refusal(store.append([Append(drift_stream(self._drift_id), (encoded,), version)]))
        if refusal is not None:
            raise refusal
        return self.read().facts
