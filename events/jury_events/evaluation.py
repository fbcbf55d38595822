"""A juror's evaluation, its statement in a round, and what is quoted in numbers, as lists show and filter it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from jury_events.evidence import MOST_ENTRIES, Evidence, EvidenceResult, ItemNumber, Says
from jury_events.parts import PartRef
from jury_events.reading import RecordRead
from jury_events.rubric import DimensionScore, Scores
from jury_events.value import Confidence, ModelName, Points, ScenarioId, Value
from jury_events.verdict import FAIL, Verdict
from jury_events.verdict_scale import LabelId


class SeatPosition(NamedTuple):
    """What a seat says: a label of the panel's scale, and its outcome.

    `label` is None under the three verdicts, and where only an outcome stands, as of a blocked answer.
    """

    verdict: Verdict
    label: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value


class LabelProbability(Value):
    """The probability of a verdict word: a label of the panel's scale, else one of the three verdicts."""

    label: LabelId
    probability: Confidence


Probabilities = Annotated[tuple[LabelProbability, ...], Field(min_length=2)]
"""Of every verdict word, from the worst to the best, as a decision model gave them."""


class ScenarioVerdict(Value):
    """The verdict on one scenario of a case that has several; `label` as in `SeatPosition`.

    `probabilities` as in `Evaluation`.
    """

    scenario_id: ScenarioId
    verdict: Verdict
    score: Points
    label: LabelId | None = None
    probabilities: Probabilities | None = None

    @property
    def position(self) -> SeatPosition:
        """What is said of the scenario."""
        return SeatPosition(self.verdict, self.label)


class Evaluation(Value):
    """A juror's verdict, scores (points a rubric dimension, `overall` their sum, 0-100), confidence 0-1, rationale.

    `synthetic` marks the neutral evaluation that replaces an answer blocked by a provider's safety filter, or a passing
    one that rests on a record of which parts were refused, or never answered usably (`partly_read`).
    `model` was asked, `model_version` answered (None: the provider did not say); `simulated`: no model was called.
    `evidence`: its quotations, checked, whose texts are `quotes`; None where the panel or the version of the prompts
    asks for none.
    `decisive_item`: the first item where it went wrong; None where the verdict passes, or none is named. `label` as in
    `SeatPosition`.
    `reading`: how much of the record it rests on; None: all of it, in one call. `answered`: the verdict as answered,
    where it passes and does not count, as less was read than the panel's `least_read`, or parts were not.

    `probabilities`: what a decision model answered. It gives neither points nor reasons: `scores` and `rationale` are
    None, `overall` follows from the probabilities, and `confidence` is that of the verdict.
    """

    verdict: Verdict
    scores: Scores | None = None
    overall: Points
    confidence: Confidence
    rationale: PartRef | None = None
    synthetic: bool = False
    model: ModelName
    model_version: ModelName | None = None
    simulated: bool = False
    scenarios: tuple[ScenarioVerdict, ...] = ()
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=MOST_ENTRIES)] | None = None
    quotes: PartRef | None = None
    decisive_item: ItemNumber | None = None
    label: LabelId | None = None
    reading: RecordRead | None = None
    answered: Verdict | None = None
    probabilities: Probabilities | None = None

    @property
    def position(self) -> SeatPosition:
        """What it says."""
        return SeatPosition(self.verdict, self.label)

    @property
    def partly_read(self) -> tuple[str, ...]:
        """The parts of the record that were refused, or never answered usably."""
        return () if self.reading is None else self.reading.partly_read or ()

    @property
    def unsupported(self) -> bool:
        """Whether it fails the agent, was asked for evidence, and no quotation of it stands where it says."""
        return (
            self.verdict is FAIL
            and self.evidence is not None
            and not self.synthetic
            and not any(one.supports for one in self.evidence)
        )

    @property
    def points(self) -> tuple[DimensionScore, ...]:
        """The points for each dimension; () of a decision model."""
        return () if self.scores is None else self.scores.dimensions

    @model_validator(mode="after")
    def _has_points_or_probabilities(self) -> Self:
        if self.probabilities is not None:
            if self.scores is not None or self.rationale is not None:
                raise ValueError("probabilities: a decision model gives neither scores nor a rationale")
        elif self.scores is None or self.rationale is None:
            raise ValueError("scores, rationale: missing, and there are no probabilities in their place")
        elif self.overall != self.scores.overall:
            raise ValueError(f"overall: {self.overall:g} is not the sum of the scores, {self.scores.overall:g}")
        return self


class Statement(Value):
    """A juror's contribution to a round. `position_changed` is computed by the rules, not taken from the text.

    `order` is the index in the round's speaker order, from 0.
    """

    order: Annotated[int, Field(ge=0)]
    statement: PartRef
    evaluation: Evaluation
    position_changed: bool

    @property
    def position(self) -> Verdict:
        """The speaker's current verdict."""
        return self.evaluation.verdict


RESULTS: tuple[EvidenceResult, ...] = get_args(EvidenceResult)
Decisive = Literal["agree", "disagree", "none"]

