"""Endpoints for reviews by people: reading all, recording one."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, with_config
from starlette.requests import Request

from jury_events.evidence import MOST_ITEM
from jury_events.verdict import Verdict
from jury_judge import DebateFilter, DebateRow, PageCursor, SortOrder
from jury_judge.reviews.review_changes import MAX_REASON, NewReview
from jury_views.evaluation_models import SERVED, ReviewOfResult, VerdictWord, review_objects, said
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas import CamelModel, DebateId, Listing, ServiceDependency, StrictRoute, require_debate
from jury_web.credentials import visitor_of
from jury_web.list_parameters import ReviewParameters


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


router = APIRouter(prefix="/api", tags=["reviews"], route_class=StrictRoute)


@router.get("/reviews", operation_id="listReviews", responses=error_responses(422, 503))
def listed(
    service: ServiceDependency, request: Request, asked: Annotated[ReviewParameters, Query()]
) -> Listing[RecordedReview]:
    """Reviews that were not withdrawn, in the order in which their debates opened, in pages of `limit` debates.

    Those of a cassette without a trusted seal are `foreign` and count for nothing.

    With a reviewer's token where reviewing is blind: only reviews of debates that this reviewer has reviewed.
    """
    chosen = DebateFilter(run_id=asked.run, with_reviews=True)
    rows = service.reader.debates(chosen, SortOrder(descending=False), limit=asked.limit, after=PageCursor(asked.after))
    own = visitor_of(request.scope).reviewer if service.reviewing is None or service.reviewing.blind else None
    found = [
        _recorded(row, one)
        for row in rows
        if own is None or row.review_facts.by(own) is not None
        for one in review_objects(row.review_facts)
        if asked.chooses(one)
    ]
    following = asked.address("/api/reviews", rows[-1].position) if len(rows) == asked.limit else None
    return Listing[RecordedReview](rows=found, next=following)


def _recorded(row: DebateRow, review: ReviewOfResult) -> RecordedReview:
    return {
        **review,
        "debate_id": row.debate_id,
        "case_id": row.case_id,
        "run_id": row.run_id,
        "final_verdict": row.final_verdict,
        "disposition": row.disposition,
    }


@router.post(
    "/debates/{debate_id}/reviews",
    operation_id="recordReview",
    status_code=201,
    responses=error_responses(403, 404, 413, 415, 422, 429, 500, 503),
)
async def recorded(
    service: ServiceDependency, request: Request, debate_id: DebateId, review: ReviewRequest
) -> ReviewOfResult:
    """Record a verdict of the reviewer whose token the request has. The same again changes nothing.

    `blind` says that the reviewer did not see the jury's words before.
    """
    reviewer, reviewing = visitor_of(request.scope).reviewer, service.reviewing
    if reviewer is None or reviewing is None:
        raise RequestRefused(403, "a review needs a reviewer's token", "start jury serve with --reviewers FILE")
    if review.blind and not reviewing.blind:
        raise RequestRefused(
            422, "this server shows reviewers the jury's words, so no review is blind", "send blind: false"
        )
    new = NewReview(
        reviewer,
        review.verdict,
        review.reason,
        review.blind,
        review.minutes,
        review.decisive_item,
        review.label,
    )

    await asyncio.to_thread(require_debate, service, debate_id)
    made = await reviewing.record(debate_id, new, request.is_disconnected)
    objects = review_objects(await asyncio.to_thread(service.reader.reviews, debate_id))
    found = next(one for one in objects if one["number"] == made.number)
    return {**found, "reason": review.reason.strip() or None}
