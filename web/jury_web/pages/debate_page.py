"""The page of one debate after any of its events, whether it has ended or not."""

import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from jury_events.debate_events import (
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateOpened,
    TextsErased,
)
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.judgment import Judgment
from jury_events.local_facts import LocalFacts
from jury_events.models import is_other_model
from jury_events.outcome import CallOutcome
from jury_events.panel import Language
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.verdict_scale import VerdictScale
from jury_judge import IntegrityState
from jury_judge.runs.usage import uncached_today
from jury_views.case_view import label_decisive
from jury_views.debate_fold import DebateFold, Ending, folded, role_of
from jury_views.evaluation_models import NO_REASONS, Reasons, reasons_in
from jury_views.reasons import VerdictReason, reason_of
from jury_web.pages.case_passages import CasePassages, case_passages
from jury_web.pages.citations import Citations, DecisiveViews
from jury_web.pages.exchange_page import ExchangeViews
from jury_web.pages.matrix import (
    NOTHING_PENDING,
    ItemStrip,
    Matrix,
    PendingSteps,
    Waterfall,
    item_strip,
    matrix,
    pending_steps,
    waterfall,
)
from jury_web.pages.page_labels import LABELS
from jury_web.pages.page_request import rendered, rendered_stream
from jury_web.pages.shown_items import PREVIEW, ShownItems, TextPreview, TextPreviews
from jury_web.pages.statement_views import (
    EvaluationChanges,
    EvaluationView,
    RecordedCall,
    StatementView,
    StatementViews,
    call_lines,
    evaluation_changes,
)

ROWS = 200
"""Evaluations, statements and seats of a page; the exported file has all."""

ROUNDS = 20
"""Latest rounds in the matrix of a page."""


_STARTED = re.compile(r"round-([0-9]{1,9})/started")


class OmittedCounts(NamedTuple):
    """How much a page leaves out of a large debate; `before` is the event whose page shows earlier statements."""

    evaluations: int
    statements: int
    before: int
    seats: int
    rounds: int


class EventPosition(NamedTuple):
    """The page shows the debate after event `at` of `last`; `live` where more events may follow."""

    at: int
    last: int
    event: StoredEvent
    live: bool

    @property
    def is_past(self) -> bool:
        """Whether later events exist, which are not shown."""
        return self.at < self.last


class ModelCalls(NamedTuple):
    """The calls of one model. `others` are models that answered instead of it.

    Tokens and cost are sums of the known values; `tokens_unknown` and `cost_unknown` count the calls without them.
    `cost` is None where no cost is known. `cache_read` and `cache_written` are tokens of prompts; `uncached` is what
    the calls would have cost without them, None where nothing of the kind happened or that is unknown.
    """

    model: str
    calls: int
    outcomes: tuple[tuple[str, int], ...]
    input_tokens: int
    output_tokens: int
    tokens_unknown: int
    cost: float | None
    cost_unknown: int
    others: tuple[str, ...]
    cache_read: int
    cache_written: int
    uncached: float | None

    @property
    def read_share(self) -> str:
        """The share of the prompts' tokens that was read from caches, in percent."""
        return f"{self.cache_read / max(1, self.input_tokens):.0%}"

    @property
    def tokens_known(self) -> bool:
        return self.tokens_unknown < self.calls


class EndView(NamedTuple):
    """The end of a debate; `text` is the detail of a failure or the reason of a cancellation."""

    version: int
    completed: DebateCompleted | None
    failed: str | None
    cancelled: str | None
    text: TextPreview | None


class JudgmentView(NamedTuple):
    """The final judgment, with the evaluation of the final judge."""

    version: int
    rendered: Judgment
    judge: EvaluationView | None
    calls: tuple[RecordedCall, ...]
    roles: dict[str, str]

    @property
    def tools(self) -> tuple[str, ...]:
        """A final judge has no tools."""
        return ()

    def mean_level(self, scale: VerdictScale | None) -> float | None:
        """The mean of the votes' levels; None where the labels are no levels, or no vote has one."""
        if scale is None or not scale.has_levels:
            return None
        levels = [int(vote.label) for vote in self.rendered.votes if vote.label is not None]
        return sum(levels) / len(levels) if levels else None


