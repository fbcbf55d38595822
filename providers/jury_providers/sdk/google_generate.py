"""Google's generateContent API.

Source: the API reference, and the types of the SDK `google-genai`.
"""

import os
from math import ceil
from typing import Any, ClassVar

import httpx2
from google import genai
from google.genai import types

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.catalogue import ModelLengths
from jury_providers.endpoints import ApiProtocol
from jury_providers.provider import ModelPicture, ModelRequest, RequestedTool, ServedModel
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.conversation import ConversationTurn, turns, without_unanswered
from jury_providers.sdk.http_client import SharedHttpClient
from jury_providers.sdk.json_fields import as_json, count_at, label_at, object_at, objects, text_at, without_unset
from jury_providers.sdk.replies import ParsedReply, outcome_of, owed_output, total

_BLOCKS = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "MODEL_ARMOR",
)
_OUTCOMES = {
    **dict.fromkeys(_BLOCKS, CallOutcome.BLOCKED),
    "MAX_TOKENS": CallOutcome.TRUNCATED,
    # Another (paid) call could continue the answer; it counts as truncated.
    "CONTINUATION": CallOutcome.TRUNCATED,
    "MALFORMED_FUNCTION_CALL": CallOutcome.MALFORMED_RESPONSE,
    "MALFORMED_RESPONSE": CallOutcome.MALFORMED_RESPONSE,
}
_GOOD_ENDS = frozenset({"STOP"})


class GoogleGenerate(SdkAdapter):
    """`POST {version}/models/{model}:generateContent`."""

    sdk_logger = "google_genai"
    api: ClassVar[ApiProtocol] = "google"
    reply_key = "candidates"
    prompt_keys = frozenset({"contents", "systemInstruction"})
    marks_blocks = False

    def open(self, client: SharedHttpClient) -> None:
        """Create the SDK's client."""
        self._sdk = self.sdk_client(client)

    def sdk_client(self, client: httpx2.AsyncClient) -> genai.Client:
        """The SDK's client on top of `client`, without retries and without automatic function calls."""
        options = types.HttpOptions(
            base_url=self.connection.base_url,
            api_version=self.connection.api_version or self._api_version,
            headers=dict(self.connection.extra_headers),
            httpx_async_client=client,
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self.connection.cloud is not None:
            # With a base URL the client reads neither project nor location in the environment.
            project, location = map(os.environ.get, ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"))
            return genai.Client(enterprise=True, project=project, location=location, http_options=options)
        return genai.Client(api_key=self.key, enterprise=False, http_options=options)

    @property
    def _api_version(self) -> str | None:
        """The SDK's own: another host gets none that the environment names; None: as the SDK decides."""
        connection = self.connection
        foreign = connection.cloud is None and not self.leads_home
        return "v1" if foreign and not connection.sdk_headers else None

    async def close(self) -> None:
        """Release connections."""
        if self._ready:
            self._sdk.close()
        await super().close()

    async def served_model(self, model: str) -> ServedModel:
        """As `GET models/{model}` says, which names no end; the cloud's own API names no lengths."""
        if self.connection.cloud is not None:
            return ServedModel()
        said = await self.document_at(lambda: self._sdk.aio.models.get(model=model))
        answer = count_at(said, "outputTokenLimit") or None
        return ServedModel(lengths=ModelLengths(count_at(said, "inputTokenLimit") or None, answer))

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:
        """Send the body unchanged through `extra_body`.

        The SDK's types refuse unknown fields, which a model's earlier turn may contain. The body replaces `contents`,
        which the SDK requires.
        """
        config = types.GenerateContentConfig(
            http_options=types.HttpOptions(extra_body=body, timeout=ceil(request.settings.attempt_seconds * 1000)),
            automatic_continuation=False,
            automatic_function_calling=_NO_CALLING,
            should_return_http_response=None if stream else True,
        )
        models = self._sdk.aio.models
        if not stream:
            await models.generate_content(model=request.model, contents=_REPLACED, config=config)
            return
        async for _ in await models.generate_content_stream(model=request.model, contents=_REPLACED, config=config):
            pass

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:  # noqa: ARG002  (the path decides)
        """The JSON of a call.

        Models before Gemini 3 refuse a schema together with tools: it is sent only without tools.
        """
        settings = request.settings
        thinking = without_unset(
            thinkingLevel=None if settings.effort is None else settings.effort.upper(),
            thinkingBudget={"off": 0, "adaptive": -1}.get(str(settings.thinking), settings.thinking),
        )
        generation = without_unset(
            maxOutputTokens=settings.max_output_tokens,
            temperature=settings.temperature,
            topP=settings.top_p,
            seed=settings.seed,
            thinkingConfig=thinking or None,
        )
        body: dict[str, Any] = {
            "contents": [content for turn in turns(request.messages) for content in self._contents(turn)],
            "generationConfig": generation,
        }
        if settings.tier is not None:
            body["serviceTier"] = settings.tier
        system = [{"text": message.text} for message in request.messages if message.role == "system"]
        if system:
            body["systemInstruction"] = {"parts": system}
        if request.tools:
            declarations = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declarations}]
        else:
            generation |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
        return body

    def _contents(self, turn: ConversationTurn) -> list[dict[str, Any]]:
        if turn.role == "system":
            return []
        document = self.stored_reply(turn.text) if turn.role == "assistant" else None
        if document is None:
            parts = [{"text": block} if isinstance(block, str) else _inline(block) for block in turn.blocks]
            return [{"role": "model" if turn.role == "assistant" else "user", "parts": parts}]
        content = object_at(_candidate(document), "content")
        parts = without_unanswered(objects(content.get("parts")), _is_call, len(turn.results))
        if all(part.get("thought") is True for part in parts):
            return []
        calls = [object_at(part, "functionCall") for part in parts if _is_call(part)]
        results = [
            {"functionResponse": {**_named(call), "response": {"output": result}}}
            for call, result in zip(calls, turn.results, strict=False)
        ]
        message = {"role": "model", **content, "parts": parts}
        return [message, *([{"role": "user", "parts": results}] if results else [])]

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        candidate = _candidate(document)
        parts = objects(object_at(candidate, "content").get("parts"))
        text = "".join(text_at(part, "text") or "" for part in parts if part.get("thought") is not True)
        calls = [object_at(part, "functionCall") for part in parts if _is_call(part)]
        tools = tuple(_tool(call, number) for number, call in enumerate(calls, 1))
        finish = text_at(candidate, "finishReason")
        outcome = outcome_of(finish, _OUTCOMES, _GOOD_ENDS, has_content=bool(text or tools))
        feedback = object_at(document, "promptFeedback")
        block = None if candidate else text_at(feedback, "blockReason")
        if block is not None:
            outcome, finish = CallOutcome.BLOCKED, block
        message = text_at(candidate, "finishMessage") or text_at(feedback, "blockReasonMessage")
        return ParsedReply(
            outcome,
            text,
            tools,
            model_version=text_at(document, "modelVersion"),
            finish_reason=finish,
            usage=_usage(object_at(document, "usageMetadata")),
            response_id=text_at(document, "responseId"),
            error=f"{finish}: {message}" if message else None,
        )

    def text_delta(self, event: dict[str, Any]) -> str:
        parts = objects(object_at(_candidate(event), "content").get("parts"))
        return "".join(text_at(part, "text") or "" for part in parts if part.get("thought") is not True)

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """One response from its chunks: parts concatenated, the last value of every other field."""
        document: dict[str, Any] = {}
        candidate: dict[str, Any] = {}
        content: dict[str, Any] = {}
        parts: list[dict[str, Any]] = []
        begun = [one.get("index") or 0 for event in events for one in objects(event.get("candidates"))]
        first = min((index for index in begun if type(index) is int), default=0)
        for event in events:
            document |= event
            streamed = _candidate(event, first, alone=False)
            candidate |= streamed
            piece = object_at(streamed, "content")
            content |= piece
            for part in objects(piece.get("parts")):
                _append(parts, part)
        if not text_at(candidate, "finishReason"):
            return document if object_at(document, "promptFeedback").get("blockReason") else None
        return document | {"candidates": [candidate | {"content": content | {"parts": parts}}]}


