"""Messages of LangChain and LangGraph in every form that the libraries dump.

`message_to_dict` (`type`, `data`), `dumpd` (`lc`, `id`, `kwargs`) and `model_dump` (`type` beside `content`) have the
same fields. An answer's content has its parts in order; `tool_calls` repeats the calls, and has those that the content
does not have. Source: `langchain_core.messages`, and the packages of OpenAI, Anthropic and Google.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_object, as_objects, as_text, decoded_json, is_blank, text_or_none
from jury_cases.transcripts.responses import is_item, read_item
from jury_cases.transcripts.tool_calls import RepeatedCalls
from jury_events.transcript import Event, Origin, ToolCall, ToolResult

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
    extras = as_object(block.get("extras"))
    named = (as_text(extras.get("server_label")), as_text(extras.get("tool_name")))  # of a tool of an MCP server
    name = ".".join(filter(None, named)) if named[1] else block.get("name")
    return {"type": "server_tool_use", "id": block.get("id"), "name": name, "input": decoded_json(block.get("args"))}


def _server_result(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A provider's result in its own block type where that is known; nothing if only its success is recorded."""
    failed = block.get("status") == "error"
    if is_blank(block.get("output")) and not failed:
        return
    kind = as_object(block.get("extras")).get("block_type")
    found = {"tool_use_id": block.get("tool_call_id"), "content": block.get("output")}
    if isinstance(kind, str) and kind.endswith("_tool_result"):
        yield {"type": kind, **found}
    else:
        yield {"type": "tool_result", **found, "is_error": failed}


def _thought(block: dict[str, Any]) -> dict[str, Any]:
    """A thought or refusal; the parts of a summary without their places in a stream."""
    plain = {**_picked(as_object(block.get("extras")), "signature"), **_plain(block)}
    if isinstance(plain.get("summary"), list):
        plain["summary"] = [_plain(one) if isinstance(one, dict) else one for one in plain["summary"]]
    return plain


def _without_index(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "index"}


_OTHERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "server_tool_call": _server_call,
    "server_tool_call_chunk": _server_call,
    "thinking": _thought,
    "reasoning": _thought,
    "redacted_thinking": _thought,
    "refusal": _thought,
}


# Covers the standard blocks (`output_version="v1"`), their forerunners (`source_type`), Google's `media`, and blocks
# that a provider's package leaves as its interface sends them. Source: `langchain_core.messages.content`.
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
    extras = as_object(block.get("extras"))
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


_KEPT = frozenset({"type", "id", "index", "name", "mime_type", "role"})
"""Texts that are not appended: a later one only fills a missing one."""


class ChunkRun:
    """The chunks of one message, which those of other runs may part.

    A run of a model has an id (`run--…`); some of its chunks may have an id of the provider in its place.
    """

    def __init__(self, chunk: dict[str, Any]) -> None:
        self.chunks = [chunk]
        self._first = chunk.get("id")
        self._run = self._first if _is_run(self._first) else None

    def is_of(self, chunk: dict[str, Any]) -> bool:
        """Whether a chunk has the id of this run."""
        return self._run is not None and chunk.get("id") == self._run

    def takes(self, chunk: dict[str, Any]) -> bool:
        """Add a chunk if it is a further part of the message; returns whether it is."""
        found = chunk.get("id")
        if self.chunks[-1].get("chunk_position") == "last":
            return False
        if _is_run(found):
            if self._run is not None and self._run != found:
                return False
            self._run = found
        elif self._run is None and found != self._first:
            return False
        self.chunks.append(chunk)
        return True


def _is_run(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("run-", "lc_run-"))


