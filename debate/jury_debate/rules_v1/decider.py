"""The decider: the next event, given a state and the outcomes so far."""

from collections.abc import Callable, Mapping

from jury_debate.prompts import load_prompts
from jury_debate.rules_v1.discussion import completion
from jury_debate.rules_v1.judgment import render
from jury_debate.rules_v1.speaker_order import speaker_order
from jury_debate.rules_v1.state_machine import Check, Render, next_check
from jury_debate.rules_v1.step_events import apply_outcome, evaluation_of
from jury_debate.rules_v1.steps import due_steps, judge_is_due
from jury_debate.state import DebateState, Phase
from jury_debate.step_outcome import Answered, Outcome, Unanswered
from jury_events.codec import DebateEvent
from jury_events.debate_events import JudgmentRendered, RoundStarted
from jury_events.ids import FINAL, Step
from jury_events.outcome import FailureReason
from jury_events.panel import Panel
from jury_events.parts import PartMaker

Apply = Callable[[DebateState, Step, Outcome, bytes, PartMaker], DebateEvent]
"""`apply_outcome`, or that of a later version."""

Speakers = Callable[[Panel, int], tuple[str, ...]]
"""The speaker order of a round of a panel."""


def speakers_of(panel: Panel, round_number: int) -> tuple[str, ...]:
    """Every seat, in the order of the round."""
    return speaker_order(panel.discussion.speakers, round_number)


def decide(
    state: DebateState,
    outcomes: Mapping[str, Outcome],
    secret: bytes,
    parts: PartMaker,
    *,
    next_check: Check = next_check,
    render: Render = render,
    apply: Apply = apply_outcome,
    speakers: Speakers = speakers_of,
) -> DebateEvent | None:
    """See `Rules.decide`; a later version gives its own checks, judgments, events and speakers."""
    match state.phase:
        case Phase.EVALUATING | Phase.DISCUSSING:
            if not state.waiting:
                return next_check(state)
            step = Step(state.round, state.waiting[0])
            outcome = outcomes.get(step.id)
            return None if outcome is None else apply(state, step, outcome, secret, parts)
        case Phase.DELIBERATED if state.end_reason is None:
            return _next_round(state, parts, speakers)
        case Phase.DELIBERATED if judge_is_due(state):
            outcome = outcomes.get(FINAL.id)
            return None if outcome is None else _judged(state, outcome, parts, render)
        case Phase.DELIBERATED:
            return JudgmentRendered(judgment=render(state), exchanges=())
        case Phase.JUDGED:
            return completion(state)
        case _:
            return None


def pending_steps(state: DebateState, outcomes: Mapping[str, Outcome]) -> tuple[Step, ...]:
    """See `Rules.pending_steps`."""
    return tuple(step for step in due_steps(state) if step.id not in outcomes)


def _next_round(state: DebateState, parts: PartMaker, speakers: Speakers) -> RoundStarted:
    number = state.round + 1
    prompts = load_prompts(state.debate.prompts, state.panel.language)
    text = prompts.discussion_instruction(number) + "\n\n"
    return RoundStarted(round=number, speaker_order=speakers(state.panel, number), instruction=parts.make(text))


def _judged(state: DebateState, outcome: Outcome, parts: PartMaker, render: Render) -> JudgmentRendered:
    match outcome:
        case Answered():
            judgment = render(state, judge=evaluation_of(state, outcome.answer, outcome, parts))
        case Unanswered():
            judgment = render(state, judge_failure=outcome.reason)
        case _:
            judgment = render(state, judge_failure=FailureReason.BLOCKED)
    return JudgmentRendered(judgment=judgment, exchanges=outcome.exchanges)
