"""Statements, evaluations, abstentions and changes between evaluations as pages show them."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.evaluation import Evaluation, Probabilities, ScenarioVerdict, SeatPosition
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.panel import Panel
from jury_events.reading import RecordRead
from jury_events.rubric import Dimension, DimensionScore
from jury_events.verdict import Verdict
from jury_views.debate_fold import Change, is_stand_in, other_model, role_of
from jury_views.reasons import last_failure
from jury_web.pages.citations import Citations, EvaluationEvidence
from jury_web.pages.shown_items import TextPreview, TextPreviews


class Subscore(NamedTuple):
    """Points in one dimension; `maximum` is None where the rubric has no such dimension.

    `critical`: too few points of it cap the outcome of the debate.
    """

    dimension: str
    points: float
    maximum: float | None
    critical: bool = False


class EvaluationView(NamedTuple):
    """An evaluation. `other_model` answered instead of `model`; `stand_in`: a simulated juror did.

    `evidence`: what it quotes; None where it was asked for nothing. `label` as in `SeatPosition`. `subscores`: none
    where the panel asks for no points. `probabilities`: of a decision model, which gives no reasons. `read` and
    `answered` are its `reading` and `answered`.
    """

    verdict: Verdict
    label: str | None
    overall: float
    confidence: float
    subscores: tuple[Subscore, ...]
    rationale: TextPreview | None
    model: str
    other_model: str | None
    stand_in: bool
    synthetic: bool
    scenarios: tuple[ScenarioVerdict, ...]
    evidence: EvaluationEvidence | None
    read: RecordRead | None
    answered: Verdict | None
    probabilities: Probabilities | None = None


class RecordedCall(NamedTuple):
    """One model call. `number` is its version in the stream of calls; `recorded_at` is in microseconds since 1970."""

    number: int
    exchange: ExchangeRecorded
    recorded_at: int

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(call.name for call in self.exchange.tool_calls)


def call_lines(history: DebateHistory, up_to: int | None = None) -> list[RecordedCall]:
    """The model calls of a debate, recorded up to a position of the log."""
    return [
        RecordedCall(stored.version, history.exchanges[index], stored.recorded_at)
        for index, stored in enumerate(history.stored_exchanges)
        if up_to is None or stored.position <= up_to
    ]


class StatementView(NamedTuple):
    """An evaluation of phase 1, a statement, or an abstention (`evaluation` None, with reasons in `abstained`, and the
    parts of a long record in `partly_read` that were not read; `said`: what the provider reported of its last call).

    `version` is that of its event, `round` 0 in phase 1. `focus` is the focus of the seat's role; `stale`: an
    earlier evaluation of the seat counts instead; `change`: who changed the position. `reasoning`: in phase 1, once
    the seat was shown the agent's reasoning, which it had judged without.
    """

    version: int
    juror_id: str
    role: str
    focus: str
    round: int
    change: Change | None = None
    statement: TextPreview | None = None
    evaluation: EvaluationView | None = None
    abstained: tuple[str, ...] = ()
    said: str | None = None
    partly_read: tuple[str, ...] = ()
    stale: bool = False
    reasoning: bool = False
    calls: tuple[RecordedCall, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(name for call in self.calls for name in call.tools)


class StatementViews:
    """Makes a `StatementView` of each event of one debate.

    Args:
        versions: event ids to versions in the debate's stream.
    """

    def __init__(
        self,
        panel: Panel,
        previews: TextPreviews,
        versions: Mapping[str, int],
        calls: Mapping[str, RecordedCall],
        *,
        changes: Mapping[Step, Change],
        citations: Citations,
    ) -> None:
        self._panel = panel
        self._previews = previews
        self._versions = versions
        self._calls = calls
        self._changes = changes
        self._citations = citations

    def statement(self, event: JurorEvaluated | StatementMade | JurorAbstained, number: int) -> StatementView:
        base = StatementView(
            version=self._versions[event.event_id],
            juror_id=event.juror_id,
            role=role_of(self._panel, event.juror_id),
            focus=self._focus(event.juror_id),
            round=number,
            calls=self.calls(event.exchanges),
        )
        match event:
            case JurorEvaluated():
                return base._replace(
                    evaluation=self.evaluation(event.evaluation, event.event_id),
                    change=self._changes.get(event.step),
                    reasoning=event.step.reasoning,
                )
            case StatementMade():
                return base._replace(
                    evaluation=self.evaluation(event.statement.evaluation, event.event_id),
                    change=self._changes.get(event.step),
                    statement=self._previews.text(event.statement.statement),
                )
            case JurorAbstained():
                reasons = (event.reason, event.refusal) if event.refusal else (event.reason,)
                abstained = tuple(one.value for one in reasons)
                said = last_failure([call.exchange for call in base.calls], self._previews.contents)
                return base._replace(
                    abstained=abstained,
                    said=said,
                    partly_read=event.partly_read or (),
                    stale=event.stale,
                    reasoning=Step.parse(event.step).reasoning,
                )

    def evaluation(self, evaluation: Evaluation, event_id: str) -> EvaluationView:
        """The view of the evaluation of an event, with the maxima of the rubric."""
        rubric = self._panel.rubric
        dimensions = {dimension.name: dimension for dimension in rubric.dimensions}
        return EvaluationView(
            verdict=evaluation.verdict,
            label=evaluation.label,
            overall=evaluation.overall,
            confidence=evaluation.confidence,
            subscores=tuple(
                _subscore(score, dimensions.get(score.dimension))
                for score in (() if rubric.of_rank else evaluation.points)
            ),
            rationale=self._previews.text(evaluation.rationale),
            model=evaluation.model,
            other_model=other_model(evaluation),
            stand_in=is_stand_in(evaluation),
            synthetic=evaluation.synthetic,
            scenarios=evaluation.scenarios,
            evidence=self._citations.of(event_id),
            read=evaluation.reading,
            answered=evaluation.answered,
            probabilities=evaluation.probabilities,
        )

    def calls(self, exchanges: tuple[str, ...]) -> tuple[RecordedCall, ...]:
        """The calls of these exchange ids, as far as they are stored."""
        return tuple(self._calls[one] for one in exchanges if one in self._calls)

    def _focus(self, juror_id: str) -> str:
        try:
            return self._panel.seat(juror_id).role_focus
        except KeyError:
            return ""


def _subscore(score: DimensionScore, dimension: Dimension | None) -> Subscore:
    if dimension is None:
        return Subscore(score.dimension, score.points, None)
    return Subscore(score.dimension, score.points, dimension.maximum, dimension.critical is not None)


_SENTENCES = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]+\s*|[^.!?。！？\n]+$")
_WORDS = re.compile(r"[^\W\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+|\s+|.", re.DOTALL)
_MOST_SENTENCES, _MOST_WORDS = 200, 300
"""Comparing takes the product of both numbers."""

_ALIKE = 0.5


class Piece(NamedTuple):
    """A piece that both texts have, only the earlier one (`gone`), or only the later one (`new`)."""

    kind: Literal["same", "gone", "new"]
    text: str


def text_changes(before: str, after: str) -> tuple[Piece, ...] | None:
    """The later text with what is gone of the earlier one in its places; None where they are too long to compare."""
    old, new = _SENTENCES.findall(before), _SENTENCES.findall(after)
    if max(len(old), len(new)) > _MOST_SENTENCES:
        return None
    found: list[Piece] = []
    for what, old_from, old_to, new_from, new_to in _changes(old, new):
        if what == "equal":
            found.append(Piece("same", "".join(new[new_from:new_to])))
            continue
        for one, other in zip_longest(old[old_from:old_to], new[new_from:new_to], fillvalue=""):
            found += _sentence(one, other)
    return tuple(_joined(found))


def _sentence(before: str, after: str) -> list[Piece]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if 0 < max(len(old), len(new)) <= _MOST_WORDS:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        if matcher.ratio() > _ALIKE:
            pieces = []
            for what, old_from, old_to, new_from, new_to in matcher.get_opcodes():
                if what == "equal":
                    pieces.append(Piece("same", "".join(new[new_from:new_to])))
                else:
                    pieces.append(Piece("gone", "".join(old[old_from:old_to])))
                    pieces.append(Piece("new", "".join(new[new_from:new_to])))
            return pieces
    return [Piece("gone", before), Piece("new", after)]


def _changes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind in one piece; of a run of changes what is gone first."""
    found: list[Piece] = []
    gone = new = ""
    for piece in [*pieces, Piece("same", "")]:
        if piece.kind == "gone":
            gone += piece.text
        elif piece.kind == "new":
            new += piece.text
        else:
            found += [one for one in (Piece("gone", gone), Piece("new", new)) if one.text]
            gone = new = ""
            if piece.text:
                if found and found[-1].kind == "same":
                    found[-1] = Piece("same", found[-1].text + piece.text)
                else:
                    found.append(piece)
    return found


