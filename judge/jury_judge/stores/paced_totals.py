"""Sums over the debates of a run that is being judged, read so seldom that it costs little."""

import time

from jury_store.debate_rows import DebateFilter, Totals
from jury_store.event_store import EventStore

_SHARE = 0.1
"""Of the time at most is spent on the sums of a large run."""


class PacedTotals:
    """Reads totals again and again."""

    def __init__(self, store: EventStore, wanted: DebateFilter) -> None:
        self._store = store
        self._wanted = wanted
        self._found: Totals | None = None
        self._at = self._took = 0.0

    def read(self) -> Totals:
        """The totals now."""
        started = time.monotonic()
        found = self._found = self._store.totals(self._wanted)
        self._at = time.monotonic()
        self._took = self._at - started
        return found

    def recent(self) -> Totals:
        """The totals that were read last, or those of now where these are old enough."""
        if self._found is None or (time.monotonic() - self._at) * _SHARE >= self._took:
            return self.read()
        return self._found
