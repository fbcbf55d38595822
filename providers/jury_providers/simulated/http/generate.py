"""Google's generateContent and streamGenerateContent."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, ClassVar

from jury_providers.provider import OfferedTool
from jury_providers.simulated.http.fields import (
    JsonObject,
    name,
    optional_table,
    rows,
    table,
    text,
    whole,
)
from jury_providers.simulated.http.google_messages import google_messages
from jury_providers.simulated.http.protocol import (
    ParsedRequest,
    ProtocolHandler,
    SimulatedResponse,
    event,
    model_request,
)
from jury_providers.simulated.http.provider_errors import GoogleErrors, ProviderErrors


class Generate(ProtocolHandler):
    """`POST /v1/models/MODEL:generateContent`; model and `stream` come from the path."""

    kind = "generate"
    errors: ClassVar[ProviderErrors] = GoogleErrors()

    def read(self, body: JsonObject) -> ParsedRequest:
        """Parse a request, as documented by Google, in its camel case."""
        model = name(body.get("model"), "model")
        messages = google_messages(body)
        tools = [
            _tool(table(function, f"tools[{index}].functionDeclarations"), f"tools[{index}].functionDeclarations")
            for index, item in enumerate(rows(body.get("tools"), "tools"))
            for function in rows(table(item, f"tools[{index}]").get("functionDeclarations"), f"tools[{index}]")
        ]
        config = optional_table(body.get("generationConfig"), "generationConfig")
        schema = optional_table(
            config.get("responseJsonSchema", config.get("responseSchema")), "generationConfig.responseJsonSchema"
        )
        seed = whole(config.get("seed"), "generationConfig.seed")
        return ParsedRequest(
            model_request(model, messages, tools, schema, seed),
            body.get("serviceTier") or "standard",
            stream=body["stream"],
        )

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        if response.blocked:
            return _blocked(response)
        return _response(response, _parts(response), "MAX_TOKENS" if response.reply.cut else "STOP")

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """One response per chunk; the last one has the finish reason."""
        if response.blocked:
            yield event(_blocked(response))
            return
        parts = _parts(response)
        if not response.reply.tools:
            parts = [{"text": piece} for piece in response.reply.pieces()] or parts
        for part in parts[:-1]:
            yield event(_response(response, [part], None))
        yield event(_response(response, parts[-1:], "MAX_TOKENS" if response.reply.cut else "STOP"))


def _tool(function: JsonObject, field: str) -> OfferedTool:
    parameters = function.get("parametersJsonSchema", function.get("parameters"))
    return OfferedTool(
        name(function.get("name"), f"{field}.name"),
        text(function.get("description") or "", f"{field}.description"),
        optional_table(parameters, f"{field}.parameters"),
    )


def _parts(response: SimulatedResponse) -> list[JsonObject]:
    """Calls have a signature, which clients must send back unchanged."""
    if not response.reply.tools:
        return [{"text": response.reply.text}]
    return [
        {
            "functionCall": {"name": tool.name, "args": json.loads(tool.arguments)},
            "thoughtSignature": blake2b(
                tool.arguments.encode(), key=response.identity.encode(), digest_size=24
            ).hexdigest(),
        }
        for tool in response.reply.tools
    ]


def _blocked(response: SimulatedResponse) -> JsonObject:
    """Variant 1: the prompt is blocked; variant 0: the answer is."""
    if response.variant:
        return _tail(response) | {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []}}
    candidate = {"finishReason": "SAFETY", "index": 0, "safetyRatings": []}
    return {"candidates": [candidate]} | _tail(response)


def _response(response: SimulatedResponse, parts: list[JsonObject], finish: str | None) -> JsonObject:
    candidate: JsonObject = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]} | _tail(response)


def _tail(response: SimulatedResponse) -> dict[str, Any]:
    sent, generated = response.reply.usage.input_tokens or 0, response.reply.usage.output_tokens or 0
    return {
        "usageMetadata": {
            "promptTokenCount": sent,
            "candidatesTokenCount": generated,
            "totalTokenCount": sent + generated,
            "cachedContentTokenCount": response.cache.read,
            "serviceTier": response.tier,
            "thoughtsTokenCount": 0,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": sent}],
        },
        "modelVersion": response.model,
        "responseId": response.identity,
    }
