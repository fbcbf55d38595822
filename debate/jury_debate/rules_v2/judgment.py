"""Phase 3: the judgment of version 1, with its acceptance."""

from jury_debate.rules_v1 import judgment as before
from jury_debate.rules_v2.acceptance import accepted
from jury_debate.state import DebateState
from jury_events.evaluation import Evaluation
from jury_events.judgment import Judgment
from jury_events.outcome import FailureReason


def render(
    state: DebateState, *, judge: Evaluation | None = None, judge_failure: FailureReason | None = None
) -> Judgment:
    """See `rules_v1.judgment.render`."""
    rendered = before.render(state, judge=judge, judge_failure=judge_failure)
    return accepted(rendered, state.panel.final.calibration)
