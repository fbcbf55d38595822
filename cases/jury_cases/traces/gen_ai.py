"""Spans of OpenTelemetry's conventions for generative AI, and what frameworks write beside them.

Source: the conventions and their earlier versions; `strands-agents`, `pydantic-ai`, Logfire's instrumentation of the
OpenAI Agents SDK, Traceloop's of LangChain.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.traces.pieces import ContentPiece, PieceCounter, items_of, pieces_of
from jury_cases.traces.span import PlainSpan, SpanKind, optional_text
from jury_cases.traces.span_tables import SpanTable
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_objects, as_text, decoded_json, is_blank
from jury_cases.transcripts.otel import read_parts_message
from jury_cases.transcripts.responses import read_responses
from jury_events.case import Image
from jury_events.transcript import Item, ToolCall, ToolResult

_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"


class SpanMessages(NamedTuple):
    """The input and output messages of a span, as items of a transcript, and their pictures."""

    inputs: tuple[Item, ...]
    outputs: tuple[Item, ...]
    images: tuple[Image, ...]


def messages_of_span(span: PlainSpan) -> SpanMessages:
    """A span's input and output messages; if recorded in several ways, each message once."""
    attributes, place = span.attributes, span.place
    if (response := _response(attributes)) is not None:
        return _of_response(response, attributes.get("raw_input"), place)
    taken, put, asked, chosen = _sources(span)
    several = attributes.get("gen_ai.request.choice.count")
    is_choice = isinstance(several, int) and several > 1
    inputs, outputs = _SourceReader(f"{place}.messages"), _SourceReader(f"{place}.output")
    system = [{"type": "text", "content": part} if isinstance(part, str) else part for part in _instructions(span)]
    instructions = _SourceReader(f"{place}.gen_ai.system_instructions")
    if system:
        instructions.read([{"role": "system", "parts": system}])
    for source in (*taken, asked):
        inputs.read(source)
    if (thought := attributes.get("gen_ai.content.reasoning")) is not None:  # as OpenLIT writes it
        put.insert(0, [{"role": "assistant", "parts": [{"type": "reasoning", "content": as_text(thought)}]}])
    for source in (*put, chosen):
        outputs.read(source, is_choice=is_choice)
    images = (*instructions.images, *inputs.images, *outputs.images)
    return SpanMessages((*instructions.items, *inputs.items), tuple(outputs.items), images)


_Messages = list[dict[str, Any]]


def _sources(span: PlainSpan) -> tuple[list[_Messages], list[_Messages], _Messages, _Messages]:
    """Where a span may have its messages: lists of inputs and of outputs, and those that are events of their own."""
    attributes = span.attributes
    taken = [_listed(attributes, _INPUT), list(_indexed(attributes, "gen_ai.prompt", "user"))]
    put = [_listed(attributes, _OUTPUT), list(_indexed(attributes, "gen_ai.completion", "assistant"))]
    taken.append(_content(attributes.get("gen_ai.prompt"), "user"))
    put.append(_content(attributes.get("gen_ai.completion"), "assistant"))
    asked: _Messages = []
    chosen: _Messages = []
    for event in (*span.events, *_listed_events(attributes)):
        name, body = as_text(event.get("name")), as_object(event.get("attributes"))
        if _LEFT_OUT in (body.get("content"), as_object(body.get("message")).get("content")):
            continue
        if name in _EVENT_ROLES:
            asked.append(_of_event(_EVENT_ROLES[name], body))
        elif name == "gen_ai.choice":
            chosen.append(_choice(body))
        elif name == "gen_ai.client.inference.operation.details":
            taken.append(_listed(body, _INPUT))
            put.append(_listed(body, _OUTPUT))
        elif name in _CONTENTS:
            role, key = _CONTENTS[name]
            (asked if role == "user" else chosen).extend(_content(body.get(key), role))
    put.append(_objects(attributes.get("pydantic_ai.all_messages")))
    return taken, put, asked, chosen


