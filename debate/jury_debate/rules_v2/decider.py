"""The decider: version 1, with the acceptance in the judgment."""

from collections.abc import Mapping

from jury_debate.rules_v1 import decider as before
from jury_debate.rules_v2.acceptance import accepted
from jury_debate.state import DebateState
from jury_debate.step_outcome import Outcome
from jury_events.codec import DebateEvent
from jury_events.debate_events import JudgmentRendered
from jury_events.parts import PartMaker


def decide(state: DebateState, outcomes: Mapping[str, Outcome], secret: bytes, parts: PartMaker) -> DebateEvent | None:
    """See `Rules.decide`."""
    event = before.decide(state, outcomes, secret, parts)
    if not isinstance(event, JudgmentRendered) or state.panel.final.calibration is None:
        return event
    return event.changed(judgment=accepted(event.judgment, state.panel.final.calibration))
