"""The numbered items of a case, the messages that they come from, and their text for jurors.

An item has a heading and lines. Lines are either the prompt's own words (`str`) or judged text (`JudgedText`), which is
marked when the case is rendered. What the record says twice is one item: a question that is the transcript's first
request, or the messages of a user with which it begins, a final response that is its last message.

Jurors may not see what the agent thought, or see it once they have judged (`Panel.reasoning`).

A juror names an item. People and other tools name a message of the source, which may be several items.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Literal, NamedTuple

from jury_debate import datamark
from jury_debate.prompts_1 import line_marks
from jury_debate.prompts_1.texts import CaseTexts, fill, has_policy, without_policy
from jury_events.case import Case, Scenario
from jury_events.panel import Marking
from jury_events.text import shown_size
from jury_events.transcript import (
    Attachment,
    Event,
    Item,
    Message,
    NotShown,
    Reasoning,
    Refusal,
    ToolCall,
    ToolResult,
    Transcript,
)

Kind = Literal["policy", "question", "expected_behavior", "transcript", "response", "error"]
"""Where an item comes from in its scenario."""


class JudgedText(str):
    """Text of the record."""

    __slots__ = ()


class CaseItem(NamedTuple):
    """One numbered item as shown. `place` is its index in the scenario's transcript; None for what is no part of it."""

    number: int
    scenario: int
    kind: Kind
    place: int | None
    heading: str
    lines: tuple[str, ...]

    @property
    def judged(self) -> tuple[str, ...]:
        """Its texts of the record, in order."""
        return tuple(line for line in self.lines if isinstance(line, JudgedText))


class ScenarioItems(NamedTuple):
    """The items of one scenario, from its policy to its error.

    `question` and `response` are the numbers of the items that are the request and the final response; () where the
    record has none. The request may be several messages.
    """

    number: int
    items: tuple[CaseItem, ...]
    question: tuple[int, ...]
    response: tuple[int, ...]


def case_items(case: Case, texts: CaseTexts, pictures: Mapping[str, int], first: int = 1) -> tuple[ScenarioItems, ...]:
    """The items of a case, numbered through all scenarios.

    Args:
        pictures: the numbers of the pictures that are sent, by digest.
        first: the number of the first item; what stands before the case may be numbered too.
    """
    found: list[ScenarioItems] = []
    for number, scenario in enumerate(case.scenarios, start=1):
        found.append(_numbered(number, scenario, texts, pictures, first))
        first += len(found[-1].items)
    return tuple(found)


def transcript_items(
    transcript: Transcript, texts: CaseTexts, pictures: Mapping[str, int], first: int = 1
) -> tuple[CaseItem, ...]:
    """The items of a transcript alone, numbered in order.

    Args:
        texts, pictures, first: as for `case_items`.
    """
    shown = _TranscriptItems(transcript, texts, pictures)
    numbers = {place: first + place for place in range(len(transcript))}
    return tuple(
        CaseItem(number, 1, "transcript", place, *shown.shown(place, numbers)) for place, number in numbers.items()
    )


class ItemPlace(NamedTuple):
    """Where one item of a scenario comes from: its kind, and its index in the transcript, None for what is no part of
    it."""

    kind: Kind
    place: int | None


def item_places(scenario: Scenario) -> tuple[ItemPlace, ...]:
    """Where the items of a scenario come from, in their order."""
    question, execution = scenario.question, scenario.execution
    transcript = execution.transcript
    last = _last_message(transcript)
    prompt, response = question.prompt, execution.response
    places = [] if question.policy is None else [ItemPlace("policy", None)]
    if prompt and not _asked(transcript, prompt):
        places.append(ItemPlace("question", None))
    if question.expected_behavior is not None:
        places.append(ItemPlace("expected_behavior", None))
    places += [ItemPlace("transcript", index) for index in range(len(transcript.items))]
    if response and (last is None or _text(transcript, last) != response):
        places.append(ItemPlace("response", None))
    if execution.error is not None:
        places.append(ItemPlace("error", None))
    return tuple(places)


