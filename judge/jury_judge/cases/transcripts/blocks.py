"""The blocks that a message's content is made of: OpenAI's parts, Anthropic's blocks, Inspect's contents.

Their type names do not collide but for `tool_use`, which Inspect marks with a `tool_type`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from jury_events.transcript import Event, Message, Origin, Reasoning, Refusal, ToolCall, ToolResult
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_text, json_kind, text_or_none
from jury_judge.cases.transcripts.tool_calls import add_call
from jury_judge.errors import CaseFileError

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


class Speaker(NamedTuple):
    """Who a message's blocks are by.

    `kind` is the message's, None where it is a tool's result, which `call_id` and `tool` name; `error`: it failed.
    """

    kind: str | None
    origin: Origin
    name: str | None = None
    call_id: str | None = None
    tool: str | None = None
    error: bool = False


class BlockReader:
    """Reads the content of one message: texts that follow one another become one item."""

    def __init__(self, speaker: Speaker, builder: TranscriptBuilder) -> None:
        self._speaker = speaker
        self._builder = builder
        self._texts: list[str] = []
        self._place = ""
        self._answered = False

    def read(self, content: Any, place: str) -> None:
        """Text, null, or a list of blocks; what a tool returned may be any JSON and is kept as such.

        Raises:
            CaseFileError: it is anything else, or a block is not what its type says.
        """
        speaker = self._speaker
        self._place = place
        if isinstance(content, list):
            for index, block in enumerate(content):
                self._block(block, f"{place}.{index}")
        elif content is None or isinstance(content, str):
            self._texts += [content] if content else []
        elif isinstance(content, dict) and isinstance(content.get("type"), str) and speaker.kind is not None:
            self._block(content, place)
        elif speaker.kind is None or isinstance(content, dict | bool | int | float):
            self._texts.append(as_text(content))
        else:
            raise CaseFileError(f"{place}: must be text, not {json_kind(content)}")
        self._flush()
        if speaker.kind is None and not self._answered:
            self._result("")

    def _flush(self) -> None:
        if not self._texts:
            return
        text = "\n".join(self._texts)
        self._texts = []
        speaker = self._speaker
        if speaker.kind is None:
            self._result(text)
        else:
            self._builder.add(
                Message, self._place, kind=speaker.kind, origin=speaker.origin, text=text, name=speaker.name
            )

    def _result(self, text: str) -> None:
        speaker = self._speaker
        self._answered = True
        self._builder.add(
            ToolResult,
            self._place,
            origin=speaker.origin,
            call_id=speaker.call_id,
            name=speaker.tool,
            text=text,
            error=speaker.error,
        )

    def _block(self, block: Any, place: str) -> None:
        if isinstance(block, str):
            self._texts.append(block)
            return
        if not isinstance(block, dict):
            self._texts.append(as_text(block))
            return
        kind = block.get("type")
        if kind in _TEXTS or (kind is None and "text" in block):
            self._text(block, place)
            return
        self._flush()
        read = _READERS.get(kind) if isinstance(kind, str) else None
        if read is not None:
            read(block, self._speaker, self._builder, place)
        else:
            self._builder.not_shown(f"block {kind or 'unnamed'}", self._speaker.origin, place, block)

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
            self._builder.add(Refusal, place, text=text or "")
        elif text:
            self._texts.append(text)
        self._builder.unread(block, _TEXT_KNOWN, self._speaker.origin, place)


_TEXT_KNOWN = frozenset(
    {"type", "text", "content", "refusal", "cache_control", "cache_breakpoint", "internal", "logprobs"}
)

_Read = Callable[[dict[str, Any], Speaker, TranscriptBuilder, str], None]


def _refusal(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    builder.add(Refusal, place, origin=speaker.origin, text=as_text(block.get("refusal")))


def _thinking(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    builder.add(Reasoning, place, origin=speaker.origin, text=as_text(block.get("thinking")))
    builder.unread(block, {"type", "thinking", "signature", "cache_control"}, speaker.origin, place)


def _redacted_thinking(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    builder.not_shown("reasoning that the provider encrypted", speaker.origin, place, block.get("data"))


def _reasoning(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Inspect's: encrypted reasoning has at most a summary."""
    if block.get("redacted"):
        if block.get("summary"):
            builder.add(Reasoning, place, origin=speaker.origin, text=as_text(block["summary"]))
        builder.not_shown("reasoning that the provider encrypted", speaker.origin, place, block.get("reasoning"))
        return
    text = block.get("reasoning", block.get("text"))
    builder.add(Reasoning, place, origin=speaker.origin, text=as_text(text))
    builder.unread(
        block, {"type", "reasoning", "text", "signature", "redacted", "internal", "id"}, speaker.origin, place
    )


