"""The page on which a person reviews a debate: the case, and the jury's words only where they may be shown."""

from typing import NamedTuple

from jury_events.debate_events import DebateCompleted, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.judgment import Judgment
from jury_events.review_facts import Review, ReviewFacts
from jury_judge.reviews.review_changes import reviewed_before
from jury_views.events_by_phase import events_by_phase, role_of
from jury_views.review_objects import Reasons, reasons_in
from jury_web.pages.case_passages import CasePassages, case_passages
from jury_web.pages.text_previews import TextPreviews

PREVIEW = 65_536
"""Bytes shown of each text of the case: a reviewer reads it all."""


class JuryResult(NamedTuple):
    """What the jury came to, and what other people said of it.

    `completed` and `judgment` are None where the debate failed or was cancelled. `roles`: names of seats by id;
    `reasons`: of reviews, by number.
    """

    completed: DebateCompleted | None
    judgment: Judgment | None
    roles: dict[str, str]
    reviews: ReviewFacts
    reasons: Reasons


class CaseToReview(NamedTuple):
    """A debate for one reviewer, or for a reader who reviews nothing.

    `mine` is what this reviewer said last, `blind` whether a verdict given now is blind, and `result` the jury's words,
    None where they must not be sent.
    """

    opened: DebateOpened
    case: CasePassages
    ended: bool
    quarantined: bool
    mine: Review | None
    blind: bool
    result: JuryResult | None


def case_to_review(reading: DebateHistory, reviewer: str | None, *, blind: bool) -> CaseToReview:
    """The page of a debate.

    Args:
        reading: the debate.
        reviewer: who reviews; None: a reader, who may see everything.
        blind: whether the server shows the jury's words only after the own verdict.

    Raises:
        EventError: a stored body cannot be decoded.
        OpeningMissing: the events do not begin with the opening event.
    """
    mine = None if reviewer is None else reading.reviews.by(reviewer)
    hidden = blind and reviewer is not None and mine is None
    return CaseToReview(
        opened=reading.opened,
        case=case_passages(reading.opened, TextPreviews(reading.texts, reading.erased, PREVIEW)),
        ended=reading.finished,
        quarantined=reading.local.quarantine is not None,
        mine=mine,
        # A review that was withdrawn was followed by the jury's words.
        blind=hidden and reviewer is not None and not reviewed_before(reading, reviewer),
        result=None if hidden else _result(reading),
    )


def _result(reading: DebateHistory) -> JuryResult:
    record = events_by_phase(reading.events)
    judgment = record.judgment.judgment if record.judgment else None
    votes = judgment.votes if judgment else ()
    return JuryResult(
        completed=record.ending if isinstance(record.ending, DebateCompleted) else None,
        judgment=judgment,
        roles={vote.juror_id: role_of(reading.opened.panel, vote.juror_id) for vote in votes},
        reviews=reading.reviews,
        reasons=reasons_in(reading),
    )
