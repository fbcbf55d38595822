"""Phase 3: the judgment of version 2, in which unsupported verdicts count what the panel says."""

from jury_debate.rules_v1 import judgment as before
from jury_debate.rules_v2.acceptance import accepted
from jury_debate.rules_v3.support import shares, state_to_judge
from jury_debate.state import DebateState
from jury_events.evaluation import Evaluation
from jury_events.judgment import Judgment
from jury_events.outcome import FailureReason


def render(
    state: DebateState, *, judge: Evaluation | None = None, judge_failure: FailureReason | None = None
) -> Judgment:
    """See `rules_v1.judgment.render`."""
    counted = state if judge is not None else state_to_judge(state)
    rendered = before.render(counted, judge=judge, judge_failure=judge_failure, shares=shares(state))
    return accepted(rendered, state.panel.final.calibration)
