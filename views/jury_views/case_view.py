"""A case as text: what jurors were shown of it, its items by their numbers, its facts, and what the label names."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from itertools import accumulate
from string import Template
from textwrap import indent
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ValidationError

from jury_debate.assignment import OPERATOR_POLICY
from jury_debate.marking import unmark
from jury_debate.numbered_case import NumberedCase, numbered_case
from jury_debate.prompts_1.case_items import ItemMessages, SourceMessage, render_item, transcript_items
from jury_debate.prompts_1.line_marks import SIGN_PATTERN
from jury_debate.prompts_1.texts import NUMBER
from jury_debate.prompts_registry import LANGUAGES, PROMPTS, load_prompts
from jury_events.case import DECISIVE_AGENT, Case, Omission, Scenario, decisive_message, with_provenance
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.evidence import EvidenceSpan
from jury_events.panel import Language
from jury_events.text import shown_size
from jury_events.transcript import Transcript
from jury_views.debate_fold import text_in
from jury_views.debate_labels import DebateLabels
from jury_views.evaluation_models import LabelledPlace
from jury_views.page import Page, TextSpan


class PlacedText(NamedTuple):
    """Characters `start` to `end` (exclusive) of the text `place`, from 0, of an item."""

    place: int
    start: int
    end: int


class NumberedItem(NamedTuple):
    """One item.

    `scenario` counts from 1, None for the summary of artifacts; `kind` is `policy`, `question`, `expected_behavior`,
    `transcript`, `response`, `error` or `summary`; `place` is its index in the transcript of its scenario, else None.
    `texts` are its texts of the record, in order; the text of the item is these, joined by line breaks. `heading` says
    in the prompts whose it is; "" of the policy and the summary.
    """

    number: int
    scenario: int | None
    kind: str
    place: int | None
    texts: tuple[str, ...]
    heading: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


class NumberedItems:
    """The items of one debate.

    Args:
        plain: as a seat without pictures was shown them.
        pictured: as a seat with pictures was; the same items, of which attachments have other texts.
    """

    def __init__(self, plain: NumberedCase, pictured: NumberedCase) -> None:
        self._plain = {item.number: item for item in _items(plain)}
        self._pictured = {item.number: item for item in _items(pictured)}
        self._by_place = {(item.scenario, item.kind, item.place): item for item in self._plain.values()}
        self.policy = plain.policy

    def item(self, number: int, *, images: bool = False) -> NumberedItem | None:
        """The item of a number; None: there is none.

        Args:
            images: as a seat with pictures was shown it.
        """
        return (self._pictured if images else self._plain).get(number)

    @property
    def last(self) -> int:
        """The largest number of an item; the smallest is 1, and none between is missing. 0: there is none."""
        return max(self._plain, default=0)

    def at(self, scenario: int | None, kind: str, place: int | None = None) -> NumberedItem | None:
        """The item of a place in the case; None where what is there is no item of its own."""
        return self._by_place.get((scenario, kind, place))

    def placed(self, span: EvidenceSpan, *, images: bool = False) -> tuple[PlacedText, ...]:
        """The characters of a span in the texts of its item; nothing for a span of no item, or beyond its text.

        Args:
            span: in characters of the text of the item.
            images: as the seat that quotes was shown it.
        """
        item = None if span.item is None else self.item(span.item, images=images)
        return () if item is None else tuple(_placed(item.texts, span.start, span.end))


_BETWEEN = {"en": ", ", "ja": "、"}


def case_facts(opened: DebateOpened, words: DebateLabels) -> Iterator[tuple[str, str]]:
    """Stage, tags, cluster and other facts of the case, each with its heading, if present."""
    if (place := opened.stage) is not None:
        form = words.audit_stage if place.audit else words.first_stage if place.before is None else words.later_stage
        yield words.stage, form.format(number=place.number, of=place.of, before=place.before)
    if opened.tags:
        yield words.tags, ", ".join(opened.tags)
    if opened.cluster is not None:
        yield words.cluster, opened.cluster
    if opened.metadata:
        said = (
            f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
            for name, value in opened.metadata.items()
        )
        yield words.metadata, ", ".join(said)
    if opened.agent_cost is not None:
        yield words.agent_cost, f"${opened.agent_cost:.4f}"


def omissions_line(opened: DebateOpened, words: DebateLabels) -> str | None:
    """The parts that no juror was shown, by kind, with sizes if known; None without any."""
    if not opened.omissions:
        return None
    said = _BETWEEN[words.language].join(_omission(omission, words) for omission in opened.omissions)
    return f"{words.not_shown}: {said}"


def _omission(omission: Omission, words: DebateLabels) -> str:
    if omission.size is None:
        return words.omission.format(count=omission.count, what=omission.what)
    return words.omission_sized.format(count=omission.count, what=omission.what, size=shown_size(omission.size))


Pictures = Mapping[str, int]
"""The numbers of the pictures that were sent to some juror, by the digests of their attachments."""

NO_PICTURES: Pictures = MappingProxyType({})


def pictures_sent(opened: DebateOpened, contents: Mapping[str, bytes]) -> Pictures:
    """The pictures of a debate; erased ones are left out, and those that were kept for a later stage alone."""
    sent = any(place.images for place in opened.panel.seats_and_judge)
    found = (contents.get(image.content.part) for image in (opened.images if sent else ()))
    return {sha256(content).hexdigest(): number for number, content in enumerate(found, start=1) if content is not None}


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
        prompts: the version that the debate was opened with.
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
    """The transcript as jurors who see `pictures` are shown it, with indented texts instead of marked ones."""
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


_MARKED = re.compile("^(⟦[A-Za-z0-9]{1,64}⟧) ", re.MULTILINE)
_INDENT = "    "


def marker_in(texts: Iterable[str]) -> str | None:
    """The marker of the judged texts of a request; None where there is none.

    Args:
        texts: of its messages or their pieces, in order. The case, which names a sign of lines, is one of them.
    """
    for text in texts:
        if found := _MARKED.search(text) or _notice().search(text):
            return found.group(1)
    return None


def plain_prompt(text: str, marker: str | None) -> str:
    """The text with the lines of judged text indented by four columns, as they were before they were marked.

    A carriage return stays written out: it would look like any line end. Line ends that were written out are indented
    like every other, so that all lines without an indent are the prompt's own.
    """
    if marker is None:
        return text
    return "\n".join(
        _indented(unmark(line, marker)) if line.startswith(f"{marker} ") else line for line in text.split("\n")
    )


def _indented(judged: str) -> str:
    return _INDENT + judged.replace("\r", "⟨U+000D⟩").replace("\n", f"\n{_INDENT}")


@cache
def _notice() -> re.Pattern[str]:
    """The line of a case that names the sign, in any language."""
    lines = (load(language).texts.case.sign for load in PROMPTS.values() for language in LANGUAGES)
    named = ("(?:" + "(?P<sign>)".join(map(re.escape, _around(line))) + ")" for line in lines)
    pattern = "|".join(one.replace("(?P<sign>)", SIGN_PATTERN) for one in named)
    return re.compile(rf"^(?=(?:{pattern})$)[^\n]*?({SIGN_PATTERN})", re.MULTILINE)


def _around(line: str) -> tuple[str, str]:
    """What stands before and after the sign."""
    before, _, after = Template(line).substitute(sign="\0").partition("\0")
    return before, after


class RecordedCase(NamedTuple):
    """A case, and the piece of the prompt with the policy that was shown before it; None: there was none."""

    case: Case
    policy_piece: str | None


def readable_case(opened: DebateOpened, contents: Mapping[str, bytes]) -> Case | None:
    """The case of a debate as it was judged; None where it was erased, or this version cannot read it."""
    content = contents.get(opened.case.part)
    try:
        return None if content is None else Case.from_part(content)
    except (ValidationError, EventError):
        return None


def recorded_case(opened: DebateOpened, contents: Mapping[str, bytes], case: Case | None = None) -> RecordedCase | None:
    """The case of a debate; None where it or the policy was erased, or this version cannot read it.

    It has its provenance where that was recorded and can be read.

    Args:
        case: that of the debate, where it has been read already; None: it is read here.
    """
    case = case or readable_case(opened, contents)
    if case is None:
        return None
    piece = next((one.text for one in opened.pieces if one.name == OPERATOR_POLICY), None)
    policy = None if piece is None else text_in(contents, piece)
    if piece is not None and policy is None:
        return None
    return RecordedCase(_with_provenance(case, opened, contents), policy)


def _with_provenance(case: Case, opened: DebateOpened, contents: Mapping[str, bytes]) -> Case:
    known = None if opened.provenance is None else contents.get(opened.provenance.part)
    if known is None:
        return case
    try:
        return with_provenance(case, known)
    except EventError:
        return case


def numbered_items(
    opened: DebateOpened, contents: Mapping[str, bytes], case: Case | None = None
) -> NumberedItems | None:
    """The items of a debate; None where its case was erased or is unreadable.

    Args:
        case: that of the debate, where it has been read already; None: it is read here.
    """
    recorded = recorded_case(opened, contents, case)
    if recorded is None:
        return None
    known, piece = recorded
    prompts = load_prompts(opened.prompts, opened.panel.language)
    pictures = pictures_sent(opened, contents)
    plain = numbered_case(known, opened.panel, prompts, piece, {})
    return NumberedItems(plain, numbered_case(known, opened.panel, prompts, piece, pictures) if pictures else plain)


def _items(shown: NumberedCase) -> Iterator[NumberedItem]:
    if shown.policy is not None:
        yield NumberedItem(NUMBER, None, "policy", None, (shown.policy,))
    for item in shown.items:
        yield NumberedItem(item.number, item.scenario, item.kind, item.place, item.judged, item.heading)
    if shown.summary is not None:
        number, text = shown.summary
        yield NumberedItem(number, None, "summary", None, (text,))


def _placed(texts: tuple[str, ...], start: int, end: int) -> Iterator[PlacedText]:
    begins = accumulate((len(text) + 1 for text in texts), initial=0)
    for index, (text, begin) in enumerate(zip(texts, begins, strict=False)):
        first, last = max(start - begin, 0), min(end - begin, len(text))
        if first < last:
            yield PlacedText(index, first, last)


MOST_LABELLED = 20
"""Items of the message that are shown where the label's message is named."""


class LabelDecisive(NamedTuple):
    """The `message`, from 0 in the source, and the `agent` at fault; None where the label does not name it.

    `items` are the items of the message as the prompts number them; () where the message is not known, has none, or
    the case was erased.
    """

    message: int | None
    agent: str | None
    items: tuple[int, ...]


def label_decisive(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelDecisive | None:
    """What the label names as decisive; None where it names neither a message nor an agent."""
    message, agent = decisive_message(opened.metadata), opened.metadata.get(DECISIVE_AGENT)
    if message is None and agent is None:
        return None
    items = () if message is None else _items_of_message(message, opened, contents)
    return LabelDecisive(message, None if agent is None else str(agent), items)


def label_decisive_object(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelledPlace | None:
    found = label_decisive(opened, contents)
    return None if found is None else LabelledPlace(message=found.message, agent=found.agent, items=list(found.items))


def _items_of_message(message: int, opened: DebateOpened, contents: Mapping[str, bytes]) -> tuple[int, ...]:
    recorded = recorded_case(opened, contents)
    if recorded is None or len(recorded.case.scenarios) > 1:
        return ()
    # The policy of the only scenario is the first item, whether it is shown with the question or before the case.
    return ItemMessages(recorded.case).numbers(SourceMessage(1, message))
