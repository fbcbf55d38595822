"""That something was recorded of a debate, and what: for pages, which read the debate itself again. No contents.

Abstentions and model calls are told here, for which the documents' live events have nothing.
"""

from jury_events.codec import DebateEvent
from jury_judge.present.debate_record import Texts
from jury_judge.present.live.sse_events import Live

CALL = "exchange_recorded"


class ProgressEvents:
    """Turns each event of one debate into one that names its type, and each model call too."""

    def tell(self, event: DebateEvent, _texts: Texts) -> list[Live]:
        """The type of the log event."""
        return [{"type": event.type}]

    def chunk(self, text: str) -> list[Live]:
        """What the final judge is writing, as `SseEvents` tells it."""
        return [{"type": "final_judge_chunk", "chunk": text}]

    def call(self) -> list[Live]:
        """One a call; which one is for the page to read."""
        return [{"type": CALL}]
