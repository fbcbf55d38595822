"""OpenTelemetry traces of generative AI (OTLP as JSON): one case per trace, from its chat, agent and tool spans.

Source: OpenTelemetry's semantic conventions for generative AI: `gen_ai.*` attributes of spans, and the span events of
earlier versions. A span's inputs are placed at its start, its outputs at its end. Most chat spans repeat the
conversation so far, and agent spans repeat their chat spans: repeats are dropped, all other content is kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.otel_span_messages import messages_of_span
from jury_cases.formats.otlp import RESOURCES, Trace, Traces, first_of, is_genai, nanoseconds
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, text_or_none
from jury_cases.transcripts.otel import (
    ContentCounter,
    ContentPiece,
    Conversations,
    ConversationState,
    TraceMessage,
    call_text,
    canonical,
    read_parts_message,
)
from jury_events.transcript import Event, ToolCall, ToolResult

_FACTS = {
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.system": "provider",
    "gen_ai.agent.name": "agent",
    "gen_ai.conversation.id": "conversation",
    "service.name": "service",
}


@dataclass(eq=False, kw_only=True)
class _Span:
    """One span with its input and output messages and its position in the tree.

    `entered` and `left` are its numbers in a depth-first walk; `end` is the latest end of its children if it has none.
    """

    attributes: dict[str, Any]
    place: str
    inputs: list[TraceMessage]
    outputs: list[TraceMessage]
    start: int
    end: int
    ends_with_children: bool
    failure: str | None
    parent: "_Span | None" = None
    children: list["_Span"] = field(default_factory=list)
    entered: int = 0
    left: int = 0
    depth: int = 0
    reported_below: ContentCounter = field(default_factory=ContentCounter)

    @property
    def is_tool(self) -> bool:
        return self.operation == "execute_tool" or "gen_ai.tool.name" in self.attributes

    @property
    def operation(self) -> str:
        return as_text(self.attributes.get("gen_ai.operation.name"))

    @property
    def is_agent(self) -> bool:
        return self.operation in {"", "invoke_agent", "create_agent", "invoke_workflow"}

    @property
    def scope(self) -> tuple[int | None, str]:
        """The agent run that it belongs to, in which repeated system messages are reported once."""
        agent: _Span | None = self
        while agent is not None and agent.operation not in {"invoke_agent", "create_agent"}:
            agent = agent.parent
        return None if agent is None else agent.entered, as_text(self.attributes.get("gen_ai.agent.name"))


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    facts: dict[str, Any] = {}
    spans = _in_order(row["spans"])
    for span in spans:
        for key, name in _FACTS.items():
            if key in span.attributes:
                facts.setdefault(name, span.attributes[key])
    failed = [span.failure for span in spans if span.failure is not None and not span.is_tool]
    timeline = _timeline(spans)
    tools = _Tools([step.message for step in timeline if step.message is not None])
    for step in timeline:
        if step.message is None:
            tools.add(step.span, builder, at_end=step.at_end)
        elif step.message.other:
            builder.not_shown("another choice", "model", step.message.place, step.message.data)
        else:
            read_parts_message(step.message.data, builder, step.message.place)
    error = "\n".join(dict.fromkeys(failed)) or None
    return CaseDraft(case_id=row["trace_id"] or None, built=builder, error=error, metadata=facts)


class _Step(NamedTuple):
    """A message in the timeline; if `message` is None, the start or end of a tool."""

    span: _Span
    at_end: bool
    message: TraceMessage | None


def _timeline(spans: list[_Span]) -> list[_Step]:
    """Messages and tool events in chronological order."""
    _count_below(spans)
    moments = sorted(((span, at_end) for span in spans for at_end in (False, True)), key=lambda moment: _when(*moment))
    conversations = Conversations()
    states: dict[int, ConversationState] = {}
    steps: list[_Step] = []
    for span, at_end in moments:
        if span.is_tool:
            steps.append(_Step(span, at_end, None))
        if span.reported_below:
            new = _not_reported_below(span, conversations)[at_end]
        elif at_end:
            new = span.outputs
            if span.inputs or new:
                conversations.span_ended(states[span.entered], new, failed=span.failure is not None)
        else:
            new, states[span.entered] = conversations.new_of(span.inputs, span.scope)
        steps += [_Step(span, at_end, message) for message in new]
    return steps


def _when(span: _Span, at_end: bool) -> tuple[int, int, int, int]:
    """A sort key: ends before starts at the same time; a span without duration ends where it starts."""
    if at_end and span.end > span.start:
        return span.end, 0, -span.depth, span.left
    return span.start, 1, span.left if at_end else span.entered, 0


def _count_below(spans: list[_Span]) -> None:
    """Count for every span the content of the spans below it."""
    for span in sorted(spans, key=lambda one: one.left):
        if span.parent is not None:
            own = ContentCounter()
            own.count([*span.inputs, *span.outputs])
            span.parent.reported_below.merge_max(own)
            span.parent.reported_below.merge_max(span.reported_below)


def _not_reported_below(span: _Span, conversations: Conversations) -> tuple[list[TraceMessage], list[TraceMessage]]:
    """A span's messages that spans below it lack: for an agent the missing pieces, for others all messages or none."""
    messages = [*span.inputs, *span.outputs]
    unreported = span.reported_below.unreported(messages)
    if not unreported:
        return [], []
    inputs = len(span.inputs)
    new, _ = conversations.new_of(span.inputs, span.scope)
    if not span.is_agent:
        return new, span.outputs
    fresh = {message.place for message in new}
    outputs = {message.place for message in messages[inputs:]}
    return (
        [message for message in unreported if message.place in fresh],
        [message for message in unreported if message.place in outputs],
    )


