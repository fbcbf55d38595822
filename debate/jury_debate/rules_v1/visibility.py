"""What a seat may see of the others. Nothing in phase 1; in a round, what its order and history allow."""

from jury_debate.prompts import seat_letter
from jury_debate.state import DebateState, SeatEvaluation
from jury_events.ids import Step


def visible_views(state: DebateState, step: Step) -> tuple[SeatEvaluation, ...]:
    """The evaluations that a step's prompt shows, in the order in which they were made.

    Phase 1: none. A parallel round: everything up to the previous round. A sequential round: this round's earlier
    speakers too. `history: latest` keeps the latest of each peer; of itself a seat always sees its latest only. The
    final judge sees everything.
    """
    if step.juror_id is None:
        return state.views
    if not step.round:
        return ()
    rules = state.panel.discussion
    parallel = rules.order == "parallel"
    past = [view for view in state.views if view.round < step.round or (not parallel and view.round == step.round)]
    latest = {view.juror_id: view for view in past}
    if rules.history == "latest":
        return tuple(view for view in past if latest[view.juror_id] is view)
    return tuple(view for view in past if view.juror_id != step.juror_id or latest[view.juror_id] is view)


def letter(state: DebateState, juror_id: str) -> str:
    """The anonymous name of a seat in prompts: A, B … Z, AA, AB …"""
    return seat_letter(state.panel.juror_ids.index(juror_id))
