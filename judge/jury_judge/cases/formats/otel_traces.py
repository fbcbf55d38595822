"""OpenTelemetry traces of generative AI (OTLP as JSON): one case a trace, from its chat, agent and tool spans.

Source: OpenTelemetry's semantic conventions for generative AI: `gen_ai.*` attributes of spans, and the span events that
earlier versions had. What a span took in stands at its start, what it put out at its end. Most chat spans repeat the
conversation so far, and spans of agents repeat their chat spans: a repeat is left out, anything else is told.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from jury_events.transcript import Event, ToolCall, ToolResult
from jury_judge.cases.draft import Draft
from jury_judge.cases.formats.format import Format
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_objects, as_text, json_kind, text_or_none
from jury_judge.cases.transcripts.otel import (
    Conversations,
    Course,
    Piece,
    Said,
    Told,
    call_text,
    canonical,
    read_parts_message,
)
from jury_judge.errors import CaseFileError

MAX_EXPORT = 256 * 1024 * 1024
"""Characters of the batches of one file, which are gathered by trace."""

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_FACTS = {
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.system": "provider",
    "gen_ai.agent.name": "agent",
    "gen_ai.conversation.id": "conversation",
    "service.name": "service",
}


class _Trace(dict[str, Any]):
    """One trace of an export: its spans, each with plain attributes, as a row."""


class TraceGatherer:
    """Gathers the spans of an export's batches by trace."""

    def __init__(self) -> None:
        self._traces: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._size = 0

    def add(self, document: Any) -> None:
        """One batch.

        Raises:
            CaseFileError: it is no OTLP, or the batches are larger than `MAX_EXPORT` together.
        """
        try:
            self._size += len(as_text(document))
            if self._size > MAX_EXPORT and self._traces:
                raise CaseFileError(
                    f"resourceSpans: more than {MAX_EXPORT >> 20} MiB of spans; split the file by trace"
                )
            for span in _spans(document):
                self._traces[as_text(_first(span, ("traceId", "trace_id")))].append(span)
        except RecursionError as error:
            raise CaseFileError("resourceSpans: nested too deeply") from error

    def traces(self) -> Iterator[tuple[str, Any]]:
        """The traces in the order of their first span; those without spans of generative AI are left out.

        Raises:
            CaseFileError: there is none.
        """
        found = 0
        for trace, spans in self._traces.items():
            if any(_is_genai(span) for span in spans):
                found += 1
                yield trace, _Trace(spans=spans, trace_id=trace)
        if not found:
            raise CaseFileError("resourceSpans: no span has gen_ai attributes with messages; nothing can be judged")


def _split(document: Any) -> Iterator[tuple[str, Any]]:
    gatherer = TraceGatherer()
    gatherer.add(document)
    yield from gatherer.traces()


def _spans(document: Any) -> Iterator[dict[str, Any]]:
    """The spans of a batch, with the attributes of their resource and plain values in attributes and events."""
    if not isinstance(document, dict):
        raise CaseFileError(f"resourceSpans: must be an object with resourceSpans, not {json_kind(document)}")
    for resource in as_objects(_first(document, _RESOURCES), "resourceSpans", "resources"):
        common = _attributes(_table(resource.get("resource")).get("attributes"))
        for scope in as_objects(_first(resource, _SCOPES), "scopeSpans", "scopes"):
            for span in as_objects(scope.get("spans"), "spans", "spans"):
                events = as_objects(span.get("events"), "events", "events")
                plain = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
                yield {**span, "attributes": common | _attributes(span.get("attributes")), "events": plain}


@dataclass(eq=False, kw_only=True)
class _Span:
    """One span: what it took in and put out, and where it stands among the others.

    `entered` and `left` number the spans as a walk of the tree enters and leaves them; `end` is that of the latest
    span below it, where the span says none.
    """

    attributes: dict[str, Any]
    place: str
    inputs: list[Said]
    outputs: list[Said]
    start: int
    end: int
    ends_with_those_below: bool
    failure: str | None
    parent: "_Span | None" = None
    below: list["_Span"] = field(default_factory=list)
    entered: int = 0
    left: int = 0
    depth: int = 0
    told_below: Told = field(default_factory=Told)

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
        """The run of an agent that it belongs to: where the system tells the same it is told once."""
        agent: _Span | None = self
        while agent is not None and agent.operation not in {"invoke_agent", "create_agent"}:
            agent = agent.parent
        return None if agent is None else agent.entered, as_text(self.attributes.get("gen_ai.agent.name"))


