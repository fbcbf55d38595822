"""A debate as the WebSocket frames of document 004, folded from its log; pure.

A frame is document 004's object with `type`, and `position` to go on from. In debates whose panel has a scale of its
own, a label stands beside each verdict.
"""

from jury_events.codec import DebateEvent
from jury_events.debate_events import ConsensusChecked, DebateOpened, RoundStarted, StatementMade
from jury_events.exact import half_up
from jury_views.debate_fold import Texts, text_in
from jury_views.live.sse_events import Live, whole_score

_HUNDREDTHS = 100


class Frames:
    """Turns the events of one debate, in order, into frames; remembers its name and whether it has labels."""

    def __init__(self) -> None:
        self._submission_id: str | None = None
        self._labelled = False

    def take(self, event: DebateEvent, texts: Texts) -> list[Live]:
        """The frames that `event` gives, without their position; an erased statement is null."""
        match event:
            case DebateOpened():
                self._submission_id = event.submission_id or event.debate_id
                self._labelled = event.panel.scale is not None
                return []
            case RoundStarted():
                return [{**self._head("round_started", event.round), "speakerOrder": list(event.speaker_order)}]
            case StatementMade():
                said = event.statement
                return [
                    {
                        **self._head("juror_statement", event.round),
                        "juror": event.juror_id,
                        "statement": text_in(texts, said.statement),
                        "positionChanged": said.position_changed,
                        "newVerdict": said.position.value,
                        "newScore": whole_score(said.evaluation),
                        **self._label("newLabel", said.evaluation.label),
                    }
                ]
            case ConsensusChecked() if event.round:
                check = event.check
                return [
                    {
                        **self._head("round_completed", event.round),
                        "consensusStatus": check.status.value,
                        "agreementLevel": half_up(check.agreement * _HUNDREDTHS) / _HUNDREDTHS,
                        "majorityPosition": check.majority_position.value if check.majority_position else None,
                        **self._label("majorityLabel", check.majority_label),
                    }
                ]
            case _:
                return []

    def chunk(self, _text: str) -> list[Live]:
        """Document 004 has no frame for it."""
        return []

    def call(self) -> list[Live]:
        """The documents have no frame for it."""
        return []

    def _label(self, name: str, label: str | None) -> Live:
        return {name: label} if self._labelled else {}

    def _head(self, kind: str, number: int) -> Live:
        return {"type": kind, "submissionId": self._submission_id, "round": number}
