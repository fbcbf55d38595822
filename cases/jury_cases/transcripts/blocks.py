"""Content blocks of messages: OpenAI's parts, Anthropic's blocks, Inspect's contents.

Their type names are distinct except `tool_use`, which has a `tool_type` in Inspect.
"""

from collections.abc import Callable
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, is_blank, json_kind, text_or_none
from jury_cases.transcripts.tool_calls import add_call
from jury_cases.transcripts.written_calls import is_added
from jury_events.transcript import Event, Message, Reasoning, Refusal, ToolCall, ToolResult

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


def read_image(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's format: a URL, in an object or not, or an uploaded file's id."""
    image = block.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if url is None and block.get("file_id"):
        builder.not_shown("image by its id", speaker.origin, place)
    else:
        builder.url(url, "image", speaker.origin, place, call_id=speaker.call_id)
    if isinstance(image, dict):
        builder.unread(image, {"url", "detail"}, speaker.origin, f"{place}.image_url")


def read_audio(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `input_audio`, Inspect's `audio` and `video`."""
    kind = block["type"]
    audio = block.get(kind)
    if isinstance(audio, str):
        builder.url(audio, kind, speaker.origin, place, call_id=speaker.call_id)
    elif isinstance(audio, dict):
        media = f"audio/{as_text(audio.get('format')) or 'unknown'}"
        builder.base64_file(audio.get("data"), media, speaker.origin, place, call_id=speaker.call_id)
        builder.unread(audio, {"data", "format"}, speaker.origin, f"{place}.{kind}")
    else:
        builder.not_shown(kind, speaker.origin, place, block)


def read_file(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `file` and `input_file`."""
    inner = block.get("file")
    file = inner if isinstance(inner, dict) else block
    name, data = text_or_none(file.get("filename")), file.get("file_data")
    if isinstance(data, str) and data.startswith("data:"):
        builder.url(data, "file", speaker.origin, place, name=name, call_id=speaker.call_id)
    elif isinstance(data, str):
        builder.base64_file(data, None, speaker.origin, place, name=name, call_id=speaker.call_id)
    else:
        builder.not_shown("file at a URL" if file.get("file_url") else "file by its id", speaker.origin, place)
    if isinstance(inner, dict):
        builder.unread(inner, {"filename", "file_data", "file_id", "file_url"}, speaker.origin, f"{place}.file")


_SAID = frozenset({"answer", "response", "output", "message", "content", "value"})
_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


class BlockReader:
    """Reads the content of one message.

    Consecutive texts become one item. A tool's result is one item with all its texts, followed by its other content
    (such as pictures).
    """

    def __init__(self, speaker: Speaker, builder: TranscriptBuilder) -> None:
        self._speaker = speaker
        self._any_json = speaker.kind in {None, "speaker"}
        """What a tool or a role of the record's own says may be any JSON, not only blocks."""
        self._builder = builder
        self._aside = builder if speaker.kind is not None else TranscriptBuilder()
        self._texts: list[str] = []
        self._cited = False
        self._place = ""

    def read(self, content: Any, place: str) -> None:
        """Read text, null, or a list of blocks; a tool's result, or the words of an unknown role, may be any JSON."""
        speaker = self._speaker
        self._place = place
        if isinstance(content, list) and (not self._any_json or any(map(_is_block, content))):
            for index, block in enumerate(content):
                self._block(block, f"{place}.{index}")
        elif content is None or isinstance(content, str):
            self._texts += [content] if content else []
        elif isinstance(content, dict) and (not self._any_json or _is_block(content)):
            self._block(content, place)
        elif self._any_json or isinstance(content, bool | int | float):
            self._texts.append(as_text(content))
        else:
            raise CaseFileError(f"{place}: must be text, not {json_kind(content)}")
        if speaker.kind is None:
            self._result()
        else:
            self._flush()

    def _joined(self) -> str:
        """The texts so far, joined; blocks with citations are parts of sentences."""
        text = ("" if self._cited else "\n").join(self._texts)
        self._texts, self._cited = [], False
        return text

    def _flush(self) -> None:
        speaker = self._speaker
        if self._texts and speaker.kind is not None:
            text = self._joined()
            self._builder.add(
                Message, self._place, kind=speaker.kind, origin=speaker.origin, text=text, name=speaker.name
            )

    def _result(self) -> None:
        speaker = self._speaker
        if self._texts or speaker.error or not len(self._aside):
            self._builder.add(
                ToolResult,
                self._place,
                origin=speaker.origin,
                call_id=speaker.call_id,
                name=speaker.tool,
                text=self._joined(),
                error=speaker.error,
            )
        self._builder.extend(self._aside)

    def _block(self, block: Any, place: str) -> None:
        if not isinstance(block, dict):
            self._texts.append(block if isinstance(block, str) else as_text(block))
            return
        kind = block.get("type")
        if kind is None and isinstance(block.get("text"), str | dict):
            kind = "text"
        if (
            kind is None
            and len(block) == 1
            and isinstance(said := next(iter(block.values())), str)
            and _SAID & block.keys()
        ):
            self._texts.append(said)  # as collections of answers wrap a text
            return
        if isinstance(kind, str) and kind in _TEXTS:
            self._text(block, place)
            return
        self._flush()
        known = _reader(kind, in_result=self._speaker.kind is None)
        if known is not None:
            read, fields = known
            read(block, self._speaker, self._aside, place)
            self._aside.unread(block, fields | _BOOKKEEPING, self._speaker.origin, place)
        elif self._any_json and not _contains_base64(block):
            self._texts.append(as_text(block))
        else:
            what = f"block {kind}" if isinstance(kind, str) else "block unnamed"
            self._aside.not_shown(what, self._speaker.origin, place, block)

    def _text(self, block: dict[str, Any], place: str) -> None:
        text = block.get("text")
        if text is None and isinstance(block.get("content"), str):
            text = block["content"]  # as AgentDojo writes them
        if isinstance(text, dict) and isinstance(text.get("value"), str):
            text = text["value"]
        if text is not None and not isinstance(text, str):
            raise CaseFileError(f"{place}.text: must be text, not {json_kind(text)}")
        if block.get("refusal") is True and self._speaker.kind is not None:
            self._flush()
            self._builder.add(Refusal, place, origin=self._speaker.origin, text=text or "")
        elif text and self._speaker.origin == "user" and is_added(text):
            self._flush()
            self._aside.add(Event, place, origin="environment", name="added by the program", text=text)
        elif text:
            self._texts.append(text)
            self._cited = self._cited or bool(block.get("citations"))
        self._aside.unread(block, _BOOKKEEPING | {"text", "content", "refusal"}, self._speaker.origin, place)


_Read = Callable[[dict[str, Any], Speaker, TranscriptBuilder, str], None]


def _refusal(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    builder.add(Refusal, place, origin=speaker.origin, text=as_text(block.get("refusal")))


def _thinking(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    _thoughts(block, ("thinking",), speaker, builder, place)


def _thoughts(
    block: dict[str, Any], keys: tuple[str, ...], speaker: Speaker, builder: TranscriptBuilder, place: str
) -> None:
    """Texts of thoughts, or lists of them; a signature without text is a hidden thought."""
    found = False
    for key in keys:
        for one in block[key] if isinstance(block.get(key), list) else [block.get(key)]:
            text = one.get("text") if isinstance(one, dict) and isinstance(one.get("text"), str) else one
            if not is_blank(text):
                builder.add(Reasoning, place, origin=speaker.origin, text=as_text(text))
                found = True
    if not found and not is_blank(block.get("signature")):
        builder.not_shown(_ENCRYPTED, speaker.origin, place)


_ENCRYPTED = "reasoning that the provider encrypted"


def _redacted_thinking(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    builder.not_shown(_ENCRYPTED, speaker.origin, place, block.get("data"))


def _reasoning(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Inspect's and LangChain's format: encrypted reasoning has at most a summary."""
    if block.get("redacted"):
        _thoughts(block, ("summary",), speaker, builder, place)
        builder.not_shown(_ENCRYPTED, speaker.origin, place, block.get("reasoning"))
        return
    _thoughts(block, ("reasoning", "text", "summary", "content"), speaker, builder, place)


def _call(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    call = {key: value for key, value in block.items() if key in _CALL}
    add_call(call, builder, place, speaker.origin)


def _mcp_call(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    server, tool = as_text(block.get("server_name")), as_text(block.get("name"))
    _call({**block, "name": f"{server}.{tool}" if server and tool else tool}, speaker, builder, place)


def _tool_use(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Anthropic's format; or Inspect's, with a `tool_type`: a call that the provider ran itself."""
    if "tool_type" not in block:
        _call(block, speaker, builder, place)
        return
    call_id = text_or_none(block.get("id"))
    name = as_text(block.get("name")) or as_text(block["tool_type"])
    arguments = as_text(block.get("arguments"))
    builder.add(ToolCall, place, origin=speaker.origin, call_id=call_id, name=name, arguments=arguments)
    result, error = as_text(block.get("result")), as_text(block.get("error"))
    if result or not error:
        builder.add(ToolResult, place, call_id=call_id, name=name, text=result)
    if error:
        builder.add(ToolResult, place, call_id=call_id, name=name, text=error, error=True)


def _tool_result(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    result = Speaker(
        None,
        "tool",
        call_id=text_or_none(block.get("tool_use_id") or block.get("toolCallId") or block.get("toolUseID")),
        tool=text_or_none(block.get("name") or block.get("toolName")),
        error=block.get("is_error") is True or block.get("isError") is True,
    )
    content = block.get("content", block.get("result", block.get("output")))
    run = block.get("run")
    if isinstance(run, dict) and content is None:  # as Amp writes them
        status = as_text(run.get("status"))
        result = result._replace(error=result.error or status in _FAILED_RUNS)
        texts = (run.get("result"), run.get("error"), run.get("reason"), run.get("progress"))
        content = next((one for one in texts if not is_blank(one)), None if status == "done" else status)
    if isinstance(content, dict) and isinstance(content.get("type"), str) and "value" in content:
        result = result._replace(error=result.error or content["type"].startswith("error"))  # as Vercel writes them
        content = content["value"]
    BlockReader(result, builder).read(content, f"{place}.content")


def _source(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """`image` and `document`: Anthropic's with a source, Inspect's with a URL."""
    what = block["type"]
    name = text_or_none(block.get("title") or block.get("filename") or block.get("name"))
    source, url = block.get("source"), block.get(what)
    if isinstance(source, dict):
        _from_source(source, what, speaker, builder, place, name=name)
    elif isinstance(url, str) and url.startswith(("data:", "http:", "https:")):
        builder.url(url, what, speaker.origin, place, name=name, call_id=speaker.call_id)
    elif isinstance(url, str):
        builder.not_shown(f"{what} by its path", speaker.origin, place)
    else:
        builder.not_shown(what, speaker.origin, place, block)
    if block.get("context"):
        builder.add(Event, place, origin=speaker.origin, name="context", text=as_text(block["context"]))


def _from_source(
    source: dict[str, Any], what: str, speaker: Speaker, builder: TranscriptBuilder, place: str, *, name: str | None
) -> None:
    """Base64, text, blocks, a URL, or an uploaded file's id."""
    kind = source.get("type")
    if kind == "base64":
        builder.base64_file(
            source.get("data"), source.get("media_type"), speaker.origin, place, name=name, call_id=speaker.call_id
        )
    elif kind == "text":
        content = as_text(source.get("data")).encode("utf-8", "replace")
        builder.file(content, "text/plain", speaker.origin, place, name=name, call_id=speaker.call_id)
    elif kind == "content":
        BlockReader(speaker, builder).read(source.get("content"), f"{place}.source.content")
    elif kind == "url":
        builder.url(source.get("url"), what, speaker.origin, place, name=name, call_id=speaker.call_id)
    else:
        builder.not_shown(f"{what} by its id", speaker.origin, place)
    known = {"type", "data", "media_type", "content", "url", "file_id"}
    builder.unread(source, known, speaker.origin, f"{place}.source")


def _data(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Inspect's `data`: JSON of the model."""
    builder.add(Event, place, origin=speaker.origin, name="data", text=as_text(block.get("data")))


_CALL = frozenset({"id", "name", "input", "args", "arguments", "toolName", "toolCallId"})
_RESULT = frozenset(
    {"tool_use_id", "toolCallId", "toolUseID", "name", "toolName", "is_error", "isError", "content", "result"}
    | {"output", "run"}
)
_FAILED_RUNS = frozenset({"error", "cancelled", "rejected-by-user"})
_SOURCE = frozenset({"source", "title", "context", "detail", "filename", "name", "mime_type"})


def _nothing(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """A separator block without content."""


_READERS: dict[str, tuple[_Read, frozenset[str]]] = {
    "refusal": (_refusal, frozenset({"refusal", "id"})),
    "thinking": (_thinking, frozenset({"thinking", "signature"})),
    "redacted_thinking": (_redacted_thinking, frozenset({"data"})),
    "reasoning": (
        _reasoning,
        frozenset({"reasoning", "text", "summary", "content", "signature", "redacted", "id", "index", "extras"}),
    ),
    "tool_use": (_tool_use, _CALL | {"tool_type", "result", "error"}),
    "server_tool_use": (_call, _CALL),
    "mcp_tool_use": (_mcp_call, _CALL | {"server_name"}),
    "tool_call": (_call, _CALL),
    "tool-call": (_call, _CALL),
    "tool_result": (_tool_result, _RESULT),
    "tool-result": (_tool_result, _RESULT),
    "mcp_tool_result": (_tool_result, _RESULT),
    "image": (_source, _SOURCE | {"image", "transformations"}),
    "document": (_source, _SOURCE | {"document", "citations"}),
    "search_result": (read_search_result, frozenset({"content", "source", "title", "citations"})),
    "compaction": (read_compaction, frozenset({"content", "encrypted_content", "signature", "tool_changes"})),
    "mcp_tool_listing": (read_tools_of_server, frozenset({"mcp_server_name", "tools"})),
    "tool_addition": (read_tools_of_server, frozenset({"tool"})),
    "tool_removal": (read_tools_of_server, frozenset({"tool"})),
    "fallback": (read_fallback, frozenset({"from", "from_", "to", "trigger"})),
    "container_upload": (read_container_upload, frozenset({"file_id"})),
    "image_url": (read_image, frozenset({"image_url", "detail"})),
    "input_image": (read_image, frozenset({"image_url", "file_id", "detail"})),
    "input_audio": (read_audio, frozenset({"input_audio"})),
    "audio": (read_audio, frozenset({"audio", "format"})),
    "video": (read_audio, frozenset({"video", "format"})),
    "file": (read_file, frozenset({"file", "file_id", "file_data", "file_url", "filename"})),
    "input_file": (read_file, frozenset({"file", "file_id", "file_data", "file_url", "filename", "detail"})),
    "data": (_data, frozenset({"data"})),
    "step-start": (_nothing, frozenset({"id"})),
}
"""By type: the block's reader and the fields it reads; other fields are reported as not shown."""

_OF_MESSAGES = frozenset(
    {"search_result", "compaction", "mcp_tool_listing", "tool_addition", "tool_removal", "fallback", "container_upload"}
)
"""Types of blocks of messages only; in a tool's result they are the tool's own JSON."""

_BOOKKEEPING = frozenset(
    {"type", "cache_control", "cache_breakpoint", "prompt_cache_breakpoint", "internal", "caller", "logprobs"}
    | {"toolset_name"}
)


def _reader(kind: Any, *, in_result: bool) -> tuple[_Read, frozenset[str]] | None:
    """The reader of a block; results of provider-run tools have specific names (`web_search_tool_result`)."""
    if not isinstance(kind, str) or (in_result and kind in _OF_MESSAGES):
        return None
    found = _READERS.get(kind)
    return (read_server_result, _RESULT) if found is None and kind.endswith("_tool_result") else found


def _is_block(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if not isinstance(kind, str):
        return value.keys() == {"text"}
    return kind in _TEXTS or _reader(kind, in_result=True) is not None


def _contains_base64(value: Any) -> bool:
    """Whether JSON contains a long text without spaces: a file in base64."""
    if isinstance(value, dict):
        return any(map(_contains_base64, value.values()))
    if isinstance(value, list):
        return any(map(_contains_base64, value))
    return isinstance(value, str) and len(value) > _LONGEST_WORD and not any(map(str.isspace, value[:_LONGEST_WORD]))


_LONGEST_WORD = 2000
