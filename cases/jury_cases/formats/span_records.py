"""Records of spans, as tracing tools keep them, as the spans of `jury_cases.traces`.

A tool's adapter finds the fields; what its values mean is the same for all tools and is read here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.formats.span_values import read_instructions, read_messages_of, text_of
from jury_cases.traces.span import Span, SpanKind, SpanTool
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, text_or_none
from jury_cases.transcripts.tool_calls import add_calls
from jury_events.transcript import Event, Item, Message, Reasoning, Refusal, ToolCall, ToolResult

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\):.*", re.DOTALL)
_RAISED = re.compile(r"(?:[\w.]+)\((?P<quote>['\"])(?P<text>.*)(?P=quote),?\)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class SpanRecord:
    """One span as a tool records it.

    Attributes:
        span_id, parent_id, place, kind, start, end, failure, agent: as in `Span`.
        name: of a tool's span, the tool's.
        given, answer: the input and output, in any form.
        more_given, more_answer: second sources of the same; only what the first ones lack is taken from them.
        call_id: of a tool's span, the id of its call; None: not recorded, or only inside `answer`.
        events: what happened in the span, besides its output.
    """

    span_id: str
    place: str
    kind: SpanKind
    start: int
    end: int | None = None
    parent_id: str | None = None
    name: str = ""
    given: Any = None
    answer: Any = None
    more_given: Any = None
    more_answer: Any = None
    failure: str | None = None
    agent: str | None = None
    call_id: str | None = None
    events: tuple[Item, ...] = ()


def spans_of(records: Iterable[SpanRecord]) -> list[Span]:
    """The spans of one trace.

    Raises:
        CaseFileError: a value is invalid; the message begins with the span's place.
    """
    listed = list(records)
    by_id: dict[str, SpanRecord] = {}
    for record in listed:
        by_id.setdefault(record.span_id, record)
    parents = {one.parent_id for one in listed if one.parent_id is not None}
    read = [_RecordReading(one, _above(one, by_id)) for one in listed]
    ends = {text: end for one in read if one.record.kind != "model" for text, end in one.ends()}
    for one in read:
        one.add_end(ends)
    known = {text for one in read for text in one.texts()}
    with_models = any(one.kind == "model" for one in listed)
    agents = _agents(listed, by_id)
    return [
        one.span(agents.get(id(one.record)), known if with_models or one.record.span_id in parents else None)
        for one in read
    ]


def _above(record: SpanRecord, by_id: dict[str, SpanRecord]) -> list[SpanRecord]:
    """The spans above a tool's span that may wrap it, the nearest first."""
    found: list[SpanRecord] = []
    at = by_id.get(record.parent_id or "") if record.kind == "tool" else None
    while at is not None and len(found) < _WRAPS and at.kind == "other":
        found.append(at)
        at = by_id.get(at.parent_id or "")
    return found


_WRAPS = 4


def _agents(records: list[SpanRecord], by_id: dict[str, SpanRecord]) -> dict[int, str | None]:
    """The agent of each record: its own, else that of the next record above it that has one."""
    found: dict[int, str | None] = {}
    for record in records:
        way: list[SpanRecord] = []
        at: SpanRecord | None = record
        passed: set[int] = set()
        while at is not None and id(at) not in found and at.agent is None and id(at) not in passed:
            passed.add(id(at))
            way.append(at)
            at = by_id.get(at.parent_id or "")
        agent = None if at is None else found.get(id(at), at.agent)
        if at is not None:
            found[id(at)] = agent
        for one in way:
            found[id(one)] = agent
    return found


