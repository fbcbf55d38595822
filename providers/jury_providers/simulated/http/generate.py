"""Google's generateContent and streamGenerateContent."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, ClassVar

from jury_providers.provider import ModelMessage, ModelPicture, OfferedTool
from jury_providers.simulated.http.fields import (
    ConversationBuilder,
    InvalidRequest,
    JsonObject,
    encoded,
    name,
    of_inline_data,
    optional_table,
    rows,
    table,
    text,
    whole,
)
from jury_providers.simulated.http.protocol import (
    GoogleErrors,
    ParsedRequest,
    ProtocolHandler,
    ProviderErrors,
    SimulatedResponse,
    event,
    model_request,
)

_ROLES = {"user": "user", "function": "user", "model": "assistant"}


def google_messages(body: JsonObject) -> tuple[ModelMessage, ...]:
    """The messages of a request, or of what a cache is to keep."""
    conversation = ConversationBuilder()
    if body.get("systemInstruction") is not None:
        system = table(body["systemInstruction"], "systemInstruction")
        parts = rows(system.get("parts"), "systemInstruction.parts")
        texts = [text(table(part, "systemInstruction.parts").get("text"), "systemInstruction.parts") for part in parts]
        conversation.add_text("system", "".join(texts), "systemInstruction")
    for index, item in enumerate(rows(body.get("contents"), "contents")):
        _add_message(conversation, table(item, f"contents[{index}]"), f"contents[{index}]")
    return conversation.messages("contents")


def _add_message(conversation: ConversationBuilder, content: JsonObject, field: str) -> None:
    role = _ROLES.get(text(content.get("role") or "user", f"{field}.role"))
    if role is None:
        raise InvalidRequest(f"{field}.role", "Please use a valid role: user, model.")
    text_parts: list[str] = []
    pictures: list[ModelPicture] = []
    for index, item in enumerate(rows(content.get("parts"), f"{field}.parts")):
        path = f"{field}.parts[{index}]"
        part = table(item, path)
        if "functionCall" in part and role == "assistant":
            call = table(part["functionCall"], f"{path}.functionCall")
            tool = name(call.get("name"), f"{path}.functionCall.name")
            conversation.add_call(_identity(call) or f"{path}", tool)
        elif "functionResponse" in part and role == "user":
            path += ".functionResponse"
            result = table(part["functionResponse"], path)
            output = _output_text(table(result.get("response"), f"{path}.response"))
            if identity := _identity(result):
                conversation.add_result(identity, output, path)
            else:
                conversation.add_result_of(name(result.get("name"), f"{path}.name"), output, path)
        elif "text" in part:
            text_parts.append(text(part["text"], f"{path}.text"))
        elif "inlineData" in part and role == "user":
            pictures.append(of_inline_data(part["inlineData"], f"{path}.inline_data"))
        else:
            raise InvalidRequest(
                path, "expected text, inlineData, functionCall or functionResponse, each where it belongs"
            )
    if text_parts or pictures:
        conversation.add_text(role, "".join(text_parts), field, pictures)


def _identity(call: JsonObject) -> str:
    """The id of a call or its response; older models send none."""
    return text(call.get("id") or "", "id")


def _output_text(response: JsonObject) -> str:
    """A function's response as text: the value of an object with one string, else its JSON."""
    values = list(response.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return encoded(response).decode()


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
