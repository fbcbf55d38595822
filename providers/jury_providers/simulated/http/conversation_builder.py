"""Builds the messages of a request in any protocol, each tool result with its call."""

from collections.abc import Sequence

from jury_providers.provider import ModelMessage, ModelPicture
from jury_providers.simulated.http.fields import InvalidRequest


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
