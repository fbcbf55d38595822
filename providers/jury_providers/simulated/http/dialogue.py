"""The messages of a request as they are gathered from a protocol's own form, each tool result with its call."""

from collections.abc import Sequence

from jury_providers.provider import ModelMessage, Picture
from jury_providers.simulated.http.fields import Unusable
from jury_providers.simulated.tool_use import call_id


class Dialogue:
    """Gathers messages in order; as the providers do, it refuses results without a call and calls without a result."""

    def __init__(self) -> None:
        self._messages: list[ModelMessage] = []
        self._open: dict[str, str] = {}

    def say(self, role: str, text: str, field: str, pictures: Sequence[Picture] = ()) -> None:
        """A text of the system, the user or the model, with the pictures that it came with."""
        if role == "user":
            self._all_answered(field)
        self._messages.append(ModelMessage(role, text, pictures=tuple(pictures)))

    def call(self, identity: str, tool: str) -> None:
        """A tool that the model asked for."""
        self._open[identity] = tool

    def result(self, identity: str, text: str, field: str) -> None:
        """What a tool gave back."""
        tool = self._open.pop(identity, None)
        if tool is None:
            raise Unusable(field, "a tool's result must follow the turn that called it, with the id of the call")
        self._messages.append(ModelMessage("tool", text, call_id(tool)))

    def result_of(self, tool: str, text: str, field: str) -> None:
        """The same where calls have no ids: the first open one of that tool."""
        identity = next((one for one, name in self._open.items() if name == tool), "")
        self.result(identity, text, field)

    def finish(self, field: str) -> tuple[ModelMessage, ...]:
        """All of it; a model is asked something."""
        self._all_answered(field)
        if not any(message.role in {"user", "tool"} for message in self._messages):
            raise Unusable(field, "at least one message of the user is required")
        return tuple(self._messages)

    def _all_answered(self, field: str) -> None:
        if self._open:
            raise Unusable(field, f"the call of the tool {next(iter(self._open.values()))} has no result")
