"""Checked access to the fields, messages and pictures of a client's request; errors name the field."""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from jury_providers.errors import ProviderError
from jury_providers.provider import ModelMessage, ModelPicture

JsonObject = dict[str, Any]


class InvalidRequest(ProviderError):
    """A request that the protocol refuses; the message begins with the field's path. `status` is HTTP's."""

    status: ClassVar[int] = 400

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)

    @classmethod
    def verbatim(cls, message: str) -> Self:
        """With the provider's exact message, without a field's path."""
        return cls("", message)


def table(value: object, field: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidRequest(field, f"expected an object, got {_kind(value)}")
    return value


def optional_table(value: object, field: str) -> JsonObject:
    """An object; null is {}."""
    return {} if value is None else table(value, field)


def rows(value: object, field: str) -> list[Any]:
    """An array; null is []."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidRequest(field, f"expected an array, got {_kind(value)}")
    return value


def text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(field, f"expected a string, got {_kind(value)}")
    return value


def name(value: object, field: str) -> str:
    """A non-empty string."""
    found = text(value, field)
    if not found:
        raise InvalidRequest(field, "must not be empty")
    return found


def flag(value: object, field: str) -> bool:
    """A boolean; null is false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidRequest(field, f"expected a boolean, got {_kind(value)}")
    return value


def whole(value: object, field: str) -> int | None:
    """An integer or null."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidRequest(field, f"expected an integer, got {_kind(value)}")
    return value


def texts(value: object, field: str, *kinds: str) -> str:
    """A string, or an array of blocks `{"type": KIND, "text": …}` of these kinds, joined; null is ""."""
    if value is None or isinstance(value, str):
        return value or ""
    found = []
    for index, block in enumerate(rows(value, field)):
        path = f"{field}[{index}]"
        kind = table(block, path).get("type")
        if kind not in kinds:
            raise InvalidRequest(f"{path}.type", f"expected one of {', '.join(kinds)}")
        found.append(text(block.get("text"), f"{path}.text"))
    return "".join(found)


def encoded(value: Any) -> bytes:
    """Compact JSON, as the providers send it. A lone surrogate (of a malformed request) becomes `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _kind(value: object) -> str:
    kinds = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return kinds.get(type(value), "null")


_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")


def of_data_url(url: object, field: str) -> ModelPicture:
    """A picture as OpenAI's APIs accept it: a data URL."""
    given = text(url, field)
    found = _DATA_URL.match(given)
    if found is None:
        raise InvalidRequest(field, "expected a data URL in base64")
    return _picture(found[1], given[found.end() :], field)


def of_source(block: JsonObject, field: str) -> ModelPicture:
    """A picture as Anthropic's API accepts it: a block with a source in base64."""
    source = table(block.get("source"), f"{field}.source")
    if source.get("type") != "base64":
        raise InvalidRequest(f"{field}.source.type", "expected base64")
    return _picture(text(source.get("media_type"), f"{field}.source.media_type"), source.get("data"), f"{field}.source")


def of_inline_data(value: object, field: str) -> ModelPicture:
    """A picture as Google's API accepts it: inline data."""
    inline = table(value, field)
    return _picture(text(inline.get("mimeType"), f"{field}.mimeType"), inline.get("data"), field)


def _picture(media_type: str, data: object, field: str) -> ModelPicture:
    try:
        content = b64decode(text(data, f"{field}.data"), validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if not content or not media_type.startswith("image/"):
        raise InvalidRequest(field, f"expected a picture in base64, got {media_type}")
    return ModelPicture(media_type, content)


class ConversationBuilder:
    """Collects messages in order. As the providers do, it refuses results without a call and calls without a result."""

    def __init__(self) -> None:
        self._messages: list[ModelMessage] = []
        self._open_calls: dict[str, str] = {}

    def add_text(self, role: str, text: str, field: str, pictures: Sequence[ModelPicture] = ()) -> None:
        """Add a text of the system, the user or the model, with its pictures."""
        if role == "user":
            self._check_all_answered(field)
        self._messages.append(ModelMessage(role, text, pictures=tuple(pictures)))

    def add_call(self, identity: str, tool: str) -> None:
        self._open_calls[identity] = tool

    def add_result(self, identity: str, text: str, field: str) -> None:
        """Add a tool's result by the id of its call."""
        tool = self._open_calls.pop(identity, None)
        if tool is None:
            raise InvalidRequest(field, "a tool's result must follow the turn that called it, with the id of the call")
        self._messages.append(ModelMessage("tool", text, identity))

    def add_result_of(self, tool: str, text: str, field: str) -> None:
        """Add a result for the first open call of a tool, where calls have no ids."""
        identity = next((identity for identity, name in self._open_calls.items() if name == tool), "")
        self.add_result(identity, text, field)

    def messages(self, field: str) -> tuple[ModelMessage, ...]:
        self._check_all_answered(field)
        if not any(message.role in {"user", "tool"} for message in self._messages):
            raise InvalidRequest(field, "at least one message of the user is required")
        return tuple(self._messages)

    def _check_all_answered(self, field: str) -> None:
        if self._open_calls:
            raise InvalidRequest(field, f"the call of the tool {next(iter(self._open_calls.values()))} has no result")
