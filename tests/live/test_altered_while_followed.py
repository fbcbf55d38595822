"""A debate that is altered while it is followed: its reader gets the error, and no event that does not follow."""

from collections.abc import Callable

import pytest

from jury_events import StoredEvent
from jury_judge import Feed
from jury_replay import RecordDamaged
from jury_store import MemoryEventStore
from jury_views import LIVE_EVENTS
from support.each_row import each_row
from support.writing import Writing


class AlteredReads(MemoryEventStore):
    """What is read of the log is altered on the way, as by somebody in the database."""

    def __init__(self) -> None:
        super().__init__()
        self.alters: Callable[[StoredEvent], StoredEvent] = lambda event: event

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        return [self.alters(event) for event in super().read_all(after, limit)]


@each_row(
    "alters",
    [
        lambda event: event._replace(body=event.body.replace(b'"round":1', b'"round":2')),
        lambda event: event._replace(recorded_at=event.recorded_at + 1),
        lambda event: event._replace(hash=bytes(32)),
    ],
    ids=["body", "time", "hash"],
)
async def test_an_event_that_does_not_follow_from_the_one_before_is_not_sent(
    alters: Callable[[StoredEvent], StoredEvent],
) -> None:
    store = AlteredReads()
    feed, writing = Feed(store), Writing(store)
    writing.write(*writing.script.begins())
    try:
        async with feed.follow("d", LIVE_EVENTS) as reader:
            before = await reader.so_far()
            store.alters = alters
            writing.write(writing.script.round_started(1))
            with pytest.raises(RecordDamaged, match="does not follow from the event before"):
                await reader.next()
    finally:
        await feed.close()

    assert ["phase_change"] == [one.event["type"] for one in before]
