"""The outcome of a step, after its models were asked."""

from typing import NamedTuple

from jury_events.evaluation import Probabilities, ScenarioVerdict, SeatPosition
from jury_events.evidence import Evidence, Says
from jury_events.outcome import FailureReason, RefusalReason
from jury_events.reading import RecordRead
from jury_events.rubric import Scores
from jury_events.verdict import Verdict


class Quotation(NamedTuple):
    """An entry of evidence as an answer has it: `seat` is a letter, `criterion` a dimension of the rubric."""

    item: int
    quote: str
    says: Says
    criterion: str | None
    seat: str | None


class CheckedQuotations(NamedTuple):
    """The quotations of an answer, and what their check found, in the same order."""

    quotes: tuple[str, ...]
    entries: tuple[Evidence, ...]


class ParsedAnswer(NamedTuple):
    """A valid answer. Scores are points in rubric order, `confidence` is 0-1, `scenarios` in the order of the spec.

    `quotations` are as given, `checked` after their check; both None where none are asked for. `reading`: how much of
    the record it rests on; None: all of it. `answered`: the verdict as given, where it passes and less was read than
    counts, or parts were not. `label` as in `SeatPosition`.
    """

    verdict: Verdict
    scores: Scores
    confidence: float
    rationale: str
    statement: str | None
    scenarios: tuple[ScenarioVerdict, ...]
    quotations: tuple[Quotation, ...] | None = None
    decisive_item: int | None = None
    checked: CheckedQuotations | None = None
    reading: RecordRead | None = None
    answered: Verdict | None = None
    label: str | None = None

    @property
    def position(self) -> SeatPosition:
        """What it says."""
        return SeatPosition(self.verdict, self.label)


class ParsedDecision(NamedTuple):
    """A valid answer of a decision model: a probability for every verdict word, and what follows from them.

    `score` is 0-100; `confidence` the verdict's share of the probabilities. `label` as in `SeatPosition`.
    """

    verdict: Verdict
    label: str | None
    probabilities: Probabilities
    score: float
    confidence: float
    scenarios: tuple[ScenarioVerdict, ...]

    @property
    def position(self) -> SeatPosition:
        """What it says."""
        return SeatPosition(self.verdict, self.label)


class GivenFinding(NamedTuple):
    """A finding in a part of the record, as an answer has it."""

    criterion: str | None
    text: str
    quotations: tuple[Quotation, ...]


class ParsedFindings(NamedTuple):
    """What a juror found in a part of the record; `decisive` and `wanted` are numbers of items."""

    findings: tuple[GivenFinding, ...]
    decisive: tuple[int, ...]
    wanted: tuple[int, ...]


class Answered(NamedTuple):
    """A usable answer of `model`; `exchanges` are the ids of every attempt of the step.

    `simulated`: no model was called.
    """

    answer: ParsedAnswer
    model: str
    model_version: str | None
    exchanges: tuple[str, ...]
    simulated: bool = False


class Decided(NamedTuple):
    """A usable answer of the decision model `model`; other fields as in `Answered`."""

    decision: ParsedDecision
    model: str
    model_version: str | None
    exchanges: tuple[str, ...]
    simulated: bool = False


class Blocked(NamedTuple):
    """The panel's policy is to count a neutral evaluation: the provider's safety filter blocked `model`, or its answer
    passes on a record of which parts were not read.

    `reading`: how much of the record was read, where parts of it were not; `answered`: the verdict as given, where
    there is an answer; `rationale` of the neutral evaluation, None: that of a blocked call.
    """

    model: str
    exchanges: tuple[str, ...]
    reading: RecordRead | None = None
    answered: Verdict | None = None
    rationale: str | None = None


class Unanswered(NamedTuple):
    """No model of the seat gave an answer that counts; `refusal` is the parser's last reason, if there was one.

    `partly_read`: the parts of the record that were refused, or never answered usably.
    """

    reason: FailureReason
    refusal: RefusalReason | None
    exchanges: tuple[str, ...]
    partly_read: tuple[str, ...] | None = None


Outcome = Answered | Decided | Blocked | Unanswered
