"""Which conversation asks a step: by how the step reads the record."""

from jury_debate.assignment import Assignment
from jury_debate.conversation import Conversation
from jury_debate.rules_v1.conversation import StepConversation
from jury_debate.rules_v3.cited_conversation import CitedConversation
from jury_debate.rules_v3.conversation import OneFormConversation
from jury_debate.rules_v3.decision_conversation import DecisionConversation
from jury_debate.rules_v3.reading_conversation import ReadingConversation
from jury_debate.rules_v3.tool_reading import ToolReadingConversation
from jury_events.parts import PartRegistry


def conversation(assignment: Assignment, parts: PartRegistry) -> Conversation:
    """See `Rules.conversation`."""
    if assignment.spec.decision is not None:
        return DecisionConversation(assignment, parts)
    if not assignment.spec.one_form:
        return StepConversation(assignment, parts)
    match assignment.reading:
        case None:
            return OneFormConversation(assignment, parts)
        case reading if reading.mode == "cited" or (reading.mode == "whole" and not _is_first(assignment)):
            return CitedConversation(assignment, parts)
        case reading if reading.mode == "tools":
            return ToolReadingConversation(assignment, parts)
        case _:
            return ReadingConversation(assignment, parts)


def _is_first(assignment: Assignment) -> bool:
    """Whether a seat reads the record for the first time."""
    return assignment.step.juror_id is not None and not assignment.step.round