_LEFT_OUT = "<elided>"
"""What Google's instrumentations write where they are not to record a content."""

_CONTENTS = {
    "gen_ai.content.prompt": ("user", "gen_ai.prompt"),
    "gen_ai.content.completion": ("assistant", "gen_ai.completion"),
}
"""Events of Semantic Kernel and of earlier conventions, with the messages as JSON or as text."""


def _content(value: Any, role: str) -> list[dict[str, Any]]:
    listed = as_list(value)
    if listed and all(isinstance(one, dict) for one in listed):
        return [{"role": role, **one} for one in listed]
    return [{"role": role, "content": as_text(value)}] if value else []


def _instructions(span: PlainSpan) -> list[Any]:
    found = as_list(span.attributes.get("gen_ai.system_instructions"))
    for event in span.events if not found else ():
        found += as_list(as_object(event.get("attributes")).get("gen_ai.system_instructions"))
    return found


def as_list(value: Any) -> list[Any]:
    """JSON as a list; null is []."""
    decoded = decoded_json(value)
    if decoded is None:
        return []
    return decoded if isinstance(decoded, list) else [decoded]


def _response(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """A response of OpenAI's Responses API that is kept whole, as Logfire does."""
    response = decoded_json(attributes.get("response"))
    return response if isinstance(response, dict) and response.get("object") == "response" else None


def _of_response(response: dict[str, Any], asked: Any, place: str) -> SpanMessages:
    taken, put = TranscriptBuilder(), TranscriptBuilder()
    if isinstance(response.get("instructions"), str):
        taken.message("system", response["instructions"], f"{place}.response.instructions")
    given = decoded_json(asked)
    if given is not None:
        read_responses(given, taken, f"{place}.raw_input")
    read_responses(response.get("output"), put, f"{place}.response.output")
    return SpanMessages(taken.transcript().items, put.transcript().items, (*taken.images, *put.images))


def _listed_events(attributes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("events", "all_messages_events"):
        for event in _objects(attributes.get(key)):
            yield {"name": event.get("event.name"), "attributes": event}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in as_list(value) if isinstance(one, dict)]


class _SourceReader:
    """Reads several sources of the same messages: all of the first, and what the others have more.

    The first of several choices is the answer; the others are not shown.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._messages = 0
        self.items: list[Item] = []
        self.images: list[Image] = []

    def read(self, messages: list[dict[str, Any]], *, is_choice: bool = False) -> None:
        """Read one source; `is_choice`: each of its messages is a choice."""
        earlier = PieceCounter(pieces_of(self.items)) if self.items else None
        read: list[tuple[dict[str, Any], bool, list[ContentPiece]]] = []
        for index, message in enumerate(messages, start=self._messages):
            builder = TranscriptBuilder()
            own = {key: value for key, value in message.items() if key != _CHOICE}
            read_parts_message(own, builder, f"{self._place}.{index}")
            read.append((own, message.get(_CHOICE, is_choice), pieces_of(builder.transcript().items)))
            self.images += builder.images
        if earlier is not None:
            new = set(map(id, earlier.missing([piece for *_, pieces in read for piece in pieces])))
            read = [(message, choice, [one for one in pieces if id(one) in new]) for message, choice, pieces in read]
        for message, choice, pieces in read:
            if pieces and self.items and choice:
                other = TranscriptBuilder()
                other.not_shown("another choice", "model", f"{self._place}.{self._messages}", message)
                self.items += other.transcript().items
            else:
                self.items += items_of(pieces)
            self._messages += bool(pieces)


def _listed(attributes: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The messages of an attribute: JSON, also in a text of JSON; another text is one message."""
    role = {"role": "assistant"} if key == _OUTPUT else {}
    listed = as_list(decoded_json(attributes.get(key), texts=True))
    if len(listed) == 1 and isinstance(listed[0], str) and not is_blank(listed[0]):
        (text,) = listed
        if text.lstrip().startswith(("[{", '{"')):
            raise CaseFileError(
                f"{key}: the JSON is cut off, as tracing tools do with long attributes; record them whole, as with a "
                "larger OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, or leave such traces out with --skip-unreadable"
            )
        return _content(text, "assistant" if role else "user")
    return [{**role, **message} for message in as_objects(listed, key, "messages")]


_CHOICE = "\0choice"
"""Marks messages that are alternative choices of one answer."""


def _of_event(role: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a span event, as defined by the conventions before 1.37."""
    body = _body(attributes)
    message = {"content": None, **body, "role": as_text(body.get("role")) or role}
    message["content"] = typed_blocks(message["content"])
    if role == "tool" and isinstance(message["content"], list) and _has_results(message["content"]):
        return {"role": "user", "content": message["content"]}  # the results name their calls
    return message | ({"tool_call_id": body["id"]} if role == "tool" and "id" in body else {})


def _choice(attributes: Mapping[str, Any]) -> dict[str, Any]:
    body = {key: value for key, value in _body(attributes).items() if key != "index"}
    message = body.pop("message", None)
    inner = message if isinstance(message, dict) else {} if message is None else {"content": typed_blocks(message)}
    body.pop("tool.result", None)  # repeated by the message that follows
    return {"content": None, **body, **inner, "role": "assistant", _CHOICE: True}


def _has_results(content: list[Any]) -> bool:
    return all(isinstance(one, dict) and one.get("type") == "tool_result" for one in content)


def typed_blocks(content: Any) -> Any:
    """Blocks of Amazon Bedrock, which Strands writes as JSON, typed as Anthropic's; other content unchanged."""
    decoded = decoded_json(content)
    if not (isinstance(decoded, list) and decoded and all(isinstance(one, dict) for one in decoded)):
        return content
    if any("type" in one for one in decoded):
        return decoded
    return [_typed(one) for one in decoded]


def _typed(block: dict[str, Any]) -> dict[str, Any]:
    use, result = as_object(block.get("toolUse")), as_object(block.get("toolResult"))
    thought = as_object(as_object(block.get("reasoningContent")).get("reasoningText"))
    if use:
        return {"type": "tool_use", "id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
    if result:
        found = {"type": "tool_result", "tool_use_id": result.get("toolUseId")}
        return {**found, "content": typed_blocks(result.get("content")), "is_error": result.get("status") == "error"}
    return {"type": "thinking", "thinking": thought.get("text")} if thought else block


def _body(attributes: Mapping[str, Any]) -> dict[str, Any]:
    named = {key.removeprefix("gen_ai.event."): decoded_json(value) for key, value in attributes.items()}
    return {key: value for key, value in named.items() if not key.startswith("gen_ai.") and key != "event.name"}


def _indexed(attributes: Mapping[str, Any], prefix: str, role: str) -> Iterator[dict[str, Any]]:
    """`gen_ai.prompt.0.role`, `gen_ai.prompt.0.content` … as OpenLLMetry writes them."""
    messages: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    calls: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        path = key.removeprefix(f"{prefix}.").split(".")
        if not key.startswith(f"{prefix}.") or not path[0].isdecimal():
            continue
        number = int(path[0][:6])
        if path[1:2] == ["tool_calls"] and len(path) == 4 and path[2].isdecimal():  # noqa: PLR2004  (parts of the path)
            calls[number, int(path[2][:6])][path[3]] = value
        elif len(path) == 2:  # noqa: PLR2004  (parts of the path)
            messages[number][path[1]] = decoded_json(value) if path[1] == "content" else value
    for (number, _), call in sorted(calls.items()):
        listed = messages[number].setdefault("tool_calls", [])
        if isinstance(listed, list):
            listed.append(call)
    mark = {_CHOICE: True} if role == "assistant" else {}
    for _, message in sorted(messages.items(), key=lambda one: one[0]):
        yield {"role": role, **message, **mark}


def _read(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    if kind == "tool" or (kind is None and not is_blank(span.at(("gen_ai.tool.name",)))):
        return {"kind": "tool", **_tool(span)}
    messages = messages_of_span(span)
    return {"inputs": messages.inputs, "outputs": messages.outputs, "images": messages.images}


def _tool(span: PlainSpan) -> dict[str, Any]:
    """Arguments and result in events: of Strands, or the messages that the conventions have for them since 1.38."""
    found: dict[str, Any] = {}
    for event in span.events:
        body = as_object(event.get("attributes"))
        if event.get("name") == "gen_ai.tool.message":
            found["given"] = decoded_json(body.get("content"))
        elif event.get("name") == "gen_ai.choice":
            found["answer"] = {"content": typed_blocks(body.get("message"))}
        if not is_blank(body.get("id")):
            found["call_id"] = body["id"]
    found |= _of_callback(span)
    if not found:
        messages = messages_of_span(span)
        for item in (*messages.inputs, *messages.outputs):
            if isinstance(item, ToolCall):
                found |= {"given": item.arguments, "call_id": item.call_id}
            elif isinstance(item, ToolResult):
                found |= {"answer": item.text, "call_id": item.call_id}
    return found


def _of_callback(span: PlainSpan) -> dict[str, Any]:
    given, answer = (as_object(decoded_json(span.at(names))) for names in (_GIVEN, _ANSWER))
    message = as_object(answer.get("output"))
    found: dict[str, Any] = {"answer": message} if message.get("lc") == 1 else {}
    if "input_str" in given:
        found["given"] = given["input_str"] if is_blank(given.get("inputs")) else given["inputs"]
    return found


_GIVEN = ("gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input")
_ANSWER = ("gen_ai.tool.call.result", "tool_response", "traceloop.entity.output")

GEN_AI = SpanTable(
    "gen_ai",
    marks=("gen_ai.",),
    kind=("gen_ai.operation.name",),
    kinds={
        **dict.fromkeys(("chat", "text_completion", "generate_content", "completion", "generate"), "model"),
        **dict.fromkeys(("execute_tool", "retrieval"), "tool"),
        **dict.fromkeys(("invoke_agent", "create_agent"), "agent"),
    },
    tool=("gen_ai.tool.name",),
    call_id=("gen_ai.tool.call.id",),
    agent=("gen_ai.agent.name", "agent_name"),
    given=_GIVEN[:2],
    answer=_ANSWER[:2],
    read=_read,
)


def _template(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    template = as_text(span.attributes.get(_TEMPLATE))
    if template.startswith("Handoff: {from_agent}"):
        giver, taker = (optional_text(span.attributes.get(name)) for name in ("from_agent", "to_agent"))
        return {"handover": (giver, taker)}
    if template == "Agent run: {name!r}":
        return {"kind": kind or "agent", "agent": span.attributes.get("name")}
    if template == "Function: {name}":
        found = {"given": span.attributes.get("input"), "answer": span.attributes.get("output")}
        returned = None if found["answer"] == "null" else found["answer"]
        return {"kind": "tool", "name": as_text(span.attributes.get("name")), **found, "answer": returned}
    return {}


_TEMPLATE = "logfire.msg_template"
LOGFIRE = SpanTable("logfire", marks=(_TEMPLATE,), read=_template)


def _entity(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    if kind == "tool":
        return _of_callback(span)
    given, answer = (as_object(decoded_json(span.at((name,)))) for name in (_GIVEN[2], _ANSWER[2]))
    return {name: one for name, one in (("given", given.get("inputs")), ("answer", answer.get("outputs"))) if one}


TRACELOOP = SpanTable(
    "traceloop",
    marks=("traceloop.span.kind", "traceloop.entity.", "llm.request.type"),
    kind=("traceloop.span.kind", "llm.request.type"),
    kinds={"tool": "tool", "agent": "agent", "chat": "model", "completion": "model"},
    tool=("traceloop.entity.name",),
    given=("traceloop.entity.input",),
    answer=("traceloop.entity.output",),
    read=_entity,
)
