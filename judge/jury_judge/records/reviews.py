"""People's reviews of debates: recorded, asked for, withdrawn, queued, compared.

What writes opens the store for writing for that moment only, so that a reviewer who thinks for an hour does not keep
runs from a SQLite store; where another process writes to it, that one is asked to record it. What reviews are made of
is imported when it is used.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from jury_events.errors import DebateNotFound
from jury_judge.records.open_store import OpenStore, check_debate_id, log_line
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_events.review_events import ReviewSample
    from jury_events.review_facts import AssignedReview, Review
    from jury_judge.reviews.review_agreement import ReviewAgreement
    from jury_judge.reviews.review_changes import NewReview
    from jury_judge.reviews.review_queue import QueueItem
    from jury_judge.reviews.review_recorder import ReviewRecorder


class ReviewRecords(OpenStore):
    """Reviews."""

    async def review(self, debate_id: str, new: "NewReview", *, say: Callable[[str], None] = log_line) -> "Review":
        """Record a person's verdict; the same verdict, reason and item of the same person again is no new review.

        Args:
            say: takes a line when another process writes to the store, and is asked to record it.

        Raises:
            ReasonRefused: the reason is too long, or not valid Unicode.
            ReviewRefused: the debate has not ended or is in quarantine; it has no such decisive item, or the verdict is
                a pass; another value cannot be recorded; or the review is said to be blind, and its reviewer reviewed a
                debate of the same case before.
        """
        check_debate_id(debate_id)
        return await self._recorder(say).record(debate_id, new)

    async def assign_review(
        self, debate_id: str, reviewer: str, *, by: str, say: Callable[[str], None] = log_line
    ) -> "AssignedReview":
        """Ask a person for a review; an assignment of that person that is there already stays."""
        check_debate_id(debate_id)
        return await self._recorder(say).assign(debate_id, reviewer, by=by)

    async def withdraw_review(
        self, debate_id: str, number: int, *, by: str, reason: str = "", say: Callable[[str], None] = log_line
    ) -> None:
        """Withdraw a review or an assignment: it counts no more, and stays in the log.

        Args:
            reason: why; "": not said.
        """
        check_debate_id(debate_id)
        await self._recorder(say).withdraw(debate_id, number, by=by, reason=reason)

    async def review_queue(
        self,
        reviewer: str | None = None,
        chosen: DebateFilter = EVERY_DEBATE,
        *,
        reviews: int = 1,
        sampled: bool = False,
        limit: int | None = None,
    ) -> "list[QueueItem]":
        """The debates that a person is to review, in that order (docs/reviews.md).

        Args:
            reviewer: whose queue; None: of all people.
            reviews: how many people are to review a debate: 2 for double review.
            sampled: only those that were drawn at random for the person.
        """
        from jury_judge.reviews.review_queue import partial_items, review_queue

        found = await self._read(review_queue, reviewer, chosen, reviews=reviews)
        items = [one for one in found if not sampled or one.why == "sampled"][:limit]
        return items if reviewer is None else await self._read(partial_items, reviewer, items)

    async def reviewed_same_case(self, debate_id: str, reviewer: str) -> str | None:
        """The debate of the same case that a person has reviewed, withdrawn or not: no review of the case is blind now.

        Returns:
            The debate's own id where the person reviewed that; None: they reviewed no debate of the case.
        """
        from jury_judge.reviews.review_queue import reviewed_same_case

        check_debate_id(debate_id)
        return await self._read(reviewed_same_case, debate_id, reviewer)

    async def draw_reviews(
        self,
        reviewer: str,
        size: int,
        *,
        seed: int = 1,
        by_verdict: bool = False,
        chosen: DebateFilter = EVERY_DEBATE,
        say: Callable[[str], None] = log_line,
    ) -> "tuple[ReviewSample, ...]":
        """Draw cases at random for a person, and record the assignments that are not there yet.

        Args:
            seed: 0 or more; the same seed draws the same cases, and a larger sample contains the smaller one.
            by_verdict: as many of each verdict of the jury, which counts by its share of the cases.

        Returns:
            The sample of all cases, or one a verdict.
        """
        from jury_judge.reviews.random_draws import draw_by_verdict, draw_sample

        if by_verdict:
            samples = await self._read(draw_by_verdict, size, seed, chosen)
        else:
            samples = (await self._read(draw_sample, size, seed, chosen),)
        for one in samples:
            await self._recorder(say).assign_all(one.debates, reviewer, by=reviewer, sample=one.drawn)
        return tuple(one.drawn for one in samples)

    async def reviewable(self, debate_id: str) -> "QueueItem":
        """One debate for a review, whether the queue has it or not."""
        from jury_judge.reviews.review_changes import check_reviewable
        from jury_judge.reviews.review_queue import QueueItem

        check_debate_id(debate_id)
        row, history = await self._read(_recorded, debate_id)
        check_reviewable(history)
        return QueueItem(row, "assigned", None)

    async def awaits_review(self, debate_id: str, reviewer: str | None = None, *, reviews: int = 1) -> bool:
        """Whether a debate is in the queue of a person (None: of all people) now."""
        check_debate_id(debate_id)
        return await self._read(_awaits, debate_id, reviewer, reviews)

    async def review_agreement(self, chosen: DebateFilter = EVERY_DEBATE) -> "ReviewAgreement":
        """Whether the people agree who reviewed the same debates; intervals are 95 %, over clusters of cases."""
        from jury_judge.extras import check_statistics

        check_statistics("review_agreement()")
        from jury_judge.reviews.review_agreement import review_agreement

        return await self._read(review_agreement, chosen)

    def _recorder(self, say: Callable[[str], None]) -> "ReviewRecorder":
        from jury_judge.reviews.review_recorder import ReviewRecorder

        return ReviewRecorder(self.store_url, blocking=self._blocking, say=say)


def _recorded(store: EventStore, debate_id: str) -> "tuple[DebateRow, DebateHistory]":
    from jury_replay.intact import intact_history

    row = store.debate(debate_id)
    if row is None:
        raise DebateNotFound.named(debate_id)
    return row, intact_history(store, debate_id)


def _awaits(store: EventStore, debate_id: str, reviewer: str | None, reviews: int) -> bool:
    from jury_judge.reviews.review_queue import why_waiting

    row = store.debate(debate_id)
    return row is not None and why_waiting(row, reviewer, reviews) is not None
