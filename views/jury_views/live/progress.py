"""The types of a debate's new events, without contents: for the pages, which then read the debate again.

Unlike the documents' live events they include abstentions and model calls.
"""

from jury_events.codec import DebateEvent
from jury_views.debate_fold import Texts
from jury_views.live.sse_events import Live

CALL = "exchange_recorded"


class ProgressEvents:
    """Turns each event and each model call of a debate into a live event with its type."""

    def take(self, event: DebateEvent, _texts: Texts) -> list[Live]:
        """The type of the log event."""
        return [{"type": event.type}]

    def chunk(self, text: str) -> list[Live]:
        """As `SseEvents.chunk`."""
        return [{"type": "final_judge_chunk", "chunk": text}]

    def call(self) -> list[Live]:
        """One a call, without its id."""
        return [{"type": CALL}]
