"""The decider: the next event, given a state and the outcomes so far."""

from collections.abc import Mapping

from jury_debate.assignment import DebateSigns
from jury_debate.prompts_registry import load_prompts
from jury_debate.rules_1.checks import next_check
from jury_debate.rules_1.early_stop import group, not_asked
from jury_debate.rules_1.judgment import completion, render
from jury_debate.rules_1.step_events import evaluation_of, event_of
from jury_debate.rules_1.turns import due_steps, judge_is_due, speakers_of
from jury_debate.state import DebateState, Phase
from jury_debate.step_outcome import Answered, Outcome, Unanswered
from jury_events.codec import DebateEvent
from jury_events.debate_events import JudgmentRendered, RoundStarted
from jury_events.ids import FINAL, Step
from jury_events.outcome import FailureReason
from jury_events.parts import PartMaker
from jury_events.value import trusted


def decide(
    state: DebateState, outcomes: Mapping[str, Outcome], signs: DebateSigns, parts: PartMaker
) -> DebateEvent | None:
    """See `Rules.decide`."""
    match state.phase:
        case Phase.EVALUATING if (settled := not_asked(state)) is not None:
            return settled
        case Phase.EVALUATING | Phase.DISCUSSING:
            if not state.waiting:
                return next_check(state)
            step = Step(state.round, state.waiting[0])
            outcome = outcomes.get(step.id)
            return None if outcome is None else event_of(state, step, outcome, signs.marker, parts)
        case Phase.DELIBERATED if state.end_reason is None:
            return _next_round(state, parts)
        case Phase.DELIBERATED if judge_is_due(state):
            outcome = outcomes.get(FINAL.id)
            return None if outcome is None else _judged(state, outcome, parts)
        case Phase.DELIBERATED:
            return trusted(JudgmentRendered)(judgment=render(state), exchanges=())
        case Phase.JUDGED:
            return completion(state)
        case _:
            return None


def pending_steps(state: DebateState, outcomes: Mapping[str, Outcome]) -> tuple[Step, ...]:
    """See `Rules.pending_steps`."""
    pending = tuple(step for step in due_steps(state) if step.id not in outcomes)
    if state.phase is not Phase.EVALUATING or state.debate.asking is None:
        return pending
    asked = state.debate.asking.order[: group(state)]
    return tuple(step for step in pending if step.juror_id in asked)


def _next_round(state: DebateState, parts: PartMaker) -> RoundStarted:
    number = state.round + 1
    prompts = load_prompts(state.debate.prompts, state.panel.language)
    text = prompts.discussion_instruction(number) + "\n\n"
    return trusted(RoundStarted)(
        round=number, speaker_order=speakers_of(state.panel, number), instruction=parts.make(text)
    )


def _judged(state: DebateState, outcome: Outcome, parts: PartMaker) -> JudgmentRendered:
    match outcome:
        case Answered():
            judgment = render(state, judge=evaluation_of(state, outcome.answer, outcome, parts))
        case Unanswered():
            judgment = render(state, judge_failure=outcome.reason)
        case _:
            judgment = render(state, judge_failure=FailureReason.BLOCKED)
    return trusted(JudgmentRendered)(judgment=judgment, exchanges=outcome.exchanges)
