"""Who speaks in a trace: only the messages of model calls have speakers.

What another span got and gave is an event of the record, and only as far as nothing else records it. A trace without a
message of any model call has nothing but what the spans around it hold: there messages say themselves who wrote them,
and a root's text is what the program was asked, and what it answered.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from jury_cases.traces.pieces import canonical, items_of, pieces_of
from jury_cases.traces.span import Span
from jury_cases.traces.values import text_of
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank
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
)

_Part = Literal["input", "output"]
_SETTINGS = frozenset(
    {
        *("id", "type", "name", "role", "status", "lc", "metadata", "response_metadata", "usage_metadata", "usage"),
        *(
            "memory_step",
            "tool_call_id",
            "output_type",
            "finish_reason",
            "stop_reason",
            "messageId",
            "createdAt",
            "kind",
        ),
        *("tool", "tools", "config", "runtime", "model", "artifact", "created", "object"),
    }
)
"""Fields of values without content: of messages, of results of models, of what a framework passes between its steps."""


def only_models_speak(spans: Iterable[Span]) -> list[Span]:
    """The spans, with the contents of all but model calls as events (see above), in the order of the spans."""
    listed = list(spans)
    with_models = any(span.kind == "model" and _has_message(span) for span in listed)
    if not with_models:
        ids = {span.span_id for span in listed}
        listed = [_as_asked(span) if span.parent_id not in ids else span for span in listed]
        listed = [replace(span, outputs=_after_inputs(span)) for span in listed]
    speaking = {id(span) for span in listed if span.kind == "model" or not (with_models or span.tool)}
    known = _Known()
    for span in listed:
        known.add_span(span, speaks=id(span) in speaking)
    found = {id(span): span for span in listed}
    for span in sorted(listed, key=_start):
        found[id(span)] = _with_events(found[id(span)], "input", known, speaks=id(span) in speaking)
    listed.reverse()
    for span in sorted(listed, key=_end):
        found[id(span)] = _with_events(found[id(span)], "output", known, speaks=id(span) in speaking)
    return [found[id(span)] for span in reversed(listed)]


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.start if span.end is None else span.end


def _has_message(span: Span) -> bool:
    return any(isinstance(item, Message | ToolCall | Refusal) for item in (*span.inputs, *span.outputs))


def _as_asked(span: Span) -> Span:
    """A root of a trace without messages of models: its text is the request, and the answer."""
    asked, said = TranscriptBuilder(), TranscriptBuilder()
    given, answer, rest = text_of(span.given), text_of(span.answer), None
    if isinstance(span.answer, dict) and "intermediate_steps" in span.answer:  # of LangChain's AgentExecutor
        answer, rest = text_of(span.answer.get("output")), {"intermediate_steps": span.answer["intermediate_steps"]}
    if given is not None and not _spoken(span.inputs):
        asked.message("user", given, f"{span.place}.input")
    if answer is not None and not _spoken(span.outputs):
        said.message("assistant", answer, f"{span.place}.output")
    return replace(
        span,
        inputs=(*span.inputs, *asked.transcript().items),
        outputs=(*said.transcript().items, *span.outputs),
        given=None if len(asked) else span.given,
        answer=rest if len(said) else span.answer,
    )


def _after_inputs(span: Span) -> tuple[Item, ...]:
    """The outputs of a step without the messages that it got, which a state repeats."""
    given, answer = pieces_of(span.inputs), pieces_of(span.outputs)
    pairs = zip(given, answer, strict=False)
    same = next(
        (index for index, (one, other) in enumerate(pairs) if not one.same_as(other)), min(len(given), len(answer))
    )
    return tuple(items_of(answer[same:])) if same == len(given) else span.outputs


def _spoken(items: Sequence[Item]) -> bool:
    return any(isinstance(item, Message) and item.kind != "system" for item in items)


class _Known:
    """The texts that messages of models and runs of tools have, and those of events so far."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._ids: set[tuple[str, str]] = set()

    def add_span(self, span: Span, *, speaks: bool) -> None:
        if span.tool is not None:
            self.add(decoded_json(span.tool.arguments, texts=True))
            self.add(decoded_json(span.tool.result, texts=True))
            self.add(span.failure)
        if speaks:
            for item in (*span.inputs, *span.outputs):
                self.add_item(item)

    def add_item(self, item: Item) -> None:
        if isinstance(item, ToolCall):
            self.add(item.arguments)
        elif isinstance(item, Message | ToolResult | Reasoning | Refusal | Event):
            self._add_text(item.text)
            self.add(decoded_json(item.text, texts=True))
        if isinstance(item, ToolCall | ToolResult) and item.call_id is not None:
            self._ids.add((item.kind, item.call_id))

    def add(self, value: Any) -> None:
        for leaf in leaves(value):
            self._add_text(leaf)

    def _add_text(self, text: str) -> None:
        self._texts.add(text.strip())
        for line in text.splitlines():
            self._texts.add(line.strip())
            self._texts.update(line[label.end() :].strip() for label in islice(_LABEL.finditer(line), _LABELS))

    def has(self, text: str) -> bool:
        text = text.removesuffix("...")  # a text that a framework cut
        return text.strip() in self._texts or all(line.strip() in self._texts for line in text.splitlines())

    def has_item(self, item: Item) -> bool:
        if isinstance(item, ToolCall | ToolResult) and (item.kind, item.call_id) in self._ids:
            return True
        if isinstance(item, ToolCall):
            return all(map(self.has, leaves(item.arguments)))
        return not isinstance(item, Message | ToolResult | Reasoning | Refusal) or self.has_value(item.text)

    def has_value(self, value: Any) -> bool:
        if isinstance(value, str) and self.has(value):
            return True
        return all(map(self.has, leaves(decoded_json(value, texts=True))))

    def without(self, value: Any) -> Any:
        """What a value has that is not known; fields with nothing else are left out, and of objects their names."""
        decoded = decoded_json(value, texts=True)
        if self.has_value(value):
            return None
        if any(_OBJECT.match(text) for text in _texts(decoded)):
            return "\n".join(dict.fromkeys(one for one in leaves(decoded) if _says_more(one) and not self.has(one)))
        return self._rest(decoded) if isinstance(decoded, dict) else value

    def _rest(self, value: Any, depth: int = 0) -> Any:
        """The fields and elements with a text that is not known, and numbers and truth values beside one."""
        if depth == _DEEPEST or not isinstance(value, dict | list):
            return value
        pairs = list(value.items()) if isinstance(value, dict) else [("", one) for one in value]
        new = [not (_is_setting(name, one) or self.has_value(one)) for name, one in pairs]
        rest = [self._rest(one, depth + 1) if is_new else None for (_, one), is_new in zip(pairs, new, strict=True)]
        if depth and not all(map(is_blank, rest)):
            numbers = (one if isinstance(one, bool | int | float) else None for _, one in pairs)
            rest = [number if one is None else one for one, number in zip(rest, numbers, strict=True)]
        kept = [(name, one) for (name, _), one in zip(pairs, rest, strict=True) if one is False or not is_blank(one)]
        return dict(kept) if isinstance(value, dict) else [one for _, one in kept]


