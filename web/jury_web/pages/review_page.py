"""The page on which a person reviews a debate: the case, and the jury's words only where they may be shown."""

from typing import NamedTuple

from jury_events.debate_events import DebateCompleted, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.judgment import Judgment
from jury_events.local_facts import LaterEvents
from jury_events.review_facts import Review, ReviewFacts
from jury_views.events_by_phase import events_by_phase, role_of
from jury_views.review_objects import Reasons, reasons_in
from jury_web.pages.case_passages import CasePassages, case_passages
from jury_web.pages.citations import Citations
from jury_web.pages.text_previews import TextPreviews

PREVIEW = 65_536
"""Bytes shown of each text of the case: a reviewer reads it all."""


class JuryResult(NamedTuple):
    """What the jury came to, and what other people said of it.

    `completed` and `judgment` are None where the debate failed or was cancelled. `roles`: names of seats by id;
    `reasons`: of reviews, by number; `later_events`: of an imported debate, whether its origin may have more.
    """

    completed: DebateCompleted | None
    judgment: Judgment | None
    roles: dict[str, str]
    reviews: ReviewFacts
    reasons: Reasons
    later_events: LaterEvents | None


class CaseToReview(NamedTuple):
    """A debate for one reviewer, or for a reader who reviews nothing.

    `mine` is what this reviewer said last, `blind` whether a verdict given now is blind, and `result` the jury's words,
    None where they must not be sent. `partial`: the other debate of the case that made a blind verdict impossible.
    """

    opened: DebateOpened
    case: CasePassages
    ended: bool
    quarantined: bool
    mine: Review | None
    blind: bool
    partial: str | None
    result: JuryResult | None


def case_to_review(
    reading: DebateHistory, reviewer: str | None, *, blind: bool, reviewed: str | None = None
) -> CaseToReview:
    """The page of a debate.

    Args:
        reading: the debate.
        reviewer: who reviews; None: a reader, who may see everything.
        blind: whether the server shows the jury's words only after the own verdict.
        reviewed: the debate of the same case that the reviewer has reviewed, withdrawn or not; None: there is none.

    Raises:
        EventError: a stored body cannot be decoded.
        OpeningMissing: the events do not begin with the opening event.
    """
    mine = None if reviewer is None else reading.reviews.by(reviewer)
    previews = TextPreviews(reading.texts, reading.erased, PREVIEW)
    hidden = blind and reviewer is not None and mine is None
    return CaseToReview(
        opened=reading.opened,
        case=case_passages(reading.opened, previews, Citations(reading.opened, previews)),
        ended=reading.finished,
        quarantined=reading.local.quarantine is not None,
        mine=mine,
        # A review that was withdrawn was followed by the jury's words, and so was one of a fork.
        blind=hidden and reviewed is None,
        partial=reviewed if hidden and reviewed != reading.debate_id else None,
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
        later_events=reading.local.later_events,
    )