def _numbered(
    number: int, scenario: Scenario, texts: CaseTexts, pictures: Mapping[str, int], first: int
) -> ScenarioItems:
    question, execution = scenario.question, scenario.execution
    transcript = execution.transcript
    written = {
        "policy": question.policy,
        "question": question.prompt,
        "expected_behavior": question.expected_behavior,
        "response": execution.response,
        "error": execution.error,
    }
    places = item_places(scenario)
    apart, by_place = dict[str, int](), dict[int, int]()
    for item, (kind, place) in enumerate(places, first):
        if place is None:
            apart[kind] = item
        else:
            by_place[place] = item
    shown, items = _TranscriptItems(transcript, texts, pictures), []
    for item, (kind, place) in enumerate(places, first):
        if place is not None:
            heading, lines = shown.shown(place, by_place)
        else:
            text = written[kind]
            heading, lines = getattr(texts, kind), (JudgedText(text),) if text else (texts.nothing,)
        items.append(CaseItem(item, number, kind, place, heading, lines))
    asked = _asked(transcript, question.prompt) if question.prompt else ()
    last = _last_message(transcript) if execution.response else None
    return ScenarioItems(
        number,
        tuple(items),
        question=(apart["question"],) if "question" in apart else tuple(by_place[index] for index in asked),
        response=(apart["response"],) if "response" in apart else () if last is None else (by_place[last],),
    )


def _text(transcript: Transcript, index: int) -> str:
    item = transcript.items[index]
    assert isinstance(item, Message)
    return item.text


def _asked(transcript: Transcript, prompt: str) -> tuple[int, ...]:
    """The messages of the user that are the request: the first one, or those before anything else happened.

    () where they say otherwise.
    """
    first = next((index for index, item in enumerate(transcript.items) if _is_by_user(item)), None)
    if first is None or _text(transcript, first) == prompt:
        return () if first is None else (first,)
    begun = takewhile(lambda index: transcript.items[index].origin == "user", range(first, len(transcript.items)))
    said = tuple(one for one in begun if _is_by_user(transcript.items[one]) and _text(transcript, one).strip())
    return said if "\n".join(_text(transcript, one) for one in said) == prompt else ()


def _is_by_user(item: Item) -> bool:
    return isinstance(item, Message) and item.kind == "user"


def _last_message(transcript: Transcript) -> int | None:
    """The last message, if the agent wrote it."""
    for index in reversed(range(len(transcript.items))):
        item = transcript.items[index]
        if isinstance(item, Message):
            return index if item.kind == "assistant" and item.origin == "model" else None
    return None


class _TranscriptItems:
    def __init__(self, transcript: Transcript, texts: CaseTexts, pictures: Mapping[str, int]) -> None:
        self._transcript = transcript
        self._calls = transcript.answered_calls()
        self._texts = texts
        self._pictures = pictures

    def shown(self, index: int, numbers: Mapping[int, int]) -> tuple[str, tuple[str, ...]]:
        item = self._transcript.items[index]
        lines: list[str] = []
        if not isinstance(item, ToolResult) and not _is_plain(item):
            author: str = getattr(self._texts, f"from_{item.origin}")
            lines.append(author)
        if isinstance(item, ToolResult) or (isinstance(item, Attachment) and item.call_id is not None):
            lines += self._call(index, item, numbers)
        return self._heading(item), (*lines, *self._contents(item))

    def _heading(self, item: Item) -> str:
        texts = self._texts
        match item:
            case Message():
                message: str = getattr(texts, item.kind)
                return message
            case ToolResult():
                if item.error:
                    return texts.tool_error
                return texts.environment_result if item.origin == "environment" else texts.tool_result
            case Reasoning() | Refusal() | ToolCall() if item.origin != "model":
                other: str = getattr(texts, f"other_{item.kind}")
                return other
            case _:
                heading: str = getattr(texts, item.kind)
                return heading

    def _call(self, index: int, item: ToolResult | Attachment, numbers: Mapping[int, int]) -> list[str]:
        if isinstance(item, ToolResult) and item.call_unknown:
            return [self._texts.of_unclear_call]
        call = self._calls[index]
        if call is not None:
            return [fill(self._texts.of_call, number=numbers[call])]
        if item.call_id is None:
            return []
        return [self._texts.of_unknown_call, *self._labelled(self._texts.call_id_label, item.call_id)]

    def _contents(self, item: Item) -> list[str]:
        texts = self._texts
        match item:
            case Message():
                return self._named(texts.name_label, item.name, item.text)
            case Reasoning() | Refusal():
                return self._named(texts.name_label, item.speaker, item.text)
            case ToolCall():
                return [
                    *self._labelled(texts.name_label, item.speaker),
                    *self._labelled(texts.tool_label, item.name),
                    *self._labelled(texts.arguments_label, item.arguments or None),
                ]
            case ToolResult():
                return self._named(texts.tool_label, item.name, item.text)
            case Event():
                return [
                    *self._labelled(texts.name_label, item.name),
                    *self._labelled(texts.content_label, item.text or None),
                ]
            case Attachment():
                content = [] if item.text is None else self._content(item.text)
                return [*self._labelled(texts.name_label, item.name), *self._file(item), *content]
            case NotShown():
                return [JudgedText(_unseen(item.what, item.size, texts))]

    def _named(self, label: str, name: str | None, text: str) -> list[str]:
        """A name and a text; a text alone needs no label."""
        if name is None:
            return [JudgedText(text)] if text else [self._texts.nothing]
        return [*self._labelled(label, name), *self._content(text)]

    def _content(self, text: str) -> list[str]:
        return [self._texts.content_label, JudgedText(text)] if text else [self._texts.nothing]

    def _labelled(self, label: str, text: str | None) -> list[str]:
        return [] if text is None else [label, JudgedText(text)]

    def _file(self, item: Attachment) -> list[str]:
        texts, size = self._texts, shown_size(item.size)
        number = self._pictures.get(item.digest) if item.media_type.startswith("image/") else None
        if number is not None:
            line = fill(texts.picture, number=number, total=len(self._pictures), media_type=item.media_type, size=size)
        elif item.text is not None:
            line = fill(texts.file, media_type=item.media_type, size=size)
        else:
            line = _unseen(item.media_type, item.size, texts)
        return [JudgedText(line)]


