"""What kind of span it is, and a tool's run: by OpenTelemetry's conventions, and as two tools write it beside them.

Logfire names the spans of the OpenAI Agents SDK by a template; a tool's input and output have names of their own.
Traceloop's instrumentation of LangChain has the whole arguments of a callback as those of the tool, and LangChain's
message as its result.
"""

from typing import Any

from jury_cases.traces.span import SpanKind, SpanTool
from jury_cases.transcripts.json_values import as_text, decoded_json, text_or_none

_TEMPLATE = "logfire.msg_template"
_FUNCTION, _AGENT, _HANDOFF = "Function: {name}", "Agent run: {name!r}", "Handoff: {from_agent}"


def kind_of(attributes: dict[str, Any]) -> SpanKind:
    """The kind of a span."""
    match as_text(attributes.get("gen_ai.operation.name")):
        case "execute_tool":
            return "tool"
        case "invoke_agent" | "create_agent":
            return "agent"
        case "":
            template = attributes.get(_TEMPLATE)
            if template == _FUNCTION or "gen_ai.tool.name" in attributes:
                return "tool"
            return "agent" if template == _AGENT else "other"
        case "chat" | "text_completion" | "generate_content" | "embeddings":
            return "model"
        case _:
            return "other"


def agent_of(attributes: dict[str, Any]) -> str | None:
    """The name of the agent whose span it is."""
    own = attributes.get("name") if attributes.get(_TEMPLATE) == _AGENT else attributes.get("agent_name")
    return text_or_none(attributes.get("gen_ai.agent.name")) or text_or_none(own)


def handover_of(attributes: dict[str, Any]) -> tuple[str | None, str | None] | None:
    """Who handed over to whom, if the span says so."""
    if not as_text(attributes.get(_TEMPLATE)).startswith(_HANDOFF):
        return None
    return text_or_none(attributes.get("from_agent")), text_or_none(attributes.get("to_agent"))


def reason_of(attributes: dict[str, Any]) -> Any:
    """Why a span of the Agents SDK failed: the error's data, else its message."""
    error = decoded_json(attributes.get("error"))
    if not isinstance(error, dict):
        return None
    data = error.get("data")
    return (data.get("error") if isinstance(data, dict) else None) or error.get("message")


def tool_of(attributes: dict[str, Any]) -> SpanTool:
    """The run of a tool's span."""
    if attributes.get(_TEMPLATE) == _FUNCTION:
        name, given, returned = (attributes.get(key) for key in ("name", "input", "output"))
        returned = None if returned == "null" else returned
    else:
        name, given, returned = (
            attributes.get(f"gen_ai.tool.{key}") for key in ("name", "call.arguments", "call.result")
        )
    call_id = text_or_none(attributes.get("gen_ai.tool.call.id"))
    arguments, result, failed = given, returned, False
    table, message = decoded_json(given), _langchain_message(decoded_json(returned))
    if isinstance(table, dict) and {"input_str", "inputs"} <= table.keys():
        arguments = table["input_str"] if table["inputs"] is None else table["inputs"]
    if message is not None:
        result, failed = message.get("content"), message.get("status") == "error"
        call_id = call_id or text_or_none(message.get("tool_call_id"))
    return SpanTool(
        name=as_text(name) or "unnamed",
        call_id=call_id,
        arguments=None if arguments is None else as_text(arguments),
        result=None if result is None else as_text(result),
        failed=failed,
    )


def _langchain_message(returned: Any) -> dict[str, Any] | None:
    """The fields of a tool's message as LangChain dumps it; None if it is none."""
    output = returned.get("output") if isinstance(returned, dict) else None
    fields = output.get("kwargs") if isinstance(output, dict) and output.get("lc") == 1 else None
    return fields if isinstance(fields, dict) and fields.get("type") == "tool" else None
