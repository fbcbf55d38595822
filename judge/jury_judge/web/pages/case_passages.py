"""The case of a debate as the page shows it: passages under their headings, scenario by scenario."""

from typing import Literal, NamedTuple

from pydantic import ValidationError

from jury_events.case import Case, Scenario
from jury_events.errors import EventError
from jury_events.parts import PartRef
from jury_judge.views.case_view import message_text
from jury_judge.web.pages.texts import Text, TextShelf

Heading = Literal["policy", "question", "expected", "transcript", "response", "error"]


class Passage(NamedTuple):
    """One text of a scenario; `messages` counts those of a transcript."""

    heading: Heading
    text: Text
    messages: int = 0


class ScenarioPassages(NamedTuple):
    """A scenario in reading order."""

    scenario_id: str
    passages: tuple[Passage, ...]


class CasePassages(NamedTuple):
    """The case: scenarios, or, where this version does not read it or it was erased, its stored `text`.

    `summary` is what the jurors were told of the records, where the caller said it in words.
    """

    scenarios: tuple[ScenarioPassages, ...]
    text: Text
    summary: Text | None = None


def case_passages(ref: PartRef, shelf: TextShelf) -> CasePassages:
    """The case behind a reference."""
    text = shelf.text(ref)
    assert text is not None
    content = shelf.contents.get(ref.part)
    if content is None:
        return CasePassages((), text)
    try:
        case = Case.from_part(content)
    except (ValidationError, EventError):
        return CasePassages((), text)
    summary = None if case.artifact_summary is None else shelf.passage(case.artifact_summary, ref)
    return CasePassages(tuple(_scenario(one, ref, shelf) for one in case.scenarios), text, summary)


def _scenario(scenario: Scenario, ref: PartRef, shelf: TextShelf) -> ScenarioPassages:
    question, execution = scenario.question, scenario.execution
    transcript = "\n".join(map(message_text, execution.messages)) or None
    found: tuple[tuple[Heading, str | None], ...] = (
        ("policy", question.policy),
        ("question", question.prompt),
        ("expected", question.expected_behavior),
        ("transcript", transcript),
        ("response", execution.response),
        ("error", execution.error),
    )
    count = len(execution.messages)
    return ScenarioPassages(
        scenario.scenario_id,
        tuple(
            Passage(heading, shelf.passage(text, ref), count if heading == "transcript" else 0)
            for heading, text in found
            if text is not None
        ),
    )
