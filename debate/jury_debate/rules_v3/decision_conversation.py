"""The calls of a step whose seat is one of decision models: one answer each, and none in words.

Laws. Provider's failures are tried again as for any seat. An answer that is refused is not asked for again, as the same
question gets the same answer: the next model of the seat is asked, and without one the seat abstains. So it does where
a model declines to answer, unless the panel asks fallbacks then: nothing stands in for the answer.
"""

from typing import assert_never

from jury_debate.conversation import Call, Reply
from jury_debate.rules_v1.answer_parser import AnswerRefusal
from jury_debate.rules_v1.conversation import StepConversation
from jury_debate.rules_v3.decision_parser import parse_decision
from jury_debate.step_outcome import Decided, ParsedDecision
from jury_events.outcome import FailureReason


class DecisionConversation(StepConversation):
    """The calls of one step of a decision model."""

    @property
    def may_repair(self) -> bool:
        """Never."""
        return False

    def _answered(self, call: Call, reply: Reply) -> None:
        asked = self.assignment.spec.decision
        assert asked is not None
        parsed = parse_decision(
            reply.answer or b"", asked.scale, self.assignment.spec.scenarios, own_scale=asked.own_scale
        )
        match parsed:
            case ParsedDecision():
                self.outcome = Decided(
                    parsed, call.model, reply.model_version, tuple(self.exchanges), simulated=reply.simulated
                )
            case AnswerRefusal():
                self._repair(reply, parsed, FailureReason.UNPARSEABLE)
            case _:
                assert_never(parsed)

    def _blocked(self, call: Call) -> None:
        if self.assignment.answers.safety_filter == "fallback":
            super()._blocked(call)
        else:
            self._give_up(FailureReason.BLOCKED)
