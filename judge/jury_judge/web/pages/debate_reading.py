"""One debate as it is stored, at one moment, ready for its pages."""

from typing import NamedTuple

from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateOpened, TextsErased
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_judge.debates import not_found
from jury_judge.views.debate_record import read_record
from jury_judge.web.pages.statement_views import RecordedCall
from jury_store.event_store import EventStore
from jury_store.inventory import DebateRecord


class PageReading(NamedTuple):
    """Everything that is stored of a debate, and the texts by the 43 characters of their references."""

    record: DebateRecord
    texts: dict[str, bytes]

    @property
    def debate_id(self) -> str:
        """Its id."""
        return self.record.debate_id

    @property
    def stored(self) -> list[StoredEvent]:
        """What the jury did, in order."""
        return self.record.events.get(debate_stream(self.debate_id), [])

    @property
    def stored_calls(self) -> list[StoredEvent]:
        """What the models said, in order."""
        return self.record.events.get(calls_stream(self.debate_id), [])

    def events(self, at: int | None = None) -> list[DebateEvent]:
        """The debate's events up to version `at`, decoded.

        Raises:
            EventError: a stored body does not decode.
        """
        made = [decode(stored) for stored in self.stored[:at]]
        return [event for event in made if not isinstance(event, ExchangeRecorded)]

    @property
    def erased(self) -> frozenset[str]:
        """The texts whose erasure is recorded.

        Raises:
            EventError: a stored body does not decode.
        """
        told = [event for event in map(decode, self.stored) if isinstance(event, TextsErased)]
        return frozenset(ref.part for event in told for ref in event.parts)

    @property
    def opened(self) -> DebateOpened:
        """The opening event.

        Raises:
            EventError: a stored body does not decode.
            JudgeError: the stream does not begin with it.
        """
        return read_record(self.events(1)).opened

    def calls(self, up_to: int | None = None) -> list[RecordedCall]:
        """The model calls recorded up to a position of the log.

        Raises:
            EventError: a stored body does not decode.
        """
        found = []
        for stored in self.stored_calls:
            if up_to is not None and stored.position > up_to:
                break
            event = decode(stored)
            if isinstance(event, ExchangeRecorded):
                found.append(RecordedCall(stored.version, event, stored.recorded_at))
        return found


def page_reading(store: EventStore, debate_id: str) -> PageReading:
    """Read a debate.

    Raises:
        DebateNotFound: there is none of that id.
    """
    (record,) = store.records([debate_id])
    return reading_of(record)


def reading_of(record: DebateRecord) -> PageReading:
    """A debate that was read already.

    Raises:
        DebateNotFound: there is none of that id.
    """
    if not record.events.get(debate_stream(record.debate_id)):
        raise not_found(record.debate_id)
    return PageReading(record, record.whole_texts())
