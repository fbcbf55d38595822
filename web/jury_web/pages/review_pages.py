"""The pages of reviews: the queue, a debate, the reviewers.

Only a reviewer's token records anything, and the jury's words are shown only where they may be.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jury_events.case import LABEL_METADATA
from jury_events.conditions import METADATA, Condition, parse_conditions
from jury_events.debate_events import DebateCompleted, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.errors import Failure, JuryError, install_line
from jury_events.evidence import MOST_ITEM
from jury_events.ids import is_debate_id, is_run_id
from jury_events.judgment import Judgment
from jury_events.local_facts import LaterEvents
from jury_events.panel import Panel
from jury_events.review_facts import Review, ReviewFacts
from jury_events.verdict import PASS, Verdict
from jury_judge import DebateFilter
from jury_judge.errors import ExtraMissing, ReviewRefused, TooManyReports, TooManyReviews
from jury_judge.reports.run_reports import RunReports
from jury_judge.reviews.review_changes import NewReview
from jury_judge.reviews.review_queue import QueueItem
from jury_judge.serving.service import Reviewing
from jury_judge.serving.store_reader import StoreReader
from jury_views.case_view import label_decisive
from jury_views.debate_fold import StepEvaluation, evaluations_of, folded, role_of
from jury_views.evaluation_models import Reasons, reasons_in, review_choices
from jury_views.reasons import VerdictReason, reason_of
from jury_web.list_parameters import MOST_CONDITION, MOST_CONDITIONS
from jury_web.pages.case_passages import CasePassages, case_passages
from jury_web.pages.citations import Citations, DecisiveViews, EvaluationEvidence
from jury_web.pages.page_request import PageNotFound, PageRequest, content_response, number
from jury_web.pages.shown_items import REVIEWED, ShownItems, TextPreviews
from jury_web.pages.transcript_page import transcript_response

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
    previews = TextPreviews(reading.texts, reading.erased, REVIEWED)
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
    label = label_decisive(reading.labelled, reading.texts)
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


MOST_PEOPLE = 3
"""Reviewers of one debate that a queue can ask for."""

_SHOWN_TO_BLIND = ("case_id", "cluster", "tags")
"""Fields besides metadata that describe the case, and say nothing of a verdict on it."""

_LABELS = tuple(METADATA + name for name in LABEL_METADATA)
"""Metadata that are label data: they say where it went wrong, or how it ended."""


class ReviewQuery(NamedTuple):
    """Which debates are reviewed, and by how many people each."""

    run_id: str | None = None
    where: tuple[Condition, ...] = ()
    people: int = 1

    @property
    def wanted(self) -> DebateFilter:
        return DebateFilter(run_id=self.run_id, where=self.where)

    def address(self, path: str, then: str | None = None, page: int = 1) -> str:
        """A URL with these parameters; `then` is the debate after the one of `path`, `page` that of the queue."""
        values = {
            "run": self.run_id,
            "where": self.where,
            "people": None if self.people == 1 else self.people,
            "then": then,
            "page": None if page == 1 else page,
        }
        query = urlencode({name: value for name, value in values.items() if value}, doseq=True)
        return f"{path}?{query}" if query else path

    def review(self, debate_id: str, then: str | None = None) -> str:
        return self.address(f"/reviews/{debate_id}", then)


def review_query(request: PageRequest, *, blind: bool) -> ReviewQuery:
    """The query of a URL; empty parameters are ignored.

    Args:
        blind: whether only fields that describe the case are conditions: a list by label would show the label.
    """
    where: Sequence[str] = request.every("where")
    if len(where) > MOST_CONDITIONS or max(map(len, where), default=0) > MOST_CONDITION:
        raise PageNotFound(f"where: at most {MOST_CONDITIONS} conditions of {MOST_CONDITION:,} characters each")
    conditions = parse_conditions(where)
    for one in conditions if blind else ():
        of_case = one.field in _SHOWN_TO_BLIND or one.field.startswith(METADATA)
        if not of_case or one.field in _LABELS:
            raise PageNotFound(
                f"where: a blind reviewer cannot choose by {one.field}; choose by {', '.join(_SHOWN_TO_BLIND)} or "
                f"{METADATA}NAME"
            )
    run_id = request.query.get("run", "").strip()
    if run_id and not is_run_id(run_id):
        raise PageNotFound("run: invalid run id; the page of runs lists the runs")
    people = request.query.get("people", "") or "1"
    if people not in map(str, range(1, MOST_PEOPLE + 1)):
        raise PageNotFound(f"people: choose 1 to {MOST_PEOPLE}")
    return ReviewQuery(run_id or None, conditions, int(people))


SHOWN = 50
"""Cases of the queue on one page."""

MAX_REASON = 10_000
"""Characters of a reason in the form."""

_MOST_FIELDS = 10
_MINUTE = 60.0
_RETRY_AFTER = "10"
_DAY = 24 * 60.0
_UNSAVED = frozenset({Failure.UNAVAILABLE, Failure.STOPPED})
"""Failures after which the same form can be sent again."""

_BAD_REQUEST, _FORBIDDEN, _CONFLICT, _TOO_MANY, _UNAVAILABLE = 400, 403, 409, 429, 503


class ReviewForm(NamedTuple):
    """What a reviewer entered. `since`: when the page was shown, in seconds since 1970-01-01 UTC.

    `decisive`: the number of an item, as it was sent; "": none. `label`: of the scale of the panel; "": none.
    """

    verdict: Verdict | None = None
    reason: str = ""
    since: str = ""
    token: str = ""
    then: str = ""
    decisive: str = ""
    label: str = ""

    @classmethod
    def of(cls, body: bytes) -> "ReviewForm":
        """The fields of a form that was sent; of several with one name, the first."""
        try:
            sent = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        except UnicodeDecodeError:
            raise
        except ValueError:
            return cls()
        fields = {name: values[0] for name, values in sent.items()}
        verdict = next((one for one in Verdict if one == fields.get("verdict")), None)
        # Browsers send line ends as CR LF, and count one character for each in the limit of the field.
        reason = fields.get("reason", "").replace("\r\n", "\n")[:MAX_REASON]
        # The number of an item that the page does not show counts instead of a marked one.
        decisive = fields.get("decisive_number", "").strip() or fields.get("decisive_item", "").strip()
        return cls(
            verdict,
            reason,
            fields.get("since", ""),
            fields.get("form_token", ""),
            fields.get("then", ""),
            decisive,
            fields.get("label", ""),
        )

    @property
    def decisive_item(self) -> int | None:
        """The number of the item; None: none, or it is no number."""
        text = self.decisive
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_ITEM)) else None

    @property
    def minutes(self) -> float | None:
        """How long the page was open; None: not known, or longer than a day."""
        if not (self.since.isascii() and self.since.isdecimal()) or len(self.since) > len("9999999999"):
            return None
        passed = (time.time() - int(self.since)) / _MINUTE
        return round(passed, 2) if 0 <= passed <= _DAY else None


class ReviewPages:
    """The pages of a store that is open for reading.

    Args:
        reviewing: how reviews are recorded; None: not over this server.
    """

    def __init__(self, reader: StoreReader, reports: RunReports, reviewing: Reviewing | None) -> None:
        self._reader, self._reports, self._reviewing = reader, reports, reviewing
        self._blind = reviewing is None or reviewing.blind

    def queue(self, request: PageRequest) -> Response:
        """`/reviews`: what is to be reviewed, of a reviewer's own queue."""
        query = self._query(request)
        items, page = self._items(request, query), number("page", request.query) or 1
        shown = items[(page - 1) * SHOWN : page * SHOWN]
        if self._hides(request) and request.visitor.reviewer is not None:
            shown = self._reader.partial_items(request.visitor.reviewer, shown)
        return request.html(
            "reviews.html",
            "reviews",
            items=shown,
            waiting=len(items),
            reasons={} if self._hides(request) else self._reader.reasons([one.row.debate_id for one in shown]),
            page=page,
            pages=max(1, -(-len(items) // SHOWN)),
            query=query,
            most_people=MOST_PEOPLE,
            blind=self._hides(request),
            reviewing=self._reviewing is not None,
        )

    async def reviewers(self, request: PageRequest) -> Response:
        """`/reviewers`: who reviewed how much, and how far they agree."""
        query = self._query(request)
        found, refused = None, ""
        try:
            seen_by = request.visitor.reviewer if self._hides(request) else None
            found = await self._reports.reviewers(query.wanted, seen_by)
        except ExtraMissing:
            refused = "stats_extra"
        except TooManyReports:
            refused = "stats_busy"
        except ReviewRefused:
            refused = "reviews_none_of_yours" if self._hides(request) else "reviews_none"
        status = _UNAVAILABLE if refused == "stats_busy" else 200
        return request.html(
            "reviewers.html",
            "reviews",
            status,
            found=found,
            refused=refused,
            query=query,
            blind=self._hides(request),
            install=install_line("stats"),
        )

    def review(self, request: PageRequest) -> Response:
        return self._page(request, ReviewForm(then=request.query.get("then", "")))

    async def record(self, received: Request) -> Response:
        """The form of `/reviews/{debate_id}`."""
        request = PageRequest.of(received)
        try:
            form = ReviewForm.of(await received.body())
        except UnicodeDecodeError:
            problem = "review_not_utf8"
            return await asyncio.to_thread(self._page, request, ReviewForm(), problem=problem, status=_BAD_REQUEST)
        prepared = await asyncio.to_thread(self._prepared, request, form)
        if isinstance(prepared, Response):
            return prepared
        assert self._reviewing is not None
        try:
            await self._reviewing.record(request.debate_id, prepared, received.is_disconnected)
        except ReviewRefused as error:
            refused = partial(self._page, request, form, problem="review_refused", message=str(error))
            return await asyncio.to_thread(refused, status=_CONFLICT)
        except JuryError as error:
            if error.failure not in _UNSAVED:
                raise
            status = _TOO_MANY if isinstance(error, TooManyReviews) else _UNAVAILABLE
            unsaved = partial(self._page, request, form, problem="review_unsaved", message=str(error))
            answer: Response = await asyncio.to_thread(unsaved, status=status)
            answer.headers["Retry-After"] = _RETRY_AFTER
            return answer
        then = form.then if is_debate_id(form.then) else None
        return RedirectResponse(self._query(request).review(request.debate_id, then), 303)

    def text(self, request: PageRequest) -> Response:
        """`/reviews/{debate_id}/texts/{part}`: the whole stored case, and no other text."""
        reading = self._reader.history(request.debate_id)
        part = reading.opened.case.part
        content = reading.texts.get(part)
        if request.path["part"] != part or content is None:
            raise PageNotFound(f"debate {reading.debate_id} has no such text, or it was erased")
        return content_response(content)

    def transcript(self, request: PageRequest) -> Response:
        """`/reviews/{debate_id}/transcripts/{scenario}`: some items of a long transcript, without the jury's words."""
        return transcript_response(self._reader.history(request.debate_id), request, review=True)

    def _prepared(self, request: PageRequest, form: ReviewForm) -> NewReview | Response:
        """What is to be recorded, or the page that says why there is nothing."""
        reviewer, reviewing = request.visitor.reviewer, self._reviewing
        if reviewer is None or reviewing is None:
            raise PageNotFound("reviews are recorded with a reviewer's token only; log in with yours")
        if not request.visitor.sent_form(form.token):
            return self._page(request, form, problem="review_old_form", status=_FORBIDDEN)
        if form.verdict is None and not form.label:
            return self._page(request, form, problem="review_no_verdict", status=_CONFLICT)
        if form.decisive and form.decisive_item is None:
            return self._page(request, form, problem="review_no_such_item", status=_CONFLICT)
        reading = self._reader.history(request.debate_id)
        scale = reading.opened.panel.scale
        passes = {one.word for one in review_choices(scale) if one.verdict is PASS}
        if form.decisive and (form.label or form.verdict) in passes:
            return self._page(request, form, problem="review_pass_with_item", status=_CONFLICT)
        shown = self._shown(reading, reviewer)
        return NewReview(
            reviewer,
            form.verdict,
            form.reason,
            shown.blind,
            form.minutes,
            form.decisive_item,
            form.label or None,
        )

    def _page(
        self, request: PageRequest, form: ReviewForm, *, problem: str = "", message: str = "", status: int = 200
    ) -> Response:
        query = self._query(request)
        reading = self._reader.history(request.debate_id)
        reviewer = request.visitor.reviewer
        page = self._shown(reading, reviewer)
        writable = reviewer is not None and self._reviewing is not None
        then, progress = None, None
        if reviewer is not None:
            items = self._items(request, query)
            then = _following(items, reading.debate_id, form.then)
            progress = self._progress(items, reading.opened.case_id, reviewer, query)
        return request.html(
            "review.html",
            "reviews",
            status,
            page=page,
            query=query,
            form=form,
            form_token=request.visitor.form_token,
            since=form.since or str(int(time.time())),
            then=then,
            progress=progress,
            problem=problem,
            message=message,
            most_reason=MAX_REASON,
            choices=review_choices(reading.opened.panel.scale),
            writable=writable,
            choosing=writable and page.last_item > 0 and page.ended and not page.quarantined,
            chosen=_chosen(form, page),
            texts_at=f"/reviews/{reading.debate_id}/texts",
            exchanges=None,
        )

    def _progress(self, items: Sequence[QueueItem], case_id: str, reviewer: str, query: ReviewQuery) -> tuple[int, int]:
        """The place of a case among those that the person has reviewed or is to review, and their number."""
        done = self._reader.reviewed_cases(reviewer, query.wanted)
        waiting = {item.row.case_id for item in items} - done
        return len(done) + (case_id not in done), len(done) + len(waiting | ({case_id} - done))

    def _shown(self, reading: DebateHistory, reviewer: str | None) -> CaseToReview:
        reviewed = None
        if reviewer is not None and self._blind and reading.reviews.by(reviewer) is None:
            reviewed = self._reader.reviewed_same_case(reading.debate_id, reviewer)
        return case_to_review(reading, reviewer, blind=self._blind, reviewed=reviewed)

    def _items(self, request: PageRequest, query: ReviewQuery) -> Sequence[QueueItem]:
        return self._reader.review_queue(request.visitor.reviewer, query.wanted, reviews=query.people)

    def _query(self, request: PageRequest) -> ReviewQuery:
        return review_query(request, blind=self._hides(request))

    def _hides(self, request: PageRequest) -> bool:
        """Whether the jury's words are shown to this visitor only after the own verdict."""
        return self._blind and request.visitor.reviewer is not None


def _chosen(form: ReviewForm, page: CaseToReview) -> int | None:
    """The item that is marked on the page: the one that was sent, else that of the reviewer's last review."""
    if form.verdict is None and not form.decisive and page.mine is not None:
        return page.mine.decisive_item
    return form.decisive_item


def _following(items: Sequence[QueueItem], here: str, then: str) -> str | None:
    """The debate of the queue after the one that is shown, which may have left the queue; None: nothing is left."""
    ids = [item.row.debate_id for item in items]
    if here in ids:
        place = ids.index(here)
        return next(iter(ids[place + 1 :] + ids[:place]), None)
    return then if then in ids else next(iter(ids), None)