class DebatePage(NamedTuple):
    """All values of a debate's page.

    `evaluations` are the statement views of phase 1, `discussion` those of all rounds in one sequence. `judging`: the
    discussion has ended and there is no judgment yet. `pending` is empty where later events exist. `changes` are by the
    version of a statement. `decisive` is None where the jurors are asked for no evidence and the label names nothing.
    """

    opened: DebateOpened
    record: DebateFold
    position: EventPosition
    simulated: str | None
    local: LocalFacts
    integrity: IntegrityState
    case: CasePassages
    why: VerdictReason | None
    decisive: DecisiveViews | None
    strip: ItemStrip | None
    evaluations: tuple[StatementView, ...]
    discussion: tuple[StatementView, ...]
    matrix: Matrix
    judgment: JudgmentView | None
    judging: bool
    end: EndView | None
    calls: tuple[ModelCalls, ...]
    all_calls: tuple[RecordedCall, ...]
    waterfall: Waterfall | None
    pending: PendingSteps
    changes: dict[int, EvaluationChanges]
    roles: dict[str, str]
    erased: tuple[TextsErased, ...]
    versions: dict[str, int]
    omitted: OmittedCounts
    reviews: ReviewFacts
    reasons: Reasons

    @property
    def language(self) -> str:
        return self.opened.panel.language

    @property
    def not_asked(self) -> tuple[str, ...]:
        event = self.record.not_asked
        return () if event is None else tuple(self.roles[juror_id] for juror_id in event.juror_ids)

    @property
    def scale(self) -> bool:
        """Whether the panel has its own verdict words, criteria or question."""
        panel = self.opened.panel
        meanings = any(one.meaning is not None for one in panel.rubric.dimensions)
        return panel.scale is not None or panel.task is not None or meanings


def debate_page(
    reading: DebateHistory, integrity: IntegrityState, at: int | None = None, limit: int | None = PREVIEW
) -> DebatePage:
    """The page after event `at` of a debate; None, or a number beyond the last: after the last event.

    Args:
        at: a version of the stream `debate/`, from 1.
        limit: bytes shown of each text; None: whole texts, and all seats and rounds.
    """
    stored = reading.stored_events
    here = min(at or len(stored), len(stored))
    newest = here == len(stored)
    events = reading.events[:here]
    reviews = reading.reviews if newest else NO_REVIEWS
    record = folded(events, reviews)
    whole = record if newest else folded(reading.events)
    calls = call_lines(reading, None if newest else stored[here - 1].position)
    # Erased texts are missing on the pages of earlier events too.
    previews = TextPreviews(reading.texts, reading.erased, limit)
    versions = {one.event_id: one.version for one in stored}
    opened = record.opened
    by_id = {call.exchange.event_id: call for call in calls}
    label = label_decisive(opened, reading.texts)
    shown_items = ShownItems(f"/debates/{opened.debate_id}", at=None if newest else here, cut=True, whole=limit is None)
    citations = Citations(
        opened, previews, record.evaluations, versions, label=label, reviews=reviews, shown=shown_items
    )
    views = StatementViews(opened.panel, previews, versions, by_id, changes=record.changes, citations=citations)
    simulated = None
    if record.simulated:
        simulated = "all" if opened.simulated else "some"
    rows, rounds = (None, None) if limit is None else (ROWS, ROUNDS)
    spoken = [(one, round_.started.round) for round_ in record.rounds for one in round_.spoken]
    panel = opened.panel
    first = [*record.phase_1, *(record.with_reasoning or ())]
    shown = tuple(views.statement(one, 0) for one in first[:rows])
    discussion = tuple(views.statement(one, number) for one, number in spoken[-(rows or len(spoken)) :])
    return DebatePage(
        opened=opened,
        record=record,
        position=EventPosition(here, len(stored), stored[here - 1], live=whole.ending is None),
        simulated=simulated,
        local=reading.local,
        integrity=integrity,
        case=case_passages(opened, previews, citations),
        why=reason_of(record, reading.texts),
        decisive=citations.decisive,
        strip=item_strip(panel, record.evaluations, citations, rows=rows),
        evaluations=shown,
        discussion=discussion,
        matrix=matrix(record, versions, rows, rounds),
        judgment=_judgment(record, views, versions),
        judging=_judging(record),
        end=_end(record.ending, previews, versions),
        calls=_calls(calls),
        all_calls=tuple(calls),
        waterfall=waterfall(calls, panel.juror_ids[:rows], _round_starts(stored[:here])),
        pending=pending_steps(record, calls) if newest else NOTHING_PENDING,
        changes=_changes((*shown, *discussion) if len(discussion) == len(spoken) else discussion),
        roles={seat.juror_id: seat.role_name for seat in panel.seats},
        erased=tuple(event for event in events if isinstance(event, TextsErased)),
        versions=versions,
        reviews=reviews,
        reasons=reasons_in(reading) if newest else NO_REASONS,
        omitted=OmittedCounts(
            evaluations=max(0, len(first) - (rows or sys.maxsize)),
            statements=len(spoken) - len(discussion),
            before=discussion[0].version - 1 if discussion else 0,
            seats=max(0, len(panel.seats) - (rows or sys.maxsize)),
            rounds=max(0, len(record.rounds) - (rounds or sys.maxsize)),
        ),
    )


