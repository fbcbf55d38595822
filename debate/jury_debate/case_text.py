"""The text of a case for jurors: plain headings, and under them the judged texts, every line with the datamark.

Neither the human label nor any id of the case is shown: ids of datasets often reveal the label. Nothing is truncated.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from jury_debate.datamark import mark
from jury_debate.prompt_texts import CaseTexts, fill
from jury_debate.prompts_v1 import PromptsV1
from jury_events.case import Case, Scenario
from jury_events.text.sizes import shown_size
from jury_events.transcript import (
    Attachment,
    Event,
    Item,
    Message,
    NotShown,
    Origin,
    Reasoning,
    Refusal,
    ToolCall,
    ToolResult,
    Transcript,
)

Mark = Callable[[str], str]
"""Adds the datamark to every line of judged text."""


def render_case(case: Case, prompts: PromptsV1, marker: str, *, images: bool = False) -> str:
    """The case as text, ending without a line break; scenarios are numbered where there are several.

    Args:
        case: what is judged.
        prompts: contain the headings.
        marker: begins every line of judged text.
        images: whether the case's pictures are sent after the text, in order; else each is listed as "not shown".

    Raises:
        ValueError: `marker` is invalid, see `mark`.
    """
    texts = prompts.texts.case
    pictures = {image.digest: number for number, image in enumerate(case.images, start=1)} if images else {}
    blocks = [texts.heading]
    for number, scenario in enumerate(case.scenarios, start=1):
        if len(case.scenarios) > 1:
            blocks.append(
                fill(
                    texts.scenario_heading,
                    number=number,
                    total=len(case.scenarios),
                )
            )
        blocks += _scenario(scenario, texts, lambda text: mark(text, marker), pictures)
    return "\n\n".join(blocks)


def _scenario(scenario: Scenario, texts: CaseTexts, marked: Mark, pictures: Mapping[str, int]) -> list[str]:
    question, execution = scenario.question, scenario.execution
    blocks = []
    if question.policy is not None:
        blocks.append(f"{texts.policy}\n{marked(question.policy)}")
    blocks.append(f"{texts.question}\n{marked(question.prompt) if question.prompt else texts.nothing}")
    if question.expected_behavior is not None:
        blocks.append(f"{texts.expected_behavior}\n{marked(question.expected_behavior)}")
    if len(execution.transcript):
        blocks.append(fill(texts.transcript, total=len(execution.transcript)))
        blocks += render_items(execution.transcript, texts, marked, pictures)
    blocks.append(f"{texts.response}\n{marked(execution.response) if execution.response else texts.nothing}")
    if execution.error is not None:
        blocks.append(f"{texts.error}\n{marked(execution.error)}")
    return blocks


def render_items(
    transcript: Transcript,
    texts: CaseTexts,
    marked: Mark,
    pictures: Mapping[str, int] = MappingProxyType({}),
    *,
    first: int = 1,
) -> list[str]:
    """One block for each item: a heading with its kind and author, the call that it belongs to, and its texts.

    Args:
        transcript: the items, numbered in order.
        texts: the headings.
        marked: adds the datamark to judged text.
        pictures: the numbers of the shown pictures, by digest.
        first: the number of the first item.
    """
    rendering = _Rendering(transcript.answered_calls(), texts, marked, pictures, first)
    return [rendering.block(index, item) for index, item in enumerate(transcript.items)]


class _Rendering:
    def __init__(
        self, calls: tuple[int | None, ...], texts: CaseTexts, marked: Mark, pictures: Mapping[str, int], first: int
    ) -> None:
        self._calls = calls
        self._texts = texts
        self._marked = marked
        self._pictures = pictures
        self._first = first

    def block(self, index: int, item: Item) -> str:
        lines = [fill(self._texts.item, number=self._first + index, what=self._heading(item))]
        if not isinstance(item, ToolResult) and not _is_plain(item):
            lines.append(self._author(item.origin))
        if isinstance(item, ToolResult) or (isinstance(item, Attachment) and item.call_id is not None):
            lines += self._call(index, item)
        return "\n".join([*lines, *self._contents(item)])

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

    def _author(self, origin: Origin) -> str:
        author: str = getattr(self._texts, f"from_{origin}")
        return author

    def _call(self, index: int, item: ToolResult | Attachment) -> list[str]:
        if isinstance(item, ToolResult) and item.call_unknown:
            return [self._texts.of_unclear_call]
        call = self._calls[index]
        if call is not None:
            return [fill(self._texts.of_call, number=self._first + call)]
        if item.call_id is None:
            return []
        return [self._texts.of_unknown_call, *self._labelled(self._texts.call_id_label, item.call_id)]

    def _contents(self, item: Item) -> list[str]:
        texts = self._texts
        match item:
            case Message():
                return [*self._labelled(texts.name_label, item.name), self._content(item.text)]
            case Reasoning() | Refusal():
                return [*self._labelled(texts.name_label, item.speaker), self._content(item.text)]
            case ToolCall():
                return [
                    *self._labelled(texts.name_label, item.speaker),
                    *self._labelled(texts.tool_label, item.name),
                    *self._labelled(texts.arguments_label, item.arguments or None),
                ]
            case ToolResult():
                return [*self._labelled(texts.tool_label, item.name), self._content(item.text)]
            case Event():
                return [
                    *self._labelled(texts.name_label, item.name),
                    *self._labelled(texts.content_label, item.text or None),
                ]
            case Attachment():
                content = [] if item.text is None else [self._content(item.text)]
                return [*self._labelled(texts.name_label, item.name), *self._file(item), *content]
            case NotShown():
                return [self._marked(_unseen(item.what, item.size, texts))]

    def _content(self, text: str) -> str:
        return f"{self._texts.content_label}\n{self._marked(text)}" if text else self._texts.nothing

    def _labelled(self, label: str, text: str | None) -> list[str]:
        return [] if text is None else [label, self._marked(text)]

    def _file(self, item: Attachment) -> list[str]:
        texts, size = self._texts, shown_size(item.size)
        number = self._pictures.get(item.digest) if item.media_type.startswith("image/") else None
        if number is not None:
            line = fill(texts.picture, number=number, total=len(self._pictures), media_type=item.media_type, size=size)
        elif item.text is not None:
            line = fill(texts.file, media_type=item.media_type, size=size)
        else:
            line = _unseen(item.media_type, item.size, texts)
        return [self._marked(line)]


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
