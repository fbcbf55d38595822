"""Reading a record in windows, and the closing call over what was cited.

Laws. Where a call about a part was refused, or never answered usably, a passing verdict does not count: in its place
stands what the panel's rule `safety_filter` says of a blocked call. Under `fallback` the other models of the seat were
asked before, so that it abstains then. A verdict of another outcome stands, but no scenario passes in it. Where all
calls about parts were answered, the panel's rule `least_read` decides.

Where the closing call is asked with all of the record, and the provider says that this is too long, it is asked so
then. A call that is too long all the same is asked again with half of the room.
"""

from jury_debate.assignment import AnswerSpec, Assignment, CallMessage
from jury_debate.conversation import Call, Reply, UnsettledFailure
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.coverage import record_read
from jury_debate.reading.outline import RecordOutline, cited_bytes, cited_items, guide
from jury_debate.reading.planning import MOST_SHRINKS
from jury_debate.reading.shown_record import middle
from jury_debate.rules_1.answers import AnswerRefusal, scores_of
from jury_debate.rules_1.conversation import EvaluationConversation, StepConversation
from jury_debate.rules_1.evidence import kept_record
from jury_debate.rules_1.findings import parse_findings
from jury_debate.step_outcome import Answered, Blocked, Outcome, ParsedAnswer, ParsedFindings, Unanswered
from jury_events.evaluation import ScenarioVerdict, SeatPosition
from jury_events.outcome import CallOutcome, FailureReason
from jury_events.parts import PartRegistry
from jury_events.reading import RECORD, RecordRead
from jury_events.verdict import PASS, REVIEW

_NEUTRAL = 50.0


def counted(answered: Answered, read: RecordRead, assignment: Assignment) -> Outcome:
    """The outcome of an answer that rests on what was read."""
    answer = answered.answer
    if read.partly_read is None:
        assert assignment.reading is not None
        least = assignment.reading.least_read
        return answered._replace(answer=_with_reading(answer, read, least, assignment.spec))
    if answer.verdict is not PASS:
        scenarios = tuple(map(_without_pass, answer.scenarios))
        return answered._replace(answer=answer._replace(reading=read, scenarios=scenarios))
    if assignment.step.juror_id is None or assignment.answers.safety_filter != "neutral":
        return Unanswered(FailureReason.PARTLY_READ, None, answered.exchanges, read.partly_read)
    rationale = fill(
        load_prompts(assignment.prompts, assignment.language).texts.reading.partly_read_rationale,
        parts=", ".join(read.partly_read),
    )
    return Blocked(answered.model, answered.exchanges, read, answer.verdict, rationale)


def failed(outcome: Blocked | Unanswered, read: RecordRead | None) -> Blocked | Unanswered:
    """The outcome of a step without an answer, with the parts that were not read; None: there are none."""
    if read is None or read.partly_read is None:
        return outcome
    if isinstance(outcome, Blocked):
        return outcome._replace(reading=read)
    return outcome._replace(partly_read=read.partly_read)


def _without_pass(row: ScenarioVerdict) -> ScenarioVerdict:
    return row.changed(verdict=REVIEW, label=None, score=_NEUTRAL) if row.verdict is PASS else row


def _with_reading(answer: ParsedAnswer, read: RecordRead, least: float, spec: AnswerSpec) -> ParsedAnswer:
    """The answer with what was read. Where that is less than `least`, nothing passes: a person must look at it.

    On a scale of the panel's own it counts by its outcome, as an answer does that a safety filter blocked. Points that
    the juror gave stay; where none are asked for, the score is that of the verdict that counts.
    """
    answer = answer._replace(reading=read)
    if read.share >= least or answer.verdict is not PASS:
        return answer
    scores = scores_of(SeatPosition(REVIEW), spec) if spec.rubric.of_rank else None
    counted = {"verdict": REVIEW, "label": None, **({} if scores is None else {"score": scores.overall})}
    return answer._replace(
        verdict=REVIEW,
        label=None,
        scores=answer.scores if scores is None else scores,
        answered=answer.verdict,
        scenarios=tuple(one.model_copy(update=counted) if one.verdict is PASS else one for one in answer.scenarios),
    )


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