def begun_event(history: DebateHistory) -> StoredEvent | None:
    """The event with which the debate began; None: it waits, or was ended before."""
    return next((event for event in history.stored_events if event.type == _BEGUN), None)


_BEGUN: str = DebateBegun.model_fields["type"].default


def _round_starts(stored: Sequence[StoredEvent]) -> dict[int, StoredEvent]:
    named = ((_STARTED.fullmatch(one.event_id), one) for one in stored if one.type == "round_started")
    return {int(found.group(1)): one for found, one in named if found is not None}


def _changes(statements: Sequence[StatementView]) -> dict[int, EvaluationChanges]:
    """Changes since the juror's evaluation before, among the given statements, by version."""
    latest: dict[str, StatementView] = {}
    found = {}
    for one in statements:
        if one.evaluation is None:
            continue
        before = latest.get(one.juror_id)
        if before is not None and (changed := evaluation_changes(one, before)) is not None:
            found[one.version] = changed
        if not one.evaluation.synthetic:
            latest[one.juror_id] = one
    return found


def _judging(record: DebateFold) -> bool:
    return (
        record.judgment is None
        and record.ending is None
        and record.opened.panel.final.method == "final_judge"
        and record.discussion_over
    )


def _judgment(record: DebateFold, views: StatementViews, versions: dict[str, int]) -> JudgmentView | None:
    rendered = record.judgment
    if rendered is None:
        return None
    panel = record.opened.panel
    return JudgmentView(
        version=versions[rendered.event_id],
        rendered=rendered.judgment,
        judge=views.evaluation(rendered.judgment.judge, rendered.event_id) if rendered.judgment.judge else None,
        calls=views.calls(rendered.exchanges),
        roles={vote.juror_id: role_of(panel, vote.juror_id) for vote in rendered.judgment.votes},
    )


def _end(ending: Ending | None, previews: TextPreviews, versions: dict[str, int]) -> EndView | None:
    match ending:
        case None:
            return None
        case DebateCompleted():
            return EndView(versions[ending.event_id], ending, None, None, None)
        case DebateFailed():
            return EndView(versions[ending.event_id], None, ending.reason, None, previews.text(ending.detail))
        case DebateCancelled():
            return EndView(versions[ending.event_id], None, None, ending.by, previews.text(ending.reason))


def _calls(calls: Sequence[RecordedCall]) -> tuple[ModelCalls, ...]:
    models = dict.fromkeys(call.exchange.model for call in calls)
    return tuple(_of_model(model, [call for call in calls if call.exchange.model == model]) for model in models)


def _of_model(model: str, calls: list[RecordedCall]) -> ModelCalls:
    made = [call.exchange for call in calls]
    ended = Counter(call.outcome for call in made)
    known = [call.cost for call in made if call.cost is not None]
    others = dict.fromkeys(
        str(call.model_version)
        for call in made
        if not call.simulated and is_other_model(call.model, call.model_version)
    )
    read = sum(call.usage.cached_input_tokens or 0 for call in made)
    written = sum(call.usage.written_tokens for call in made)
    return ModelCalls(
        model=model,
        calls=len(made),
        outcomes=tuple((outcome.value, ended[outcome]) for outcome in CallOutcome if ended[outcome]),
        input_tokens=sum(call.usage.input_tokens or 0 for call in made),
        output_tokens=sum(call.usage.output_tokens or 0 for call in made),
        tokens_unknown=sum(None in {call.usage.input_tokens, call.usage.output_tokens} for call in made),
        cost=sum(known) if known else None,
        cost_unknown=len(made) - len(known),
        others=tuple(others),
        cache_read=read,
        cache_written=written,
        uncached=uncached_today(made) if read or written else None,
    )


_STYLE = "style.css"


def single_file(reading: DebateHistory, integrity: IntegrityState, lang: Language) -> Iterator[str]:
    """The file, in chunks. Labels are in `lang`; a long text that several prompts share is written once."""
    page = debate_page(reading, integrity, limit=None)
    previews = ExchangeViews(page.opened, TextPreviews(reading.texts, reading.erased, None), once=True)
    return rendered_stream(
        "single_file.html",
        page=page,
        exchanges=[previews.view(line) for line in page.all_calls],
        lang=lang,
        labels=LABELS[lang],
        style=_STYLE,
        style_hash=_style_hash(),
        opened_at=reading.stored_events[0].recorded_at,
        begun=begun_event(reading),
    )


@cache
def _style_hash() -> str:
    """The Content-Security-Policy source of the style element (CSP 3, 2.3.1)."""
    return "sha256-" + b64encode(sha256(rendered(_STYLE).encode()).digest()).decode()