class ScoreChange(NamedTuple):
    """Points in one dimension of the rubric, before and now."""

    dimension: str
    before: float
    now: float


class TextChange(NamedTuple):
    """The changes in the shown part of a text; `pieces` is None where the texts are too long to compare."""

    pieces: tuple[Piece, ...] | None

    @property
    def same(self) -> bool:
        return self.pieces is not None and all(piece.kind == "same" for piece in self.pieces)


class EvaluationChanges(NamedTuple):
    """`round` is the round of the evaluation before, 0 for phase 1; `scores` are the changed dimensions."""

    round: int
    before: SeatPosition
    now: SeatPosition
    overall_before: float
    overall: float
    scores: tuple[ScoreChange, ...]
    statement: TextChange | None
    rationale: TextChange | None

    @property
    def same_verdict(self) -> bool:
        return self.before == self.now


def evaluation_changes(now: StatementView, before: StatementView) -> EvaluationChanges | None:
    """None where one of the two has no evaluation, or a synthetic one."""
    if now.evaluation is None or before.evaluation is None or now.evaluation.synthetic or before.evaluation.synthetic:
        return None
    return EvaluationChanges(
        round=before.round,
        before=SeatPosition(before.evaluation.verdict, before.evaluation.label),
        now=SeatPosition(now.evaluation.verdict, now.evaluation.label),
        overall_before=before.evaluation.overall,
        overall=now.evaluation.overall,
        scores=_scores(before.evaluation, now.evaluation),
        statement=_texts(before.statement, now.statement),
        rationale=_texts(before.evaluation.rationale, now.evaluation.rationale),
    )


def _scores(before: EvaluationView, now: EvaluationView) -> tuple[ScoreChange, ...]:
    old = {score.dimension: score.points for score in before.subscores}
    return tuple(
        ScoreChange(score.dimension, old[score.dimension], score.points)
        for score in now.subscores
        if score.dimension in old and old[score.dimension] != score.points
    )


def _texts(before: TextPreview | None, now: TextPreview | None) -> TextChange | None:
    if before is None or now is None or {before.state, now.state} != {"there"}:
        return None
    return TextChange(text_changes(before.shown, now.shown))