class _RecordReading:
    """A record with the items of its values."""

    def __init__(self, record: SpanRecord, above: list[SpanRecord]) -> None:
        self.record = record
        self._given, self._answer = TranscriptBuilder(), TranscriptBuilder()
        self._rest: list[tuple[TranscriptBuilder, str, Any]] = []
        self._tool = _tool(record, above) if record.kind == "tool" else None
        if self._tool is None:
            if record.kind == "model":
                self._read_given(record)
            else:
                self._read(record.given, record.more_given, self._given, "input")
            self._read(record.answer, record.more_answer, self._answer, "output")

    def _read_given(self, record: SpanRecord) -> None:
        """The input of a model, behind the instructions that only the output repeats."""
        system, rest = TranscriptBuilder(), self._given
        read_instructions(record.answer, system, f"{record.place}.output")
        self._read(record.given, record.more_given, rest, "input")
        if not any(item.kind == "system" for item in rest.transcript().items):
            system.extend(rest)
            self._rest = [(system, part, value) for _, part, value in self._rest]
            self._given = system

    def _read(self, value: Any, more: Any, builder: TranscriptBuilder, part: str) -> None:
        place = f"{self.record.place}.{part}"
        try:
            if read_messages_of(value, builder, place):
                return
            text = text_of(value)
            if self.record.kind == "model" and read_messages_of(more, builder, place):
                return
        except RecursionError as error:
            raise CaseFileError(f"{place}: nested too deeply") from error
        if text is not None:
            builder.message("user" if part == "input" else "assistant", text, place)
        elif not is_blank(decoded_json(value, texts=True)):
            self._rest.append((builder, part, decoded_json(value, texts=True)))

    def ends(self) -> Iterator[tuple[str, Item]]:
        """Answers with the events that say why they ended."""
        items = self._answer.transcript().items
        for answer, end in pairwise(items):
            if isinstance(answer, Message) and isinstance(end, Event) and end.name == "end of the answer":
                yield answer.text, end

    def add_end(self, ends: Mapping[str, Item]) -> None:
        """Add the end of a model's answer that only a span above it records."""
        items = self._answer.transcript().items
        last = items[-1] if items else None
        if self.record.kind == "model" and isinstance(last, Message) and last.text in ends:
            self._answer.take([ends[last.text]])

    def texts(self) -> Iterator[str]:
        """What the span's messages and tools say, to recognise repeats in other values."""
        for builder in (self._given, self._answer):
            for item in builder.transcript().items:
                if isinstance(item, ToolCall):
                    yield from _leaves(decoded_json(item.arguments))
                elif isinstance(item, Message | ToolResult | Reasoning | Refusal):
                    yield item.text.strip()
        if self._tool is not None:
            yield from _leaves(decoded_json(self._tool.arguments))
            yield from _leaves(decoded_json(self._tool.result))

    def span(self, agent: str | None, known: set[str] | None) -> Span:
        """The span.

        Args:
            agent: whose it is.
            known: what the trace says anyway; None: values that are no messages are the user's and the agent's.
        """
        record = self.record
        for builder, part, value in self._rest:
            self._add_rest(builder, part, value, known)
        outputs = self._answer
        outputs.take(record.events)
        return Span(
            span_id=record.span_id,
            parent_id=record.parent_id,
            place=record.place,
            kind=record.kind,
            start=record.start,
            end=record.end,
            inputs=tuple(self._given.transcript().items),
            outputs=tuple(_spoken(item, agent) for item in outputs.transcript().items if not _is_empty(item)),
            images=(*self._given.images, *outputs.images),
            tool=self._tool,
            failure=record.failure,
            agent=agent,
        )

    def _add_rest(self, builder: TranscriptBuilder, part: str, value: Any, known: set[str] | None) -> None:
        place = f"{self.record.place}.{part}"
        if known is None:
            builder.message("user" if part == "input" else "assistant", as_text(value), place)
        elif not all(leaf in known for leaf in _leaves(value)):
            name = f"{part} of {self.record.name}".rstrip()
            builder.add(Event, place, origin="environment", name=name, text=as_text(value))


def _is_empty(item: Item) -> bool:
    """Whether an answer has neither text nor anything else: a span above may record what the model's span lacks."""
    return isinstance(item, Message) and item.kind == "assistant" and not item.text.strip()


def _spoken(item: Item, agent: str | None) -> Item:
    """What a model said, with the name of its agent."""
    if agent is None or item.origin != "model":
        return item
    if isinstance(item, Message):
        return item if item.name is not None else item.model_copy(update={"name": agent})
    if isinstance(item, Reasoning | Refusal | ToolCall) and item.speaker is None:
        return item.model_copy(update={"speaker": agent})
    return item


