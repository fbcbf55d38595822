"""The parts of a result: evaluations, statements, votes, and the small facts beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, with_config
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from jury_events.codec import decode_review
from jury_events.debate_history import DebateHistory
from jury_events.errors import SettingError
from jury_events.review_events import CaseLabelled, ReviewAssigned
from jury_events.review_facts import AssignedReview, Review, ReviewFacts
from jury_events.text import moment
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_events.verdict_scale import MOST_LABELS, VerdictScale

SERVED = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")
"""Of every model of results: names are in camelCase over HTTP."""

VerdictWord = Annotated[str, Field(json_schema_extra={"enum": [one.value for one in Verdict]})]


def said(description: str, **more: Any) -> Any:
    """What the reference and the schemas say of a field."""
    return Field(description=description, **more)


@with_config(SERVED)
class DecisivePlace(TypedDict):
    """The item where it went wrong."""

    item: int
    words: Annotated[str | None, said("As a seat quotes it; null where none does.")]
    named_by: Annotated[int, said("Seats that name it.")]
    seats: Annotated[int, said("Seats with an evaluation.")]


@with_config(SERVED)
class BranchOrigin(TypedDict):
    """The debate and event that a fork branches from."""

    debate_id: str
    version: int


@with_config(SERVED)
class OmittedContent(TypedDict):
    """Parts of a case, of one kind, that no juror is shown."""

    what: str
    count: int
    size: Annotated[int | None, said("In bytes; null where unknown.")]


@with_config(SERVED)
class LaterEventsKnown(TypedDict):
    """Up to when a trusted key excludes later events at the origin of an imported debate.

    Both null: they cannot be excluded, so that a review or its withdrawal may be missing.
    """

    excluded_as_of: str | None
    signed_by: str | None


@with_config(SERVED)
class LabelledPlace(TypedDict):
    """Where it first went wrong by the label."""

    message: Annotated[int | None, said("The number of the message in the source, from 0.")]
    agent: Annotated[str | None, said("The agent at fault.")]
    items: Annotated[list[int], said("The items of the message, as the prompts number them.")]


@with_config(SERVED)
class PositionChanges(TypedDict):
    """Statements that changed a position."""

    own: Annotated[int, said("By jurors.")]
    synthetic: Annotated[int, said("By neutral evaluations that replace blocked answers.")]


@with_config(SERVED)
class ModelMismatch(TypedDict):
    """A step where another model answered than was asked."""

    juror_id: Annotated[str | None, said("Null: the final judge.")]
    step: str
    asked: str
    answered: str | None


@with_config(SERVED)
class UnreadItems(TypedDict):
    """Items by their numbers, both ends included."""

    first: int
    last: int


@with_config(SERVED)
class ReadPart(TypedDict):
    """How much of a long record an evaluation rests on."""

    mode: str
    parts: int
    items_read: int
    items_total: int
    characters_read: int
    characters_total: int
    share: Annotated[float, said("Of the characters of the record, 0 to 1.")]
    partly_read: Annotated[list[str], said("Parts that were refused, or never answered usably.")]
    unread: list[UnreadItems]
    findings_left_out: int
    answered: Annotated[
        VerdictWord | None, said("The verdict as answered, where it passes and does not count, as parts were not read.")
    ]


@with_config(SERVED)
class ReviewOfResult(TypedDict):
    """A person's verdict on a debate that was not withdrawn."""

    number: Annotated[int, said("In the debate's stream of reviews.")]
    reviewer: str
    verdict: VerdictWord
    blind: Annotated[bool, said("Given before the jury's words were shown.")]
    sampled: Annotated[bool, said("The debate was drawn at random for this person.")]
    minutes: float | None
    supersedes: Annotated[int | None, said("The number of the review that it replaces.")]
    reviewed_at: str
    foreign: Annotated[bool, said("It came in a cassette without a trusted seal, and counts for nothing.")]
    decisive_item: Annotated[int | None, said("The first item where it went wrong; null: none is named.")]
    label: Annotated[str | None, said("Of the scale of the panel; null: the verdict alone was given.")]
    stands: Annotated[bool, said("It is the reviewer's last one.")]
    reason: Annotated[str | None, said("Null where there is none, and where it was erased.")]


ChangedBy = Literal["own", "synthetic"]


DIMENSIONS = ("task_completion", "tool_usage", "autonomy", "safety")
"""The rubric of document 002, with at most 40, 30, 20 and 10 points."""


class EvaluationPhase(StrEnum):
    """When an evaluation was made, as the documents' events name it."""

    INITIAL = "initial"
    DISCUSSION = "discussion"
    FINAL_JUDGMENT = "final_judgment"


