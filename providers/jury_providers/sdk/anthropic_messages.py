"""Anthropic's Messages API.

Source: the API reference, and the types of the SDK `anthropic`. It accepts no seed and, since version 2026-10-21, no
temperature.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import httpx2
from anthropic import (
    AsyncAnthropic,
    AsyncAnthropicAWS,
    AsyncAnthropicBedrock,
    AsyncAnthropicFoundry,
    AsyncAnthropicVertex,
    Omit,
    transform_schema,
)

from jury_events.canonical import canonical_json
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.catalogue import ModelLengths
from jury_providers.dialects import MESSAGES_WAYS
from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import Caching, ModelPicture, ModelRequest, RequestedTool, ServedModel
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.conversation import ConversationTurn, marked_blocks, turns, without_unanswered
from jury_providers.sdk.http_client import SharedHttpClient
from jury_providers.sdk.json_fields import (
    as_json,
    count_at,
    date_at,
    json_object,
    label_at,
    object_at,
    objects,
    text_at,
    without_unset,
)
from jury_providers.sdk.replies import ParsedReply, cache_writes, outcome_of, total, with_cache_miss

_CLOUDS: Mapping[str, Callable[..., Any]] = {
    "bedrock": AsyncAnthropicBedrock,
    "foundry": AsyncAnthropicFoundry,
    "aws": AsyncAnthropicAWS,
}

_FOUNDRY_SCOPE = "https://ai.azure.com/.default"

_OUTCOMES = {
    "refusal": CallOutcome.BLOCKED,
    "max_tokens": CallOutcome.TRUNCATED,
    # Another (paid) call could continue the turn; it counts as truncated, as Google's CONTINUATION does.
    "pause_turn": CallOutcome.TRUNCATED,
    "model_context_window_exceeded": CallOutcome.CONTEXT_TOO_LONG,
}
_TIERS = {"standard": "standard_only", "priority": "auto"}
_GOOD_ENDS = frozenset({"end_turn", "stop_sequence", "tool_use"})


class AnthropicMessages(SdkAdapter):
    """`POST v1/messages`."""

    sdk_logger = "anthropic"
    api = "anthropic"
    reply_key = "content"
    prompt_keys = frozenset({"messages", "system"})
    dialect_ways = MESSAGES_WAYS

    def __init__(self, connection: ProviderConnection) -> None:
        super().__init__(connection)
        if connection.dialect.structured != "json_schema":  # what is known of the same server's other protocol
            self.speak(connection.dialect._replace(structured="words"))

    @property
    def streams(self) -> bool:
        """Bedrock streams in a binary form of its own: there whole answers are asked for."""
        return self.connection.cloud != "bedrock"

    def open(self, client: SharedHttpClient) -> None:
        self._sdk = self.sdk_client(client)

    def sdk_client(self, client: httpx2.AsyncClient) -> Any:
        """The SDK's client on top of `client`; at a cloud the one that signs with the cloud's own credentials."""
        connection = self.connection
        options: dict[str, Any] = {
            "base_url": connection.base_url,
            "default_headers": self.default_headers(Omit()),
            "timeout": None,
            "max_retries": 0,
            "http_client": client,
        }
        if connection.cloud is None:
            return AsyncAnthropic(api_key=self.key, **options)
        if connection.cloud == "vertex":
            return AsyncAnthropicVertex(**options)
        if connection.cloud == "foundry" and connection.key is None:
            options["azure_ad_token_provider"] = self.entra_tokens(_FOUNDRY_SCOPE)
        return _CLOUDS[connection.cloud](api_key=connection.key, **options)

    async def served_model(self, model: str) -> ServedModel:
        """As `GET v1/models/{model}` says, which the clouds do not have, except Anthropic's own platform on AWS."""
        if self.connection.cloud not in {None, "aws"}:
            return ServedModel()
        path = f"/v1/models/{quote(model, safe='')}"
        said = await self.document_at(lambda: self._sdk.get(path, cast_to=httpx2.Response))
        lengths = ModelLengths(count_at(said, "max_input_tokens") or None, count_at(said, "max_tokens") or None)
        return ServedModel(date_at(said, "retires_at"), lengths)

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (in the body)
        """Send the body unchanged with `post`; the typed method rewrites it, and prints its own warnings of models."""
        await self._sdk.post(
            "/v1/messages", cast_to=httpx2.Response, body=body, options={"timeout": request.settings.attempt_seconds}
        )

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        messages = [
            message
            for turn, marked in zip(turns(request.messages), marked_blocks(request, self.api), strict=True)
            for message in self._messages(turn, marked, request.cache)
        ]
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.settings.max_output_tokens,
            "system": "\n\n".join(message.text for message in request.messages if message.role == "system"),
            "messages": messages,
        }
        if self.connection.dialect.structured == "json_schema":
            schema = _schema(canonical_json(request.schema))
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if request.settings.effort is not None:
            body.setdefault("output_config", {})["effort"] = request.settings.effort
        body |= without_unset(
            thinking=_thinking(request.settings.thinking),
            service_tier=_TIERS.get(self._tier(request.settings) or ""),
        )
        if self.asks_why(request):
            # The provider says why the prompt before was not read; without one, this prompt is remembered for the next.
            body["diagnostics"] = {"previous_message_id": self.earlier_reply_id(request)}
        if not body["system"]:
            del body["system"]
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        if tools:
            body["tools"] = tools
        elif used := _tools_used(messages):
            # The API requires the definitions of called tools in later turns too.
            body |= {"tools": used, "tool_choice": {"type": "none"}}
        if stream:
            body["stream"] = True
        return body

    def _messages(self, turn: ConversationTurn, marked: frozenset[int], caching: Caching) -> list[dict[str, Any]]:
        if turn.role == "system":
            return []
        document = self.stored_reply(turn.text) if turn.role == "assistant" else None
        if document is None and len(turn.blocks) > 1:
            mark = {"cache_control": {"type": "ephemeral", "ttl": caching}}
            blocks = [_block(block) | (mark if index in marked else {}) for index, block in enumerate(turn.blocks)]
            return [{"role": turn.role, "content": blocks}]
        if document is None:
            return [{"role": turn.role, "content": turn.text}] if turn.text.strip() else []
        blocks = without_unanswered(objects(document["content"]), _is_call, len(turn.results))
        blocks = [block for block in blocks if _may_be_sent(block)]
        results = [
            {"type": "tool_result", "tool_use_id": block.get("id"), "content": result}
            for block, result in zip(filter(_is_call, blocks), turn.results, strict=False)
        ]
        if all(block.get("type") in _THOUGHTS for block in blocks):
            return []
        return [{"role": "assistant", "content": blocks}, *([{"role": "user", "content": results}] if results else [])]

    def spelled_out(self, document: dict[str, Any]) -> dict[str, Any]:
        """The content may be a bare text, as it may in a request."""
        text = text_at(document, "content")
        return document if text is None else {**document, "content": [{"type": "text", "text": text}]}

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        document = self.spelled_out(document)
        blocks = objects(document.get("content"))
        text = "".join(text_at(block, "text") or "" for block in blocks if block.get("type") == "text")
        tools = tuple(_tool(block) for block in blocks if _is_call(block))
        finish = text_at(document, "stop_reason")
        outcome = outcome_of(finish, _OUTCOMES, _GOOD_ENDS, has_content=bool(text or tools))
        return ParsedReply(
            outcome,
            text,
            tools,
            model_version=text_at(document, "model"),
            finish_reason=finish,
            usage=with_cache_miss(_usage(object_at(document, "usage")), _cache_miss(document)),
            response_id=text_at(document, "id"),
        )

    def text_delta(self, event: dict[str, Any]) -> str:
        delta = object_at(event, "delta")
        return (text_at(delta, "text") or "") if delta.get("type") == "text_delta" else ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """One message from its events."""
        message: dict[str, Any] = {}
        blocks: dict[Any, dict[str, Any]] = {}
        inputs: dict[Any, str] = {}
        for event in events:
            index, delta = event.get("index"), object_at(event, "delta")
            match event.get("type"):
                case "message_start":
                    message |= object_at(event, "message")
                case "content_block_start":
                    blocks[index] = dict(object_at(event, "content_block"))
                case "content_block_delta" if delta.get("type") == "input_json_delta":
                    inputs[index] = inputs.get(index, "") + (text_at(delta, "partial_json") or "")
                case "content_block_delta":
                    _append(blocks.setdefault(index, {}), delta)
                case "message_delta":
                    message |= delta
                    message["usage"] = {**object_at(message, "usage"), **object_at(event, "usage")}
        for index, given in inputs.items():
            if index in blocks:
                blocks[index]["input"] = json_object(given.encode()) or {}
        return {**message, "content": list(blocks.values())} if text_at(message, "stop_reason") else None


