"""The messages of Google's requests: their system instruction and contents."""

from jury_providers.provider import ModelMessage, ModelPicture
from jury_providers.simulated.http.conversation_builder import ConversationBuilder
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded, name, rows, table, text
from jury_providers.simulated.http.pictures import of_inline_data

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
