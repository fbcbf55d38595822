"""Seats that decide by answering questions: which ones, and what they are asked.

A question is a choice among the verdict words, with their meanings; one for the case, and one for each scenario where
it has several. What a decision model reads cannot vote: its answer has no words, only a probability for each option.
"""

import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from jury_debate.errors import PanelError
from jury_debate.prompts_1.texts import fill
from jury_events.bundled_scales import AGENT_SAFETY, bundled_scale, scale_of
from jury_events.canonical import canonical_json
from jury_events.panel import Language, Panel, Seat
from jury_events.value import Value

QUESTIONS_VERSION = 1
"""The wording of new panels."""

QUESTIONS = "questions/"
"""Prefix of the pieces with the questions to a seat; the juror id follows."""

WHOLE_CASE = "verdict"
"""The name of the question about the case."""


class QuestionTexts(Value):
    """The texts of a version and language; templates, as those of prompts.

    `probabilities` and `no_reasons` are what other jurors are shown of an answer.
    """

    instructions: str
    focus: str
    in_doubt: str
    no_doubt: str
    all_scenarios: str
    one_scenario: str
    probabilities: str
    no_reasons: str


class QuestionOption(Value):
    """An option: a verdict word, and what it means."""

    value: str
    description: str


class DecisionQuestion(Value):
    """A choice; `name` identifies its answer."""

    name: str
    instructions: str
    options: Annotated[tuple[QuestionOption, ...], Field(min_length=2)]


class DecisionQuestions(Value):
    """The questions of one request, in their order."""

    version: Annotated[int, Field(ge=1)]
    questions: Annotated[tuple[DecisionQuestion, ...], Field(min_length=1)]


@cache
def question_texts(version: int, language: Language) -> QuestionTexts:
    """The texts of a version of the wording."""
    path = files("jury_debate").joinpath("questions", f"v{version}", f"{language}.toml")
    return QuestionTexts.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def scenario_question(number: str) -> str:
    """The name of the question about a scenario."""
    return f"scenario-{number}"


def questions_piece(panel: Panel, seat: Seat, scenarios: tuple[str, ...], role_prompt: str | None) -> bytes:
    """The questions to a seat as canonical JSON: a piece of the debate's prompts.

    Args:
        scenarios: their numbers; () where there is only one.
        role_prompt: the seat's own prompt, in place of the sentence about its focus.
    """
    assert seat.questions is not None
    texts = question_texts(seat.questions, panel.language)
    scale = scale_of(panel)
    focus = role_prompt or fill(texts.focus, focus=seat.role_focus)
    doubt = texts.no_doubt if scale.in_doubt is None else fill(texts.in_doubt, label=scale.in_doubt)
    task = panel.task or bundled_scale(AGENT_SAFETY, panel.language).task
    asked = fill(texts.instructions, task=task, focus=focus, doubt=doubt)
    options = tuple(QuestionOption(value=label.id, description=label.meaning) for label in scale.labels)

    def question(name: str, about: str = "") -> DecisionQuestion:
        return DecisionQuestion(name=name, instructions=f"{about}\n{asked}" if about else asked, options=options)

    total = len(scenarios)
    questions = [question(WHOLE_CASE, fill(texts.all_scenarios, total=total) if scenarios else "")]
    questions += [
        question(scenario_question(number), fill(texts.one_scenario, total=total, number=number))
        for number in scenarios
    ]
    return canonical_json(DecisionQuestions(version=seat.questions, questions=tuple(questions)))


DECISION_PROTOCOLS = ("openai-decisions", "google-decisions", "systemone")
"""Protocols of decision models, which are names of providers too."""

_IN_WORDS = ("openai", "openai-responses", "anthropic", "google")
"""Providers whose models answer in words."""


NO_OUTPUT = 16
"""The tokens that limits reserve for the answer of a decision model, which writes none: the fewest of a call."""


def decides(model: str, deciding: Collection[str] = ()) -> bool:
    """Whether a model (`provider/model`) is reached by a protocol of decision models, as those of `deciding` are."""
    return model.partition("/")[0] in {*DECISION_PROTOCOLS, *deciding}


def check_decision_seats(panel: Panel, deciding: Collection[str] = ()) -> None:
    """Refuse what decision models cannot do: they give probabilities, and neither reasons nor points.

    Args:
        deciding: further providers whose protocol is one of decision models.
    """
    judge, asked = panel.final.judge, False
    for model in () if judge is None else (judge.model, *judge.fallbacks):
        if decides(model, deciding):
            raise PanelError(
                f"final.judge: {model} is a decision model, which gives no reasons; name a model that answers in words"
            )
    for index, seat in enumerate(panel.seats):
        _check_models(index, seat, deciding)
        if seat.questions is not None:
            asked = True
            _check_seat(index, seat)
    if not asked:
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