def _is_setting(name: str, value: Any) -> bool:
    names_itself = name.endswith(("id", "key")) and isinstance(value, str)
    return name in _SETTINGS or (names_itself and _ID.fullmatch(value) is not None)


def _with_events(span: Span, part: _Part, known: _Known, *, speaks: bool) -> Span:
    """A span whose input or output is an event, as far as it is not known."""
    own = span.inputs if part == "input" else span.outputs
    value = span.given if part == "input" else span.answer
    items: list[Item] = []
    for item in own:
        if speaks or isinstance(item, Event):
            items.append(item)
        elif isinstance(item, Attachment | NotShown):
            continue  # of messages that a model call has
        elif not known.has_item(item):
            items += _event(span, part, f"{item.name} {item.arguments}" if isinstance(item, ToolCall) else item.text)
            known.add_item(item)
    new = known.without(value)
    if not is_blank(new):
        items += _event(span, part, as_text(new))
        known.add(new)
    if part == "input":
        return replace(span, inputs=tuple(items), given=None)
    return replace(span, outputs=tuple(items), answer=None)


def _event(span: Span, part: _Part, text: str) -> tuple[Item, ...]:
    builder = TranscriptBuilder()
    name = f"{part} of {span.name or 'a step'}"
    builder.add(Event, f"{span.place}.{part}", origin="environment", name=name, text=text)
    return builder.transcript().items


def leaves(value: Any) -> Iterator[str]:
    """All texts inside a value, without those of settings; of an object that Python wrote, the texts in its fields."""
    for text in _texts(value):
        if _OBJECT.match(text):
            inside = [decoded_json(_unquoted(one)) for one in _QUOTED.findall(text)]
            yield from filter(_says_more, _texts(inside))
        else:
            yield text


_OBJECT = re.compile(r"<[\w.]+( object|:| )|[A-Za-z_][\w.]*\(|[a-z_]\w*=('[^']*'|[\w.]+) [a-z_]\w*=")
"""The beginning of a framework's object as text: `AgentOutput(answer=...)`, `<Context object at 0x7f>`, `id=1 to=2`."""

_DEEPEST = 12

_ID = re.compile(r"[0-9a-f-]{16,}")

_LABEL = re.compile(r"[.:!?]\s")
_LABELS = 3
"""How often a line of a prompt may begin with words of the framework: `You are the buyer. ` or `Current task: `."""

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_WORD = re.compile(r"[\w.:/-]*", re.ASCII)


def _says_more(text: str) -> bool:
    return _WORD.fullmatch(text) is None


def _unquoted(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal)).strip()
    except (ValueError, SyntaxError):
        return literal[1:-1].strip()


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += (inner for name, inner in one.items() if name not in _SETTINGS)
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and (decoded := decoded_json(one)) is not one:
            inside = list(_texts(decoded))
            yield from inside or [canonical(decoded)]
        elif isinstance(one, str) and one.strip() and not one.startswith("data:"):  # pictures are in the messages
            yield one.strip()