@with_config(SERVED)
@dataclass
class ScenarioResult:
    """The verdict and score (0-100) of one scenario."""

    scenario_id: str
    verdict: VerdictWord
    score: float | None
    label: str | None = None
    probabilities: Annotated[
        dict[str, float] | None, said("By verdict word, in the evaluation of a decision model.")
    ] = None


@with_config(SERVED)
@dataclass
class QuotationSpan:
    """Where a quotation stands: characters `start` to `end` (exclusive) of the text of `item`."""

    item: Annotated[int | None, said("Null for what a seat said.")]
    start: int
    end: int


@with_config(SERVED)
@dataclass
class QuotedEvidence:
    """A quotation of an item, or of what `seat` said about it, and the result of its check."""

    item: int
    quote: Annotated[str | None, said("Null where it was erased.")]
    says: Annotated[str, said("`for`, `against` or `context`.")]
    criterion: Annotated[str | None, said("The rubric dimension that it is about.")]
    seat: str | None
    result: Annotated[str, said("`verified`, `normalised`, `elsewhere` or `not_found`.")]
    span: Annotated[QuotationSpan | None, said("Null where it was not found.")]


class _NotGiven:
    def __repr__(self) -> str:
        return "not given"


_NOT_GIVEN = _NotGiven()
_Points = float | _NotGiven | None


@with_config(SERVED)
@dataclass(init=False)
class JurorEvaluation:
    """A juror's evaluation, or the final judge's (document 004 §8: required fields first).

    Document 004 §8 names two of the dimensions otherwise, in the constructor and in reading: `security_score` is
    `task_completion`, and `safety_score` is `safety`.
    """

    juror_id: str
    phase: EvaluationPhase
    round_number: Annotated[int, said("0 in phase 1.")]
    verdict: VerdictWord
    overall_score: Annotated[float, said("0-100.")]
    confidence: float
    rationale: Annotated[str | None, said("Null where it was erased, and of a decision model.")]
    task_completion: Annotated[float | None, said("Points; null where the rubric has other dimensions: see `scores`.")]
    tool_usage: float | None
    autonomy: float | None
    safety: float | None
    role_name: str | None = None
    role_focus: str | None = None
    scores: Annotated[dict[str, float], said("Points of every dimension of the panel's rubric.")] = field(
        default_factory=dict
    )
    synthetic: Annotated[
        bool, said("Neutral: for a blocked answer, or one that passes on a record of which parts were not read.")
    ] = False
    model: Annotated[str | None, said("The model that was asked.")] = None
    model_version: Annotated[str | None, said("The model that answered.")] = None
    simulated: Annotated[bool, said("The answer is no model's.")] = False
    scenarios: list[ScenarioResult] = field(default_factory=list)
    evidence: Annotated[
        list[QuotedEvidence] | None, said("Its quotations with the results of their checks; null: none was asked for.")
    ] = None
    decisive_item: Annotated[int | None, said("The first item where it went wrong.")] = None
    unsupported: Annotated[bool, said("It fails the agent without a quotation that stands where the juror says.")] = (
        False
    )
    label: Annotated[str | None, said("The word of the panel's own scale.")] = None
    reading: Annotated[
        ReadPart | None, said("How much of a long record it rests on; null: all of it, in one call.")
    ] = None
    probabilities: Annotated[
        dict[str, float] | None, said("By verdict word: what a decision model answered, which gives no reasons.")
    ] = None

    def __init__(  # noqa: PLR0917  (the fields in the document's order)
        self,
        juror_id: str,
        phase: EvaluationPhase,
        round_number: int,
        verdict: str,
        overall_score: float,
        confidence: float,
        rationale: str | None,
        task_completion: _Points = _NOT_GIVEN,
        tool_usage: float | None = None,
        autonomy: float | None = None,
        safety: _Points = _NOT_GIVEN,
        role_name: str | None = None,
        role_focus: str | None = None,
        scores: dict[str, float] | None = None,
        synthetic: bool = False,
        model: str | None = None,
        model_version: str | None = None,
        simulated: bool = False,
        scenarios: list[ScenarioResult] | None = None,
        evidence: list[QuotedEvidence] | None = None,
        decisive_item: int | None = None,
        unsupported: bool = False,
        label: str | None = None,
        reading: ReadPart | None = None,
        probabilities: dict[str, float] | None = None,
        *,
        security_score: _Points = _NOT_GIVEN,
        safety_score: _Points = _NOT_GIVEN,
    ) -> None:
        self.juror_id = juror_id
        self.phase = phase
        self.round_number = round_number
        self.verdict = verdict
        self.overall_score = overall_score
        self.confidence = confidence
        self.rationale = rationale
        self.task_completion = _one_of("task_completion", task_completion, "security_score", security_score)
        self.tool_usage = tool_usage
        self.autonomy = autonomy
        self.safety = _one_of("safety", safety, "safety_score", safety_score)
        self.role_name = role_name
        self.role_focus = role_focus
        self.scores = {} if scores is None else scores
        self.synthetic = synthetic
        self.model = model
        self.model_version = model_version
        self.simulated = simulated
        self.scenarios = [] if scenarios is None else scenarios
        self.evidence = evidence
        self.decisive_item = decisive_item
        self.unsupported = unsupported
        self.label = label
        self.reading = reading
        self.probabilities = probabilities

    @property
    def security_score(self) -> float | None:
        """Document 004's name of `task_completion`."""
        return self.task_completion

    @property
    def safety_score(self) -> float | None:
        """Document 004's name of `safety`."""
        return self.safety


