"""The open batches of a store, of all its runs, read again and again: each time only what is new."""

from jury_events.batch_facts import CLOSED, BatchFacts, batch_facts
from jury_events.ids import batch_stream
from jury_store.event_store import EventStore


class RecordedBatches:
    """Of batches that are closed only the ids are kept.

    Args:
        store: open for reading.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._closed: set[str] = set()
        self._facts: dict[str, BatchFacts] = {}

    def open(self) -> list[BatchFacts]:
        """Those that may be answered still.

        Raises:
            StoreError: the store cannot be read.
            EventError: a batch cannot be read.
        """
        streams = {batch_stream(one): one for one in self._store.batch_ids() if one not in self._closed}
        heads = self._store.heads(streams) if streams else {}
        for stream, head in heads.items():
            self._read(streams[stream], stream, head.version)
        return [one for one in self._facts.values() if one.open]

    def _read(self, name: str, stream: str, version: int) -> None:
        known = self._facts.get(name)
        if known is None and self._store.read_stream(stream, after=version - 1)[-1].type == CLOSED:
            self._closed.add(name)  # thousands of items before are of no account
        elif known is None or known.version < version:
            facts = batch_facts(self._store.read_stream(stream, after=0 if known is None else known.version), known)
            if facts.closed is None:
                self._facts[name] = facts
            else:
                self._facts.pop(name, None)
                self._closed.add(name)
