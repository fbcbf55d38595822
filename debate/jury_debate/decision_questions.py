"""The typed questions that decision models are asked, in the wording of a version of its own.

A question is a choice among the verdict words, with their meanings; one for the case, and one for each scenario where
it has several. What a decision model reads cannot vote: its answer has no words, only a probability for each option.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

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
        panel: of the debate.
        seat: of a decision model.
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
