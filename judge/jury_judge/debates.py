"""One debate read whole from the store."""

from typing import NamedTuple

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import recorded_panel
from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateOpened
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import encode_digest
from jury_judge.errors import DebateNotFound
from jury_judge.views.debate_record import read_record
from jury_judge.views.visible_text import visible_line
from jury_store.event_store import EventStore


class DebateReading(NamedTuple):
    """Both streams decoded, and the texts by the 43 characters of their references (erased ones are left out)."""

    events: list[DebateEvent]
    exchanges: list[ExchangeRecorded]
    texts: dict[str, bytes]

    @property
    def opened(self) -> DebateOpened:
        """The opening event.

        Raises:
            JudgeError: the stream does not begin with it.
        """
        return read_record(self.events[:1]).opened

    @property
    def panel(self) -> ResolvedPanel:
        """Who sat, and under which rules; erased charges are left out."""
        return recorded_panel(self.opened, self.texts)


def not_found(debate_id: str) -> DebateNotFound:
    """The error that says so."""
    return DebateNotFound(
        f"there is no debate {visible_line(debate_id)!r} in this store; `jury list` shows those that there are"
    )


def read_debate(store: EventStore, debate_id: str) -> DebateReading:
    """Everything that the store holds of a debate.

    Raises:
        DebateNotFound: there is none of that id.
        EventError: a stored body does not decode.
    """
    streams = store.read_streams([debate_stream(debate_id), calls_stream(debate_id)])
    events = [decode(stored) for stored in streams.get(debate_stream(debate_id), [])]
    exchanges = [decode(stored) for stored in streams.get(calls_stream(debate_id), [])]
    if not events:
        raise not_found(debate_id)
    return DebateReading(
        events=[event for event in events if not isinstance(event, ExchangeRecorded)],
        exchanges=[event for event in exchanges if isinstance(event, ExchangeRecorded)],
        texts={encode_digest(digest): part.content for digest, part in store.parts(debate_id).items()},
    )