_GUIDE = 24_000


class CitedConversation:
    """Implements `jury_debate.conversation.Conversation`."""

    def __init__(self, assignment: Assignment, parts: PartRegistry) -> None:
        assert assignment.reading is not None
        self._assignment = assignment
        self._parts = parts
        self._reading = assignment.reading
        self._read: RecordRead | None = None
        self._exchanges: list[str] = []
        self._shrunk = 0
        self.outcome: Outcome | None = None
        self._asked: WholeConversation | FittedConversation
        if self._reading.mode == "whole":
            self._asked = WholeConversation(assignment, parts)
        else:
            self._asked = self._cited()

    @property
    def calls(self) -> tuple[Call, ...]:
        """See `Conversation`."""
        return self._asked.calls

    @property
    def halted(self) -> CallOutcome | None:
        """See `Conversation`."""
        return self._asked.halted

    def call_of(self, window: str | None) -> Call | None:
        """See `Conversation`."""
        return self._asked.call_of(window)

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        self._asked.apply_reply(reply, window)
        self._go_on()

    @property
    def unsettled(self) -> tuple[UnsettledFailure, ...]:
        """See `Conversation`."""
        return self._asked.unsettled

    def settle(self, window: str | None, *, again: bool) -> None:
        """See `Conversation`."""
        self._asked.settle(window, again=again)
        self._go_on()

    def _go_on(self) -> None:
        asked = self._asked
        if asked.too_long:
            self._ask_with_less(asked)
        exchanges = (*self._exchanges, *self._asked.exchanges)
        match self._asked.outcome:
            case Answered() as answered:
                answered = answered._replace(exchanges=exchanges)
                self.outcome = answered if self._read is None else counted(answered, self._read, self._assignment)
            case Blocked() | Unanswered() as outcome:
                self.outcome = failed(outcome._replace(exchanges=exchanges), self._read)
            case None:
                pass

    def _ask_with_less(self, asked: WholeConversation | FittedConversation) -> None:
        if isinstance(asked, WholeConversation):
            record = kept_record(self._assignment, self._parts.content).record
            if middle(record, 0, len(record.content)) is None:
                asked.ask_next_model()
                return
        else:
            self._shrunk += 1
        self._exchanges += asked.exchanges
        self._asked = self._cited(asked.turns)

    def _cited(self, turns_before: int = 0) -> FittedConversation:
        """The assignment's messages, with the guide and the cited items instead of the record."""
        assignment, reading = self._assignment, self._reading
        record = kept_record(assignment, self._parts.content).record
        texts = load_prompts(assignment.prompts, assignment.language).texts
        items = cited_items(record, reading.cited, texts, cited_bytes(reading.room) >> self._shrunk)
        blocks = [texts.reading.cited, texts.reading.not_all, items.text or texts.reading.no_cited]
        shown = self._parts.make("\n\n".join(blocks) + "\n\n")
        system, user = assignment.messages
        head = user.parts[: user.shared]
        if reading.mode == "whole":
            head = head[: len(head) - len(reading.case)]
        if reading.guide is None:
            most = min(_GUIDE, len(record.content) // 8) >> self._shrunk
            outline = RecordOutline(record, texts.reading)
            head = (*head, self._parts.make(guide(record, outline, texts, most)))
        message = CallMessage("user", (*head, shown, *user.parts[user.shared :]), shared=len(head) + 1)
        before = ((0, len(record.content)),) if reading.read_before else items.ranges
        # The final judge is to know what jurors cite; a seat has to know the record by its own reading.
        not_read = () if reading.read_before or assignment.step.juror_id is None else (RECORD,)
        self._read = reading.earlier or record_read(record, "cited", before, parts=1, partly_read=not_read)
        return FittedConversation(
            assignment._replace(messages=(system, message)),
            self._parts,
            None,
            turns_before=turns_before,
            shrinks=self._shrunk < MOST_SHRINKS,
        )