def _read(row: Any) -> Draft:
    builder = TranscriptBuilder()
    facts: dict[str, Any] = {}
    spans = _in_order(row["spans"])
    for span in spans:
        for key, name in _FACTS.items():
            if key in span.attributes:
                facts.setdefault(name, span.attributes[key])
    failed = [span.failure for span in spans if span.failure is not None and not span.is_tool]
    course = _course(spans)
    tools = _Tools([one.said for one in course if one.said is not None])
    for step in course:
        if step.said is None:
            tools.add(step.span, builder, at_end=step.at_end)
        elif step.said.other:
            builder.not_shown("another choice", "model", step.said.place, step.said.message)
        else:
            read_parts_message(step.said.message, builder, step.said.place)
    error = "\n".join(dict.fromkeys(failed)) or None
    return Draft(case_id=row["trace_id"] or None, built=builder, error=error, metadata=facts)


class _Step(NamedTuple):
    """A message in its place; or, where `said` is None, a tool that begins or ends."""

    span: _Span
    at_end: bool
    said: Said | None


def _course(spans: list[_Span]) -> list[_Step]:
    """What is told, in the order in which it happened."""
    _count_below(spans)
    moments = sorted(((span, at_end) for span in spans for at_end in (False, True)), key=lambda moment: _when(*moment))
    conversations = Conversations()
    courses: dict[int, Course] = {}
    steps: list[_Step] = []
    for span, at_end in moments:
        if span.is_tool:
            steps.append(_Step(span, at_end, None))
        if span.told_below:
            told = _beyond_those_below(span, conversations)[at_end]
        elif at_end:
            told = span.outputs
            if span.inputs or told:
                conversations.ended(courses[span.entered], told, failed=span.failure is not None)
        else:
            told, courses[span.entered] = conversations.new_of(span.inputs, span.scope)
        steps += [_Step(span, at_end, said) for said in told]
    return steps


def _when(span: _Span, at_end: bool) -> tuple[int, int, int, int]:
    """Ends go before the starts of the same time; a span that takes no time ends where it starts."""
    if at_end and span.end > span.start:
        return span.end, 0, -span.depth, span.left
    return span.start, 1, span.left if at_end else span.entered, 0


def _count_below(spans: list[_Span]) -> None:
    """For every span what the spans below it say."""
    for span in sorted(spans, key=lambda one: one.left):
        if span.parent is not None:
            own = Told()
            own.count([*span.inputs, *span.outputs])
            span.parent.told_below.most(own)
            span.parent.told_below.most(span.told_below)


def _beyond_those_below(span: _Span, conversations: Conversations) -> tuple[list[Said], list[Said]]:
    """What a span says that the spans below it do not: of an agent its single parts; of any other all of it or none."""
    messages = [*span.inputs, *span.outputs]
    untold = span.told_below.untold(messages)
    if not untold:
        return [], []
    inputs = len(span.inputs)
    new, _ = conversations.new_of(span.inputs, span.scope)
    if not span.is_agent:
        return new, span.outputs
    fresh = {said.place for said in new}
    outputs = {said.place for said in messages[inputs:]}
    return (
        [said for said in untold if said.place in fresh],
        [said for said in untold if said.place in outputs],
    )