def _is_plain(item: Item) -> bool:
    """Whether the heading of the item already names its author."""
    if isinstance(item, Reasoning | Refusal | ToolCall):
        return item.origin == "model"
    plain = {"system": "developer", "user": "user", "assistant": "model"}
    return isinstance(item, Message) and plain.get(item.kind) == item.origin


def _unseen(what: str, size: int | None, texts: CaseTexts) -> str:
    if size is None:
        return fill(texts.unseen, what=what)
    return fill(texts.unseen_size, what=what, size=shown_size(size))


class SourceMessage(NamedTuple):
    """A message of the source: the number of its scenario, from 1, and its own in the scenario's source, from 0."""

    scenario: int
    message: int


class ItemMessages:
    """The messages of a case's items, where the case knows them.

    Args:
        case: as recorded.
        operator_policy: the policy that is shown before the case; None: there is none.
        inline: whether artifact records are shown in full, and not as a summary, which is an item.
        messages: of the items of the transcripts, by scenario; a scenario of which they are not known has none. None:
            as the case says itself (`provenance`).

    Attributes:
        items: how many items there are, those of no message too.
    """

    def __init__(
        self,
        case: Case,
        operator_policy: str | None = None,
        *,
        inline: bool = False,
        messages: Sequence[Sequence[int]] | None = None,
    ) -> None:
        apart = operator_policy is not None and has_policy(case, operator_policy)
        shown = without_policy(case, operator_policy) if operator_policy is not None and apart else case
        self._messages: dict[int, SourceMessage] = {}
        self._single = len(case.scenarios) == 1
        self.items = int(apart)
        for scenario, source in enumerate(shown.scenarios, 1):
            known = _messages_of(source) if messages is None else messages[scenario - 1]
            for _, place in item_places(source):
                self.items += 1
                if known and place is not None:
                    self._messages[self.items] = SourceMessage(scenario, known[place])
        self.items += int(_has_summary(case, inline=inline))

    def message(self, number: int) -> SourceMessage | None:
        """The message of an item; None where it is of no message, or of one that is not known."""
        return self._messages.get(number)

    def numbers(self, message: SourceMessage) -> tuple[int, ...]:
        """The numbers of the items of a message, in order; () where it has none."""
        return tuple(number for number, found in self._messages.items() if found == message)

    @property
    def messages(self) -> int:
        """How many messages the items come from."""
        return len(set(self._messages.values()))

    def named(self, number: int) -> int | None:
        """A number that stands for an item's message in the whole case; None where it is of no known message.

        It is the message's own number if the case has one scenario, as labels name it, else its place among all
        messages.
        """
        found = self.message(number)
        if found is None or self._single:
            return None if found is None else found.message
        return sorted(set(self._messages.values())).index(found)


def _messages_of(scenario: Scenario) -> tuple[int, ...]:
    return tuple(source.message for source in scenario.execution.transcript.sources)


