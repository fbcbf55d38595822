"""Conventions of spans as tables of names, and the values that stand under them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.traces.pieces import pieces_of
from jury_cases.traces.span import PlainSpan, Span, SpanKind, SpanTool, optional_text
from jury_cases.traces.values import read_instructions, read_messages_of, returned_text, said_in, text_of
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank
from jury_events.case import Image
from jury_events.transcript import Event, Item, Message, ToolResult


@dataclass(frozen=True, kw_only=True)
class SpanRecord:
    """One span as a tool records it.

    Attributes:
        span_id, parent_id, place, kind, start, end, failure, agent: as in `Span`.
        name: of a tool's span, the tool's.
        given, answer: the input and output, in any form.
        more_given, more_answer: second sources of the same; only what the first ones lack is taken from them.
        call_id: of a tool's span, the id of its call; None: not recorded, or only inside `answer`.
        inputs, outputs, images: what a convention read of its messages itself, before `given` and `answer`.
        events: what happened in the span, besides its output.
        handover: as in `Span`.
        recorder: the library that recorded it and the conventions that it follows; those of two tools differ.
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
    inputs: tuple[Item, ...] = ()
    outputs: tuple[Item, ...] = ()
    images: tuple[Image, ...] = ()
    events: tuple[Item, ...] = ()
    handover: tuple[str | None, str | None] | None = None
    recorder: str = ""


def spans_of(records: Iterable[SpanRecord]) -> list[Span]:
    """The spans of one trace."""
    listed = list(_once(records))
    by_id: dict[str, SpanRecord] = {}
    for record in listed:
        by_id.setdefault(record.span_id, record)
    read = [_RecordReading(one) for one in listed]
    ends = {text: end for one in read if one.record.kind != "model" for text, end in one.ends()}
    for one in read:
        one.add_end(ends)
    agents = _agents(listed, by_id)
    spans = [one.span(agents.get(id(one.record))) for one in read]
    return _each_call_once(spans, [one.record.recorder for one in read])


def _each_call_once(spans: list[Span], recorders: list[str]) -> list[Span]:
    """The spans; of a model's call that two tools recorded beside each other the second has no content.

    It is one call if both have equal messages, instructions aside, and one's time is within the other's: a tool wraps
    the other. Of one tool they are two calls.
    """
    models = [index for index, span in enumerate(spans) if span.kind == "model" and span.inputs and span.outputs]
    if len({recorders[index] for index in models}) < 2:  # noqa: PLR2004  (two tools)
        return spans
    found: dict[Any, list[int]] = {}
    for index in sorted(models, key=lambda one: (spans[one].start, -_end(spans[one]))):
        span = spans[index]
        key = span.parent_id, _compared(span.inputs), _compared(span.outputs)
        known = found.setdefault(key, [])
        around = (one for one in known if recorders[one] != recorders[index] and _end(span) <= _end(spans[one]))
        if (outer := next(around, None)) is not None:
            if not any(map(_instructs, spans[outer].inputs)):
                spans[outer] = replace(spans[outer], inputs=(*filter(_instructs, span.inputs), *spans[outer].inputs))
            spans[index] = replace(span, kind="other", inputs=(), outputs=(), given=None, answer=None, images=())
        else:
            known.append(index)
    return spans


def _compared(items: Iterable[Item]) -> tuple[tuple[str, ...], ...]:
    return tuple((one.what, one.who, one.text) for one in pieces_of(items) if one.who != "system")


def _instructs(item: Item) -> bool:
    return isinstance(item, Message) and item.kind == "system"


def _end(span: Span) -> int:
    return span.start if span.end is None else span.end


_RECORDED = ("given", "answer", "more_given", "more_answer", "failure", "inputs", "outputs", "events", "end")


