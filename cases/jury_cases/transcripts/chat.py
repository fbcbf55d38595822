"""Messages with a role and content: OpenAI Chat, Anthropic, Inspect, AgentDojo, τ-bench and plain lists.

A message's role names the turn; its blocks determine the authors: a tool's result in a user's message is the tool's.
"""

import json
from typing import Any, cast

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import AUTHORS, MessageAuthor, MessageKind
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, json_kind, text_or_none
from jury_cases.transcripts.tool_calls import add_call, add_calls
from jury_cases.transcripts.written_calls import is_written_result
from jury_events.transcript import Event, Origin, Reasoning, Refusal, ToolCall

KINDS: dict[str, MessageKind] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "agent": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
}
RESULTS: dict[str, Origin] = {
    "tool": "tool",
    "function": "tool",
    "tool_result": "tool",
    "tool_response": "tool",
    "tool_results": "tool",
    "function_response": "tool",
    "ipython": "tool",
    "observation": "environment",
    "environment": "environment",
}
_CALLS = frozenset({"tool_call", "tool_calls", "function_call"})
"""Roles of messages whose text is a tool call."""

_REASONING = ("thought", "reasoning_content", "reasoning", "thinking")
BOOKKEEPING = frozenset(
    {
        *("raw_data", "example", "requestor", "ts", "modelInfo", "metrics"),
        *("id", "uuid", "object", "type", "created", "created_at", "createdAt", "timestamp", "time", "date"),
        *("index", "model", "usage", "status", "source", "weight", "logprobs", "stop_sequence", "container"),
        *(
            "cache_control",
            "internal",
            "response_metadata",
            "usage_metadata",
            "turn_idx",
            "cost",
            "generation_time_seconds",
            "event.name",
            "gen_ai.system",
            "gen_ai.message.index",
        ),
    }
)
"""Metadata fields without content: neither shown nor counted as omitted."""

_ENDS = ("stop_reason", "finish_reason")
_READ = frozenset(
    {"role", "content", "value", "name", "refusal", "tool_calls", "function_call", "audio", *_ENDS, *_REASONING}
)
_OF_RESULTS = frozenset(
    {
        "role",
        "content",
        "name",
        "tool",
        "function",
        "tool_name",
        "tool_call_id",
        "call_id",
        "tool_call",
        "error",
        "is_error",
    }
)
_GOOD_ENDS = frozenset(
    {"stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence", "complete", "eos_token"}
)