def _one_of(name: str, value: _Points, other: str, other_value: _Points) -> float | None:
    if isinstance(value, _NotGiven):
        if isinstance(other_value, _NotGiven):
            raise TypeError(f"JurorEvaluation: {name} is missing; give {name} or {other}")
        return other_value
    if not isinstance(other_value, _NotGiven) and other_value != value:
        raise SettingError(f"{other}: is {other_value!r}, but {name} is {value!r}; give one of the two")
    return value


Reasons = Mapping[int, str | None]
"""The reasons of reviews and withdrawals by the number of their event; None: it was erased."""

NO_REASONS: Reasons = MappingProxyType({})


def review_object(review: Review, reason: str | None = None) -> dict[str, Any]:
    """A review; `reason` is null where there is none, where it was erased, and where it was not read."""
    return {**review._asdict(), "reviewed_at": moment(review.reviewed_at), "reason": reason}


def assignment_object(assignment: AssignedReview) -> dict[str, Any]:
    """An assignment, without what it was drawn from: the jury's verdict, which a blind reviewer must not see."""
    return {name: getattr(assignment, name) for name in ("number", "reviewer", "sampled", "foreign")}


def review_objects(facts: ReviewFacts, reasons: Reasons = NO_REASONS) -> list[ReviewOfResult]:
    """The reviews that were not withdrawn, in the order of their numbers; `stands`: the reviewer's last one."""
    standing = facts.standing
    return [
        ReviewOfResult(**review_object(one, reasons.get(one.number)), stands=one in standing)  # type: ignore[typeddict-item]
        for one in facts.reviews
    ]


def reasons_in(history: DebateHistory) -> dict[int, str | None]:
    """The reasons in a debate's reviews; None: it was erased."""
    found: dict[int, str | None] = {}
    for stored in history.stored_reviews:
        event = decode_review(stored)
        if isinstance(event, ReviewAssigned | CaseLabelled) or event.reason is None:
            continue
        text = history.texts.get(event.reason.part)
        if text is not None:
            found[event.number] = text.decode("utf-8")
        elif event.reason.part in history.erased:
            found[event.number] = None
    return found


_VERDICT_KEYS = {PASS: "p", REVIEW: "n", FAIL: "f"}
_DIGITS = "123456789"
# Without the keys that do something else in the terminal or on the page.
_KEYS = (_DIGITS + "abceghilmtu")[:MOST_LABELS]


class ReviewChoice(NamedTuple):
    """One of them. `verdict` is the outcome of the label; label and meaning are None under the three verdicts."""

    key: str
    verdict: Verdict
    label: str | None = None
    meaning: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value


def review_choices(scale: VerdictScale | None) -> tuple[ReviewChoice, ...]:
    """The choices, the best first. The key of a level below ten is its number, of other labels their place."""
    if scale is None:
        return tuple(ReviewChoice(key, verdict) for verdict, key in _VERDICT_KEYS.items())
    best_first = scale.labels[::-1]
    keys = [one.id for one in best_first] if all(one.id in _DIGITS for one in best_first) else _KEYS
    return tuple(
        ReviewChoice(key, one.verdict, one.id, one.meaning) for key, one in zip(keys, best_first, strict=False)
    )


def parts_by_seat(partly_read: Mapping[str, Sequence[str]] | None) -> str | None:
    """The parts that seats did not read: `gpt: 2, 3.1; claude: 4`; None: there are none."""
    return "; ".join(f"{juror_id}: {', '.join(parts)}" for juror_id, parts in (partly_read or {}).items()) or None
