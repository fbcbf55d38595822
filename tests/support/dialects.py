"""The four protocols as providers speak them: replies, streams and errors in each, and the adapters that read them."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jury_events import CallSettings
from jury_providers import (
    ApiProtocol,
    ModelMessage,
    ModelReply,
    ModelRequest,
    OfferedTool,
    OnChunk,
    ProviderConnection,
    SdkAdapter,
    adapter_of,
)
from support.canned_server import Answer, Asked, Canned, CannedServer, canned_server, events

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": 0, "maximum": 40}},
    "required": ["score"],
    "additionalProperties": False,
}
TOOL = OfferedTool(
    "look", "Looks.", {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
)
MESSAGES = (ModelMessage("system", "You judge."), ModelMessage("user", "Judge this."))

Calls = tuple[tuple[str, str, dict[str, Any]], ...]
"""Tool calls: id, name, arguments."""


class Exchanged(NamedTuple):
    """What an adapter made of the answers of a server, and what the server was asked."""

    replies: list[ModelReply]
    asked: list[Asked]


class Dialect(NamedTuple):
    """One protocol. `reply(text, finish, calls)` is a whole reply, `stream` the events of the same one.

    `finishes` are its words for: it is done, it was cut off, it was filtered.
    """

    name: ApiProtocol
    base: str
    finishes: tuple[str, str, str]
    reply: Callable[[str, str, Calls], dict[str, Any]]
    stream: Callable[[str, str, Calls], list[Any]]

    def make(self, connection: ProviderConnection) -> SdkAdapter:
        """The adapter of a connection."""
        return adapter_of(self.name, connection)

    def adapter(self, server: CannedServer, key: str | None = "sk-test-key-0123456789") -> SdkAdapter:
        """An adapter that reaches `server`."""
        return self.make(ProviderConnection(self.name, server.url + self.base, key))

    async def exchanged(
        self,
        *answers: Answer,
        requests: Sequence[ModelRequest] = (),
        on_chunk: OnChunk | None = None,
        key: str | None = "sk-test-key-0123456789",
        **connection: Any,
    ) -> Exchanged:
        """The calls of one adapter, one for each answer unless `requests` says which."""
        async with canned_server(*answers) as server:
            adapter = self.make(ProviderConnection(self.name, server.url + self.base, key, **connection))
            replies = [await adapter.call(one, on_chunk) for one in requests or [a_request()] * len(answers)]
            await adapter.close()
        return Exchanged(replies, server.asked)

    def canned(self, text: str, finish: str = "", calls: Calls = (), *, streamed: bool = False) -> Canned:
        """A good answer."""
        finish = finish or self.finishes[0]
        if streamed:
            said = events(*self.stream(text, finish, calls))
            pieces = [said[at : at + 40] for at in range(0, len(said), 40)]
            return Canned(pieces=pieces, headers={"content-type": "text/event-stream"})
        return Canned(pieces=[json.dumps(self.reply(text, finish, calls)).encode()])


def a_request(
    *messages: ModelMessage, tools: tuple[OfferedTool, ...] = (), seconds: float = 20, **settings: Any
) -> ModelRequest:
    """A call; without messages a plain question."""
    return ModelRequest(
        "model-1", messages or MESSAGES, tools, SCHEMA, CallSettings(timeout_seconds=seconds, **settings), "d1/x"
    )


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _chat_calls(calls: Calls) -> list[dict[str, Any]]:
    return [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id_, name, arguments in calls
    ]


_CHAT_USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def _chat(text: str, finish: str, calls: Calls) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "x_unknown": {"kept": [1]}}
    if calls:
        message["tool_calls"] = _chat_calls(calls)
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c-1", "model": "model-1-0806", "choices": [choice], "usage": _CHAT_USAGE, "service_tier": "flex"}


def _chat_stream(text: str, finish: str, calls: Calls) -> list[Any]:
    head = {"id": "c-1", "model": "model-1-0806"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "x_unknown": {"kept": [1]}}]
    deltas += [{"content": half} for half in _halves(text) if half]
    for index, call in enumerate(_chat_calls(calls)):
        first, second = _halves(call["function"]["arguments"])
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": first}}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    chunks: list[Any] = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return [*chunks, last, {**head, "choices": [], "usage": _CHAT_USAGE, "service_tier": "flex"}, "[DONE]"]


def _responses(text: str, finish: str, calls: Calls) -> dict[str, Any]:
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs-1", "summary": [], "x_unknown": {"kept": [1]}}]
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "id": "m-1", "role": "assistant", "content": content})
    output += [
        {"type": "function_call", "id": f"fc-{id_}", "call_id": id_, "name": name, "arguments": json.dumps(arguments)}
        for id_, name, arguments in calls
    ]
    return {
        "id": "c-1",
        "model": "model-1-0806",
        "status": finish if finish == "completed" else "incomplete",
        "incomplete_details": None if finish == "completed" else {"reason": finish},
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": 11,
            "output_tokens": 7,
            "input_tokens_details": {
                "cached_tokens": 4,
                "cache_write_tokens": 2,
                "cache_write_tokens_details": {"ttl_30m_tokens": 0, "ttl_12h_tokens": 2},
            },
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    }


def _responses_stream(text: str, finish: str, calls: Calls) -> list[Any]:
    response = _responses(text, finish, calls)
    deltas = [{"type": "response.output_text.delta", "delta": half} for half in _halves(text) if half]
    last = "response.completed" if finish == "completed" else "response.incomplete"
    return [{"type": "response.created"}, *deltas, {"type": last, "response": response}]


def _blocks(text: str, calls: Calls) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm, hm.", "signature": "s1", "x_unknown": {"kept": [1]}}
    ]
    if text:
        blocks.append({"type": "text", "text": text})
    return blocks + [{"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in calls]


def _messages(text: str, finish: str, calls: Calls) -> dict[str, Any]:
    return {
        "id": "c-1",
        "type": "message",
        "role": "assistant",
        "model": "model-1-0806",
        "content": _blocks(text, calls),
        "stop_reason": finish,
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 2,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 2},
            "service_tier": "standard",
            "inference_geo": "us",
            "speed": "standard",
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 2},
        },
    }


def _messages_stream(text: str, finish: str, calls: Calls) -> list[Any]:
    whole = _messages(text, finish, calls)
    start = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    said: list[Any] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}
    for index, block in enumerate(whole["content"]):
        kind = block["type"]
        said.append(
            {"type": "content_block_start", "index": index, "content_block": {**block, **empty[kind]}}  # type: ignore[dict-item]
        )
        deltas: list[dict[str, Any]] = []
        if kind == "text":
            deltas = [{"type": "text_delta", "text": half} for half in _halves(text)]
        elif kind == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            halves = _halves(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
        said += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        said.append({"type": "content_block_stop", "index": index})
    last = {"type": "message_delta", "delta": {"stop_reason": finish}, "usage": {"output_tokens": 7}}
    return [*said, last, {"type": "message_stop"}]


_GOOGLE_REST = {
    "usageMetadata": {
        "promptTokenCount": 11,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4,
        "serviceTier": "standard",
    },
    "modelVersion": "model-1-0806",
    "responseId": "c-1",
}


def _google_calls(calls: Calls) -> list[dict[str, Any]]:
    # No ids, as older models call.
    return [
        {"functionCall": {"name": name, "args": given}, "thoughtSignature": "c2ln", "x_unknown": {"kept": [1]}}
        for _, name, given in calls
    ]


def _google(text: str, finish: str, calls: Calls) -> dict[str, Any]:
    parts = [{"text": "Hm, hm.", "thought": True}, *([{"text": text}] if text else []), *_google_calls(calls)]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], **_GOOGLE_REST}


def _google_stream(text: str, finish: str, calls: Calls) -> list[Any]:
    parts = [{"text": "Hm, hm.", "thought": True}, *({"text": half} for half in _halves(text) if half)]
    parts += _google_calls(calls)
    said: list[Any] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "modelVersion": "model-1-0806"}
        for part in parts
    ]
    return [*said, {"candidates": [{"finishReason": finish, "index": 0}], **_GOOGLE_REST}]


CHAT = Dialect("openai", "/v1", ("stop", "length", "content_filter"), _chat, _chat_stream)
RESPONSES = Dialect(
    "openai-responses",
    "/v1",
    ("completed", "max_output_tokens", "content_filter"),
    _responses,
    _responses_stream,
)
ANTHROPIC = Dialect("anthropic", "", ("end_turn", "max_tokens", "refusal"), _messages, _messages_stream)
GOOGLE = Dialect("google", "", ("STOP", "MAX_TOKENS", "SAFETY"), _google, _google_stream)
DIALECTS = (CHAT, RESPONSES, ANTHROPIC, GOOGLE)
