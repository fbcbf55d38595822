"""The calls of one step, whose answers have the form of the debate's prompts, and whose quotations are checked."""

from jury_debate.assignment import EvidenceSpec
from jury_debate.rules_v1 import conversation as before
from jury_debate.rules_v1.answer_parser import AnswerRefusal
from jury_debate.rules_v3.answer_parser import parse_answer
from jury_debate.rules_v3.evidence import ShownEvidence
from jury_debate.step_outcome import ParsedAnswer
from jury_events.outcome import RefusalReason
from jury_events.verdict import FAIL


class OneFormConversation(before.StepConversation):
    """Version 1, with the parser of one form for all steps, and the check of quotations."""

    _support_asked = False
    """Whether a verdict without support was refused already: that happens once a step."""

    def parse(self, raw: bytes) -> ParsedAnswer | AnswerRefusal:
        """See `rules_v1`. Where the panel requires evidence, a failing verdict without support is refused once."""
        spec = self.assignment.spec
        answer = parse_answer(raw, spec)
        if isinstance(answer, AnswerRefusal) or spec.evidence is None:
            return answer
        shown = self.shown(spec.evidence)
        if answer.decisive_item is not None and shown.items.item(answer.decisive_item) is None:
            return AnswerRefusal(
                RefusalReason.OUT_OF_RANGE, f"decisive_item: there is no item [{answer.decisive_item}]"
            )
        answer = shown.checked(answer)
        if spec.evidence.required and _is_unsupported(answer) and self.may_repair and not self._support_asked:
            self._support_asked = True
            return AnswerRefusal(
                RefusalReason.UNSUPPORTED,
                f"evidence: a verdict of {answer.position.word} needs a quotation that stands in the item it names",
            )
        return answer

    def shown(self, spec: EvidenceSpec) -> ShownEvidence:
        """What can be quoted."""
        return ShownEvidence(spec, self.assignment.marker, self.parts.content)


def _is_unsupported(answer: ParsedAnswer) -> bool:
    entries = () if answer.checked is None else answer.checked.entries
    return answer.verdict is FAIL and not any(one.supports for one in entries)
