"""The items of OpenAI's Responses API: messages, reasoning, calls and their outputs, in one list.

Source: the types of the SDK `openai` (`openai.types.responses`).
"""

from collections.abc import Collection
from typing import Any

from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, text_or_none
from jury_events.transcript import Event, Origin, Reasoning, ToolCall, ToolResult

_BOOKKEEPING = frozenset(
    {"id", "type", "status", "created_by", "phase", "namespace", "execution", "caller", "async", "async_"}
    | {"approval_request_id", "fingerprint", "max_output_length"}
)
_IDS = frozenset({"call_id", "container_id"})
_FAILED = ("failed", "incomplete")
_ARGUMENTS = ("arguments", "input", "code")
_EVENTS: dict[str, Origin] = {
    "mcp_approval_request": "model",
    "mcp_approval_response": "user",
    "mcp_list_tools": "tool",
    "additional_tools": "developer",
    "configuration_update": "developer",
    "compaction_trigger": "environment",
}
"""Items that are shown as events, with all that they say."""

_ITEMS = frozenset(_EVENTS) | {
    *("reasoning", "program", "program_output", "tool_search_output", "compaction", "item_reference")
}


def read_responses(
    value: Any, builder: TranscriptBuilder, place: str = "output", *, end_is_known: bool = False
) -> None:
    """Read `input` or `output` of a response; an input may be text of the user.

    An incomplete message is followed by an event that says so, unless the response says why it ended (`end_is_known`).
    """
    if isinstance(value, str):
        builder.message("user", value, place)
        return
    items = as_objects(value, place, "items")
    for index, item in builder.messages.of_list(enumerate(items), len(items)):
        read_item(item, builder, f"{place}.{index}")
        if item.get("type") == "message" and not end_is_known:
            read_end(item["status"] if item.get("status") == "incomplete" else None, builder, f"{place}.{index}.status")


def is_item(value: Any) -> bool:
    """Whether a value is an item specific to the Responses API; Anthropic's `compaction` is a block with content."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "compaction":
        return "content" not in value
    return isinstance(kind, str) and (kind in _ITEMS or kind.endswith(("_call", "_call_output")))


def read_item(item: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    kind = item.get("type")
    if not isinstance(kind, str):
        kind = "message"
    if kind == "message":
        read_message({key: value for key, value in item.items() if key != "phase"}, builder, place)
    elif kind == "reasoning":
        _reasoning(item, builder, place)
    elif kind.endswith("_output"):
        _returned(item, builder, place)
    elif kind.endswith("_call") or kind == "program":
        _called(item, kind, builder, place)
    elif kind in _EVENTS:
        fields = {name: value for name, value in item.items() if name not in _BOOKKEEPING and value is not None}
        builder.add(Event, place, origin=_EVENTS[kind], name=kind, text=as_text(fields or None))
    elif kind == "compaction":
        builder.not_shown("compaction that the provider encrypted", "model", place, item.get("encrypted_content"))
        builder.unread(item, _BOOKKEEPING | {"encrypted_content"}, "model", place)
    elif kind == "item_reference":
        builder.not_shown("item by its id", "model", place)
    else:
        builder.not_shown(f"item {kind}", "model", place, item)


def _returned(item: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """The output of a call, from one of several fields; of a local shell's, `id` is that of the call."""
    field = next((name for name in ("output", "result", "tools") if item.get(name) is not None), "output")
    output = item.get(field)
    ids = (item.get("call_id"), item.get("id") if item.get("type") == "local_shell_call_output" else None)
    speaker = Speaker(
        None,
        "tool",
        call_id=next((found for one in ids if (found := text_or_none(one)) is not None), None),
        tool=_named(item.get("namespace"), item.get("name")) or None,
        error=item.get("status") in _FAILED or is_failed(output),
    )
    BlockReader(speaker, builder).read(_output(output), f"{place}.{field}")
    checks = item.get("acknowledged_safety_checks")
    if not is_blank(checks):
        at = f"{place}.acknowledged_safety_checks"
        builder.add(Event, at, origin="user", name="acknowledged_safety_checks", text=as_text(checks))
    known = {"call_id", "name", field, "acknowledged_safety_checks"}
    builder.unread(item, _BOOKKEEPING | known, "tool", place)


