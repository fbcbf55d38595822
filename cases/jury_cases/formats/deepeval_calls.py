"""Calls in DeepEval's test cases: tools with their outputs, tools, resources and prompts of MCP servers; pictures."""

from typing import Any

from jury_cases.columns import snake_case
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, text_or_none
from jury_events.transcript import Origin, Reasoning, ToolCall

_KNOWN = frozenset({"name", "type", "reasoning", "input_parameters", "args", "uri", "output", "result"})
_TOOL = "unnamed"
_RESOURCE = "resources/read"
"""What MCP calls the reading of a resource."""

_IMAGE = frozenset({"data_base64", "mime_type", "url", "local", "filename"})


def read_calls(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read a list of calls; each result stands with its call."""
    for index, written in enumerate(as_objects(None if value == "" else value, place, "calls")):
        call = {snake_case(key): one for key, one in written.items()}
        at = f"{place}.{index}"
        if not is_blank(call.get("reasoning")):
            builder.add(Reasoning, f"{at}.reasoning", text=as_text(call["reasoning"]))
        arguments = next((call[key] for key in ("input_parameters", "args") if call.get(key) is not None), None)
        if "uri" in call:
            arguments = {"uri": call["uri"]}
        tool = text_or_none(call.get("name")) or (_RESOURCE if "uri" in call else _TOOL)
        # The record has no ids; the call and its output are one object.
        call_id = f"{at}#{len(builder)}"
        builder.add(ToolCall, at, call_id=call_id, name=tool, arguments=as_text(arguments))
        if not is_blank(call.get("output")):
            _read_result(call["output"], tool, call_id, builder, f"{at}.output")
        if not is_blank(call.get("result")):
            _read_result(call["result"], tool, call_id, builder, f"{at}.result")
        if not is_blank(call.get("description")):
            builder.not_shown("description of a tool", "developer", f"{at}.description", call["description"])
        builder.unread(call, _KNOWN | {"description"}, "model", at)


def _read_result(output: Any, tool: str, call_id: str, builder: TranscriptBuilder, place: str) -> None:
    """An output, or a result of MCP: content blocks and whether the call failed."""
    failed = False
    if isinstance(output, dict) and isinstance(output.get("content"), list):
        failed = output.get("isError") is True
        unread = {"content", "isError", "_meta", "meta", "structuredContent"}
        builder.unread(output, unread, "tool", place)
        output = [_block(one) for one in output["content"]] or output.get("structuredContent")
    answered = {"role": "tool", "name": tool, "tool_call_id": call_id, "is_error": failed, "content": output}
    read_message(answered, builder, place)


def _block(block: Any) -> Any:
    """A block of MCP; a picture as a block with its data."""
    if not isinstance(block, dict):
        return block
    rest = {name: value for name, value in block.items() if name not in {"annotations", "_meta", "meta"}}
    if block.get("type") != "image":
        return rest
    url = f"data:{as_text(rest.pop('mimeType', None))};base64,{as_text(rest.pop('data', None))}"
    return {**rest, "type": "image_url", "image_url": {"url": url}}


def expected_calls(value: Any) -> str:
    """Expected calls in words, one a line; "" if there are none."""
    listed = as_objects(None if value == "" else value, "expected_tools", "tools")
    lines = []
    for call in listed:
        arguments = call.get("inputParameters", call.get("input_parameters"))
        output = "" if is_blank(call.get("output")) else f", which returns {as_text(call['output'])}"
        given = "" if is_blank(arguments) else f" {as_text(arguments)}"
        lines.append(f"Calls {as_text(call.get('name')) or _TOOL}{given}{output}")
    return "\n".join(lines)


def read_images(value: Any, text: str, origin: Origin, builder: TranscriptBuilder) -> None:
    """The pictures of a multimodal case that a text names by their ids."""
    if not isinstance(value, dict):
        return
    for name, image in value.items():
        if f"[DEEPEVAL:IMAGE:{name}]" not in text:
            continue
        place = f"imagesMapping.{name}"
        table = {snake_case(key): one for key, one in image.items()} if isinstance(image, dict) else {"url": image}
        media = as_text(table.get("mime_type")) or "image/png"
        if not is_blank(table.get("data_base64")):
            label = text_or_none(table.get("filename"))
            builder.base64_file(table["data_base64"], media, origin, place, name=label)
        else:
            builder.url(table.get("url"), "image", origin, place)
        builder.unread(table, _IMAGE, origin, place)