def added_up(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """One message of its chunks; its calls are made of the parts of calls."""
    if len(chunks) == 1:
        return chunks[0]
    whole = dict(chunks[0])
    for chunk in chunks[1:]:
        for name, value in chunk.items():
            if name not in {"tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata"}:
                whole[name] = _sum(name, whole.get(name), value)
        whole["response_metadata"] = {
            **as_object(whole.get("response_metadata")),
            **as_object(chunk.get("response_metadata")),
        }
    parts = whole.get("tool_call_chunks")
    if isinstance(parts, list) and all(isinstance(one, dict) for one in parts):
        calls = [{**one, "args": decoded_json(one.get("args"))} for one in parts]
        whole["tool_calls"] = [one for one in calls if not isinstance(one["args"], str) or not one["args"]]
        whole["invalid_tool_calls"] = [one for one in calls if isinstance(one["args"], str) and one["args"]]
    return whole


def _sum(name: str, first: Any, second: Any) -> Any:
    if is_blank(second) and not isinstance(second, dict):
        return first
    if first is None or (isinstance(first, str | list) and not first):
        return second
    if isinstance(first, str) and isinstance(second, str):
        return first if name in _KEPT else first + second
    if isinstance(first, dict) and isinstance(second, dict):
        return {key: _sum(key, first.get(key), second.get(key)) for key in {**first, **second}}
    if name == "content" or (isinstance(first, list) and isinstance(second, list)):
        return _lists(first, second)
    return first


def _lists(first: Any, second: Any) -> list[Any]:
    """Two lists; elements with the same `index` are added up. Text counts as a list of one text."""
    whole = list(first) if isinstance(first, list) else [first]
    places = {str(one["index"]): at for at, one in enumerate(whole) if isinstance(one, dict) and "index" in one}
    for one in second if isinstance(second, list) else [second]:
        at = places.get(str(one["index"])) if isinstance(one, dict) and "index" in one else None
        if at is not None and _same_kind(whole[at], one):
            whole[at] = _sum("", whole[at], one)
        elif isinstance(one, str) and whole and isinstance(whole[-1], str):
            whole[-1] += one
        else:
            if isinstance(one, dict) and "index" in one:
                places[str(one["index"])] = len(whole)
            whole.append(one)
    return whole


def _same_kind(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return other.get("type") in (one.get("type"), None, "input_json_delta")


_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "developer": "developer",
}
_KNOWN = frozenset(
    {
        *("type", "content", "name", "tool_calls", "invalid_tool_calls", "tool_call_chunks", "tool_call_id", "role"),
        *("additional_kwargs", "response_metadata", "usage_metadata", "example", "id", "status", "chunk_position"),
        *("artifact", "reasoning_content", "reasoning", "thinking", "refusal", "audio"),
    }
)
_BY_PROVIDERS = frozenset(
    {
        *("refusal", "reasoning", "reasoning_content", "thinking", "audio", "tool_calls", "function_call"),
        *("tool_outputs", "parsed", "output_version", "lc_source", "lc_data", "signature"),
    }
)
"""Fields of `additional_kwargs` that are read, repeat the message, or are bookkeeping."""

_ENDS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
_UNWRAPPED = 4
"""How often a message may be wrapped."""


def unwrapped(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a dumped message, with its plain `type` (`ai` for `AIMessageChunk`); None: it is none."""
    for _ in range(_UNWRAPPED):
        if "role" in message and message.get("type") != "chat":
            # A message that was converted to OpenAI's form keeps the blocks of the provider.
            own = message["role"] == "assistant" and has_own_blocks(message.get("content"))
            return {**message, "type": "ai"} if own else None
        inner = message.get("data") if isinstance(message.get("data"), dict) else message.get("kwargs")
        kind = message.get("type")
        if not (isinstance(inner, dict) and "content" in inner):
            plain = _plain_type(kind)
            known = plain == "remove" or ("content" in message and (plain in _ROLES or plain == "chat"))
            return {**message, "type": plain} if known else None
        name = message.get("id")
        constructor = as_text(name[-1]) if isinstance(name, list) and name else as_text(kind)
        message = {"type": constructor, **inner}
    return None


def _plain_type(kind: Any) -> str:
    return kind.lower().removesuffix("chunk").removesuffix("message") if isinstance(kind, str) else ""


def is_langchain(value: Any) -> bool:
    """Whether a value is a message dumped by LangChain."""
    return isinstance(value, dict) and unwrapped(value) is not None


def is_chunk(value: Any) -> bool:
    """Whether a value is a dumped part of a streamed message."""
    if not isinstance(value, dict):
        return False
    constructor = value["id"][-1] if isinstance(value.get("id"), list) and value["id"] else value.get("type")
    return isinstance(constructor, str) and constructor.endswith("MessageChunk") and is_langchain(value)


def read_langchain_list(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """Read a list in which messages are LangChain's, or plain ones; consecutive chunks of one message are added up."""
    for index, message in builder.messages.of_list(_whole_messages(value), len(value)):
        if isinstance(message, ChunkRun):
            read_fields(added_up(message.chunks), builder, f"{place}.{index}")
        elif (fields := unwrapped(message) if isinstance(message, dict) else None) is not None:
            read_fields(fields, builder, f"{place}.{index}")
        else:
            read_message(message, builder, f"{place}.{index}")


def _whole_messages(value: Iterable[Any]) -> list[tuple[int, Any]]:
    """The messages with their indices; the chunks of one message are a `ChunkRun`, with the index of the first."""
    found: list[tuple[int, Any]] = []
    for index, message in enumerate(value):
        fields = unwrapped(message) if is_chunk(message) else None
        if fields is None:
            found.append((index, message))
            continue
        open_runs = takewhile(lambda one: isinstance(one, ChunkRun), (one for _, one in reversed(found)))
        runs: list[ChunkRun] = list(open_runs)
        last = next((one for one in runs if one.is_of(fields)), runs[0] if runs else None)
        if last is None or not last.takes(fields):
            found.append((index, ChunkRun(fields)))
    return found


def read_fields(fields: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """Read one message as `unwrapped` returns it."""
    kind = fields["type"]
    if kind == "remove":
        return  # an instruction to LangGraph, without content
    more = fields.get("additional_kwargs")
    given: dict[str, Any] = more if isinstance(more, dict) else {}
    if kind == "ai":
        with builder.by(MessageAuthor("assistant", text_or_none(fields.get("name")))):
            _read_answer(fields, given, builder, place)
    elif text_or_none(given.get("lc_source")) is not None:
        _read_notice(fields, as_text(given["lc_source"]), builder, place)
    else:
        role = fields.get("role") if kind == "chat" else _ROLES[kind]
        said = {name: fields.get(name) for name in ("name", "tool_call_id", "status")}
        read_message({"role": role, "content": blocks_of(fields.get("content"), {}), **said}, builder, place)
    origin: Origin = "tool" if kind in {"tool", "function"} else "model" if kind == "ai" else "user"
    if not is_blank(fields.get("artifact")):
        # What a tool keeps for the program; the model is not sent it.
        builder.not_shown("artifact of a tool", "tool", f"{place}.artifact", fields["artifact"])
    builder.unread(fields, _KNOWN, origin, place)
    unknown = {name: value for name, value in given.items() if not name.startswith("__")}
    builder.unread(unknown, _BY_PROVIDERS, origin, f"{place}.additional_kwargs")


def _read_notice(fields: dict[str, Any], source: str, builder: TranscriptBuilder, place: str) -> None:
    """A message that the program added, such as a summary: nobody's request."""
    texts = TranscriptBuilder()
    BlockReader(Speaker("user", "environment"), texts).read(blocks_of(fields.get("content"), {}), f"{place}.content")
    items = texts.transcript().items
    text = "\n".join(item.text for item in items if item.kind == "user")
    builder.add(Event, place, origin="environment", name=source, text=text)
    for item in items:
        if item.kind != "user":
            builder.add(type(item), place, **dict(item))


def _read_answer(fields: dict[str, Any], given: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    before = len(builder)
    listed = as_objects(fields.get("tool_calls"), f"{place}.tool_calls", "tool calls")
    calls: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in listed:
        if (found := call_id_of(one)) is not None:
            calls[found].append(one)
    _read_thoughts({**fields, **given}, builder, place)
    for index, item in enumerate(as_objects(given.get("tool_outputs"), f"{place}.tool_outputs", "items")):
        read_item(item, builder, f"{place}.additional_kwargs.tool_outputs.{index}")
    name = text_or_none(fields.get("name"))
    in_content = _read_content(blocks_of(fields.get("content"), calls), name, builder, f"{place}.content")
    said = {part: given.get(part) or fields.get(part) for part in ("refusal", "audio")}
    repeated = bool(listed or fields.get("invalid_tool_calls"))
    if not repeated:  # as older releases wrote them
        said |= {part: given.get(part) for part in ("tool_calls", "function_call")}
    shown = RepeatedCalls(builder.calls_since(before), listed)
    rest = [one for one in listed if not (in_content if call_id_of(one) is None else shown.has(one))]
    if rest or not all(map(is_blank, said.values())):
        said["tool_calls"] = rest or said.get("tool_calls")
        read_message({"role": "assistant", "name": name, **said}, builder, place)
    invalid = f"{place}.invalid_tool_calls"
    _read_invalid(fields.get("invalid_tool_calls"), builder, invalid, builder.calls_since(before))
    if len(builder) == before:
        builder.message("assistant", "", place, name=name)
    _read_end(fields.get("response_metadata"), builder, f"{place}.response_metadata")


def _read_thoughts(given: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """Reasoning beside the content: text, or an item of Responses."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        written = given.get(name)
        if isinstance(written, dict) and isinstance(written.get("summary"), list):
            (item,) = blocks_of({**written, "type": "reasoning"}, {})
            read_item(item, builder, f"{place}.additional_kwargs.{name}")
        elif not is_blank(written):
            thought = {"type": "reasoning", "reasoning": written}
            BlockReader(Speaker("assistant", "model"), builder).read(thought, f"{place}.additional_kwargs.{name}")


def _read_content(content: Any, name: str | None, builder: TranscriptBuilder, place: str) -> bool:
    speaker = Speaker("assistant", "model", name)
    if not isinstance(content, list):
        BlockReader(speaker, builder).read(content, place)
        return False
    run: list[Any] = []
    called = False
    for index, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        called = called or as_text(kind) in CALLS
        if kind == "invalid_tool_call" or is_response_item(block):
            BlockReader(speaker, builder).read(run, place)
            run = []
            if kind == "invalid_tool_call":
                _read_invalid([block], builder, f"{place}.{index}", ())
            else:
                read_item(block, builder, f"{place}.{index}")
        else:
            run.append(block)
    BlockReader(speaker, builder).read(run, place)
    return called


def _read_invalid(value: Any, builder: TranscriptBuilder, place: str, shown: Sequence[ToolCall]) -> None:
    """Calls whose arguments could not be parsed: the call as written, and the error behind it."""
    listed = as_objects(value, place, "calls")
    repeated = RepeatedCalls(shown, listed)
    for index, call in enumerate(listed):
        call_id = call_id_of(call)
        if repeated.has(call):
            continue
        name = text_or_none(call.get("name"))
        at = f"{place}.{index}"
        builder.add(ToolCall, at, call_id=call_id, name=name or "unnamed", arguments=as_text(call.get("args")))
        if not is_blank(call.get("error")):
            error = as_text(call["error"])
            builder.add(ToolResult, f"{at}.error", call_id=call_id, name=name, text=error, error=True)
        builder.unread(call, {"type", "id", "name", "args", "error", "index", "extras"}, "model", at)


def _read_end(metadata: Any, builder: TranscriptBuilder, place: str) -> None:
    """The reason why the answer ended, once: finish and stop reasons, an incomplete response, a blocked prompt."""
    if not isinstance(metadata, dict):
        return
    places = [(name, metadata.get(name)) for name in _ENDS]
    for outer, inner in (("incomplete_details", "reason"), ("prompt_feedback", "block_reason")):
        if isinstance(metadata.get(outer), dict):
            places.append((f"{outer}.{inner}", metadata[outer].get(inner)))
    name, reason = next(((name, one) for name, one in places if text_or_none(one) is not None), ("", None))
    read_end(reason, builder, f"{place}.{name}")
