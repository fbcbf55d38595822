"""The case of a debate on its page: texts under headings, scenario by scenario."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from jury_events.case import Scenario
from jury_events.debate_events import DebateOpened
from jury_events.parts import PartRef
from jury_views.case_view import NumberedItem, Pictures, pictures_sent
from jury_web.pages.citations import Citations, CitedText, ItemCitations, cited_text
from jury_web.pages.text_previews import TextPreview, TextPreviews
from jury_web.pages.transcript_blocks import TranscriptBlocks, transcript_blocks

Heading = Literal["policy", "question", "expected", "transcript", "response", "error", "summary"]


_KINDS: dict[Heading, str] = {
    "policy": "policy",
    "question": "question",
    "expected": "expected_behavior",
    "response": "response",
    "error": "error",
}
"""Headings, and the kinds of numbered items."""


class CasePassage(NamedTuple):
    """One text of a scenario, or its transcript of `items` items.

    `number` is that of the item, where the prompts number it, `citations` are those of jurors who quote it, `cited` is
    the text with what they quote.
    """

    heading: Heading
    text: TextPreview | None
    items: int = 0
    transcript: TranscriptBlocks | None = None
    number: int | None = None
    citations: ItemCitations | None = None
    cited: CitedText | None = None


class ScenarioPassages(NamedTuple):
    """The passages of a scenario, in reading order."""

    scenario_id: str
    passages: tuple[CasePassage, ...]


class CasePassages(NamedTuple):
    """The scenarios of a case; only its stored `text` where it was erased or this version cannot decode it.

    `summary` is the summary of the artifact records: the caller's, where there is one, or that of a numbered item.
    """

    scenarios: tuple[ScenarioPassages, ...]
    text: TextPreview
    summary: CasePassage | None = None


def case_passages(opened: DebateOpened, previews: TextPreviews, citations: Citations) -> CasePassages:
    """The case of a debate, with what its jurors quote of it."""
    ref = opened.case
    pictures = pictures_sent(opened, previews.contents)
    text = previews.text(ref)
    assert text is not None
    case = citations.case
    if case is None:
        return CasePassages((), text)
    reader = _CaseReader(ref, previews, pictures, citations)
    scenarios = tuple(reader.scenario(one, number) for number, one in enumerate(case.scenarios, 1))
    return CasePassages(scenarios, text, reader.summary(case.artifact_summary))


class _CaseReader:
    def __init__(self, ref: PartRef, previews: TextPreviews, pictures: Pictures, citations: Citations) -> None:
        self._ref = ref
        self._previews = previews
        self._pictures = pictures
        self._citations = citations
        self._shown: set[int] = set()

    def scenario(self, scenario: Scenario, number: int) -> ScenarioPassages:
        question, execution = scenario.question, scenario.execution
        texts: tuple[tuple[Heading, str | None], ...] = (
            ("policy", question.policy),
            ("question", question.prompt),
            ("expected", question.expected_behavior),
        )
        passages = self._passages(texts, number)
        if count := len(execution.transcript):
            blocks = transcript_blocks(
                execution.transcript,
                self._ref,
                self._previews,
                self._pictures,
                citations=self._citations,
                scenario=number,
            )
            passages.append(CasePassage("transcript", None, count, blocks))
        passages += self._passages((("response", execution.response), ("error", execution.error)), number)
        return ScenarioPassages(scenario.scenario_id, tuple(passages))

    def summary(self, given: str | None) -> CasePassage | None:
        numbered = self._citations.item_at(None, "summary")
        text = given if numbered is None else numbered.text
        return None if text is None else self._passage("summary", text, numbered)

    def _passages(self, found: Iterable[tuple[Heading, str | None]], scenario: int) -> list[CasePassage]:
        return [
            self._passage(heading, text, self._citations.item_at(scenario, _KINDS[heading]))
            for heading, text in found
            if text is not None
        ]

    def _passage(self, heading: Heading, text: str, numbered: NumberedItem | None) -> CasePassage:
        """The operator's policy is one item, with each question that has it; the first has its number and marks."""
        passage = CasePassage(heading, self._previews.passage(text, self._ref))
        if numbered is None or numbered.number in self._shown or not text.startswith(numbered.text):
            return passage
        self._shown.add(numbered.number)
        assert passage.text is not None
        cited = cited_text(text, passage.text.shown, self._citations.marks(numbered).get(0, ()))
        at_item = self._citations.at(numbered, cited)
        return passage._replace(number=numbered.number, citations=at_item, cited=cited)
