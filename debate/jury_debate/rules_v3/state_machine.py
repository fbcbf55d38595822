"""The state machine of version 2, with checks and judgments that follow the panel's rule `unsupported`.

Laws 1 to 7 of version 1 hold. Law 8: a label is one of the panel's scale, and stands with its outcome; a panel that
judges in the three verdicts has no labels.
"""

from collections.abc import Mapping

from jury_debate.errors import IllegalEvent
from jury_debate.rules_v1 import state_machine as before
from jury_debate.rules_v1.state_machine import Changes, Handler
from jury_debate.rules_v3.consensus import check_positions
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.support import state_to_check
from jury_debate.state import DebateState, Phase
from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import ConsensusChecked, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation


def next_check(state: DebateState) -> ConsensusChecked:
    """The consensus check after the last turn, and whether the discussion ends with it."""
    return before.next_check(state_to_check(state), _check)


def _check(state: DebateState) -> ConsensusCheck:
    if state.panel.scale is None:
        return before.check_of_state(state)
    positions = [entry.evaluation.position for entry in state.evaluations if entry.round == state.round]
    return check_positions(positions, len(state.panel.seats), state.panel.discussion, round_number=state.round)


def _check_labels(state: DebateState, evaluation: Evaluation) -> None:
    """Law 8; raises `IllegalEvent`."""
    scale = state.panel.scale
    for position in (evaluation.position, *(row.position for row in evaluation.scenarios)):
        known = scale is not None and position.label in scale.ids and scale.verdict(position.label) is position.verdict
        if position.label is not None and not known:
            raise IllegalEvent(f"the label {position.label} with {position.verdict} is none of the panel's scale")


def _evaluated(state: DebateState, event: JurorEvaluated) -> Changes:
    _check_labels(state, event.evaluation)
    return before.TRANSITIONS[Phase.EVALUATING]["juror_evaluated"](state, event)


def _spoke(state: DebateState, event: StatementMade) -> Changes:
    _check_labels(state, event.statement.evaluation)
    return before.TRANSITIONS[Phase.DISCUSSING]["statement_made"](state, event)


def _checked(state: DebateState, event: ConsensusChecked) -> Changes:
    return before.checked(state, event, next_check)


def _judged(state: DebateState, event: JudgmentRendered) -> Changes:
    if event.judgment.judge is not None:
        _check_labels(state, event.judgment.judge)
    return before.judged(state, event, render)


TRANSITIONS: Mapping[Phase, Mapping[str, Handler]] = {
    **before.TRANSITIONS,
    Phase.EVALUATING: {
        **before.TRANSITIONS[Phase.EVALUATING],
        "juror_evaluated": _evaluated,
        "consensus_checked": _checked,
    },
    Phase.DISCUSSING: {
        **before.TRANSITIONS[Phase.DISCUSSING],
        "statement_made": _spoke,
        "consensus_checked": _checked,
    },
    Phase.DELIBERATED: {**before.TRANSITIONS[Phase.DELIBERATED], "judgment_rendered": _judged},
}


def evolve(state: DebateState, event: DebateEvent) -> DebateState:
    """See `Rules.evolve`."""
    return before.evolve(state, event, TRANSITIONS)