def _once(records: Iterable[SpanRecord]) -> Iterator[SpanRecord]:
    """The records, those of one span as one: exporters send a span again, and some send it when it begins too.

    Two that contradict each other are two spans with one id.
    """
    found: dict[tuple[str, str, str], list[SpanRecord]] = {}
    for number, record in enumerate(records):
        known = found.setdefault((record.span_id or f"\0{number}", record.kind, record.name), [])
        said = {name: value for name in _RECORDED if (value := getattr(record, name)) and not is_blank(value)}
        before = {name: getattr(known[-1], name) for name in said} if known else {}
        if known and all(said[name] == value or is_blank(value) or not value for name, value in before.items()):
            known[-1] = replace(known[-1], **said)
        else:
            known.append(record)
    return (one for same in found.values() for one in same)


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
    def __init__(self, record: SpanRecord) -> None:
        self.record = record
        self._given, self._answer = TranscriptBuilder(), TranscriptBuilder()
        self._rest: dict[str, Any] = {}
        self._tool = _tool(record) if record.kind == "tool" else None
        self._given.take((), record.images)
        if self._tool is None and not record.inputs:
            self._read_given(record)
        if self._tool is None and not record.outputs:
            self._read(record.answer, record.more_answer, self._answer, "output")

    def _read_given(self, record: SpanRecord) -> None:
        """The input, behind the instructions that only a model's answer repeats."""
        self._read(record.given, record.more_given, self._given, "input")
        if record.kind == "model" and not any(item.kind == "system" for item in self._given.transcript().items):
            system = TranscriptBuilder()
            read_instructions(record.answer, system, f"{record.place}.output")
            system.extend(self._given)
            self._given = system

    def _read(self, value: Any, more: Any, builder: TranscriptBuilder, part: str) -> None:
        place = f"{self.record.place}.{part}"
        is_model = self.record.kind == "model"
        try:
            if read_messages_of(value, builder, place):
                return
            if is_model and read_messages_of(more, builder, place):
                return
            if is_model and (text := said_in(value, part)) is not None:
                builder.message("user" if part == "input" else "assistant", text, place)
                return
        except RecursionError as error:
            raise CaseFileError(f"{place}: nested too deeply") from error
        decoded = decoded_json(value, texts=True)
        if not is_blank(decoded):
            self._rest[part] = decoded

    def ends(self) -> Iterator[tuple[str, Item]]:
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

    def span(self, agent: str | None) -> Span:
        record = self.record
        outputs = self._answer
        outputs.take(record.events)
        return Span(
            span_id=record.span_id,
            parent_id=record.parent_id,
            place=record.place,
            kind=record.kind,
            name=record.name,
            start=record.start,
            end=record.end,
            inputs=record.inputs or tuple(item for item in self._given.transcript().items if not _is_empty(item)),
            outputs=record.outputs + tuple(item for item in outputs.transcript().items if not _is_empty(item)),
            given=self._rest.get("input"),
            answer=self._rest.get("output"),
            images=(*self._given.images, *outputs.images),
            tool=self._tool,
            failure=record.failure,
            agent=agent,
            handover=record.handover,
        )


def _is_empty(item: Item) -> bool:
    """Whether an answer has neither text nor anything else: a span above may record what the model's span lacks."""
    return isinstance(item, Message) and item.kind == "assistant" and not item.text.strip()


def _tool(record: SpanRecord) -> SpanTool:
    """The run of a tool: its result may be a message with the id of the call."""
    answer = decoded_json(record.answer, texts=True)
    result, call_id, failed = None, record.call_id, False
    returned = TranscriptBuilder()
    if isinstance(answer, dict | list) and read_messages_of(answer, returned, f"{record.place}.output"):
        items = returned.transcript().items
        results = [item for item in items if isinstance(item, ToolResult)]
        if len(results) == 1 and len(items) == 1:
            result, call_id, failed = results[0].text, call_id or results[0].call_id, results[0].error
    if result is None and not is_blank(answer):
        only = text_of(answer)
        result = only if only is not None else returned_text(answer)
    given = decoded_json(record.given, texts=True)
    arguments = None if given is None else as_text(given)
    return SpanTool(name=record.name or "unnamed", call_id=call_id, arguments=arguments, result=result, failed=failed)


def in_order(records: Iterable[SpanRecord]) -> list[SpanRecord]:
    """Records without times in the order of the file: each begins after the one before it."""
    return [replace(one, start=one.start or number) for number, one in enumerate(records)]


