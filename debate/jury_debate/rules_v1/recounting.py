"""The rules over evaluations that are held fixed: consensus, the end of the discussion and the judgment, said again."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.rules_v1.discussion import position_changed
from jury_debate.rules_v1.judgment import render
from jury_debate.rules_v1.state_machine import checked, quiet_rounds
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import DebateOpened, EndReason
from jury_events.evaluation import Evaluation
from jury_events.judgment import Judgment
from jury_events.outcome import FailureReason


class Recount(NamedTuple):
    """What the rules say of fixed evaluations.

    `rounds` counts those that were held until the end; `end_reason` is None where the rules would go on and no further
    round is given.
    """

    rounds: int
    checks: tuple[ConsensusCheck, ...]
    end_reason: EndReason | None
    judgment: Judgment


def recount(
    opened: DebateOpened,
    rounds: Sequence[Sequence[SeatEvaluation]],
    *,
    judge: Evaluation | None = None,
    judge_failure: FailureReason | None = None,
) -> Recount:
    """Hold phase 1 and as many of the given rounds as the panel wants, and judge.

    Args:
        opened: its panel and its scenarios count, nothing else.
        rounds: the evaluations made in phase 1, then those of each round, in speaker order; a seat without one there
            abstained. All are of seats of the panel.
        judge: the final judge's evaluation, read where the panel has a final judge.
        judge_failure: why it gave none.
    """
    state = DebateState(phase=Phase.EVALUATING, opened=opened)
    for number, views in enumerate(rounds):
        changed = any(position_changed(state, view.juror_id, view.evaluation.verdict) for view in views)
        state = state._replace(round=number, views=(*state.views, *views), changed=changed)
        said = checked(state)
        state = state._replace(
            quiet_rounds=quiet_rounds(state), checks=(*state.checks, said.check), end_reason=said.end_reason
        )
        if said.end_reason is not None:
            break
    if opened.panel.final.judge is None:
        judge = judge_failure = None
    judgment = render(state, judge=judge, judge_failure=judge_failure)
    return Recount(state.round, state.checks, state.end_reason, judgment)
