"""How each step is asked under prompts 2: what is the same for the panel, the case, the seat, the turn."""

from jury_debate import prompts_v1
from jury_debate.assignment import OPERATOR_POLICY, Assignment, CallMessage
from jury_debate.rules_v1 import steps as before
from jury_debate.rules_v1.steps import assignment_of, case_shown
from jury_debate.rules_v1.visibility import visible_evaluations
from jury_debate.state import DebateState
from jury_events.ids import Step
from jury_events.panel import FinalJudge, Seat
from jury_events.parts import PartRef


def assign(state: DebateState, step: Step, secret: bytes) -> Assignment:
    """See `Rules.assign`."""
    if state.debate.prompts == prompts_v1.VERSION:
        return before.assign(state, step, secret)
    panel = state.panel
    place: Seat | FinalJudge
    if step.juror_id is None:
        assert panel.final.judge is not None
        place = panel.final.judge
    else:
        place = panel.seat(step.juror_id)
    case, images = case_shown(state, place)
    policy = state.pieces.get(OPERATOR_POLICY)
    shared = (case,) if policy is None else (policy, case)
    messages = (
        CallMessage("system", (state.pieces["system"],)),
        CallMessage("user", (*shared, *_turn(state, step)), images=images, shared=len(shared)),
    )
    return assignment_of(state, step, secret, place=place, messages=messages, one_form=True)


def _turn(state: DebateState, step: Step) -> tuple[PartRef, ...]:
    """The seat's block, what it may see of evaluations, and its instruction.

    What others said only grows from round to round, so it stands before what changes: a provider that keeps the
    beginnings of prompts by itself reads it again.
    """
    pieces = state.pieces
    visible = visible_evaluations(state, step)
    if step.juror_id is None:
        return (pieces["seat/final"], *(entry.peer_text for entry in visible), pieces["instruction/final"])
    seat = pieces[f"seat/{step.juror_id}"]
    if not step.round:
        return (seat, pieces["instruction/initial"])
    assert state.instruction is not None
    own = [entry.peer_text for entry in visible if entry.juror_id == step.juror_id]
    peers = [entry.peer_text for entry in visible if entry.juror_id != step.juror_id]
    shown = [pieces["heading/peers"], *peers] if peers else [pieces["heading/no-peers"]]
    shown += [pieces["heading/own"], *own] if own else []
    return (seat, *shown, state.instruction)
