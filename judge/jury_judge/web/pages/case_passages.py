"""The case of a debate as the page shows it: passages under their headings, scenario by scenario."""

from typing import Literal, NamedTuple

from pydantic import ValidationError

from jury_events.case import Case, Scenario
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.panel import Language
from jury_events.parts import PartRef
from jury_judge.views.case_view import Pictures, pictures_sent, transcript_text
from jury_judge.web.pages.texts import Text, TextShelf

Heading = Literal["policy", "question", "expected", "transcript", "response", "error"]


class Passage(NamedTuple):
    """One text of a scenario; `items` counts those of a transcript."""

    heading: Heading
    text: Text
    items: int = 0


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


def case_passages(opened: DebateOpened, shelf: TextShelf) -> CasePassages:
    """The case of a debate; the headings within its transcript are in the language of its prompts."""
    ref = opened.case
    pictures = pictures_sent(opened.images, shelf.contents)
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
    return CasePassages(
        tuple(_scenario(one, ref, shelf, opened.panel.language, pictures) for one in case.scenarios), text, summary
    )


def _scenario(
    scenario: Scenario, ref: PartRef, shelf: TextShelf, language: Language, pictures: Pictures
) -> ScenarioPassages:
    question, execution = scenario.question, scenario.execution
    transcript = transcript_text(execution.transcript, language, pictures) or None
    found: tuple[tuple[Heading, str | None], ...] = (
        ("policy", question.policy),
        ("question", question.prompt),
        ("expected", question.expected_behavior),
        ("transcript", transcript),
        ("response", execution.response),
        ("error", execution.error),
    )
    count = len(execution.transcript)
    return ScenarioPassages(
        scenario.scenario_id,
        tuple(
            Passage(heading, shelf.passage(text, ref), count if heading == "transcript" else 0)
            for heading, text in found
            if text is not None
        ),
    )
