"""The decider: version 1, with the checks and judgments of this version."""

from collections.abc import Mapping

from jury_debate.rules_v1 import decider as before
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.state_machine import next_check
from jury_debate.state import DebateState
from jury_debate.step_outcome import Outcome
from jury_events.codec import DebateEvent
from jury_events.parts import PartMaker


def decide(state: DebateState, outcomes: Mapping[str, Outcome], secret: bytes, parts: PartMaker) -> DebateEvent | None:
    """See `Rules.decide`."""
    return before.decide(state, outcomes, secret, parts, next_check=next_check, render=render)
