"""Endpoints for reviews by people: reading all, recording one."""

import asyncio
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request

from jury_events.ids import RUN_ID
from jury_events.verdict import Verdict
from jury_judge.reviews.reviews import NewReview, reviews_of
from jury_store.debate_rows import DebateFilter
from jury_store.list_order import OLDEST, PageCursor
from jury_views.review_objects import review_objects
from jury_web.api.dependencies import AT_MOST, DebateId, Limit, ServiceDependency, require_debate
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas import MOST_ROWS, Listing, RecordedReview, ReviewRequest, ReviewSummary
from jury_web.api.strict_body import StrictRoute
from jury_web.credentials import visitor_of

router = APIRouter(prefix="/api", tags=["reviews"], route_class=StrictRoute)


@router.get("/reviews", operation_id="listReviews", responses=error_responses(422, 503))
def listed(
    service: ServiceDependency,
    request: Request,
    *,
    run: Annotated[str | None, Query(pattern=f"^{RUN_ID}$")] = None,
    reviewer: Annotated[
        str | None, Query(min_length=1, max_length=300, description="The reviewer's name, whole.")
    ] = None,
    verdict: Verdict | None = None,
    blind: bool | None = None,
    sampled: Annotated[bool | None, Query(description="Whether the debate was drawn at random for them.")] = None,
    standing: Annotated[bool, Query(description="Only the last review of each person of a debate.")] = False,
    after: Annotated[int, Query(ge=0, le=AT_MOST, description="From `next` of the page before.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Listing[RecordedReview]:
    """Reviews that were not withdrawn, in the order in which their debates opened, in pages of `limit` debates.

    Those of a cassette without a trusted seal are `foreign` and count for nothing.

    With a reviewer's token where reviewing is blind: only reviews of debates that this reviewer has reviewed.
    """
    wanted = DebateFilter(run_id=run, with_reviews=True)
    rows = service.store.list_debates(wanted, OLDEST, limit=limit, after=PageCursor(after))
    own = visitor_of(request.scope).reviewer if service.reviewing is None or service.reviewing.blind else None
    found: list[RecordedReview] = []
    for row in rows:
        if own is not None and row.review_facts.by(own) is None:
            continue
        for one in review_objects(row.review_facts):
            differs = (
                (reviewer is not None and one["reviewer"] != reviewer)
                or (verdict is not None and one["verdict"] != verdict)
                or (blind is not None and one["blind"] != blind)
                or (sampled is not None and one["sampled"] != sampled)
                or (standing and not one["stands"])
            )
            if not differs:
                debate = {"debate_id": row.debate_id, "case_id": row.case_id, "run_id": row.run_id}
                verdicts = {"final_verdict": row.final_verdict, "disposition": row.disposition}
                found.append(RecordedReview.model_validate({**one, **debate, **verdicts}))
    following = None
    if len(rows) == limit:
        query: dict[str, Any] = {"run": run, "reviewer": reviewer, "verdict": verdict}
        flags = {"blind": blind, "sampled": sampled, "standing": standing or None}
        query |= {name: None if value is None else str(value).lower() for name, value in flags.items()}
        query |= {"after": rows[-1].position, "limit": limit}
        following = "/api/reviews?" + urlencode({name: value for name, value in query.items() if value is not None})
    return Listing[RecordedReview](rows=found, next=following)


@router.post(
    "/debates/{debate_id}/reviews",
    operation_id="recordReview",
    status_code=201,
    responses=error_responses(403, 404, 413, 415, 422, 500, 503),
)
async def recorded(
    service: ServiceDependency, request: Request, debate_id: DebateId, review: ReviewRequest
) -> ReviewSummary:
    """Record a verdict of the reviewer whose token the request has. The same verdict and reason again change nothing.

    `blind` says that the reviewer did not see the jury's words before.
    """
    reviewer, reviewing = visitor_of(request.scope).reviewer, service.reviewing
    if reviewer is None or reviewing is None:
        raise RequestRefused(403, "a review needs a reviewer's token", "start jury serve with --reviewers FILE")
    if review.blind and not reviewing.blind:
        raise RequestRefused(
            422, "this server shows reviewers the jury's words, so no review is blind", "send blind: false"
        )
    new = NewReview(reviewer, review.verdict, review.reason, review.blind, review.minutes)

    def record() -> ReviewSummary:
        require_debate(service, debate_id)
        made = reviewing.record(debate_id, new)
        objects = review_objects(reviews_of(service.store, debate_id))
        return ReviewSummary.model_validate(
            next(one for one in objects if one["number"] == made.number) | {"reason": review.reason.strip() or None}
        )

    return await asyncio.to_thread(record)
