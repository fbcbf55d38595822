"""Content blocks of LangChain messages as the blocks that `blocks.py` reads, or as items of OpenAI's Responses.

Covers the standard blocks (`output_version="v1"`), their forerunners (`source_type`), Google's `media`, and blocks that
a provider's package leaves as its interface sends them. Source: `langchain_core.messages.content`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, text_or_none
from jury_cases.transcripts.responses import is_item

CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "custom_tool_call"})
"""Blocks that are calls of tools; the message repeats them in `tool_calls`."""

_STANDARD = frozenset({"tool_call", "server_tool_call", "invalid_tool_call"})
_OWN = frozenset({"non_standard", "server_tool_call", "server_tool_result", "invalid_tool_call", "function_call"})
_FILES = frozenset({"image", "audio", "video", "file", "media", "text-plain"})
_UNSHOWN_EXTRAS = frozenset(
    {"signature", "item_id", "status", "toolset_name", "block_type", "container_id", "call_id", "caller"}
)
_NO_CONTENT = frozenset({"id", "index", "partial_json", "toolset_name", "extras"})


def blocks_of(content: Any, calls: Mapping[str, Sequence[dict[str, Any]]]) -> Any:
    """The content with its blocks converted; text, null and other values unchanged.

    Args:
        calls: the message's `tool_calls` by id. Their arguments are complete; those in blocks of a stream may not be.
    """
    if isinstance(content, dict):
        content = [content]
    return [one for block in content for one in _converted(block, calls)] if isinstance(content, list) else content


def _converted(block: Any, calls: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "non_standard" and isinstance(block.get("value"), dict) and block["value"].get("type") != kind:
        block, kind = block["value"], block["value"].get("type")
    if not isinstance(block, dict) or not isinstance(kind, str):
        yield from () if block == "" else (block,)
    elif kind in CALLS:
        yield _call(block, calls)
    elif kind == "text":
        yield from _text(block, calls)
    elif kind == "server_tool_result":
        yield from _server_result(block)
    elif kind in _FILES:
        yield _file(block, kind)
    else:
        yield _OTHERS.get(kind, _without_index)(block)


def _server_call(block: dict[str, Any]) -> dict[str, Any]:
    extras = _table(block.get("extras"))
    named = (as_text(extras.get("server_label")), as_text(extras.get("tool_name")))  # of a tool of an MCP server
    name = ".".join(filter(None, named)) if named[1] else block.get("name")
    return {"type": "server_tool_use", "id": block.get("id"), "name": name, "input": decoded_json(block.get("args"))}


def _server_result(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A provider's result in its own block type where that is known; nothing if only its success is recorded."""
    failed = block.get("status") == "error"
    if is_blank(block.get("output")) and not failed:
        return
    kind = _table(block.get("extras")).get("block_type")
    found = {"tool_use_id": block.get("tool_call_id"), "content": block.get("output")}
    if isinstance(kind, str) and kind.endswith("_tool_result"):
        yield {"type": kind, **found}
    else:
        yield {"type": "tool_result", **found, "is_error": failed}


def _thought(block: dict[str, Any]) -> dict[str, Any]:
    """A thought or refusal; the parts of a summary without their places in a stream."""
    plain = {**_picked(_table(block.get("extras")), "signature"), **_plain(block)}
    if isinstance(plain.get("summary"), list):
        plain["summary"] = [_plain(one) if isinstance(one, dict) else one for one in plain["summary"]]
    return plain


def _without_index(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "index"}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_OTHERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "server_tool_call": _server_call,
    "server_tool_call_chunk": _server_call,
    "thinking": _thought,
    "reasoning": _thought,
    "redacted_thinking": _thought,
    "refusal": _thought,
}


def has_own_blocks(content: Any) -> bool:
    """Whether content has blocks that only LangChain's messages have, such as items of Responses."""
    return isinstance(content, list) and any(isinstance(block, dict) and _is_own(block) for block in content)


def _is_own(block: dict[str, Any]) -> bool:
    return as_text(block.get("type")) in _OWN or is_response_item(block)


