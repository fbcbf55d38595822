"""The rules of version 1."""

from collections.abc import Sequence
from typing import Any

from jury_debate.assignment import Assignment
from jury_debate.conversation import Conversation
from jury_debate.rules import RecountResult
from jury_debate.rules_1 import answers
from jury_debate.rules_1.checks import check_consensus, next_check, position_changed, quiet_rounds, shows_reasoning
from jury_debate.rules_1.conversation import EvaluationConversation, reply_from_record
from jury_debate.rules_1.decider import decide, pending_steps
from jury_debate.rules_1.decision_models import DecisionConversation
from jury_debate.rules_1.early_stop import answers_so_far, asked_first
from jury_debate.rules_1.findings import findings_schema
from jury_debate.rules_1.judgment import render
from jury_debate.rules_1.machine import evolve
from jury_debate.rules_1.opening import open_debate, signs_of
from jury_debate.rules_1.reading_conversation import ReadingConversation
from jury_debate.rules_1.settling import is_settled
from jury_debate.rules_1.steps import assign
from jury_debate.rules_1.tools import ToolReadingConversation, answer_tool
from jury_debate.rules_1.window_conversation import CitedConversation
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.debate_events import DebateOpened
from jury_events.evaluation import Evaluation
from jury_events.outcome import FailureReason
from jury_events.parts import PartRegistry
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale


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
    first, *later = rounds
    if shows_reasoning(state) and first:
        state = state._replace(reasoning_shown=True)
    else:
        first = [entry for entry in first if not entry.reasoning]
    for number, made in enumerate((first, *later)):
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
    asked = DebateState(opened=opened, evaluations=tuple(first))
    settled = not not_asked or is_settled(answers_so_far(asked, opened.panel.juror_ids, not_asked))
    return RecountResult(state.round, state.checks, state.end_reason, judgment, settled)


def conversation(assignment: Assignment, parts: PartRegistry) -> Conversation:
    """See `Rules.conversation`: which one asks a step depends on how the step reads the record."""
    if assignment.spec.decision is not None:
        return DecisionConversation(assignment, parts)
    match assignment.reading:
        case None:
            return EvaluationConversation(assignment, parts)
        case reading if reading.mode == "cited" or (reading.mode == "whole" and not _is_first(assignment)):
            return CitedConversation(assignment, parts)
        case reading if reading.mode == "tools":
            return ToolReadingConversation(assignment, parts)
        case _:
            return ReadingConversation(assignment, parts)


def _is_first(assignment: Assignment) -> bool:
    """Whether a seat reads the record for the first time."""
    return assignment.step.juror_id is not None and not assignment.step.round


def answer_schema(
    rubric: Rubric, *, evidence: bool = False, scale: VerdictScale | None = None, findings: bool = False
) -> dict[str, Any]:
    """See `Rules.answer_schema`."""
    if findings:
        return findings_schema(rubric, evidence=evidence)
    return answers.answer_schema(rubric, evidence=evidence, scale=scale)


class Rules1:
    """The functions of this package, as one object."""

    open_debate = staticmethod(open_debate)
    evolve = staticmethod(evolve)
    decide = staticmethod(decide)
    pending_steps = staticmethod(pending_steps)
    signs_of = staticmethod(signs_of)
    assign = staticmethod(assign)
    conversation = staticmethod(conversation)
    reply_from_record = staticmethod(reply_from_record)
    recount = staticmethod(recount)
    asked_first = staticmethod(asked_first)
    answer_schema = staticmethod(answer_schema)
    answer_tool = staticmethod(answer_tool)
    check_consensus = staticmethod(check_consensus)
