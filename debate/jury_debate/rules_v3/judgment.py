"""Phase 3: the judgment of version 2, in which unsupported verdicts count what the panel says.

Its acceptance compares decisive items, not the messages that they come from: the judgment is computed without the texts
of the case, which may be erased, and a calibration is certified on the same items.
"""

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
    if judge_failure is not None and state.evaluations:
        # The judge was asked and failed, also where every seat abstains then.
        rendered = rendered.changed(judge_failure=judge_failure)
    return accepted(rendered, state.panel.final.calibration, _decisive_items(counted))


def _decisive_items(state: DebateState) -> dict[str, int]:
    """The items that the seats' latest evaluations name, by juror id."""
    latest = {entry.juror_id: entry.evaluation.decisive_item for entry in state.evaluations}
    return {juror_id: item for juror_id, item in latest.items() if item is not None}