def _tool_use(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    if "tool_type" not in block:
        add_call({key: value for key, value in block.items() if key not in {"cache_control", "caller"}}, builder, place)
        return
    # Inspect's: a call that the provider made and answered by itself.
    call_id = text_or_none(block.get("id"))
    name = as_text(block.get("name")) or as_text(block["tool_type"])
    builder.add(ToolCall, place, call_id=call_id, name=name, arguments=as_text(block.get("arguments")))
    error = block.get("error")
    builder.add(
        ToolResult,
        place,
        call_id=call_id,
        name=name,
        text=as_text(block.get("result")) or as_text(error),
        error=bool(error),
    )
    known = {"type", "tool_type", "id", "name", "arguments", "result", "error", "internal"}
    builder.unread(block, known if not block.get("result") or not error else known - {"error"}, "tool", place)


def _server_tool_use(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    add_call(
        {key: value for key, value in block.items() if key not in {"cache_control", "caller", "server_name"}},
        builder,
        place,
    )


def _tool_result(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Whoever's message it stands in, a tool returned it."""
    result = Speaker(
        None,
        "tool",
        call_id=text_or_none(block.get("tool_use_id") or block.get("toolCallId")),
        tool=text_or_none(block.get("name") or block.get("toolName")),
        error=block.get("is_error") is True or block.get("isError") is True,
    )
    content = block.get("content", block.get("result", block.get("output")))
    BlockReader(result, builder).read(content, f"{place}.content")
    known = {
        "type",
        "tool_use_id",
        "toolCallId",
        "name",
        "toolName",
        "is_error",
        "isError",
        "content",
        "result",
        "output",
    }
    builder.unread(block, known | {"cache_control"}, "tool", place)


def _server_result(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """The result of a tool that the provider ran (`web_search_tool_result`): its JSON as it is."""
    content = block.get("content")
    failed = isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
    builder.add(ToolResult, place, call_id=text_or_none(block.get("tool_use_id")), text=as_text(content), error=failed)


def _anthropic_source(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """`image` and `document`: base64, text, nested content, a URL or an uploaded file's id; or Inspect's `image`."""
    what = block["type"]
    name = text_or_none(block.get("title") or block.get("filename") or block.get("name"))
    source = block.get("source")
    if isinstance(block.get(what), str):  # Inspect's: {"type": "image", "image": URL}, {"type": "document", …}
        url = block[what]
        if what == "document" and not url.startswith(("data:", "http:", "https:")):
            builder.not_shown("document by its path", speaker.origin, place)
        else:
            builder.url(url, what, speaker.origin, place, name=name, call_id=speaker.call_id)
        known = {"type", what, "detail", "internal", "filename", "mime_type", "citations"}
        builder.unread(block, known, speaker.origin, place)
        return
    if not isinstance(source, dict):
        builder.not_shown(what, speaker.origin, place, block)
        return
    match source.get("type"):
        case "base64":
            builder.base64_file(
                source.get("data"), source.get("media_type"), speaker.origin, place, name=name, call_id=speaker.call_id
            )
        case "text":
            content = as_text(source.get("data")).encode("utf-8", "replace")
            builder.file(content, "text/plain", speaker.origin, place, name=name, call_id=speaker.call_id)
        case "content":
            BlockReader(speaker, builder).read(source.get("content"), f"{place}.source.content")
        case "url":
            builder.url(source.get("url"), what, speaker.origin, place, name=name, call_id=speaker.call_id)
        case _:
            builder.not_shown(f"{what} by its id", speaker.origin, place)
    if block.get("context"):
        builder.add(Event, place, origin=speaker.origin, name="context", text=as_text(block["context"]))
    builder.unread(block, {"type", "source", "title", "context", "citations", "cache_control"}, speaker.origin, place)


def _image_url(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    image = block.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    builder.url(url, "image", speaker.origin, place, call_id=speaker.call_id)


def _input_image(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    if block.get("image_url"):
        _image_url(block, speaker, builder, place)
    else:
        builder.not_shown("image by its id", speaker.origin, place)


def _audio(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `input_audio`, Inspect's `audio` and `video`; a transcript of it is text."""
    kind = block["type"]
    audio = block.get(kind)
    if isinstance(audio, str):
        builder.url(audio, kind, speaker.origin, place, call_id=speaker.call_id)
    elif isinstance(audio, dict):
        media = f"audio/{as_text(audio.get('format')) or 'unknown'}"
        builder.base64_file(audio.get("data"), media, speaker.origin, place, call_id=speaker.call_id)
    else:
        builder.not_shown(kind, speaker.origin, place, block)


def _file(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `file` and `input_file`."""
    file = block.get("file") if isinstance(block.get("file"), dict) else block
    assert isinstance(file, dict)
    name = text_or_none(file.get("filename"))
    data = file.get("file_data")
    if isinstance(data, str) and data.startswith("data:"):
        builder.url(data, "file", speaker.origin, place, name=name, call_id=speaker.call_id)
    elif isinstance(data, str):
        builder.base64_file(data, None, speaker.origin, place, name=name, call_id=speaker.call_id)
    else:
        builder.not_shown("file at a URL" if file.get("file_url") else "file by its id", speaker.origin, place)


def _data(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """Inspect's `data`: JSON of the model's."""
    builder.add(Event, place, origin=speaker.origin, name="data", text=as_text(block.get("data")))


def _tool_call(block: dict[str, Any], _speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """LangChain's and Vercel's blocks."""
    add_call(block, builder, place)


_READERS: dict[str, _Read] = {
    "refusal": _refusal,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "reasoning": _reasoning,
    "tool_use": _tool_use,
    "server_tool_use": _server_tool_use,
    "mcp_tool_use": _server_tool_use,
    "tool_call": _tool_call,
    "tool-call": _tool_call,
    "tool_result": _tool_result,
    "tool-result": _tool_result,
    "mcp_tool_result": _tool_result,
    "web_search_tool_result": _server_result,
    "web_fetch_tool_result": _server_result,
    "code_execution_tool_result": _server_result,
    "bash_code_execution_tool_result": _server_result,
    "text_editor_code_execution_tool_result": _server_result,
    "image": _anthropic_source,
    "document": _anthropic_source,
    "image_url": _image_url,
    "input_image": _input_image,
    "input_audio": _audio,
    "audio": _audio,
    "video": _audio,
    "file": _file,
    "input_file": _file,
    "data": _data,
}
