"""Reviews by people."""

from typing import Annotated

from pydantic import Field, with_config

from jury_events.evidence import MOST_ITEM
from jury_events.verdict import Verdict
from jury_judge.reviews.review_changes import MAX_REASON
from jury_views.evaluation_models import SERVED, ReviewOfResult, VerdictWord, said
from jury_web.api.schemas.base import CamelModel


@with_config(SERVED)
class RecordedReview(ReviewOfResult):
    """A review in the list of all reviews, with its debate."""

    debate_id: str
    case_id: str
    run_id: str | None
    final_verdict: Annotated[VerdictWord | None, said("The jury's.")]
    disposition: Annotated[VerdictWord | None, said("The last human verdict, else the jury's.")]


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
