"""Blocks of tools that Anthropic runs, of search results, and of what its server did to the conversation.

Source: the types of the SDK `anthropic` (`anthropic.types.beta`).
"""

from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, is_blank, text_or_none
from jury_cases.transcripts.speaker import Speaker
from jury_events.transcript import Event, ToolResult

_ENCRYPTED_RESULT = "result that the provider encrypted"
_ENCRYPTED_FIELDS = frozenset({"encrypted_content", "encrypted_index", "encrypted_stdout"})


def read_search_result(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """A passage that the application found and gives to the agent; its name is title and source."""
    title, source = text_or_none(block.get("title")), text_or_none(block.get("source"))
    name = f"{title} ({source})" if title and source else title or source
    content = block.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    text = "\n".join(as_text(one) for one in texts if not is_blank(one))
    builder.file(
        text.encode("utf-8", "replace"), "text/plain", speaker.origin, place, name=name, call_id=speaker.call_id
    )
    for index, part in enumerate(parts):
        if isinstance(part, dict):
            known = {"type", "text", "cache_control"}
            builder.unread(part, known, speaker.origin, f"{place}.content.{index}")


def read_compaction(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """A summary, written by the model, that stands for the conversation before it."""
    if not is_blank(block.get("content")) or is_blank(block.get("encrypted_content")):
        builder.add(Event, place, origin=speaker.origin, name="compaction", text=as_text(block.get("content")))
    if not is_blank(block.get("encrypted_content")):
        what = "compaction that the provider encrypted"
        builder.not_shown(what, speaker.origin, f"{place}.encrypted_content", block["encrypted_content"])
    for index, change in enumerate(block["tool_changes"] if isinstance(block.get("tool_changes"), list) else []):
        kind = as_text(change.get("type")) if isinstance(change, dict) else ""
        text = as_text(change.get("tool") if isinstance(change, dict) else change)
        at = f"{place}.tool_changes.{index}"
        builder.add(Event, at, origin=speaker.origin, name=kind or "tool change", text=text)


def read_tools_of_server(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """`mcp_tool_listing`: the tools that an MCP server offers. `tool_addition`, `tool_removal`: one tool."""
    kind = block["type"]
    if kind == "mcp_tool_listing":
        fields = {name: block.get(name) for name in ("mcp_server_name", "tools")}
        builder.add(Event, place, origin="tool", name=kind, text=as_text(fields))
    else:
        builder.add(Event, place, origin=speaker.origin, name=kind, text=as_text(block.get("tool")))


def read_fallback(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """The provider changed the model, as after a refusal."""
    fields = {name: block[name] for name in ("from", "from_", "to", "trigger") if not is_blank(block.get(name))}
    builder.add(Event, place, origin="environment", name="fallback", text=as_text(fields))


def read_container_upload(_block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """A file that the code execution gets."""
    builder.not_shown("file by its id", speaker.origin, place)


def read_server_result(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """The result of a tool that the provider ran (`web_search_tool_result`): its JSON, without what is encrypted."""
    content = block.get("content")
    call_id = text_or_none(block.get("tool_use_id"))
    files: list[dict[str, Any]] = []
    encrypted: list[Any] = []
    text = as_text(_readable(content, files, encrypted))
    builder.add(ToolResult, place, call_id=call_id, text=text, error=_failed(content))
    for source in files:
        builder.base64_file(source.get("data"), source.get("media_type"), "tool", place, call_id=call_id)
    for value in encrypted:
        builder.not_shown(_ENCRYPTED_RESULT, "tool", place, value)


def _readable(value: Any, files: list[dict[str, Any]], encrypted: list[Any]) -> Any:
    """The JSON of a result; base64 sources are added to `files`, encrypted texts to `encrypted`."""
    if isinstance(value, list):
        return [_readable(one, files, encrypted) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "base64" and isinstance(value.get("data"), str):
        files.append(value)
        return {name: inner for name, inner in value.items() if name != "data"}
    found = {}
    for name, inner in value.items():
        if name in _ENCRYPTED_FIELDS:
            encrypted += [] if is_blank(inner) else [inner]
        else:
            found[name] = _readable(inner, files, encrypted)
    return found


def _failed(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    return as_text(content.get("type")).endswith("_error") or content.get("return_code") not in (0, None)