_SETTINGS = frozenset(
    {
        *("id", "type", "name", "role", "status", "lc", "metadata", "response_metadata", "usage_metadata", "usage"),
        "tool_call_id",
        *("tool", "tools", "config", "runtime", "model", "artifact", "created", "object"),
    }
)
"""Fields of values without content: of messages, of results of models, of what a framework passes between its steps."""


def _leaves(value: Any) -> Iterator[str]:
    """All texts inside a value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += (inner for name, inner in one.items() if name not in _SETTINGS)
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and one.strip() and not one.startswith("data:"):  # pictures are in the messages
            yield one.strip()


def _tool(record: SpanRecord, wrapping: list[SpanRecord]) -> SpanTool:
    """The run of a tool: its result may be a message with the id of the call; its call may be the input above it."""
    answer = decoded_json(record.answer, texts=True)
    result, call_id = None, record.call_id
    returned = TranscriptBuilder()
    if isinstance(answer, dict | list) and read_messages_of(answer, returned, f"{record.place}.output"):
        items = returned.transcript().items
        results = [item for item in items if isinstance(item, ToolResult)]
        if len(results) == 1 and len(items) == 1:
            result, call_id = results[0].text, call_id or results[0].call_id
    if result is None and not is_blank(answer):
        only = text_of(answer)
        result = only if only is not None else as_text(answer)
    above = _call_above(record, wrapping)
    given = decoded_json(record.given, texts=True)
    arguments = None if given is None else as_text(given)
    if above is not None:
        call_id, arguments = call_id or above.call_id, above.arguments
    return SpanTool(name=record.name or "unnamed", call_id=call_id, arguments=arguments, result=result)


def _call_above(record: SpanRecord, above: Iterable[SpanRecord]) -> ToolCall | None:
    """The call of a tool in the input of the nearest span above it that has one, if it is the only one there."""
    for one in above:
        calls = _calls_in(one)
        if calls:
            return calls[0] if len(calls) == 1 and calls[0].name == record.name else None
    return None


def _calls_in(record: SpanRecord) -> list[ToolCall]:
    """LangGraph passes `[{name, args, id}]` to its step of tools, and an object `tool_call` to what wraps one."""
    given = decoded_json(record.given)
    inner = given.get("request", given) if isinstance(given, dict) else given
    if isinstance(inner, dict):
        inner = inner.get("input", inner.get("tool_call"))
    listed = inner if isinstance(inner, list) else [inner]
    if not all(isinstance(one, dict) and "args" in one and "name" in one for one in listed):
        return []
    found = TranscriptBuilder()
    add_calls([{key: one.get(key) for key in ("name", "args", "id")} for one in listed], found, record.place)
    return [item for item in found.transcript().items if isinstance(item, ToolCall)]


def failure_text(written: Any) -> str | None:
    """The message of an exception without its type and traceback (`ValueError('no')`); None: there is none."""
    text = _TRACEBACK.sub("", as_text(written)).strip()
    raised = _RAISED.fullmatch(text)
    return (raised["text"] if raised else text) or None


def instant(written: Any) -> int | None:
    """A time in nanoseconds: ISO 8601, a datetime of a table, or a number (seconds, milliseconds … by its size).

    None: missing or invalid.
    """
    if isinstance(written, datetime):
        moment = written if written.tzinfo else written.replace(tzinfo=UTC)
        return _nanoseconds(moment)
    if isinstance(written, str):
        if written.isdecimal() and len(written) < _DIGITS:
            return instant(int(written))
        try:
            return instant(datetime.fromisoformat(written))
        except ValueError:
            return None
    if isinstance(written, bool) or not isinstance(written, int | float) or not 0 <= written < _LATEST:
        return None
    for unit in (1_000_000_000, 1_000_000, 1_000):
        if written * unit < _LATEST:
            return int(written * unit)
    return int(written)


_DIGITS = 40
_LATEST = 10**19
"""In nanoseconds: the year 2286."""


def _nanoseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def in_order(records: Iterable[SpanRecord]) -> list[SpanRecord]:
    """Records without times in the order of the file: each begins after the one before it."""
    return [replace(one, start=one.start or number) for number, one in enumerate(records)]


def optional_text(value: Any) -> str | None:
    """Text or a number as text; None for other values, and for the word that tables write for a missing text."""
    found = text_or_none(value)
    return None if found in {"nan", "None", "null"} else found