def _has_summary(case: Case, *, inline: bool) -> bool:
    records = case.security_gate_records or case.agent_card_records
    return case.artifact_summary is not None or bool(records and not inline)


def marker_of(marking: Marking, sign: str) -> Callable[[str], str]:
    """What marks judged text.

    Args:
        sign: of the debate, of the form that the marking has.
    """
    return partial(line_marks.mark, sign=sign) if marking == "lines" else partial(datamark.mark, marker=sign)


def render_case(
    case: Case, texts: CaseTexts, sign: str, *, marking: Marking, images: bool = False, first: int = 1
) -> str:
    """The case as text, ending without a line break; scenarios are numbered where there are several.

    Args:
        sign: begins every line of judged text.
        images: whether the case's pictures are sent after the text, in order; else each is listed as "not shown".

    Raises:
        ValueError: `sign` is not of the form that the marking has.
    """
    pictures = {image.digest: number for number, image in enumerate(case.images, start=1)} if images else {}
    notice = texts.sign if marking == "lines" else texts.marked_words
    blocks = [f"{texts.heading}\n{fill(notice, sign=sign)}"]
    marked = marker_of(marking, sign)
    for scenario in case_items(case, texts, pictures, first):
        if len(case.scenarios) > 1:
            blocks.append(fill(texts.scenario_heading, number=scenario.number, total=len(case.scenarios)))
        blocks += _scenario(scenario, texts, marked)
    return "\n\n".join(blocks)


def render_item(item: CaseItem, texts: CaseTexts, marked: Callable[[str], str]) -> str:
    """One numbered item as shown."""
    heading = fill(texts.item, number=item.number, what=item.heading)
    return "\n".join([heading, *(marked(line) if isinstance(line, JudgedText) else line for line in item.lines)])


def _scenario(scenario: ScenarioItems, texts: CaseTexts, marked: Callable[[str], str]) -> Iterator[str]:
    transcript = [item for item in scenario.items if item.kind == "transcript"]
    for item in scenario.items:
        if item.kind in {"policy", "question", "expected_behavior"}:
            yield render_item(item, texts, marked)
    yield from _reference(scenario, texts.question, scenario.question, texts)
    if transcript:
        yield fill(texts.transcript, total=len(transcript))
        yield from (render_item(item, texts, marked) for item in transcript)
    for item in scenario.items:
        if item.kind in {"response", "error"}:
            yield render_item(item, texts, marked)
    yield from _reference(scenario, texts.response, scenario.response, texts)


def _reference(scenario: ScenarioItems, what: str, numbers: tuple[int, ...], texts: CaseTexts) -> Iterator[str]:
    """Lines for what is in the transcript, one an item, or is not recorded."""
    if not numbers:
        yield f"{what}\n{texts.nothing}"
    for number in numbers:
        if scenario.items[number - scenario.items[0].number].kind == "transcript":
            yield fill(texts.same_as, what=what, number=number)


WHAT = "reasoning"


def without_reasoning(case: Case) -> Case:
    """The case with a line that it is not shown in place of each piece of the agent's reasoning.

    The items keep their numbers and sources, so that votes under both rules name the same ones.
    """
    return case.changed(scenarios=tuple(map(_without_reasoning, case.scenarios)))


def reasoning_alone(case: Case, texts: CaseTexts, sign: str, *, marking: Marking, first: int = 1) -> str:
    """What the agent thought, under the numbers that the items have in the whole case; "" where nothing is recorded.

    Args:
        texts, sign, marking, first: as for `render_case`.
    """
    items = [
        item
        for scenario, numbered in zip(case.scenarios, case_items(case, texts, {}, first), strict=True)
        for item in numbered.items
        if item.place is not None and isinstance(scenario.execution.transcript.items[item.place], Reasoning)
    ]
    if not items:
        return ""
    marked = marker_of(marking, sign)
    return "\n\n".join(
        [fill(texts.all_reasoning, total=len(items)), *(render_item(item, texts, marked) for item in items)]
    )


def _without_reasoning(scenario: Scenario) -> Scenario:
    execution = scenario.execution
    items = tuple(map(_unless_reasoning, execution.transcript.items))
    transcript = Transcript(items=items, sources=execution.transcript.sources)
    return scenario.changed(execution=execution.changed(transcript=transcript))


def _unless_reasoning(item: Item) -> Item:
    if not isinstance(item, Reasoning):
        return item
    return NotShown(origin=item.origin, what=WHAT, size=len(item.text.encode("utf-8", "surrogatepass")))
