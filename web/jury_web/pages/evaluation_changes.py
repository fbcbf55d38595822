"""The changes between two evaluations of a juror: verdict, scores, rationale, statement."""

from typing import NamedTuple

from jury_events.evaluation import SeatPosition
from jury_web.pages.statement_views import EvaluationView, StatementView
from jury_web.pages.text_changes import Piece, text_changes
from jury_web.pages.text_previews import TextPreview


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
        """Whether nothing changed."""
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
        """Whether label and verdict are unchanged."""
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
