"""The end of the discussion and its reason."""

from jury_debate.state import DebateState
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import DebateCompleted, EndReason
from jury_events.evaluation import SeatPosition


def end_reason_after(state: DebateState, check: ConsensusCheck, quiet_rounds: int) -> EndReason | None:
    """Why the discussion is over after a consensus check; None when a round follows.

    Phase 1 reached skips phase 2 unless `always_discuss`. A round ends it when reached, unless `end_early` is off, or
    after `stagnation_rounds` rounds that changed no position, and at `max_rounds` in any case.
    """
    rules = state.panel.discussion
    if not rules.max_rounds:
        return "no_discussion"
    if state.round == 0:
        return "consensus" if check.reached and not rules.always_discuss else None
    if check.reached and (rules.end_early or state.round == rules.max_rounds):
        return "consensus"
    if rules.stagnation_rounds is not None and quiet_rounds >= rules.stagnation_rounds:
        return "deadlock"
    return "max_rounds" if state.round == rules.max_rounds else None


def position_changed(state: DebateState, juror_id: str, position: SeatPosition) -> bool:
    """Whether `position` differs from the seat's latest one, phase 1 included; False if it has none."""
    before = state.latest(juror_id)
    return before is not None and before.evaluation.position != position


def completion(state: DebateState) -> DebateCompleted:
    """The event that closes a judged debate."""
    reason = state.end_reason
    assert reason is not None
    assert state.judgment is not None
    return DebateCompleted(
        final_verdict=state.judgment.verdict,
        final_label=state.judgment.label,
        final_score=state.judgment.score,
        total_rounds=state.round,
        end_reason=reason,
        early_termination=reason == "consensus" and state.round < state.panel.discussion.max_rounds,
    )
