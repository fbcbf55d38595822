"""The calls of one step, whose answers have the form of the debate's prompts."""

from jury_debate.assignment import Assignment
from jury_debate.rules_v1 import conversation as before
from jury_debate.rules_v1.answer_parser import AnswerRefusal
from jury_debate.rules_v3.answer_parser import parse_answer
from jury_debate.step_outcome import ParsedAnswer
from jury_events.parts import PartMaker


class OneFormConversation(before.StepConversation):
    """Version 1, with the parser of one form for all steps."""

    def parse(self, raw: bytes) -> ParsedAnswer | AnswerRefusal:
        """See `rules_v1`."""
        return parse_answer(raw, self.assignment.spec)


def conversation(assignment: Assignment, parts: PartMaker) -> before.StepConversation:
    """See `Rules.conversation`."""
    return (OneFormConversation if assignment.spec.one_form else before.StepConversation)(assignment, parts)
