"""The case of a debate as it is shown."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from textwrap import indent
from types import MappingProxyType

from pydantic import ValidationError

from jury_debate.case_text import render_items
from jury_debate.prompts import PROMPTS_VERSION, load_prompts
from jury_events.case import Case, Scenario
from jury_events.errors import EventError
from jury_events.panel import Language
from jury_events.parts import ImageRef
from jury_events.transcript import Transcript
from jury_views.debate_labels import DebateLabels
from jury_views.page import Page, TextSpan

EXCERPT = 600
"""Characters of each text of a case in a view that is not full."""


Pictures = Mapping[str, int]
"""The numbers of the pictures that were sent to some juror, by the digests of their attachments."""

_NO_PICTURES: Pictures = MappingProxyType({})


def pictures_sent(images: Iterable[ImageRef], contents: Mapping[str, bytes]) -> Pictures:
    """The pictures that a debate opened with; erased ones are left out."""
    found = (contents.get(image.content.part) for image in images)
    return {sha256(content).hexdigest(): number for number, content in enumerate(found, start=1) if content is not None}


def add_case(page: Page, text: str, words: DebateLabels, *, full: bool, pictures: Pictures = _NO_PICTURES) -> None:
    """The case from its stored JSON; JSON that this version does not read as a case is shown as it is."""
    try:
        case = Case.from_part(text.encode())
    except (ValidationError, EventError):
        _passage(page, words.case, text, words, full=full)
        return
    for scenario in case.scenarios:
        if len(case.scenarios) > 1:
            page.line(TextSpan(f"{words.scenario} {scenario.scenario_id}", "bold"))
        _scenario(page, scenario, words, full=full, pictures=pictures)
    if case.artifact_summary is not None:
        _passage(page, words.artifact_summary, case.artifact_summary, words, full=full)


def _scenario(page: Page, scenario: Scenario, words: DebateLabels, *, full: bool, pictures: Pictures) -> None:
    question, execution = scenario.question, scenario.execution
    if question.policy is not None:
        _passage(page, words.policy, question.policy, words, full=full)
    _passage(page, words.question, question.prompt, words, full=full)
    if question.expected_behavior is not None:
        _passage(page, words.expected, question.expected_behavior, words, full=full)
    if len(execution.transcript):
        transcript = transcript_text(execution.transcript, words.language, pictures)
        _passage(page, f"{words.transcript} ({len(execution.transcript)})", transcript, words, full=full)
    _passage(page, words.response, execution.response or words.empty, words, full=full)
    if execution.error is not None:
        _passage(page, words.error, execution.error, words, full=full)


def transcript_text(transcript: Transcript, language: Language, pictures: Pictures = _NO_PICTURES) -> str:
    """The transcript as jurors who see `pictures` are shown it, with indented texts instead of marked ones."""
    texts = load_prompts(PROMPTS_VERSION, language).texts.case
    return "\n\n".join(render_items(transcript, texts, lambda text: indent(text, "    ", lambda _line: True), pictures))


def _passage(page: Page, heading: str, text: str, words: DebateLabels, *, full: bool) -> None:
    page.line(TextSpan(heading, "bold"))
    cut = text if full or len(text) <= EXCERPT else text[:EXCERPT]
    page.text(cut, indent=2)
    if len(cut) < len(text):
        page.line(TextSpan(words.more.format(count=len(text) - len(cut)), "dim"), indent=2)
