"""Messages with a role and content: OpenAI Chat, Anthropic, Inspect, LangChain, AgentDojo, τ-bench and plain lists.

A message's role says whose turn it is, and its blocks who really wrote what: a tool's result in a user's message is a
tool's.
"""

from typing import Any, Literal, cast

from jury_events.transcript import Event, Origin, Reasoning, Refusal
from jury_judge.cases.transcripts.blocks import BlockReader, Speaker
from jury_judge.cases.transcripts.builder import AUTHORS, TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_objects, as_text, json_kind, text_or_none
from jury_judge.cases.transcripts.tool_calls import add_call, add_calls
from jury_judge.errors import CaseFileError

_KINDS: dict[str, Literal["system", "user", "assistant"]] = {
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
_RESULTS: dict[str, Origin] = {
    "tool": "tool",
    "function": "tool",
    "tool_result": "tool",
    "tool_response": "tool",
    "ipython": "tool",
    "observation": "environment",
    "environment": "environment",
}
_REASONING = ("thought", "reasoning_content", "reasoning", "thinking")
_BOOKKEEPING = frozenset(
    {
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
        ),
    }
)
"""Fields that say how a message was made or kept, and nothing of what happened: neither shown nor counted as lost."""

_READ = frozenset({"role", "content", "name", "refusal", "tool_calls", "function_call", "audio", *_REASONING})
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
_GOOD_ENDS = frozenset({"stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence"})


def read_chat(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """A list of messages.

    Raises:
        CaseFileError: it is no list of messages; the text begins with the place.
    """
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of messages, not {json_kind(value)}")
    for index, message in enumerate(value):
        read_message(message, builder, f"{place}.{index}")


def read_message(message: Any, builder: TranscriptBuilder, place: str) -> None:
    """One message.

    Raises:
        CaseFileError: it is none.
    """
    if not isinstance(message, dict):
        raise CaseFileError(f"{place}: must be a message object with role and content, not {json_kind(message)}")
    written = message.get("role")
    if not isinstance(written, str):
        raise CaseFileError(f"{place}.role: must be text such as user, assistant, tool or system")
    role = written.lower()
    if role in _KINDS:
        _said(message, _KINDS[role], builder, place)
    elif role in _RESULTS:
        _returned(message, _RESULTS[role], builder, place)
    else:
        _other(message, written, builder, place)


def _said(
    message: dict[str, Any], kind: Literal["system", "user", "assistant"], builder: TranscriptBuilder, place: str
) -> None:
    before = len(builder)
    origin = AUTHORS[kind]
    name = text_or_none(message.get("name"))
    for key in _REASONING:
        if message.get(key):
            _thought(message[key], origin, builder, f"{place}.{key}")
    BlockReader(Speaker(kind, origin, name), builder).read(message.get("content"), f"{place}.content")
    if message.get("refusal"):
        builder.add(Refusal, f"{place}.refusal", text=as_text(message["refusal"]))
    if isinstance(message.get("audio"), dict):
        _spoken(message["audio"], kind, builder, f"{place}.audio")
    add_calls(message.get("tool_calls"), builder, f"{place}.tool_calls")
    if message.get("function_call"):
        add_call(message["function_call"], builder, f"{place}.function_call")
    if len(builder) == before:
        builder.message(kind, "", place, name=name)
    builder.unread(message, _READ | _BOOKKEEPING, origin, place)


def _thought(value: Any, origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    """Text, or a provider's object of it (`{content}`, `{text}`, a list of such)."""
    for one in value if isinstance(value, list) else [value]:
        inner = one.get("content") or one.get("text") or one.get("summary") if isinstance(one, dict) else one
        builder.add(Reasoning, place, origin=origin, text=as_text(one if inner is None else inner))


def _spoken(
    audio: dict[str, Any], kind: Literal["system", "user", "assistant"], builder: TranscriptBuilder, place: str
) -> None:
    """OpenAI's spoken answer: its words are shown, its sound is not."""
    if audio.get("transcript"):
        builder.message(kind, as_text(audio["transcript"]), f"{place}.transcript")
    builder.not_shown("audio", AUTHORS[kind], place, audio.get("data"))


def _returned(message: dict[str, Any], origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    call = cast("dict[str, Any]", message["tool_call"]) if isinstance(message.get("tool_call"), dict) else {}
    if call and text_or_none(call.get("id")) not in builder.called:
        add_call(call, builder, f"{place}.tool_call")  # AgentDojo repeats in its results what was called
    names = (
        message.get("tool"),
        message.get("name"),
        message.get("tool_name"),
        message.get("function"),
        call.get("function"),
    )
    ids = (message.get("tool_call_id"), message.get("call_id"), call.get("id"))
    error = message.get("error")
    speaker = Speaker(
        None,
        origin,
        call_id=next((found for one in ids if (found := text_or_none(one)) is not None), None),
        tool=next((found for one in names if (found := text_or_none(one)) is not None), None),
        error=bool(error) or message.get("is_error") is True,
    )
    content = message.get("content")
    if error and not content:
        content = error.get("message") if isinstance(error, dict) and error.get("message") else error
        error = None
    BlockReader(speaker, builder).read(content, f"{place}.content")
    if error and error is not True:
        builder.add(Event, f"{place}.error", origin=origin, name="error", text=as_text(error))
    builder.unread(message, _OF_RESULTS | _BOOKKEEPING, origin, place)


def _other(message: dict[str, Any], role: str, builder: TranscriptBuilder, place: str) -> None:
    """A role that is none of the usual ones: what it is to the agent is not known, so nobody's words it becomes."""
    content = message.get("content")
    texts = TranscriptBuilder()
    BlockReader(Speaker(None, "environment"), texts).read(content, f"{place}.content")
    items = texts.transcript().items
    text = "\n".join(item.text for item in items if item.kind == "tool_result" and item.text)
    builder.add(Event, place, origin="environment", name=role, text=text)
    for item in items:
        if item.kind != "tool_result":
            builder.add(type(item), place, **{**dict(item), "origin": "environment"})
    add_calls(message.get("tool_calls"), builder, f"{place}.tool_calls")
    builder.unread(message, {"role", "content", "tool_calls"} | _BOOKKEEPING, "environment", place)


def read_choices(value: Any, builder: TranscriptBuilder, place: str = "choices") -> None:
    """The answer of a chat completion: its first choice; others are told of, and a bad end is an event.

    Raises:
        CaseFileError: they are no choices.
    """
    for index, choice in enumerate(as_objects(value, place, "choices")):
        if index:
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
    """Why a provider ended the answer, where that is no usual end: cut off, filtered."""
    if isinstance(reason, str) and reason.lower() not in _GOOD_ENDS:
        builder.add(Event, place, origin="environment", name="end of the answer", text=reason)
