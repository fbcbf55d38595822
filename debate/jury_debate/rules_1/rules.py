"""Version 1 as an implementation of `jury_debate.rules.Rules`."""

from typing import Any

from jury_debate.assignment import Assignment
from jury_debate.conversation import Conversation
from jury_debate.rules_1 import answers
from jury_debate.rules_1.ballots import signs_of
from jury_debate.rules_1.checks import check_consensus
from jury_debate.rules_1.cited_conversation import CitedConversation
from jury_debate.rules_1.conversation import EvaluationConversation, reply_from_record
from jury_debate.rules_1.decider import decide, pending_steps
from jury_debate.rules_1.decision_models import DecisionConversation
from jury_debate.rules_1.early_stop import asked_first
from jury_debate.rules_1.findings import findings_schema
from jury_debate.rules_1.machine import evolve
from jury_debate.rules_1.opening import open_debate
from jury_debate.rules_1.reading_conversation import ReadingConversation
from jury_debate.rules_1.recount import recount
from jury_debate.rules_1.steps import assign
from jury_debate.rules_1.tool_reading import ToolReadingConversation
from jury_debate.rules_1.tools import answer_tool
from jury_events.parts import PartRegistry
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale


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
