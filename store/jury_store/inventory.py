"""What a log holds, as whoever verifies, exports or erases it reads it."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream, local_stream
from jury_events.parts import Digest, Part, decode_digest, encode_digest, refs_in


def erased_in(bodies: Iterable[bytes]) -> set[Digest]:
    """The texts that bodies of `texts_erased` name; a body that cannot be read names none."""
    gone: set[Digest] = set()
    for body in bodies:
        with suppress(ValueError, TypeError):
            gone.update(decode_digest(ref) for ref in refs_in(json.loads(body)))
    return gone


class Head(NamedTuple):
    """The end of a stream: its last version, the highest epoch that wrote to it, the hash of its last event."""

    version: int
    epoch: int
    hash: bytes


class DebateRecord(NamedTuple):
    """Everything stored of one debate, seen at one moment. Streams by name, `debate/` before `calls/` and `local/`.

    `twins`: what a table holds a second time, under a key that allows one row; the first of them is in here.
    """

    debate_id: str
    events: dict[str, list[StoredEvent]]
    heads: dict[str, Head]
    parts: dict[Digest, Part]
    twins: tuple[str, ...] = ()

    def whole_texts(self) -> dict[str, bytes]:
        """The texts by the 43 characters of their references, without those that were altered since, or are there
        although their erasure is recorded.
        """
        events = self.events.get(debate_stream(self.debate_id), ())
        gone = erased_in(event.body for event in events if event.type == "texts_erased")
        return {
            encode_digest(digest): part.content
            for digest, part in self.parts.items()
            if part.is_whole and digest not in gone
        }

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

    `counter` and `epoch` are None where the row of that counter is missing, or holds no number; `highest_epoch` is that
    of all heads. `faults` are rows that no reader can make sense of, see `row_checks`.
    `first_missing` is the lowest position up to the highest that no event has; `strays` are streams that are neither
    `debate/` nor `calls/` nor `local/`; `origins` are ids of debates that were never stored and have a seal from
    elsewhere.
    """

    events: int
    last_position: int
    counter: int | None
    first_missing: int | None
    strays: tuple[str, ...]
    origins: tuple[str, ...] = ()
    epoch: int | None = 0
    highest_epoch: int = 0
    faults: tuple[str, ...] = ()


class ListFault(NamedTuple):
    """Where a list says something else than the log. `debate_id` is None where it is about no debate."""

    debate_id: str | None
    what: str