class _Tools:
    """The calls and results of tool spans that no message contains."""

    def __init__(self, messages: Iterable[TraceMessage]) -> None:
        pieces = [piece for message in messages if not message.other for piece in message.pieces]
        self._calls = [piece for piece in pieces if piece.what == "call"]
        self._results = [piece for piece in pieces if piece.what == "result"]
        self._call_ids: dict[int, str | None] = {}
        self._added: set[tuple[str, str | None]] = set()

    def add(self, span: _Span, builder: TranscriptBuilder, *, at_end: bool) -> None:
        """Add the call at the span's start, its result or failure at its end."""
        if at_end:
            self._result(span, builder)
        else:
            self._call(span, builder)

    def _call(self, span: _Span, builder: TranscriptBuilder) -> None:
        call_id = text_or_none(span.attributes.get("gen_ai.tool.call.id"))
        arguments = span.attributes.get("gen_ai.tool.call.arguments")
        self._call_ids[span.entered] = call_id
        if call_id is not None and ("call", call_id) in self._added:
            return
        found = self._reported_call(call_id, _tool_name(span), arguments)
        if found is None:
            if call_id is not None:
                self._added.add(("call", call_id))
            builder.add(ToolCall, span.place, call_id=call_id, name=_tool_name(span), arguments=as_text(arguments))
            return
        self._call_ids[span.entered] = found.call_id
        if found in self._calls and (call_id is None or found.call_id is None):
            self._calls.remove(found)

    def _reported_call(self, call_id: str | None, name: str, arguments: Any) -> ContentPiece | None:
        """The call in a message: by its id, else by tool and arguments (by tool alone if those are missing)."""
        if call_id is not None:
            same = next((one for one in self._calls if one.call_id == call_id), None)
            if same is not None:
                return same
        written = call_text(name, arguments)
        for one in self._calls:
            if call_id is not None and one.call_id is not None:
                continue
            if one.text == written or (arguments is None and one.text.startswith(f"{name} ")):
                return one
        return None

    def _result(self, span: _Span, builder: TranscriptBuilder) -> None:
        call_id = self._call_ids.get(span.entered)
        returned = span.attributes.get("gen_ai.tool.call.result")
        failed = span.failure is not None
        if returned is None and not failed:
            return
        if call_id is not None and ("result", call_id) in self._added:
            return
        text = as_text(returned if returned is not None else span.failure)
        reported = self._reported_result(call_id, canonical(text))
        if reported is None:
            if call_id is not None:
                self._added.add(("result", call_id))
            name = _tool_name(span)
            builder.add(ToolResult, span.place, call_id=call_id, name=name, text=text, error=failed)
        if span.failure and span.failure not in (text if reported is None else reported.text):
            builder.add(Event, span.place, origin="tool", name="error", text=span.failure)

    def _reported_result(self, call_id: str | None, text: str) -> ContentPiece | None:
        """The result in a message: by the id of its call, else by text, each at most once."""
        for index, one in enumerate(self._results):
            if call_id is not None and one.call_id is not None:
                if one.call_id == call_id:
                    return one
            elif one.text == text:
                return self._results.pop(index)
        return None


