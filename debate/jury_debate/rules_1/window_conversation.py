"""The calls about one part of a record, until it is read, or no model of the seat reads it."""

from jury_debate.assignment import Assignment
from jury_debate.conversation import Call, Reply
from jury_debate.rules_1.answers import AnswerRefusal
from jury_debate.rules_1.conversation import EvaluationConversation, StepConversation
from jury_debate.rules_1.findings import parse_findings
from jury_debate.step_outcome import ParsedFindings
from jury_events.outcome import FailureReason
from jury_events.parts import PartRegistry


class WindowConversation(StepConversation):
    """Asks what bytes `start` to `end` of the record show.

    `findings`: what the part shows, once it is read. `too_long`: the provider says that the part is too long, and it is
    halved: no further call is made. Otherwise, where no model reads it, there is an `outcome`, as of a step.
    """

    asks_findings = True

    def __init__(
        self, assignment: Assignment, parts: PartRegistry, label: str, span: tuple[int, int], *, halved: bool
    ) -> None:
        self.findings: ParsedFindings | None = None
        self.too_long = False
        self.start, self.end = span
        self.label = label
        self._may_be_halved = halved
        super().__init__(assignment, parts, label)

    @property
    def over(self) -> bool:
        """Whether nothing more is asked about this part."""
        return self.call is None and not self.unsettled

    def _answered(self, _call: Call, reply: Reply) -> None:
        parsed = parse_findings(reply.answer or b"", self.assignment.spec)
        if isinstance(parsed, AnswerRefusal):
            self._repair(reply, parsed, FailureReason.UNPARSEABLE)
        else:
            self.findings = parsed

    def _next_model(self, reason: FailureReason) -> None:
        if reason is FailureReason.CONTEXT_TOO_LONG and self._may_be_halved:
            self.too_long = True
        else:
            super()._next_model(reason)


class WholeConversation(EvaluationConversation):
    """Asks with all of the record in one request.

    `too_long`: the provider says that it is; the step halves the record, or calls `ask_next_model`.
    """

    too_long = False

    def ask_next_model(self) -> None:
        """Go on as after any other failure of a model: the record is too small to be halved."""
        self.too_long = False
        super()._next_model(FailureReason.CONTEXT_TOO_LONG)

    def _next_model(self, reason: FailureReason) -> None:
        if reason is FailureReason.CONTEXT_TOO_LONG:
            self.too_long = True
        else:
            super()._next_model(reason)


class FittedConversation(EvaluationConversation):
    """Asks for an evaluation with what there is room for: behind the parts, or of the items that are cited.

    `too_long`: the provider says that it shows too much, and may be asked again with less.
    """

    too_long = False

    def __init__(
        self,
        assignment: Assignment,
        parts: PartRegistry,
        window: str | None,
        *,
        turns_before: int,
        shrinks: bool,
    ) -> None:
        self.turns_before = turns_before
        self._shrinks = shrinks
        super().__init__(assignment, parts, window)

    def _next_model(self, reason: FailureReason) -> None:
        if reason is FailureReason.CONTEXT_TOO_LONG and self._shrinks:
            self.too_long = True
        else:
            super()._next_model(reason)