def _thinking(thinking: str | int | None) -> dict[str, Any] | None:
    if thinking is None:
        return None
    if isinstance(thinking, int):
        return {"type": "enabled", "budget_tokens": thinking}
    return {"type": "disabled" if thinking == "off" else thinking}


def _block(block: str | ModelPicture) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    return {"type": "image", "source": {"type": "base64", "media_type": block.media_type, "data": block.base64}}


_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


def _may_be_sent(block: dict[str, Any]) -> bool:
    """Whether the API accepts its own block back: no empty texts, no thoughts truncated before their signature."""
    if block.get("type") == "text":
        return bool((text_at(block, "text") or "").strip())
    return block.get("type") != "thinking" or bool(block.get("signature"))


def _is_call(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use"


def _tool(block: dict[str, Any]) -> RequestedTool:
    return RequestedTool(text_at(block, "id") or "", text_at(block, "name") or "", as_json(block.get("input") or {}))


def _tools_used(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = dict.fromkeys(
        block.get("name") for message in messages for block in objects(message["content"]) if _is_call(block)
    )
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


def _usage(usage: dict[str, Any]) -> Usage:
    cached = count_at(usage, "cache_read_input_tokens")
    written = count_at(usage, "cache_creation_input_tokens")
    lifetimes = object_at(usage, "cache_creation")
    return Usage(
        input_tokens=total(count_at(usage, "input_tokens"), cached, written),
        output_tokens=count_at(usage, "output_tokens"),
        cached_input_tokens=cached,
        cache_writes=cache_writes(
            written,
            {
                "5m": count_at(lifetimes, "ephemeral_5m_input_tokens"),
                "1h": count_at(lifetimes, "ephemeral_1h_input_tokens"),
            },
            otherwise="5m",
        ),
        reasoning_tokens=count_at(object_at(usage, "output_tokens_details"), "thinking_tokens"),
        service_tier=label_at(usage, "service_tier"),
        region=label_at(usage, "inference_geo"),
        speed=label_at(usage, "speed"),
    )


def _cache_miss(document: dict[str, Any]) -> str | None:
    return label_at(object_at(document, "diagnostics", "cache_miss_reason"), "type")


def _append(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Merge a delta of a content block: strings are appended."""
    for key, value in delta.items():
        if isinstance(value, str) and key != "type":
            block[key] = (text_at(block, key) or "") + value


@lru_cache(maxsize=256)
def _schema(schema: bytes) -> dict[str, Any]:
    """The schema as this API accepts it: unsupported keywords (bounds of numbers) move into the descriptions."""
    return transform_schema(json_object(schema) or {})
