"""Consensus, the end of the discussion and the judgment, computed again over fixed evaluations."""

from collections.abc import Sequence

from jury_debate.rules import RecountResult
from jury_debate.rules_1.checks import next_check, position_changed, quiet_rounds
from jury_debate.rules_1.early_stop import answers_so_far
from jury_debate.rules_1.judgment import render
from jury_debate.rules_1.settling import is_settled
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.debate_events import DebateOpened
from jury_events.evaluation import Evaluation
from jury_events.outcome import FailureReason


def recount(
    opened: DebateOpened,
    rounds: Sequence[Sequence[SeatEvaluation]],
    *,
    judge: Evaluation | None = None,
    judge_failure: FailureReason | None = None,
    not_asked: Sequence[str] = (),
) -> RecountResult:
    """See `Rules.recount`."""
    state = DebateState(phase=Phase.EVALUATING, opened=opened, not_asked=tuple(not_asked))
    for number, made in enumerate(rounds):
        changed = any(position_changed(state, entry.juror_id, entry.evaluation.position) for entry in made)
        state = state._replace(round=number, evaluations=(*state.evaluations, *made), changed=changed)
        checked = next_check(state)
        state = state._replace(
            quiet_rounds=quiet_rounds(state), checks=(*state.checks, checked.check), end_reason=checked.end_reason
        )
        if checked.end_reason is not None:
            break
    if opened.panel.final.judge is None:
        judge = judge_failure = None
    judgment = render(state, judge=judge, judge_failure=judge_failure)
    first = DebateState(opened=opened, evaluations=tuple(rounds[0]))
    settled = not not_asked or is_settled(answers_so_far(first, opened.panel.juror_ids, not_asked))
    return RecountResult(state.round, state.checks, state.end_reason, judgment, settled)
