"""The case of a debate as it is shown."""

from textwrap import indent

from pydantic import ValidationError

from jury_debate.prompts_1.case_items import transcript_items
from jury_debate.prompts_1.case_text import render_item
from jury_debate.prompts_registry import load_prompts
from jury_events.case import Case, Scenario
from jury_events.errors import EventError
from jury_events.panel import Language
from jury_events.transcript import Transcript
from jury_views.debate_labels import DebateLabels
from jury_views.numbered_items import NumberedItems
from jury_views.page import Page, TextSpan
from jury_views.sent_pictures import NO_PICTURES, Pictures

EXCERPT = 600
"""Characters of each text of a case in a view that is not full."""


def add_case(
    page: Page,
    text: str,
    words: DebateLabels,
    *,
    prompts: int,
    full: bool,
    pictures: Pictures = NO_PICTURES,
    items: NumberedItems | None = None,
) -> None:
    """The case from its stored JSON; JSON that this version does not read as a case is shown as it is.

    Args:
        page: takes the lines.
        text: the stored JSON.
        words: the headings.
        prompts: the version that the debate was opened with.
        full: whether long texts are shown whole.
        pictures: those that were sent to some juror.
        items: the numbers of the items; None: those of a transcript count from 1.
    """
    try:
        case = Case.from_part(text.encode())
    except (ValidationError, EventError):
        _passage(page, words.case, text, words, full=full)
        return
    view = _CaseView(page, words, prompts=prompts, full=full, pictures=pictures, items=items)
    for number, scenario in enumerate(case.scenarios, 1):
        if len(case.scenarios) > 1:
            page.line(TextSpan(f"{words.scenario} {scenario.scenario_id}", "bold"))
        view.scenario(scenario, number)
    view.summary(case.artifact_summary)


class _CaseView:
    def __init__(
        self,
        page: Page,
        words: DebateLabels,
        *,
        prompts: int,
        full: bool,
        pictures: Pictures,
        items: NumberedItems | None,
    ) -> None:
        self._page = page
        self._words = words
        self._prompts = prompts
        self._full = full
        self._pictures = pictures
        self._items = items

    def scenario(self, scenario: Scenario, number: int) -> None:
        question, execution, words = scenario.question, scenario.execution, self._words
        if question.policy is not None:
            self._passage("policy", number, words.policy, question.policy)
        self._passage("question", number, words.question, question.prompt)
        if question.expected_behavior is not None:
            self._passage("expected_behavior", number, words.expected, question.expected_behavior)
        if count := len(execution.transcript):
            first = self._number("transcript", number, 0)
            shown = transcript_text(
                execution.transcript, words.language, self._prompts, self._pictures, first=first or 1
            )
            _passage(self._page, f"{words.transcript} ({count})", shown, words, full=self._full)
        self._passage("response", number, words.response, execution.response or words.empty)
        if execution.error is not None:
            self._passage("error", number, words.error, execution.error)

    def summary(self, given: str | None) -> None:
        """The caller's summary of artifact records, or that which jurors were shown as an item."""
        item = None if self._items is None else self._items.at(None, "summary")
        text = given if item is None else item.text
        if text is not None:
            self._passage("summary", None, self._words.artifact_summary, text)

    def _passage(self, kind: str, scenario: int | None, heading: str, text: str) -> None:
        number = self._number(kind, scenario)
        head = heading if number is None else f"[{number}] {heading}"
        _passage(self._page, head, text, self._words, full=self._full)

    def _number(self, kind: str, scenario: int | None, place: int | None = None) -> int | None:
        if self._items is None:
            return None
        item = self._items.at(scenario, kind, place)
        if item is None and kind == "policy":
            item = self._items.at(None, "policy")
        return None if item is None else item.number


def transcript_text(
    transcript: Transcript, language: Language, prompts: int, pictures: Pictures = NO_PICTURES, *, first: int = 1
) -> str:
    """The transcript as jurors who see `pictures` are shown it, with indented texts instead of marked ones.

    Args:
        transcript: the items.
        language: of the headings.
        prompts: their version.
        pictures: those that were sent to some juror.
        first: the number of the first item.
    """
    texts = load_prompts(prompts, language).texts.case

    def marked(text: str) -> str:
        return indent(text, "    ", lambda _line: True)

    items = transcript_items(transcript, texts, pictures, first)
    return "\n\n".join(render_item(item, texts, marked) for item in items)


def _passage(page: Page, heading: str, text: str, words: DebateLabels, *, full: bool) -> None:
    page.line(TextSpan(heading, "bold"))
    cut = text if full or len(text) <= EXCERPT else text[:EXCERPT]
    page.text(cut, indent=2)
    if len(cut) < len(text):
        page.line(TextSpan(words.more.format(count=len(text) - len(cut)), "dim"), indent=2)