def _named(space: Any, name: Any) -> str:
    return ".".join(part for part in (as_text(space), as_text(name)) if part)


def _called(item: dict[str, Any], kind: str, builder: TranscriptBuilder, place: str) -> None:
    if kind in {"function_call", "custom_tool_call", "program"}:
        call_id = text_or_none(item.get("call_id"))
        name = _named(item.get("namespace"), item.get("name")) or kind
        arguments = next((item[field] for field in _ARGUMENTS if item.get(field) is not None), None)
        builder.add(ToolCall, place, call_id=call_id, name=name, arguments=as_text(arguments))
        builder.unread(item, _BOOKKEEPING | {"call_id", "name", *_ARGUMENTS}, "model", place)
    elif kind == "mcp_call":
        name = _named(item.get("server_label"), item.get("name"))
        _provider_call(item, name, item.get("arguments"), item.get("output"), builder=builder, place=place)
        builder.unread(item, _BOOKKEEPING | {"name", "arguments", "output", "error", "server_label"}, "model", place)
    elif kind == "image_generation_call":
        _provider_call(item, kind, _given(item, {"result"}) or None, None, builder=builder, place=place)
        if not is_blank(item.get("result")):
            media = f"image/{as_text(item.get('output_format')) or 'png'}"
            builder.base64_file(item["result"], media, "tool", place, call_id=text_or_none(item.get("id")))
    else:
        # web_search_call, code_interpreter_call …: run by the provider, arguments and results in specific fields.
        results = {key: item[key] for key in ("output", "outputs", "results", "result") if item.get(key) is not None}
        output: Any = results if len(results) > 1 else next(iter(results.values()), None)
        _provider_call(item, kind, _given(item, results) or None, output, builder=builder, place=place)


def _given(item: dict[str, Any], results: Collection[str]) -> dict[str, Any]:
    rest = {key: value for key, value in item.items() if key not in _BOOKKEEPING | _IDS and key not in results}
    return {key: value for key, value in rest.items() if key != "error" and value is not None}


def _provider_call(
    item: dict[str, Any], name: str, arguments: Any, output: Any, *, builder: TranscriptBuilder, place: str
) -> None:
    call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
    builder.add(ToolCall, place, call_id=call_id, name=name, arguments=as_text(arguments))
    error = item.get("error")
    if output is not None:
        pictures: list[dict[str, Any]] = []
        text = as_text(_without_pictures(output, pictures))
        builder.add(ToolResult, place, call_id=call_id, name=name, text=text)
        for picture in pictures:
            builder.url(picture["url"], "image", "tool", place, call_id=call_id)
    if error or (item.get("status") in _FAILED and output is None):
        text = as_text(error) or as_text(item.get("status"))
        builder.add(ToolResult, place, call_id=call_id, name=name, text=text, error=True)


def _without_pictures(output: Any, pictures: list[dict[str, Any]]) -> Any:
    """Outputs of a code interpreter; pictures in `data:` URLs are moved to `pictures`."""
    if not isinstance(output, list):
        return output
    kept = []
    for one in output:
        url = one.get("url") if isinstance(one, dict) else None
        if isinstance(url, str) and url.startswith("data:"):
            pictures.append(one)
        else:
            kept.append(one)
    return kept


def is_failed(output: Any) -> bool:
    """Whether a tool's JSON reports a failure: the exit code of a shell's last command."""
    last = output[-1] if isinstance(output, list) and output else output
    outcome = last.get("outcome") if isinstance(last, dict) else None
    return isinstance(outcome, dict) and (outcome.get("type") == "timeout" or outcome.get("exit_code") not in (0, None))


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