class _Tools:
    """The calls and results of tool spans, as far as no message tells them."""

    def __init__(self, messages: Iterable[Said]) -> None:
        pieces = [piece for said in messages if not said.other for piece in said.pieces]
        self._calls = [piece for piece in pieces if piece.what == "call"]
        self._results = [piece for piece in pieces if piece.what == "result"]
        self._call_ids: dict[int, str | None] = {}
        self._added: set[tuple[str, str | None]] = set()

    def add(self, span: _Span, builder: TranscriptBuilder, *, at_end: bool) -> None:
        """The call where the span starts, its result or its failure where it ends."""
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
        found = self._told_call(call_id, _tool_name(span), arguments)
        if found is None:
            if call_id is not None:
                self._added.add(("call", call_id))
            builder.add(ToolCall, span.place, call_id=call_id, name=_tool_name(span), arguments=as_text(arguments))
            return
        self._call_ids[span.entered] = found.call_id
        if found in self._calls and (call_id is None or found.call_id is None):
            self._calls.remove(found)

    def _told_call(self, call_id: str | None, name: str, arguments: Any) -> Piece | None:
        """The call in a message: by its id, else by its tool and arguments (by its tool, where those are not kept)."""
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
        told = self._told_result(call_id, canonical(text))
        if told is None:
            if call_id is not None:
                self._added.add(("result", call_id))
            name = _tool_name(span)
            builder.add(ToolResult, span.place, call_id=call_id, name=name, text=text, error=failed)
        if span.failure and span.failure not in (text if told is None else told.text):
            builder.add(Event, span.place, origin="tool", name="error", text=span.failure)

    def _told_result(self, call_id: str | None, text: str) -> Piece | None:
        """The result in a message: by the id of its call, else by its text, each once."""
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
    """The spans as a tree: parents before children, those of one parent by their starts."""
    spans = [_span(one) for one in listed]
    by_id: dict[str, _Span] = {}
    for table, span in zip(listed, spans, strict=True):
        by_id.setdefault(_id(table), span)
    roots: list[_Span] = []
    for table, span in zip(listed, spans, strict=True):
        parent = by_id.get(as_text(_first(table, ("parentSpanId", "parent_span_id"))) or "none")
        span.parent = None if parent is span else parent
        (roots if span.parent is None else span.parent.below).append(span)
    ordered = _walked(roots)
    if len(ordered) < len(spans):  # spans that are below one another: no parent of theirs can be believed
        for span in spans:
            span.parent, span.below = None, []
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
            if span.parent is not None and span.parent.ends_with_those_below:
                span.parent.end = max(span.parent.end, span.end)
            continue
        span.entered = number
        span.depth = 0 if span.parent is None else span.parent.depth + 1
        ordered.append(span)
        waiting.append((span, True))
        waiting += [(one, False) for one in sorted(span.below, key=_start)][::-1]
    return ordered


def _start(span: _Span) -> int:
    return span.start


def _span(table: dict[str, Any]) -> _Span:
    place = f"span {_id(table)}"
    attributes = table["attributes"]
    inputs, outputs = _messages(table, place)
    start = _time(table, ("startTimeUnixNano", "start_time_unix_nano")) or 0
    end = _time(table, ("endTimeUnixNano", "end_time_unix_nano"))
    return _Span(
        attributes=attributes,
        place=place,
        inputs=inputs,
        outputs=outputs,
        start=start,
        end=max(start, end or 0),
        ends_with_those_below=end is None,
        failure=_failure(table) if _is_genai(table) else None,
    )


def _id(span: dict[str, Any]) -> str:
    return as_text(_first(span, ("spanId", "span_id")))


def _failure(span: dict[str, Any]) -> str | None:
    """Why the span failed, None where it did not."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    if code is True or code not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return None
    reason = status.get("message") if isinstance(status, dict) else None
    return as_text(reason) or as_text(span["attributes"].get("error.type")) or as_text(span.get("name")) or "failed"


def _messages(span: dict[str, Any], place: str) -> tuple[list[Said], list[Said]]:
    """What a span took in and what it put out; where it says so in several ways, each message once."""
    attributes = span["attributes"]
    taken = [_listed(attributes, _INPUT), list(_indexed(attributes, "gen_ai.prompt", "user"))]
    put = [_listed(attributes, _OUTPUT), list(_indexed(attributes, "gen_ai.completion", "assistant"))]
    asked: list[dict[str, Any]] = []
    chosen: list[dict[str, Any]] = []
    for event in span["events"]:
        name, body = as_text(event.get("name")), event["attributes"]
        if name in _EVENT_ROLES:
            asked.append(_of_event(_EVENT_ROLES[name], body))
        elif name == "gen_ai.choice":
            chosen.append(_choice(body))
        elif name == "gen_ai.client.inference.operation.details":
            taken.append(_listed(body, _INPUT))
            put.append(_listed(body, _OUTPUT))
    inputs = _merged([*taken, asked], f"{place}.messages")
    outputs = _merged([*put, chosen], f"{place}.output")
    system = [
        {"type": "text", "content": part} if isinstance(part, str) else part
        for part in _list(attributes.get("gen_ai.system_instructions"))
    ]
    if system:
        inputs.insert(0, Said({"role": "system", "parts": system}, f"{place}.gen_ai.system_instructions"))
    return inputs, _one_choice(outputs, attributes)


def _listed(attributes: dict[str, Any], key: str) -> list[dict[str, Any]]:
    role = {"role": "assistant"} if key == _OUTPUT else {}
    return [{**role, **message} for message in as_objects(_list(attributes.get(key)), key, "messages")]


def _merged(tellings: list[list[dict[str, Any]]], place: str) -> list[Said]:
    """The messages of the first telling, and what the others say beside it."""
    merged: list[Said] = []
    for messages in tellings:
        new = [Said(message, f"{place}.{len(merged) + index}") for index, message in enumerate(messages)]
        if merged:
            told = Told()
            told.count(merged)
            new = told.untold(new)
        merged += new
    return merged


def _one_choice(outputs: list[Said], attributes: dict[str, Any]) -> list[Said]:
    """Of several choices the conversation goes on with the first."""
    asked = attributes.get("gen_ai.request.choice.count")
    several = isinstance(asked, int) and asked > 1
    choices = [said.message.get(_CHOICE, several) for said in outputs]
    plain = [
        replace(said, message={key: value for key, value in said.message.items() if key != _CHOICE}) for said in outputs
    ]
    return [replace(said, other=bool(index and choices[index])) for index, said in enumerate(plain)]


_CHOICE = "\0choice"
"""Marks messages that are choices, each of the same answer."""


def _of_event(role: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A message of a span event, as versions of the conventions before 1.37 had them."""
    body = _body(attributes)
    message = {"content": None, **body, "role": as_text(body.get("role")) or role}
    return message | ({"tool_call_id": body["id"]} if role == "tool" and "id" in body else {})


