"""The state machine of version 2, with checks and judgments that follow the panel's rule `unsupported`."""

from collections.abc import Mapping

from jury_debate.rules_v1 import state_machine as before
from jury_debate.rules_v1.state_machine import Changes, Handler
from jury_debate.rules_v3.consensus import check_positions
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.support import state_to_check
from jury_debate.state import DebateState, Phase
from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import ConsensusChecked, JudgmentRendered


def next_check(state: DebateState) -> ConsensusChecked:
    """The consensus check after the last turn, and whether the discussion ends with it."""
    return before.next_check(state_to_check(state), _check)


def _check(state: DebateState) -> ConsensusCheck:
    if state.panel.scale is None:
        return before.check_of_state(state)
    positions = [entry.evaluation.position for entry in state.evaluations if entry.round == state.round]
    return check_positions(positions, len(state.panel.seats), state.panel.discussion, round_number=state.round)


def _checked(state: DebateState, event: ConsensusChecked) -> Changes:
    return before.checked(state, event, next_check)


def _judged(state: DebateState, event: JudgmentRendered) -> Changes:
    return before.judged(state, event, render)


TRANSITIONS: Mapping[Phase, Mapping[str, Handler]] = {
    **before.TRANSITIONS,
    Phase.EVALUATING: {**before.TRANSITIONS[Phase.EVALUATING], "consensus_checked": _checked},
    Phase.DISCUSSING: {**before.TRANSITIONS[Phase.DISCUSSING], "consensus_checked": _checked},
    Phase.DELIBERATED: {**before.TRANSITIONS[Phase.DELIBERATED], "judgment_rendered": _judged},
}


def evolve(state: DebateState, event: DebateEvent) -> DebateState:
    """See `Rules.evolve`."""
    return before.evolve(state, event, TRANSITIONS)
