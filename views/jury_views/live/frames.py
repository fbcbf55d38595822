"""A debate as the WebSocket frames of document 004, folded from its log; pure.

A frame is document 004's object with `type`, and `position` to go on from. In debates whose panel has a scale of its
own, a label stands beside each verdict.
"""

from jury_events.codec import DebateEvent
from jury_events.debate_events import ConsensusChecked, RoundStarted, StatementMade
from jury_events.exact import half_up
from jury_views.debate_fold import DebateFold, Texts, followed, text_in
from jury_views.live.sse_events import Live, label_of, submission_of, whole_score

_HUNDREDTHS = 100


class Frames:
    """Turns the events of one debate, in order, into frames."""

    def __init__(self) -> None:
        self._fold: DebateFold | None = None

    def take(self, event: DebateEvent, texts: Texts) -> list[Live]:
        """The frames that `event` gives, without their position; an erased statement is null."""
        self._fold = followed(self._fold, event)
        return _frames(event, self._fold, texts)

    def chunk(self, _text: str) -> list[Live]:
        """Document 004 has no frame for it."""
        return []

    def call(self) -> list[Live]:
        """The documents have no frame for it."""
        return []


def _frames(event: DebateEvent, fold: DebateFold, texts: Texts) -> list[Live]:
    def head(kind: str, number: int) -> Live:
        return {"type": kind, "submissionId": submission_of(fold), "round": number}

    match event:
        case RoundStarted():
            return [{**head("round_started", event.round), "speakerOrder": list(event.speaker_order)}]
        case StatementMade():
            said = event.statement
            return [
                {
                    **head("juror_statement", event.round),
                    "juror": event.juror_id,
                    "statement": text_in(texts, said.statement),
                    "positionChanged": said.position_changed,
                    "newVerdict": said.position.value,
                    "newScore": whole_score(said.evaluation),
                    **label_of(fold, "newLabel", said.evaluation.label),
                }
            ]
        case ConsensusChecked() if event.round:
            check = event.check
            return [
                {
                    **head("round_completed", event.round),
                    "consensusStatus": check.status.value,
                    "agreementLevel": half_up(check.agreement * _HUNDREDTHS) / _HUNDREDTHS,
                    "majorityPosition": check.majority_position.value if check.majority_position else None,
                    **label_of(fold, "majorityLabel", check.majority_label),
                }
            ]
        case _:
            return []