def _choice(attributes: dict[str, Any]) -> dict[str, Any]:
    """The message of a choice, with why it ended."""
    body = {key: value for key, value in _body(attributes).items() if key != "index"}
    message = body.pop("message", None)
    inner = message if isinstance(message, dict) else {} if message is None else {"content": message}
    return {"content": None, **body, **inner, "role": "assistant", _CHOICE: True}


def _body(attributes: dict[str, Any]) -> dict[str, Any]:
    named = {key.removeprefix("gen_ai.event."): _decoded(value) for key, value in attributes.items()}
    return {key: value for key, value in named.items() if not key.startswith("gen_ai.") and key != "event.name"}


def _indexed(attributes: dict[str, Any], prefix: str, role: str) -> Iterator[dict[str, Any]]:
    """`gen_ai.prompt.0.role`, `gen_ai.prompt.0.content` … as OpenLLMetry writes them."""
    messages: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    calls: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        path = key.removeprefix(f"{prefix}.").split(".")
        if not key.startswith(f"{prefix}.") or not path[0].isdecimal():
            continue
        number = int(path[0][:6])
        if path[1:2] == ["tool_calls"] and len(path) == 4 and path[2].isdecimal():  # noqa: PLR2004
            calls[number, int(path[2][:6])][path[3]] = value
        elif len(path) == 2:  # noqa: PLR2004
            messages[number][path[1]] = _decoded(value) if path[1] == "content" else value
    for (number, _), call in sorted(calls.items()):
        listed = messages[number].setdefault("tool_calls", [])
        if isinstance(listed, list):
            listed.append(call)
    mark = {_CHOICE: True} if role == "assistant" else {}
    for _, message in sorted(messages.items(), key=lambda one: one[0]):
        yield {"role": role, **message, **mark}


def _is_genai(span: dict[str, Any]) -> bool:
    names = [*span["attributes"], *(as_text(event.get("name")) for event in span["events"])]
    return any(name.startswith("gen_ai.") for name in names)


def _time(span: dict[str, Any], names: Iterable[str]) -> int | None:
    """Nanoseconds; None for anything else."""
    written = _first(span, names)
    if isinstance(written, str) and written.isdecimal() and len(written) < _DIGITS:
        return int(written)
    return written if isinstance(written, int) and not isinstance(written, bool) else None


_DIGITS = 40


def _first(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return {as_text(key): value for key, value in listed.items()}
    return {
        as_text(one.get("key")): _any_value(one.get("value")) for one in as_objects(listed, "attributes", "attributes")
    }


def _any_value(value: Any) -> Any:
    """OTLP's AnyValue as plain JSON; what is none stays as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "arrayValue":
            values = _table(inner).get("values")
            return [_any_value(one) for one in values] if isinstance(values, list) else inner or []
        case "kvlistValue":
            return _attributes(inner["values"]) if isinstance(inner, dict) and "values" in inner else inner or {}
        case "intValue":
            return _whole(inner)
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value


def _whole(value: Any) -> Any:
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    return int(value) if digits.isdecimal() and len(digits) < _DIGITS else value


def _list(value: Any) -> list[Any]:
    decoded = _decoded(value)
    if decoded is None:
        return []
    return decoded if isinstance(decoded, list) else [decoded]


def _decoded(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


OTEL = Format(
    "otel",
    lambda row: isinstance(row, _Trace) or (isinstance(row, dict) and bool(row.keys() & set(_RESOURCES))),
    _read,
    split=_split,
)
"""OTLP as JSON."""
