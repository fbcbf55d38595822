"""OpenAI's Chat Completions API, also offered by llama.cpp, vLLM, Ollama and proxies.

Source: the API reference, and the types of the SDK `openai`.
"""

from typing import Any

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelPicture, ModelRequest, RequestedTool
from jury_providers.sdk.cache_marks import OPENAI_MARK, marked_blocks, openai_cache_options
from jury_providers.sdk.model_settings import openai_chat_settings
from jury_providers.sdk.openai_sdk import OpenAISdk, openai_cache_writes
from jury_providers.sdk.reply_parsing import (
    ConversationTurn,
    ParsedReply,
    count_at,
    data_url,
    label_at,
    object_at,
    objects,
    outcome_of,
    text_at,
    turns,
)

_OUTCOMES = {"length": CallOutcome.TRUNCATED, "content_filter": CallOutcome.BLOCKED}
_GOOD_ENDS = frozenset({"stop", "tool_calls", "function_call"})


class OpenAIChat(OpenAISdk):
    """`POST chat/completions`."""

    api = "openai"
    path = "/chat/completions"
    reply_key = "choices"
    prompt_keys = frozenset({"messages"})

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        settings = request.settings
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [
                message
                for turn, marked in zip(turns(request.messages), marked_blocks(request, self.api), strict=True)
                for message in self._messages(turn, marked)
            ],
            "max_completion_tokens": settings.max_output_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": request.schema},
            },
        }
        body |= openai_chat_settings(settings, self._tier(settings)) | openai_cache_options(request)
        if request.tools:
            # Not strict: strict functions have no optional parameters, and all of these have defaults.
            body["tools"] = [{"type": "function", "function": tool._asdict()} for tool in request.tools]
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def _messages(self, turn: ConversationTurn, marked: frozenset[int]) -> list[dict[str, Any]]:
        if turn.role != "assistant":
            return [{"role": turn.role, "content": _shown(turn, marked)}]
        document = self.stored_reply(turn.text)
        if document is None:
            return [{"role": "assistant", "content": turn.text}]
        message = dict(_choice(document)[0])
        calls = objects(message.get("tool_calls"))
        # Servers refuse calls without a result: those of a truncated turn are dropped.
        message["tool_calls"] = answered = calls[: len(turn.results)]
        if not answered:
            del message["tool_calls"]
        if not (answered or message.get("content") or message.get("refusal")):
            return []
        results = [
            {"role": "tool", "tool_call_id": call.get("id"), "content": result}
            for call, result in zip(answered, turn.results, strict=False)
        ]
        return [message, *results]

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        message, finish = _choice(document)
        text, refusal = _content(message), text_at(message, "refusal")
        tools = tuple(_tool(call) for call in objects(message.get("tool_calls")))
        has_content = bool(text or tools)
        outcome = CallOutcome.BLOCKED if refusal else outcome_of(finish, _OUTCOMES, _GOOD_ENDS, has_content=has_content)
        return ParsedReply(
            outcome,
            text,
            tools,
            model_version=text_at(document, "model"),
            finish_reason=finish,
            usage=_usage(document),
            response_id=text_at(document, "id"),
            error=f"refused: {refusal}" if refusal else None,
        )

    def text_delta(self, event: dict[str, Any]) -> str:
        choice = _first(event)
        return text_at(object_at(choice, "delta"), "content") or ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """One completion from its chunks: texts concatenated, tool calls merged by index."""
        document: dict[str, Any] = {}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        calls: list[dict[str, Any]] = []
        finish = None
        for event in events:
            document |= {key: value for key, value in event.items() if value is not None}
            choice = _first(event)
            finish = text_at(choice, "finish_reason") or finish
            delta = object_at(choice, "delta")
            _append(message, {key: value for key, value in delta.items() if key != "tool_calls"})
            for call in objects(delta.get("tool_calls")):
                _append_call(calls, call)
        if finish is None:
            return None
        if calls:
            message["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return document | {"object": "chat.completion", "choices": [choice]}


def _shown(turn: ConversationTurn, marked: frozenset[int]) -> str | list[dict[str, Any]]:
    if len(turn.blocks) == 1:
        return turn.text
    return [_part(block) | (OPENAI_MARK if index in marked else {}) for index, block in enumerate(turn.blocks)]


def _part(block: str | ModelPicture) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    return {"type": "image_url", "image_url": {"url": data_url(block)}}


def _first(document: dict[str, Any]) -> dict[str, Any]:
    choices = objects(document.get("choices"))
    return choices[0] if choices else {}


def _choice(document: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    choice = _first(document)
    return object_at(choice, "message"), text_at(choice, "finish_reason")


def _content(message: dict[str, Any]) -> str:
    """A message's text, which some servers send as a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text_at(piece, "text") or "" for piece in objects(content))


def _tool(call: dict[str, Any]) -> RequestedTool:
    function = object_at(call, "function")
    return RequestedTool(
        text_at(call, "id") or "", text_at(function, "name") or "", text_at(function, "arguments") or ""
    )


def _usage(document: dict[str, Any]) -> Usage:
    usage = object_at(document, "usage")
    sent = object_at(usage, "prompt_tokens_details")
    return Usage(
        input_tokens=count_at(usage, "prompt_tokens"),
        output_tokens=count_at(usage, "completion_tokens"),
        cached_input_tokens=count_at(sent, "cached_tokens"),
        cache_writes=openai_cache_writes(sent),
        reasoning_tokens=count_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens"),
        service_tier=label_at(document, "service_tier"),
    )


_WHOLE = frozenset({"id", "type", "role", "name"})
"""Strings that a stream repeats instead of continuing; every server sends `name` whole."""


def _append(target: dict[str, Any], delta: dict[str, Any]) -> None:
    """Merge a delta: strings are appended, objects merged, other values replaced."""
    for key, value in delta.items():
        known = target.get(key)
        if isinstance(value, str) and isinstance(known, str) and key not in _WHOLE:
            target[key] = known + value
        elif isinstance(value, dict) and isinstance(known, dict):
            _append(known, value)
        elif value is None or value == "":
            target.setdefault(key, value)
        else:
            target[key] = dict(value) if isinstance(value, dict) else value


def _append_call(calls: list[dict[str, Any]], delta: dict[str, Any]) -> None:
    """Merge a delta of a tool call; some servers number every call 0 and distinguish them by id."""
    index, name = delta.get("index"), delta.get("id")
    same = [call for call in calls if index is not None and call.get("index") == index]
    if same and (not name or same[-1].get("id") in {None, "", name}):
        _append(same[-1], delta)
    else:
        call: dict[str, Any] = {}
        _append(call, delta)
        calls.append(call)
