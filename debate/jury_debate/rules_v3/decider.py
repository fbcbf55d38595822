"""The decider: version 1, with the checks and judgments of this version, and the seats that are not asked."""

from collections.abc import Mapping

from jury_debate.rules_v1 import decider as before
from jury_debate.rules_v1.step_events import apply_outcome
from jury_debate.rules_v3.decisions import decided, speakers_of
from jury_debate.rules_v3.early_stop import group, not_asked
from jury_debate.rules_v3.judgment import render
from jury_debate.rules_v3.state_machine import next_check
from jury_debate.state import DebateState, Phase
from jury_debate.step_outcome import Decided, Outcome
from jury_events.codec import DebateEvent
from jury_events.ids import Step
from jury_events.parts import PartMaker


def decide(state: DebateState, outcomes: Mapping[str, Outcome], secret: bytes, parts: PartMaker) -> DebateEvent | None:
    """See `Rules.decide`."""
    if state.phase is Phase.EVALUATING and (settled := not_asked(state)) is not None:
        return settled
    return before.decide(
        state, outcomes, secret, parts, next_check=next_check, render=render, apply=_apply, speakers=speakers_of
    )


def _apply(state: DebateState, step: Step, outcome: Outcome, secret: bytes, parts: PartMaker) -> DebateEvent:
    if isinstance(outcome, Decided):
        return decided(state, step, outcome, parts)
    return apply_outcome(state, step, outcome, secret, parts)


def pending_steps(state: DebateState, outcomes: Mapping[str, Outcome]) -> tuple[Step, ...]:
    """See `Rules.pending_steps`."""
    pending = before.pending_steps(state, outcomes)
    if state.phase is not Phase.EVALUATING or state.debate.asking is None:
        return pending
    asked = state.debate.asking.order[: group(state)]
    return tuple(step for step in pending if step.juror_id in asked)