def is_response_item(block: Any) -> bool:
    """Whether a block is an item of Responses: a tool run by the provider, or reasoning in parts."""
    if not is_item(block) or block["type"] in _STANDARD:
        return False
    return block["type"] != "reasoning" or isinstance(block.get("summary"), list)


def _picked(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _plain(block: dict[str, Any]) -> dict[str, Any]:
    """The block without its place in a stream and its ids; of `extras`, what is not bookkeeping."""
    plain = {name: value for name, value in block.items() if name not in _NO_CONTENT}
    extras = block.get("extras")
    if isinstance(extras, dict):
        extras = {name: value for name, value in extras.items() if name not in _UNSHOWN_EXTRAS}
    return plain if is_blank(extras) else {**plain, "extras": extras}


def call_id_of(block: Mapping[str, Any]) -> str | None:
    """The id of a call that results refer to: Responses' `call_id` before the item's own id."""
    return text_or_none(block.get("call_id")) or text_or_none(block.get("id"))


def _call(block: dict[str, Any], calls: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, Any]:
    call_id = call_id_of(block)
    whole = _whole(block, calls.get(call_id or "", ()))
    given = next((block[name] for name in ("args", "input", "arguments") if not is_blank(block.get(name))), None)
    arguments = _arguments(whole) if whole else given if given is not None else block.get("partial_json")
    name = text_or_none(block.get("name")) or text_or_none(whole.get("name")) or as_text(block.get("type"))
    return {"type": "tool_call", "id": call_id, "name": name, "args": arguments}


def _whole(block: Mapping[str, Any], listed: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The call of the list that a block is; of several with its id the one of its name; {}: that is not clear."""
    if len(listed) > 1:
        listed = [one for one in listed if text_or_none(one.get("name")) == text_or_none(block.get("name"))]
    return listed[0] if len(listed) == 1 else {}


def _arguments(call: Mapping[str, Any]) -> Any:
    """The arguments of a call in `tool_calls`: LangChain's, or as OpenAI's chat writes it."""
    function = call.get("function")
    return function.get("arguments") if isinstance(function, dict) else call.get("args")


def _text(block: dict[str, Any], calls: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """A text; blocks of a stream that had the same index were merged into one, with a thought or a call."""
    if not is_blank(block.get("reasoning")):
        yield {"type": "reasoning", "reasoning": block["reasoning"]}
    called = "args" in block and call_id_of(block) in calls
    merged = {"reasoning", "name", "args"} if called else {"reasoning"}
    yield {name: value for name, value in _plain(block).items() if name not in merged}
    if called:
        yield _call(block, calls)


def _file(block: dict[str, Any], kind: str) -> dict[str, Any]:
    """A file in base64, as text, at a URL or by its id; Anthropic's images with a `source` are unchanged."""
    media = text_or_none(block.get("mime_type"))
    data = next((block[name] for name in ("base64", "data") if isinstance(block.get(name), str)), None)
    if kind == "media":
        kind = (media or "file").partition("/")[0]
    extras = _table(block.get("extras"))
    name = next((n for n in (*_names(block), *_names(extras)) if n is not None), None)
    if isinstance(block.get("text"), str) and kind in {"text-plain", "file"}:
        source = {"type": "text", "data": block["text"]}
        return {"type": "document", "source": source, "title": name, "context": block.get("context")}
    url = block.get("url") or block.get("file_uri")
    if data is not None:
        url = f"data:{media or _MEDIA.get(kind, 'application/octet-stream')};base64,{data}"
    if kind == "image" and isinstance(url, str):
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "image" and block.get("file_id"):
        return {"type": "input_image", "file_id": block["file_id"]}
    if kind in {"audio", "video"} and isinstance(url, str):
        return {"type": kind, kind: url}
    if isinstance(url, str) or block.get("file_id"):
        found = {"file_data": url} if isinstance(url, str) and url.startswith("data:") else {"file_url": url}
        return {"type": "file", "file": {**found, "file_id": block.get("file_id"), "filename": name}}
    return _plain(block)


_MEDIA = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "text-plain": "text/plain"}


def _names(table: Mapping[str, Any]) -> Iterator[str | None]:
    yield from (text_or_none(table.get(name)) for name in ("title", "filename", "name"))
