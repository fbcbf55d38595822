"""What a log holds, as whoever verifies, exports or erases it reads it."""

from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.ids import local_stream
from jury_events.parts import Digest, Part


class Head(NamedTuple):
    """The end of a stream: its last version, the highest epoch that wrote to it, the hash of its last event."""

    version: int
    epoch: int
    hash: bytes


class DebateRecord(NamedTuple):
    """Everything stored of one debate, seen at one moment. Streams by name, `debate/` before `calls/` and `local/`."""

    debate_id: str
    events: dict[str, list[StoredEvent]]
    heads: dict[str, Head]
    parts: dict[Digest, Part]

    @property
    def portable(self) -> "DebateRecord":
        """The same without the stream `local/`, which belongs to its store: what a cassette is made of."""
        local = local_stream(self.debate_id)
        events = {name: events for name, events in self.events.items() if name != local}
        return self._replace(events=events, heads={name: head for name, head in self.heads.items() if name != local})

    @property
    def local(self) -> list[StoredEvent]:
        """The stream `local/`: what this store did with the debate."""
        return self.events.get(local_stream(self.debate_id), [])


class Inventory(NamedTuple):
    """The log as a whole: how many events, the highest position, what the counter says, and what does not belong.

    `first_missing` is the lowest position up to the highest that no event has; `strays` are streams that are neither
    `debate/` nor `calls/` nor `local/`; `origins` are ids of debates that were never stored and have a seal from
    elsewhere.
    """

    events: int
    last_position: int
    counter: int
    first_missing: int | None
    strays: tuple[str, ...]
    origins: tuple[str, ...] = ()
