"""The state machine of version 1, with one other transition: the judgment has an acceptance.

Laws 1 to 7 of version 1 hold. Law 6: the judgment is what version 2 computes.
"""

from collections.abc import Mapping

from jury_debate.rules_v1 import state_machine as before
from jury_debate.rules_v1.state_machine import Changes, Handler
from jury_debate.rules_v2.judgment import render
from jury_debate.state import DebateState, Phase
from jury_events.codec import DebateEvent
from jury_events.debate_events import JudgmentRendered


def _judged(state: DebateState, event: JudgmentRendered) -> Changes:
    return before.judged(state, event, render)


TRANSITIONS: Mapping[Phase, Mapping[str, Handler]] = {
    **before.TRANSITIONS,
    Phase.DELIBERATED: {**before.TRANSITIONS[Phase.DELIBERATED], "judgment_rendered": _judged},
}


def evolve(state: DebateState, event: DebateEvent) -> DebateState:
    """See `Rules.evolve`."""
    return before.evolve(state, event, TRANSITIONS)
