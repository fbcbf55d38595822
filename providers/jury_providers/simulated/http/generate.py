"""Google's generateContent and streamGenerateContent."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, ClassVar

from jury_providers.provider import Picture, ToolDefinition
from jury_providers.simulated.http.dialogue import Dialogue
from jury_providers.simulated.http.faults import Google, House
from jury_providers.simulated.http.fields import Table, Unusable, name, optional_table, rows, table, text, whole
from jury_providers.simulated.http.pictures import of_inline_data
from jury_providers.simulated.http.protocol import Asked, Protocol, Said, encoded, event, model_request

_ROLES = {"user": "user", "function": "user", "model": "assistant"}


class Generate(Protocol):
    """`POST /v1/models/MODEL:generateContent`; model and `stream` come from the path."""

    kind = "generate"
    house: ClassVar[House] = Google()

    def read(self, body: Table) -> Asked:
        """As documented by Google, in its camel case."""
        model = name(body.get("model"), "model")
        dialogue = Dialogue()
        if body.get("systemInstruction") is not None:
            system = table(body["systemInstruction"], "systemInstruction")
            parts = rows(system.get("parts"), "systemInstruction.parts")
            told = [
                text(table(part, "systemInstruction.parts").get("text"), "systemInstruction.parts") for part in parts
            ]
            dialogue.say("system", "".join(told), "systemInstruction")
        for index, one in enumerate(rows(body.get("contents"), "contents")):
            _hear(dialogue, table(one, f"contents[{index}]"), f"contents[{index}]")
        messages = dialogue.finish("contents")
        tools = [
            _tool(table(function, f"tools[{index}].functionDeclarations"), f"tools[{index}].functionDeclarations")
            for index, one in enumerate(rows(body.get("tools"), "tools"))
            for function in rows(table(one, f"tools[{index}]").get("functionDeclarations"), f"tools[{index}]")
        ]
        config = optional_table(body.get("generationConfig"), "generationConfig")
        schema = optional_table(
            config.get("responseJsonSchema", config.get("responseSchema")), "generationConfig.responseJsonSchema"
        )
        seed = whole(config.get("seed"), "generationConfig.seed")
        return Asked(model_request(model, messages, tools, schema, seed), stream=body["stream"])

    def whole(self, said: Said) -> Table:
        """A GenerateContentResponse."""
        if said.blocked:
            return _blocked(said)
        return _response(said, _parts(said), "MAX_TOKENS" if said.speech.cut else "STOP")

    def events(self, said: Said) -> Iterator[bytes]:
        """Responses of a piece each; the last one says why it ended."""
        if said.blocked:
            yield event(_blocked(said))
            return
        parts = _parts(said)
        if not said.speech.tools:
            parts = [{"text": piece} for piece in said.speech.pieces()] or parts
        for part in parts[:-1]:
            yield event(_response(said, [part], None))
        yield event(_response(said, parts[-1:], "MAX_TOKENS" if said.speech.cut else "STOP"))


def _hear(dialogue: Dialogue, content: Table, field: str) -> None:
    role = _ROLES.get(text(content.get("role") or "user", f"{field}.role"))
    if role is None:
        raise Unusable(f"{field}.role", "Please use a valid role: user, model.")
    said: list[str] = []
    pictures: list[Picture] = []
    for index, one in enumerate(rows(content.get("parts"), f"{field}.parts")):
        place = f"{field}.parts[{index}]"
        part = table(one, place)
        if "functionCall" in part and role == "assistant":
            call = table(part["functionCall"], f"{place}.functionCall")
            tool = name(call.get("name"), f"{place}.functionCall.name")
            dialogue.call(_identity(call) or f"{place}", tool)
        elif "functionResponse" in part and role == "user":
            place += ".functionResponse"
            result = table(part["functionResponse"], place)
            told = _told(table(result.get("response"), f"{place}.response"))
            if identity := _identity(result):
                dialogue.result(identity, told, place)
            else:
                dialogue.result_of(name(result.get("name"), f"{place}.name"), told, place)
        elif "text" in part:
            said.append(text(part["text"], f"{place}.text"))
        elif "inlineData" in part and role == "user":
            pictures.append(of_inline_data(part["inlineData"], f"{place}.inline_data"))
        else:
            raise Unusable(place, "expected text, inlineData, functionCall or functionResponse, each where it belongs")
    if said or pictures:
        dialogue.say(role, "".join(said), field, pictures)


def _identity(call: Table) -> str:
    """Of a call or its response; older models have none."""
    return text(call.get("id") or "", "id")


def _told(response: Table) -> str:
    """A function's response is an object; a text stands in it alone, under whatever name."""
    values = list(response.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return encoded(response).decode()


def _tool(function: Table, field: str) -> ToolDefinition:
    parameters = function.get("parametersJsonSchema", function.get("parameters"))
    return ToolDefinition(
        name(function.get("name"), f"{field}.name"),
        text(function.get("description") or "", f"{field}.description"),
        optional_table(parameters, f"{field}.parameters"),
    )


def _parts(said: Said) -> list[Table]:
    """With the signature that belongs to a call: clients must send it back as it is."""
    if not said.speech.tools:
        return [{"text": said.speech.text}]
    return [
        {
            "functionCall": {"name": tool.name, "args": json.loads(tool.arguments)},
            "thoughtSignature": blake2b(
                tool.arguments.encode(), key=said.identity.encode(), digest_size=24
            ).hexdigest(),
        }
        for tool in said.speech.tools
    ]


def _blocked(said: Said) -> Table:
    """The prompt is refused, or the answer withheld."""
    if said.variant:
        return _tail(said) | {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []}}
    candidate = {"finishReason": "SAFETY", "index": 0, "safetyRatings": []}
    return {"candidates": [candidate]} | _tail(said)


def _response(said: Said, parts: list[Table], finish: str | None) -> Table:
    candidate: Table = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]} | _tail(said)


def _tail(said: Said) -> dict[str, Any]:
    sent, given = said.speech.usage.input_tokens or 0, said.speech.usage.output_tokens or 0
    return {
        "usageMetadata": {
            "promptTokenCount": sent,
            "candidatesTokenCount": given,
            "totalTokenCount": sent + given,
            "cachedContentTokenCount": 0,
            "thoughtsTokenCount": 0,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": sent}],
        },
        "modelVersion": said.model,
        "responseId": said.identity,
    }