Names = tuple[str, ...]


# Attributes have the names of their convention, and one span may have those of several: a platform's around a
# framework's around a provider's. The first table that says something counts.
class SpanTable(NamedTuple):
    """Where spans of one convention have what a record says, as names of attributes; the first that is filled counts.

    Attributes:
        name: of the convention.
        marks: names of which a span of it has one; those that end in a dot are beginnings of names.
        kind: the span's kind, one of `kinds` in small letters; one that is not among them is `other`.
        tool: the tool's name; of other spans they are not looked at.
        call_id, agent, given, answer, more_given, more_answer: as in `SpanRecord`.
        failure: the reason of a failure, where it says more than the span's status.
        read: the fields of a `SpanRecord` that a table cannot say, by a span and its kind.
    """

    name: str
    marks: Names
    kind: Names = ()
    kinds: Mapping[str, SpanKind] = {}
    tool: Names = ()
    call_id: Names = ()
    agent: Names = ()
    given: Names = ()
    answer: Names = ()
    more_given: Names = ()
    more_answer: Names = ()
    failure: Names = ()
    read: Callable[[PlainSpan, SpanKind | None], Mapping[str, Any]] | None = None

    def has(self, span: PlainSpan) -> bool:
        """Whether a span follows the convention."""
        beginnings = tuple(mark for mark in self.marks if mark.endswith("."))
        if beginnings and any(name.startswith(beginnings) or f"{name}." in beginnings for name in span.attributes):
            return True
        return any(not mark.endswith(".") and not is_blank(span.at((mark,))) for mark in self.marks) or any(
            as_text(event.get("name")).startswith(self.marks) for event in span.events
        )

    def kind_of(self, span: PlainSpan) -> SpanKind | None:
        """The kind, if the span says one."""
        written = as_text(span.at(self.kind)).lower()
        return self.kinds.get(written, "other") if written else None


def record_of(span: PlainSpan, tables: Iterable[SpanTable]) -> SpanRecord | None:
    """The record of a span; None if it follows none of the conventions."""
    matching = [table for table in tables if table.has(span)]
    if not matching:
        return None
    kinds = [kind for table in matching if (kind := table.kind_of(span)) is not None]
    kind = next((one for one in kinds if one != "other"), "other" if kinds else None)
    found: dict[str, Any] = {}
    for table in matching:
        own = dict(table.read(span, kind)) if table.read is not None else {}
        for name in _FIELDS:
            own.setdefault(name, span.at(getattr(table, name)))
        for name, value in own.items():
            if is_blank(found.get(name)) and not is_blank(value):
                found[name] = value
    tool = optional_text(next((name for table in matching if (name := span.at(table.tool)) is not None), None))
    kind = found.pop("kind", kind or "other")
    for name in ("call_id", "agent"):
        found[name] = optional_text(found.get(name))
    failure = found.pop("failure", None)
    return SpanRecord(
        **{
            "span_id": span.span_id,
            "parent_id": span.parent_id,
            "place": span.place,
            "kind": kind,
            "name": (tool if kind == "tool" else None) or span.name,
            "start": span.start,
            "end": span.end,
            "failure": span.failure and (as_text(failure) or span.failure),
            "recorder": " ".join([span.scope, *(table.name for table in matching)]),
        }
        | found
    )


_FIELDS = ("call_id", "agent", "given", "answer", "more_given", "more_answer", "failure")


def declared(span: PlainSpan, tables: Iterable[SpanTable]) -> tuple[SpanKind | None, SpanTool]:
    """The kind of a span and the name and id of its tool, as far as its attributes say them."""
    matching = [table for table in tables if table.has(span)]
    kinds = [kind for table in matching if (kind := table.kind_of(span)) is not None]
    name = next((name for table in matching if (name := optional_text(span.at(table.tool))) is not None), "")
    call = next((one for table in matching if (one := optional_text(span.at(table.call_id))) is not None), None)
    return next((one for one in kinds if one != "other"), None), SpanTool(name=name, call_id=call)
