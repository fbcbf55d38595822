"""Which seats are of decision models, and which panels can have them."""

from collections.abc import Collection

from jury_debate.decision_questions import QUESTIONS_VERSION
from jury_debate.errors import PanelError
from jury_events.panel import Panel, Seat

DECISION_PROTOCOLS = ("openai-decisions", "google-decisions", "systemone")
"""Protocols of decision models, which are names of providers too."""

_IN_WORDS = ("openai", "openai-responses", "anthropic", "google")
"""Providers whose models answer in words."""


NO_OUTPUT = 16
"""The tokens that limits reserve for the answer of a decision model, which writes none: the fewest of a call."""


def asked_questions(model: str, written: int | None, deciding: Collection[str]) -> int | None:
    """The version of the questions that a seat is asked; None: its model answers in words.

    Args:
        model: `provider/model`.
        written: as the panel says.
        deciding: further providers whose protocol is one of decision models.
    """
    if written is not None or not decides(model, deciding):
        return written
    return QUESTIONS_VERSION


def decides(model: str, deciding: Collection[str] = ()) -> bool:
    """Whether a model is reached by a protocol of decision models."""
    return model.partition("/")[0] in {*DECISION_PROTOCOLS, *deciding}


def check_decision_seats(panel: Panel, deciding: Collection[str] = ()) -> None:
    """Refuse what decision models cannot do: they give probabilities, and neither reasons nor points.

    Args:
        panel: resolved.
        deciding: as in `asked_questions`.

    Raises:
        PanelError: names the field and the remedy.
    """
    judge = panel.final.judge
    if judge is not None and (named := [one for one in (judge.model, *judge.fallbacks) if decides(one, deciding)]):
        raise PanelError(
            f"final.judge: {named[0]} is a decision model, which gives no reasons; name a model that answers in words"
        )
    for index, seat in enumerate(panel.seats):
        _check_models(index, seat, deciding)
        if seat.questions is not None:
            _check_seat(index, seat)
    if len(panel.speaking) == len(panel.seats):
        return
    if panel.answers.evidence == "required":
        raise PanelError(
            "answers.evidence: decision models quote nothing; write evidence: asked, or leave out their seats"
        )
    if panel.discussion.max_rounds and not panel.speaking:
        raise PanelError(
            "discussion.max_rounds: decision models never speak in a round, and no other seat is there; "
            "write preset: independent, or add a seat"
        )
    if not panel.speaking and judge is None and any(one.critical for one in panel.rubric.dimensions):
        raise PanelError(
            "criteria: decision models give no points, so a critical criterion is never checked; add a seat, "
            "or write critical: false"
        )


def _check_models(index: int, seat: Seat, deciding: Collection[str]) -> None:
    for model in (seat.model, *seat.fallbacks):
        in_words = model.partition("/")[0] in _IN_WORDS and not decides(model, deciding)
        if seat.questions is not None and in_words:
            raise PanelError(
                f"seats.{index}: {model} answers in words, the seat is of decision models; "
                "name models of one kind, each in a seat of its own"
            )
        if seat.questions is None and decides(model, deciding):
            raise PanelError(
                f"seats.{index}.fallbacks: {model} is a decision model, the seat is of models that answer in words; "
                "give it a seat of its own"
            )


def _check_seat(index: int, seat: Seat) -> None:
    if seat.questions != QUESTIONS_VERSION:
        raise PanelError(
            f"seats.{index}.questions: version {seat.questions} is not known (known: {QUESTIONS_VERSION}); "
            f"write {QUESTIONS_VERSION}, or upgrade jury-judge"
        )
    if seat.images:
        raise PanelError(f"seats.{index}.images: decision models are sent no pictures; write images: false")
    if seat.reading in {"windows", "tools"}:
        raise PanelError(
            f"seats.{index}.reading: a decision model reads a record whole or not at all; leave reading out"
        )
