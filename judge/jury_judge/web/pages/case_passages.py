"""The case of a debate as the page shows it: passages under their headings, scenario by scenario."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import ValidationError

from jury_events.case import Case, Scenario
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.parts import PartRef
from jury_judge.present.case_view import Pictures, pictures_sent
from jury_judge.web.pages.texts import Text, TextShelf
from jury_judge.web.pages.transcript_blocks import TranscriptBlocks, transcript_blocks

Heading = Literal["policy", "question", "expected", "transcript", "response", "error"]


class Passage(NamedTuple):
    """One text of a scenario, or its transcript, item by item; `items` counts those of a transcript."""

    heading: Heading
    text: Text | None
    items: int = 0
    transcript: TranscriptBlocks | None = None


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
    """The case of a debate."""
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
        tuple(_scenario(one, len(case.scenarios), ref, shelf, pictures) for one in case.scenarios), text, summary
    )


def _scenario(
    scenario: Scenario, scenarios: int, ref: PartRef, shelf: TextShelf, pictures: Pictures
) -> ScenarioPassages:
    question, execution = scenario.question, scenario.execution
    said: tuple[tuple[Heading, str | None], ...] = (
        ("policy", question.policy),
        ("question", question.prompt),
        ("expected", question.expected_behavior),
    )
    asked = _passages(said, ref, shelf)
    if count := len(execution.transcript):
        blocks = transcript_blocks(execution.transcript, ref, shelf, pictures, scenarios)
        asked.append(Passage("transcript", None, count, blocks))
    done = _passages((("response", execution.response), ("error", execution.error)), ref, shelf)
    return ScenarioPassages(scenario.scenario_id, (*asked, *done))


def _passages(found: Iterable[tuple[Heading, str | None]], ref: PartRef, shelf: TextShelf) -> list[Passage]:
    return [Passage(heading, shelf.passage(text, ref)) for heading, text in found if text is not None]
