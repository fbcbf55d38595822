"""The changes between two evaluations of a juror: verdict, scores, rationale, statement."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, NamedTuple

from jury_events.evaluation import SeatPosition
from jury_web.pages.statement_views import EvaluationView, StatementView
from jury_web.pages.text_previews import TextPreview

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
