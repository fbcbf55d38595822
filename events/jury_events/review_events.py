"""The events of the stream `review/{id}`: what people said of a debate after the jury. No rule of a debate reads them.

Versions count all events of the stream, and every event has its own version as `number`.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from jury_events.case import LABEL_METADATA, MetadataValue
from jury_events.debate_events import EventBody
from jury_events.evidence import ItemNumber
from jury_events.parts import PartRef
from jury_events.value import Label, Value
from jury_events.verdict import PASS, Verdict
from jury_events.verdict_scale import LabelId

EventNumber = Annotated[int, Field(ge=1, lt=2**31)]

Minutes = Annotated[float, Field(ge=0, le=100_000)]
"""How long a reviewer looked at a case."""


class ReviewSample(Value):
    """A random sample: one debate each of `size` of `population` cases, drawn with `seed`.

    `verdict`: it was drawn from the cases with this verdict of the jury, each of which stands for population / size
    cases; None: from all cases.
    """

    seed: Annotated[int, Field(ge=0, lt=2**63)]
    size: Annotated[int, Field(ge=1, lt=2**31)]
    population: Annotated[int, Field(ge=1, lt=2**31)]
    verdict: Verdict | None = None

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.size > self.population:
            raise ValueError(f"a sample of {self.size} cannot be drawn from {self.population} cases")
        return self


class HumanReviewed(EventBody):
    """A person gave a verdict on the case of this debate. The jury's verdict stays what it was.

    `blind`: the verdict was given before the jury's words were shown. `sampled`: the debate was drawn at random for
    this reviewer, so that the verdict is one of a random sample. `supersedes` is the number of the reviewer's
    earlier review that this one replaces. `decisive_item`: the first item where it went wrong, where the prompts of the
    debate number items; None: none was named, as with a pass. `label`: of the scale of the debate's panel, whose
    outcome is the verdict; None: the verdict alone was given.
    """

    id_form: ClassVar[str] = "reviewed/{0.number}"
    """One a review."""

    type: Literal["human_reviewed"] = "human_reviewed"
    reviewer: Label
    verdict: Verdict
    reason: PartRef | None = None
    blind: bool
    sampled: bool
    minutes: Minutes | None = None
    supersedes: EventNumber | None = None
    number: EventNumber
    decisive_item: ItemNumber | None = None
    label: LabelId | None = None

    @model_validator(mode="after")
    def _of_what_went_wrong(self) -> Self:
        if self.decisive_item is not None and self.verdict is PASS:
            raise ValueError("a pass has no decisive item")
        return self


class ReviewAssigned(EventBody):
    """A person is asked to review this debate. `sample`: it was drawn at random; None: it was chosen."""

    id_form: ClassVar[str] = "assigned/{0.number}"
    """One an assignment."""

    type: Literal["review_assigned"] = "review_assigned"
    reviewer: Label
    by: Label
    sample: ReviewSample | None = None
    number: EventNumber


class ReviewWithdrawn(EventBody):
    """The review or the assignment with the number `withdraws` counts no more."""

    id_form: ClassVar[str] = "withdrawn/{0.number}"
    """One a withdrawal."""

    type: Literal["review_withdrawn"] = "review_withdrawn"
    withdraws: EventNumber
    by: Label
    reason: PartRef | None = None
    number: EventNumber


class CaseLabelled(EventBody):
    """The case of this debate has another label than before, or none (null): rows that a later call read say so.

    `metadata` is what the label says beside its verdict, whole: the metadata `decisive_message`, `decisive_agent`,
    `outcome_correct` and `scale_label`.
    """

    id_form: ClassVar[str] = "labelled/{0.number}"
    """One a label."""

    type: Literal["case_labelled"] = "case_labelled"
    label: Verdict | None = None
    metadata: dict[Label, MetadataValue]
    by: Label
    number: EventNumber

    @model_validator(mode="after")
    def _of_a_label(self) -> Self:
        if others := self.metadata.keys() - set(LABEL_METADATA):
            raise ValueError(f"metadata: {min(others)} is no part of a label")
        return self
