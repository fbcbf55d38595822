"""Spans of OpenTelemetry's conventions for generative AI, and what frameworks write beside them.

Source: the conventions and their earlier versions; `strands-agents`, `pydantic-ai`, Logfire's instrumentation of the
OpenAI Agents SDK, Traceloop's of LangChain.
"""

from collections.abc import Mapping
from typing import Any

from jury_cases.traces.field_values import optional_text
from jury_cases.traces.plain_span import PlainSpan
from jury_cases.traces.span import SpanKind
from jury_cases.traces.span_tables import SpanTable
from jury_cases.traces.tables.gen_ai_messages import messages_of_span, typed_blocks
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank
from jury_events.transcript import ToolCall, ToolResult


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
    """What Traceloop keeps of LangChain's callback: all its arguments, and the message that it dumped."""
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
