"""The case of a debate on its page: texts under headings, scenario by scenario."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import ValidationError

from jury_events.case import Case, Scenario
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.parts import PartRef
from jury_views.case_view import Pictures, pictures_sent
from jury_web.pages.text_previews import TextPreview, TextPreviews
from jury_web.pages.transcript_blocks import TranscriptBlocks, transcript_blocks

Heading = Literal["policy", "question", "expected", "transcript", "response", "error"]


class CasePassage(NamedTuple):
    """One text of a scenario, or its transcript of `items` items."""

    heading: Heading
    text: TextPreview | None
    items: int = 0
    transcript: TranscriptBlocks | None = None


class ScenarioPassages(NamedTuple):
    """The passages of a scenario, in reading order."""

    scenario_id: str
    passages: tuple[CasePassage, ...]


class CasePassages(NamedTuple):
    """The scenarios of a case; only its stored `text` where it was erased or this version cannot decode it.

    `summary` is the caller's summary of the artifact records, where there is one.
    """

    scenarios: tuple[ScenarioPassages, ...]
    text: TextPreview
    summary: TextPreview | None = None


def case_passages(opened: DebateOpened, previews: TextPreviews) -> CasePassages:
    """The case of a debate."""
    ref = opened.case
    pictures = pictures_sent(opened.images, previews.contents)
    text = previews.text(ref)
    assert text is not None
    content = previews.contents.get(ref.part)
    if content is None:
        return CasePassages((), text)
    try:
        case = Case.from_part(content)
    except (ValidationError, EventError):
        return CasePassages((), text)
    summary = None if case.artifact_summary is None else previews.passage(case.artifact_summary, ref)
    return CasePassages(
        tuple(_scenario(one, len(case.scenarios), ref, previews, pictures) for one in case.scenarios), text, summary
    )


def _scenario(
    scenario: Scenario, scenarios: int, ref: PartRef, previews: TextPreviews, pictures: Pictures
) -> ScenarioPassages:
    question, execution = scenario.question, scenario.execution
    texts: tuple[tuple[Heading, str | None], ...] = (
        ("policy", question.policy),
        ("question", question.prompt),
        ("expected", question.expected_behavior),
    )
    passages = _passages(texts, ref, previews)
    if count := len(execution.transcript):
        blocks = transcript_blocks(execution.transcript, ref, previews, pictures, scenarios)
        passages.append(CasePassage("transcript", None, count, blocks))
    passages += _passages((("response", execution.response), ("error", execution.error)), ref, previews)
    return ScenarioPassages(scenario.scenario_id, tuple(passages))


def _passages(found: Iterable[tuple[Heading, str | None]], ref: PartRef, previews: TextPreviews) -> list[CasePassage]:
    return [CasePassage(heading, previews.passage(text, ref)) for heading, text in found if text is not None]
