"""The page on which a person reviews a debate: the case, and the jury's words only where they may be shown."""

from typing import NamedTuple

from jury_events.debate_events import DebateCompleted, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.judgment import Judgment
from jury_events.local_facts import LaterEvents
from jury_events.panel import Panel
from jury_events.review_facts import Review, ReviewFacts
from jury_events.verdict import Verdict
from jury_views.case_view import label_decisive
from jury_views.debate_fold import StepEvaluation, evaluations_of, folded, role_of
from jury_views.evaluation_models import Reasons, reasons_in
from jury_views.reasons import VerdictReason, reason_of
from jury_web.pages.case_passages import CasePassages, case_passages
from jury_web.pages.citations import Citations, DecisiveViews, EvaluationEvidence
from jury_web.pages.shown_items import ShownItems, TextPreviews

PREVIEW = 65_536
"""Bytes shown of each text of the case: a reviewer reads it all."""


MOST_EVALUATIONS = 200
"""Evaluations whose quotations are shown."""


class QuotingEvaluation(NamedTuple):
    """What a seat quotes in its last evaluation; `role` is None for the final judge."""

    version: int
    role: str | None
    verdict: Verdict
    label: str | None
    evidence: EvaluationEvidence


class JuryResult(NamedTuple):
    """What the jury came to, and what other people said of it.

    `completed` and `judgment` are None where the debate failed or was cancelled. `roles`: names of seats by id;
    `reasons`: of reviews, by number; `later_events`: of an imported debate, whether its origin may have more. `quoting`
    are the last evaluations with what they quote; `decisive` is None where no item was asked for or named. `why`: the
    reason of the verdict, None where there is none.
    """

    completed: DebateCompleted | None
    judgment: Judgment | None
    why: VerdictReason | None
    roles: dict[str, str]
    reviews: ReviewFacts
    reasons: Reasons
    later_events: LaterEvents | None
    quoting: tuple[QuotingEvaluation, ...]
    decisive: DecisiveViews | None


class CaseToReview(NamedTuple):
    """A debate for one reviewer, or for a reader who reviews nothing.

    `mine` is what this reviewer said last, `blind` whether a verdict given now is blind, and `result` the jury's words,
    None where they must not be sent. `partial`: the other debate of the case that made a blind verdict impossible.
    `last_item` is the largest number of an item that can be named, 0 where none can be.
    """

    opened: DebateOpened
    case: CasePassages
    ended: bool
    quarantined: bool
    mine: Review | None
    blind: bool
    partial: str | None
    result: JuryResult | None
    last_item: int

    @property
    def leaves_items_out(self) -> bool:
        """Whether items of the case are folded: they are chosen by their numbers."""
        passages = (one.transcript for scenario in self.case.scenarios for one in scenario.passages)
        return any(one is not None and one.folded for one in passages)


def case_to_review(
    reading: DebateHistory, reviewer: str | None, *, blind: bool, reviewed: str | None = None
) -> CaseToReview:
    """The page of a debate.

    Args:
        reviewer: who reviews; None: a reader, who may see everything.
        blind: whether the server shows the jury's words only after the own verdict.
        reviewed: the debate of the same case that the reviewer has reviewed, withdrawn or not; None: there is none.
    """
    mine = None if reviewer is None else reading.reviews.by(reviewer)
    previews = TextPreviews(reading.texts, reading.erased, PREVIEW)
    hidden = blind and reviewer is not None and mine is None
    evaluations = () if hidden else _last_evaluations(reading)
    citations = _citations(reading, previews, None if hidden else evaluations)
    return CaseToReview(
        opened=reading.opened,
        case=case_passages(reading.opened, previews, citations),
        ended=reading.finished,
        quarantined=reading.local.quarantine is not None,
        mine=mine,
        # A review that was withdrawn was followed by the jury's words, and so was one of a fork.
        blind=hidden and reviewed is None,
        partial=reviewed if hidden and reviewed != reading.debate_id else None,
        result=None if hidden else _result(reading, citations, evaluations),
        last_item=citations.last_item,
    )


def _last_evaluations(reading: DebateHistory) -> tuple[StepEvaluation, ...]:
    """The last evaluation of each seat and of the final judge, in the order of the record."""
    evaluations = evaluations_of(reading.events)
    last = {one.step.juror_id: one.event_id for one in evaluations}
    return tuple(one for one in evaluations if last[one.step.juror_id] == one.event_id)[-MOST_EVALUATIONS:]


def _citations(
    reading: DebateHistory, previews: TextPreviews, evaluations: tuple[StepEvaluation, ...] | None
) -> Citations:
    """Who cites what; None: nothing of it may be shown."""
    opened, shown = reading.opened, ShownItems(f"/reviews/{reading.debate_id}")
    if evaluations is None:
        return Citations(opened, previews, shown=shown)
    label = label_decisive(opened, reading.texts)
    versions = _versions(reading)
    return Citations(opened, previews, evaluations, versions, label=label, reviews=reading.reviews, shown=shown)


def _versions(reading: DebateHistory) -> dict[str, int]:
    return {one.event_id: one.version for one in reading.stored_events}


def _result(reading: DebateHistory, citations: Citations, evaluations: tuple[StepEvaluation, ...]) -> JuryResult:
    record = folded(reading.events)
    judgment = record.judgment.judgment if record.judgment else None
    votes = judgment.votes if judgment else ()
    versions, panel = _versions(reading), reading.opened.panel
    return JuryResult(
        completed=record.ending if isinstance(record.ending, DebateCompleted) else None,
        judgment=judgment,
        why=reason_of(record, reading.texts),
        roles={vote.juror_id: role_of(panel, vote.juror_id) for vote in votes},
        reviews=reading.reviews,
        reasons=reasons_in(reading),
        later_events=reading.local.later_events,
        quoting=tuple(
            QuotingEvaluation(versions[one.event_id], _role(panel, one), *one.evaluation.position, evidence)
            for one in evaluations
            if (evidence := citations.of(one.event_id)) is not None
        ),
        decisive=citations.decisive,
    )


def _role(panel: Panel, made: StepEvaluation) -> str | None:
    return None if made.step.juror_id is None else role_of(panel, made.step.juror_id)
