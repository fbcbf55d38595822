"""The state machine of version 2, with checks and judgments that follow the panel's rule `unsupported`.

Laws 1 to 7 of version 1 hold. Law 8: a label is one of the panel's scale, and stands with its outcome; a panel that
judges in the three verdicts has no labels. Law 9: where the opening has an asking plan, seats have their turns of phase
1 in its order, by whole groups; the seats after the group that settles what is decided are not asked (`early_stop`).
Law 10: a seat of decision models, and no other, evaluates with probabilities; it has no turn in a round (`decisions`).
"""

from collections.abc import Mapping

from jury_debate.errors import IllegalEvent
from jury_debate.rules_v1 import state_machine as before
from jury_debate.rules_v1.state_machine import Changes, Handler
from jury_debate.rules_v3.consensus import check_positions
from jury_debate.rules_v3.decisions import speakers_of, standing
from jury_debate.rules_v3.early_stop import not_asked
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.support import state_to_check
from jury_debate.state import DebateState, Phase
from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import (
    ConsensusChecked,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
)
from jury_events.evaluation import Evaluation


def next_check(state: DebateState) -> ConsensusChecked:
    """The consensus check after the last turn, and whether the discussion ends with it."""
    return before.next_check(state_to_check(state), _check)


def _check(state: DebateState) -> ConsensusCheck:
    state = standing(state)
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


def _check_asked(state: DebateState) -> None:
    """Law 9; raises `IllegalEvent`."""
    if (settled := not_asked(state)) is not None:
        raise IllegalEvent(f"what is decided is settled: {', '.join(settled.juror_ids)} must not be asked")


def _opened(state: DebateState, event: DebateOpened) -> Changes:
    changes = before.TRANSITIONS[Phase.UNOPENED]["debate_opened"](state, event)
    return changes if event.asking is None else {**changes, "speaker_order": event.asking.order}


def _not_asked(state: DebateState, event: SeatsNotAsked) -> Changes:
    expected = not_asked(state)
    if event != expected:
        raise IllegalEvent(f"the seats that are not asked must be {expected!r}")
    return {"done": (*state.done, *event.juror_ids), "not_asked": event.juror_ids}


def _abstained(state: DebateState, event: JurorAbstained) -> Changes:
    _check_asked(state)
    return _not_read(state, event)


def _not_read(state: DebateState, event: JurorAbstained) -> Changes:
    changes = before.TRANSITIONS[Phase.EVALUATING]["juror_abstained"](state, event)
    if event.partly_read is None:
        return changes
    return {**changes, "partly_read": {**state.partly_read, event.juror_id: event.partly_read}}


def _check_kind(state: DebateState, event: JurorEvaluated) -> None:
    """Law 10; raises `IllegalEvent`."""
    asked = event.juror_id in state.panel.juror_ids and state.panel.seat(event.juror_id).questions is not None
    if asked != (event.evaluation.probabilities is not None):
        raise IllegalEvent(f"{event.juror_id} evaluates {'with' if asked else 'without'} probabilities")


def _evaluated(state: DebateState, event: JurorEvaluated) -> Changes:
    _check_labels(state, event.evaluation)
    _check_kind(state, event)
    _check_asked(state)
    return before.TRANSITIONS[Phase.EVALUATING]["juror_evaluated"](state, event)


def _round_started(state: DebateState, event: RoundStarted) -> Changes:
    return before.round_started(state, event, speakers_of(state.panel, event.round))


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
    Phase.UNOPENED: {"debate_opened": _opened},
    Phase.EVALUATING: {
        **before.TRANSITIONS[Phase.EVALUATING],
        "juror_evaluated": _evaluated,
        "juror_abstained": _abstained,
        "seats_not_asked": _not_asked,
        "consensus_checked": _checked,
    },
    Phase.DISCUSSING: {
        **before.TRANSITIONS[Phase.DISCUSSING],
        "statement_made": _spoke,
        "juror_abstained": _not_read,
        "consensus_checked": _checked,
    },
    Phase.DELIBERATED: {
        **before.TRANSITIONS[Phase.DELIBERATED],
        "round_started": _round_started,
        "judgment_rendered": _judged,
    },
}


def evolve(state: DebateState, event: DebateEvent) -> DebateState:
    """See `Rules.evolve`."""
    return before.evolve(state, event, TRANSITIONS)
