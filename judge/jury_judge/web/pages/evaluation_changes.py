"""What changed in what a juror says since it was heard before: verdict, scores, reasons, statement."""

from typing import NamedTuple

from jury_events.verdict import Verdict
from jury_judge.views.text_changes import Piece, text_changes
from jury_judge.web.pages.statement_views import EvaluationView, StatementView
from jury_judge.web.pages.text_previews import TextPreview


class ScoreChange(NamedTuple):
    """Points in one dimension of the rubric, before and now."""

    dimension: str
    before: float
    now: float


class TextChange(NamedTuple):
    """`pieces` as far as the page shows both texts; None where there is nothing to compare. `same`: nothing changed."""

    pieces: tuple[Piece, ...] | None

    @property
    def same(self) -> bool:
        """Both say the same."""
        return self.pieces is not None and all(piece.kind == "same" for piece in self.pieces)


class EvaluationChanges(NamedTuple):
    """`round` is where the juror was heard before, 0 for phase 1. Scores list the dimensions that differ."""

    round: int
    verdict_before: Verdict
    verdict: Verdict
    overall_before: float
    overall: float
    scores: tuple[ScoreChange, ...]
    statement: TextChange | None
    rationale: TextChange | None

    @property
    def same_verdict(self) -> bool:
        """It holds what it held."""
        return self.verdict_before == self.verdict


def evaluation_changes(now: StatementView, before: StatementView) -> EvaluationChanges | None:
    """None where one of the two gave no evaluation, or something stands in for a blocked one."""
    if now.held is None or before.held is None or now.held.synthetic or before.held.synthetic:
        return None
    return EvaluationChanges(
        round=before.round,
        verdict_before=before.held.verdict,
        verdict=now.held.verdict,
        overall_before=before.held.overall,
        overall=now.held.overall,
        scores=_scores(before.held, now.held),
        statement=_texts(before.statement, now.statement),
        rationale=_texts(before.held.rationale, now.held.rationale),
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
