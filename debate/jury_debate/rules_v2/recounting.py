"""The recount of version 1, with the acceptance in the judgment."""

from collections.abc import Sequence

from jury_debate.rules import RecountResult
from jury_debate.rules_v1 import recounting as before
from jury_debate.rules_v2.acceptance import accepted
from jury_debate.state import SeatEvaluation
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
    found = before.recount(opened, rounds, judge=judge, judge_failure=judge_failure, not_asked=not_asked)
    return found._replace(judgment=accepted(found.judgment, opened.panel.final.calibration))