EVIDENCE_VALUES: Mapping[str, tuple[str, ...]] = {
    "evidence": (*RESULTS, "none"),
    "decisive": get_args(Decisive),
    "unsupported": ("yes", "no"),
}
"""The values of the fields that describe the evidence of a debate, by field; see `EvidenceFacts.values`."""

_SEVERAL = 2
"""Seats that must name a decisive item before they agree or disagree."""
_SAYS = frozenset(get_args(Says))


class QuotationCheck(NamedTuple):
    """One quotation and what its check found, without its text; the fields of `Evidence`."""

    item: int
    says: Says
    seat: str | None
    result: EvidenceResult


class EvaluationFacts(NamedTuple):
    """The quotations of one evaluation that was asked for evidence, and what it says went wrong, as `Evaluation`."""

    quotations: tuple[QuotationCheck, ...]
    decisive_item: int | None
    unsupported: bool

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self | None:
        """Those of an evaluation; None where it was not asked for evidence."""
        if evaluation.evidence is None:
            return None
        checks = tuple(QuotationCheck(one.item, one.says, one.seat, one.result) for one in evaluation.evidence)
        return cls(checks, evaluation.decisive_item, evaluation.unsupported)

    @classmethod
    def read(cls, evaluation: Mapping[str, Any]) -> Self | None:
        """The same of an evaluation in the decoded body of an event, of which nothing else is read.

        Raises:
            ValueError, KeyError, TypeError: the body is not that of an evaluation.
        """
        entries = evaluation.get("evidence")
        if entries is None:
            return None
        checks: list[QuotationCheck] = []
        for entry in entries:
            number, says, seat, result = entry["item"], entry["says"], entry.get("seat"), entry["result"]
            if says not in _SAYS or result not in RESULTS or not (seat is None or isinstance(seat, str)):
                raise ValueError("not an entry of evidence")
            checks.append(QuotationCheck(number, says, seat, result))
        item = evaluation.get("decisive_item")
        for number in [one.item for one in checks] if item is None else [item, *[one.item for one in checks]]:
            if type(number) is not int or number < 0:  # a bool is no number here
                raise ValueError("not the number of an item")
        fails = evaluation["verdict"] == FAIL and evaluation.get("synthetic") is not True
        found = fails and any(one.result in Evidence.SUPPORTING for one in checks)
        return cls(tuple(checks), item, fails and not found)


class SeatEvidence(NamedTuple):
    """What the latest evaluation of a seat says; `unsupported` as `Evaluation`."""

    juror_id: str
    decisive_item: int | None
    unsupported: bool


class EvidenceFacts(NamedTuple):
    """The quotations of all evaluations of a debate by result, the final judge's too, and its seats.

    `seats`: those that were asked for evidence, in the order of their first evaluations.
    """

    verified: int = 0
    normalised: int = 0
    elsewhere: int = 0
    not_found: int = 0
    seats: tuple[SeatEvidence, ...] = ()

    @property
    def decisive(self) -> Decisive:
        """Whether the seats that name a decisive item name the same one; `none`: fewer than two name one."""
        named = [one.decisive_item for one in self.seats if one.decisive_item is not None]
        if len(named) < _SEVERAL:
            return "none"
        return "agree" if len(set(named)) == 1 else "disagree"

    @property
    def unsupported(self) -> int:
        """Seats whose latest evaluation fails the agent without a quotation that stands where the juror says."""
        return sum([one.unsupported for one in self.seats])

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The values by field of `EVIDENCE_VALUES`.

        `evidence`: the results that some quotation has, or `none` without a quotation. `decisive`: as `decisive`.
        `unsupported`: whether a seat is.
        """
        found = tuple([name for name in RESULTS if getattr(self, name)])
        return {
            "evidence": found or ("none",),
            "decisive": (self.decisive,),
            "unsupported": ("yes" if self.unsupported else "no",),
        }


def evidence_after(
    facts: EvidenceFacts | None, juror_id: str | None, evaluation: EvaluationFacts | None
) -> EvidenceFacts | None:
    """The facts of a debate after one more evaluation; None while none was asked for evidence.

    Args:
        facts: before it.
        juror_id: the seat; None for the final judge.
        evaluation: None where it was not asked for evidence, as what replaces a blocked answer.
    """
    if evaluation is None:
        if facts is None:
            return None
        # The verdict that was not supported no longer stands; the item that the seat named is still the last one.
        seats = (one._replace(unsupported=False) if one.juror_id == juror_id else one for one in facts.seats)
        return facts._replace(seats=tuple(seats))
    found = facts or EvidenceFacts()
    results = [one.result for one in evaluation.quotations]
    counts = {name: getattr(found, name) + results.count(name) for name in RESULTS}
    seats_by_id = {one.juror_id: one for one in found.seats}
    if juror_id is not None:
        seats_by_id[juror_id] = SeatEvidence(juror_id, evaluation.decisive_item, evaluation.unsupported)
    return EvidenceFacts(**counts, seats=tuple(seats_by_id.values()))