def read_chat(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """Read a list of messages."""
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of messages, not {json_kind(value)}")
    answer: Any = None
    for index, message in builder.messages.of_list(enumerate(value), len(value)):
        read_message(message, builder, f"{place}.{index}", answer)
        answer = message if KINDS.get(message["role"].strip().lower()) == "assistant" else answer


def read_message(message: Any, builder: TranscriptBuilder, place: str, answer: Any = None) -> None:
    """Read a message; `answer`: the agent's last one before it, which may have calls in its text."""
    if not isinstance(message, dict):
        raise CaseFileError(f"{place}: must be a message object with role and content, not {json_kind(message)}")
    written = message.get("role")
    if not isinstance(written, str):
        raise CaseFileError(
            f"{place}.role: must be text such as user, assistant, tool or system; for messages of another "
            "form jury cases FILE --propose drafts a format file"
        )
    role = written.strip().lower()
    if KINDS.get(role) == "user" and is_written_result(message, answer):
        role = "tool_result"
    is_result = role in RESULTS
    name = None if is_result else text_or_none(message.get("name"))  # a result's is that of its tool
    author = MessageAuthor(written, name, known=is_result or role in KINDS or role in _CALLS)
    with builder.by(author):
        if is_result:
            _returned(message, RESULTS[role], builder, place)
        elif role in _CALLS:
            call_in_words(as_text(_content(message)), builder, f"{place}.content")
            builder.unread(message, {"role", "content", "value"} | BOOKKEEPING, "model", place)
        else:
            _read_turn(message, KINDS.get(role, "speaker"), author.shown, builder, place)


def _content(message: dict[str, Any]) -> Any:
    content = message.get("content")
    return message.get("value") if content is None else content


def _read_turn(
    message: dict[str, Any], kind: MessageKind, name: str | None, builder: TranscriptBuilder, place: str
) -> None:
    before = len(builder)
    origin = AUTHORS[kind]
    _thoughts(message, origin, builder, place)
    BlockReader(Speaker(kind, origin, name), builder).read(_content(message), f"{place}.content")
    if message.get("refusal"):
        builder.add(Refusal, f"{place}.refusal", origin=origin, text=as_text(message["refusal"]))
    if isinstance(message.get("audio"), dict) and not is_blank(message["audio"]):
        _read_audio(message["audio"], kind, name, builder, f"{place}.audio")
    # LangChain repeats calls of the content in `tool_calls`, also in messages that a program converted.
    add_calls(message.get("tool_calls"), builder, f"{place}.tool_calls", origin, shown=builder.calls_since(before))
    if not is_blank(message.get("function_call")):
        add_call(message["function_call"], builder, f"{place}.function_call", origin)
    if len(builder) == before:
        builder.message(kind, "", place, name=name)
    for end in _ENDS:
        read_end(message.get(end), builder, f"{place}.{end}")
    builder.unread(message, _READ | BOOKKEEPING, origin, place)


def _thoughts(message: dict[str, Any], origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    """Reasoning as text or provider objects (`{content}`, `{text, summary}`, or lists); each thought once."""
    seen: set[str] = set()
    for key in _REASONING:
        written = message.get(key)
        for one in written if isinstance(written, list) else [written]:
            table = one if isinstance(one, dict) else {"text": one}
            for part in ("content", "text", "summary"):
                text = as_text(table.get(part)) if not is_blank(table.get(part)) else ""
                if text and text not in seen:
                    seen.add(text)
                    builder.add(Reasoning, f"{place}.{key}", origin=origin, text=text)
            builder.unread(table, {"content", "text", "summary", "type", "signature"}, origin, f"{place}.{key}")


def _read_audio(
    audio: dict[str, Any], kind: MessageKind, name: str | None, builder: TranscriptBuilder, place: str
) -> None:
    """OpenAI's audio answer: the transcript is shown, the audio is not."""
    if audio.get("transcript"):
        builder.message(kind, as_text(audio["transcript"]), f"{place}.transcript", name=name)
    builder.not_shown("audio", AUTHORS[kind], place, audio.get("data"))


def _returned(message: dict[str, Any], origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    call = cast("dict[str, Any]", message["tool_call"]) if isinstance(message.get("tool_call"), dict) else {}
    if (repeated := text_or_none(call.get("id"))) is not None and repeated not in builder.called:
        add_call(call, builder, f"{place}.tool_call")  # AgentDojo repeats the call in its results
    names = (
        message.get("tool"),
        message.get("name"),
        message.get("tool_name"),
        message.get("function"),
        call.get("function"),
    )
    own = message.get("id") if text_or_none(message.get("id")) in builder.called else None  # as τ²-bench writes it
    ids = (message.get("tool_call_id"), message.get("call_id"), call.get("id"), own)
    error = message.get("error")
    speaker = Speaker(
        None,
        origin,
        call_id=next((found for one in ids if (found := text_or_none(one)) is not None), None),
        tool=next((found for one in names if (found := text_or_none(one)) is not None), None),
        error=bool(error) or message.get("is_error") is True or message.get("status") == "error",
    )
    content = _content(message)
    if error and not content:
        content = error.get("message") if isinstance(error, dict) and error.get("message") else error
        error = None
    BlockReader(speaker, builder).read(content, f"{place}.content")
    if error and error is not True:
        builder.add(Event, f"{place}.error", origin=origin, name="error", text=as_text(error))
    builder.unread(message, _OF_RESULTS | BOOKKEEPING, origin, place)


def read_choices(value: Any, builder: TranscriptBuilder, place: str = "choices") -> None:
    """Read a chat completion: its first choice; others are reported as not shown, an abnormal end is an event.

    The first is that of `index` 0, wherever it stands.
    """
    choices = as_objects(value, place, "choices")
    first = next((number for number, one in enumerate(choices) if one.get("index") == 0), 0)
    for index, choice in enumerate(choices):
        if index != first:
            builder.not_shown("another choice", "model", f"{place}.{index}", choice)
            continue
        message = choice.get("message")
        if message is None and isinstance(choice.get("text"), str):
            message = {"role": "assistant", "content": choice["text"]}
        read_message(message, builder, f"{place}.{index}.message")
        known = {"message", "text", "finish_reason", "index", "logprobs", "content_filter_results"}
        builder.unread(choice, known, "model", f"{place}.{index}")
        read_end(choice.get("finish_reason"), builder, f"{place}.{index}.finish_reason")


def read_end(reason: Any, builder: TranscriptBuilder, place: str) -> None:
    """Add an event for an abnormal end of an answer: truncated, filtered."""
    if isinstance(reason, str) and reason.lower() not in _GOOD_ENDS:
        builder.add(Event, place, origin="environment", name="end of the answer", text=reason)


def call_in_words(text: str, builder: TranscriptBuilder, place: str) -> None:
    """Read a call given as text: JSON with name and arguments, or an action in words."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        call = None
    for one in call if isinstance(call, list) else [call]:
        name = text_or_none(one.get("name")) if isinstance(one, dict) else None
        if name is None or set(one) - {"name", "arguments", "parameters", "id"}:
            builder.add(ToolCall, place, name="action", arguments=text if one is call else as_text(one))
        else:
            arguments = as_text(one.get("arguments", one.get("parameters")))
            builder.add(ToolCall, place, call_id=text_or_none(one.get("id")), name=name, arguments=arguments)


_TURNS_OF_CALLS = frozenset({"function_call", "function-call", "tool_call", "tool_calls", "action"})


def read_sharegpt(value: Any, builder: TranscriptBuilder, place: str = "conversations") -> None:
    """Read a list of turns."""
    turns = as_objects(value, place, "turns")
    answer: Any = None
    for index, turn in builder.messages.of_list(enumerate(turns), len(turns)):
        at = f"{place}.{index}"
        role = turn.get("from", turn.get("role"))
        if not isinstance(role, str):
            raise CaseFileError(f"{at}.from: must be text such as human, gpt, system or tool")
        rest = {key: one for key, one in turn.items() if key not in {"from", "role", "value", "loss"}}
        if role.lower() in _TURNS_OF_CALLS:
            call_in_words(as_text(turn.get("value")), builder, f"{at}.value")
            builder.unread(rest, {"weight", "id"}, "model", at)
        else:
            message = {**rest, "role": role, "content": turn.get("value")}
            read_message(message, builder, at, answer)
            answer = message if KINDS.get(role.lower()) == "assistant" else answer
