"""The recount, with the checks and judgments of this version."""

from collections.abc import Sequence

from jury_debate.rules import RecountResult
from jury_debate.rules_v1 import recounting as before
from jury_debate.rules_v3.early_stop import answers_so_far
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.settling import is_settled
from jury_debate.rules_v3.state_machine import next_check
from jury_debate.state import DebateState, SeatEvaluation
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
    found = before.recount(
        opened,
        rounds,
        judge=judge,
        judge_failure=judge_failure,
        not_asked=not_asked,
        next_check=next_check,
        render=render,
    )
    state = DebateState(opened=opened, evaluations=tuple(rounds[0]))
    return found._replace(settled=not not_asked or is_settled(answers_so_far(state, opened.panel.juror_ids, not_asked)))