_NO_CALLING = types.AutomaticFunctionCallingConfig(disable=True)
_REPLACED = "contents"


def _inline(picture: ModelPicture) -> dict[str, Any]:
    return {"inlineData": {"mimeType": picture.media_type, "data": picture.base64}}


def _candidate(document: dict[str, Any], first: int = 0, *, alone: bool = True) -> dict[str, Any]:
    """The candidate that was asked for: that of the index `first`, where none is 0; with `alone` else any."""
    candidates = objects(document.get("candidates"))
    found = next((one for one in candidates if (one.get("index") or 0) == first), None)
    return found or (candidates[0] if alone and candidates else {})


def _append(parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Append a part; plain texts are merged, parts with other fields (thoughts, signatures, calls) stay separate."""
    if parts and parts[-1].keys() == part.keys() == {"text"}:
        parts[-1] = {"text": f"{parts[-1]['text']}{part['text']}"}
    else:
        parts.append(part)


def _is_call(part: dict[str, Any]) -> bool:
    return isinstance(part.get("functionCall"), dict)


def _tool(call: dict[str, Any], number: int) -> RequestedTool:
    """A tool call; older models send no ids, so its id is made of its name and its position in the turn."""
    name = text_at(call, "name") or ""
    return RequestedTool(text_at(call, "id") or f"{name}#{number}", name, as_json(call.get("args") or {}))


def _named(call: dict[str, Any]) -> dict[str, Any]:
    return {key: call[key] for key in ("id", "name") if key in call}


def _usage(usage: dict[str, Any]) -> Usage:
    thoughts = count_at(usage, "thoughtsTokenCount")
    sent = total(count_at(usage, "promptTokenCount"), count_at(usage, "toolUsePromptTokenCount"))
    written = total(count_at(usage, "candidatesTokenCount"), thoughts)
    return Usage(
        input_tokens=sent,
        output_tokens=owed_output(sent, written, None, count_at(usage, "totalTokenCount")),
        cached_input_tokens=count_at(usage, "cachedContentTokenCount"),
        reasoning_tokens=thoughts,
        service_tier=label_at(usage, "serviceTier"),
    )
