"""The evaluations that a step shows: none in phase 1; in a round, those that its order and history allow."""

from jury_debate.seat_letters import seat_letter
from jury_debate.state import DebateState, SeatEvaluation
from jury_events.ids import Step


def visible_evaluations(state: DebateState, step: Step) -> tuple[SeatEvaluation, ...]:
    """The evaluations that a step's prompt shows, in the order in which they were made.

    Phase 1: none. A parallel round: everything up to the previous round. A sequential round: this round's earlier
    speakers too. `history: latest` keeps the latest of each peer; of itself a seat always sees its latest only. The
    final judge sees everything.
    """
    if step.juror_id is None:
        return state.evaluations
    if not step.round:
        return ()
    rules = state.panel.discussion
    parallel = rules.order == "parallel"
    past = [
        entry for entry in state.evaluations if entry.round < step.round or (not parallel and entry.round == step.round)
    ]
    latest = {entry.juror_id: entry for entry in past}
    if rules.history == "latest":
        return tuple(entry for entry in past if latest[entry.juror_id] is entry)
    return tuple(entry for entry in past if entry.juror_id != step.juror_id or latest[entry.juror_id] is entry)


def letter(state: DebateState, juror_id: str) -> str:
    """The anonymous name of a seat in prompts: A, B … Z, AA, AB …"""
    return seat_letter(state.panel.juror_ids.index(juror_id))
