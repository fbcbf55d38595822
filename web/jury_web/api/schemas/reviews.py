"""Reviews by people."""

from typing import Annotated

from pydantic import Field

from jury_events.evidence import MOST_ITEM
from jury_events.verdict import Verdict
from jury_judge.reviews.review_changes import MAX_REASON
from jury_web.api.schemas.base import CamelModel, Moment


class ReviewSummary(CamelModel):
    """A person's verdict on a debate that was not withdrawn.

    `sampled`: the debate was drawn at random for this person. `foreign`: it came in a cassette without a trusted seal,
    and counts for nothing. `stands`: it is the reviewer's last one.
    """

    number: Annotated[int, Field(ge=1, description="In the debate's stream of reviews.")]
    reviewer: str
    verdict: Verdict
    blind: Annotated[bool, Field(description="Given before the jury's words were shown.")]
    sampled: bool
    minutes: float | None
    supersedes: Annotated[int | None, Field(description="The number of the review that it replaces.")]
    reviewed_at: Moment
    foreign: bool
    decisive_item: Annotated[int | None, Field(description="The first item where it went wrong; null: none is named.")]
    label: Annotated[str | None, Field(description="Of the scale of the panel; null: the verdict alone was given.")]
    stands: bool
    reason: Annotated[str | None, Field(description="Null in lists, and where there is none or it was erased.")]


class RecordedReview(ReviewSummary):
    """A review in the list of all reviews, with its debate."""

    debate_id: str
    case_id: str
    run_id: str | None
    final_verdict: Annotated[Verdict | None, Field(description="The jury's.")]
    disposition: Annotated[Verdict | None, Field(description="The last human verdict, else the jury's.")]


class ReviewRequest(CamelModel):
    """A verdict of the reviewer whose token the request has, or a label of the scale of the debate's panel."""

    verdict: Annotated[Verdict | None, Field(description="Null, or left out: that of the label.")] = None
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""
    blind: Annotated[bool, Field(description="The reviewer did not see the jury's words before.")] = False
    minutes: Annotated[float | None, Field(ge=0, le=100_000, allow_inf_nan=False, description="How long it took.")] = (
        None
    )
    decisive_item: Annotated[
        int | None,
        Field(ge=0, le=MOST_ITEM, description="The first item where it went wrong, where the prompts number items."),
    ] = None
    label: Annotated[
        str | None, Field(max_length=100, description="Of the scale of the panel; its outcome is the verdict.")
    ] = None


class AssignmentSummary(CamelModel):
    """A person is asked to review a debate."""

    number: int
    reviewer: str
    sampled: Annotated[bool, Field(description="The debate was drawn at random.")]
    foreign: bool
