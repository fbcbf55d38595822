"""The items of OpenAI's Responses API: messages, reasoning, calls and their outputs, in one list.

Source: the types of the SDK `openai` (`openai.types.responses`).
"""

from typing import Any

from jury_cases.transcripts.blocks import BlockReader, Speaker
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_objects, as_text, text_or_none
from jury_events.transcript import Event, Origin, Reasoning, ToolCall, ToolResult

_BOOKKEEPING = frozenset({"id", "type", "status", "created_by", "phase", "namespace", "execution"})
_FAILED = ("failed", "incomplete")
_APPROVALS: dict[str, Origin] = {"mcp_approval_request": "model", "mcp_approval_response": "user"}


def read_responses(value: Any, builder: TranscriptBuilder, place: str = "output") -> None:
    """Read `input` or `output` of a response; an input may be text of the user.

    Raises:
        CaseFileError: it is not a list of items.
    """
    if isinstance(value, str):
        builder.message("user", value, place)
        return
    for index, item in enumerate(as_objects(value, place, "items")):
        read_item(item, builder, f"{place}.{index}")


def is_item(value: Any) -> bool:
    """Whether a value is an item specific to the Responses API."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind == "reasoning" or kind.endswith(("_call", "_call_output")))


def read_item(item: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """Read one item.

    Raises:
        CaseFileError: a part of it is invalid.
    """
    kind = item.get("type")
    if not isinstance(kind, str):
        kind = "message"
    if kind == "message":
        read_message({key: value for key, value in item.items() if key != "phase"}, builder, place)
    elif kind == "reasoning":
        _reasoning(item, builder, place)
    elif kind.endswith("_output"):
        failed = item.get("status") in _FAILED or is_failed(item.get("output"))
        speaker = Speaker(None, "tool", call_id=text_or_none(item.get("call_id")), error=failed)
        BlockReader(speaker, builder).read(_output(item.get("output")), f"{place}.output")
        builder.unread(item, _BOOKKEEPING | {"call_id", "output"}, "tool", place)
    elif kind.endswith("_call"):
        _called(item, kind, builder, place)
    elif kind in _APPROVALS:
        known = _BOOKKEEPING | {"approval_request_id"}
        rest = {name: value for name, value in item.items() if name not in known}
        builder.add(Event, place, origin=_APPROVALS[kind], name=kind, text=as_text(rest))
    elif kind == "mcp_list_tools":
        builder.add(Event, place, origin="tool", name=kind, text=as_text(item.get("tools")))
    else:
        builder.not_shown(f"item {kind}", "model", place, item)


def _called(item: dict[str, Any], kind: str, builder: TranscriptBuilder, place: str) -> None:
    """A function call, or a tool run by the provider with its result in the same item."""
    if kind in {"function_call", "custom_tool_call"}:
        call_id = text_or_none(item.get("call_id"))
        name = ".".join(part for part in (as_text(item.get("namespace")), as_text(item.get("name"))) if part)
        arguments = as_text(item.get("arguments", item.get("input")))
        builder.add(ToolCall, place, call_id=call_id, name=name or kind, arguments=arguments)
        builder.unread(item, _BOOKKEEPING | {"call_id", "name", "arguments", "input"}, "model", place)
    elif kind == "mcp_call":
        _provider_call(
            item, as_text(item.get("name")), item.get("arguments"), item.get("output"), builder=builder, place=place
        )
        builder.unread(item, _BOOKKEEPING | {"name", "arguments", "output", "error", "server_label"}, "model", place)
    elif kind == "image_generation_call":
        builder.add(ToolCall, place, call_id=text_or_none(item.get("id")), name=kind)
        builder.base64_file(item.get("result"), "image/png", "tool", place, call_id=text_or_none(item.get("id")))
        builder.unread(item, _BOOKKEEPING | {"result"}, "model", place)
    else:
        # web_search_call, code_interpreter_call …: run by the provider, arguments and results in specific fields.
        results = {key: item[key] for key in ("output", "outputs", "results", "result") if item.get(key) is not None}
        given = {key: value for key, value in item.items() if key not in _BOOKKEEPING | results.keys() | {"error"}}
        _provider_call(item, kind, given or None, next(iter(results.values()), None), builder=builder, place=place)


def _provider_call(
    item: dict[str, Any], name: str, arguments: Any, output: Any, *, builder: TranscriptBuilder, place: str
) -> None:
    call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
    builder.add(ToolCall, place, call_id=call_id, name=name, arguments=as_text(arguments))
    error = item.get("error")
    if output is not None:
        builder.add(ToolResult, place, call_id=call_id, name=name, text=as_text(output))
    if error or (item.get("status") in _FAILED and output is None):
        text = as_text(error) or as_text(item.get("status"))
        builder.add(ToolResult, place, call_id=call_id, name=name, text=text, error=True)


def is_failed(output: Any) -> bool:
    """Whether a tool's JSON reports a failure: the exit code of a shell's last command."""
    last = output[-1] if isinstance(output, list) and output else output
    outcome = last.get("outcome") if isinstance(last, dict) else None
    return isinstance(outcome, dict) and (outcome.get("type") == "timeout" or outcome.get("exit_code") not in {0, None})


def _output(output: Any) -> Any:
    """A screenshot is a content block; other objects are the tool's JSON."""
    if isinstance(output, dict) and output.get("type") == "computer_screenshot":
        return [{**output, "type": "input_image"}]
    return output


def _reasoning(item: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    for key in ("summary", "content"):
        texts = as_objects(item.get(key), f"{place}.{key}", "texts")
        for index, text in enumerate(texts):
            builder.add(Reasoning, f"{place}.{key}.{index}", text=as_text(text.get("text")))
            builder.unread(text, {"type", "text"}, "model", f"{place}.{key}.{index}")
    if item.get("encrypted_content"):
        what = "reasoning that the provider encrypted"
        builder.not_shown(what, "model", f"{place}.encrypted_content", item["encrypted_content"])
    builder.unread(item, _BOOKKEEPING | {"summary", "content", "encrypted_content"}, "model", place)