def _tool_name(span: _Span) -> str:
    return as_text(span.attributes.get("gen_ai.tool.name")) or "unnamed"


def _in_order(listed: list[dict[str, Any]]) -> list[_Span]:
    """The spans in tree order: parents before children, siblings by start."""
    spans = [_span(one) for one in listed]
    by_id: dict[str, _Span] = {}
    for table, span in zip(listed, spans, strict=True):
        by_id.setdefault(_id(table), span)
    roots: list[_Span] = []
    for table, span in zip(listed, spans, strict=True):
        parent = by_id.get(as_text(first_of(table, ("parentSpanId", "parent_span_id"))) or "none")
        span.parent = None if parent is span else parent
        (roots if span.parent is None else span.parent.children).append(span)
    ordered = _walked(roots)
    if len(ordered) < len(spans):  # a cycle: all parents are ignored
        for span in spans:
            span.parent, span.children = None, []
        ordered = _walked(spans)
    return ordered


def _walked(roots: list[_Span]) -> list[_Span]:
    ordered: list[_Span] = []
    number = 0
    waiting = [(span, False) for span in sorted(roots, key=_start)][::-1]
    while waiting:
        span, is_left = waiting.pop()
        number += 1
        if is_left:
            span.left = number
            if span.parent is not None and span.parent.ends_with_children:
                span.parent.end = max(span.parent.end, span.end)
            continue
        span.entered = number
        span.depth = 0 if span.parent is None else span.parent.depth + 1
        ordered.append(span)
        waiting.append((span, True))
        waiting += [(one, False) for one in sorted(span.children, key=_start)][::-1]
    return ordered


def _start(span: _Span) -> int:
    return span.start


def _span(table: dict[str, Any]) -> _Span:
    place = f"span {_id(table)}"
    attributes = table["attributes"]
    inputs, outputs = messages_of_span(table, place)
    start = nanoseconds(table, ("startTimeUnixNano", "start_time_unix_nano")) or 0
    end = nanoseconds(table, ("endTimeUnixNano", "end_time_unix_nano"))
    return _Span(
        attributes=attributes,
        place=place,
        inputs=inputs,
        outputs=outputs,
        start=start,
        end=max(start, end or 0),
        ends_with_children=end is None,
        failure=_failure(table) if is_genai(table) else None,
    )


def _id(span: dict[str, Any]) -> str:
    return as_text(first_of(span, ("spanId", "span_id")))


def _failure(span: dict[str, Any]) -> str | None:
    """The reason of the span's failure; None if it did not fail."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    if code is True or code not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return None
    reason = status.get("message") if isinstance(status, dict) else None
    return as_text(reason) or as_text(span["attributes"].get("error.type")) or as_text(span.get("name")) or "failed"


OTEL = Format(
    "otel",
    lambda row: isinstance(row, Trace) or (isinstance(row, dict) and bool(row.keys() & set(RESOURCES))),
    _read,
    gather=Traces,
    marks=frozenset(RESOURCES),
)
"""OTLP as JSON."""
