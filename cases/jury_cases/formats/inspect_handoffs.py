"""Agents of an Inspect sample that another agent handed the conversation over to.

A handoff is a call of `transfer_to_NAME`. The messages of that agent follow in the same list, changed for the first
one: its texts begin with `[NAME] `, its calls are written as text, and its tools' results have the user's role. At the
end is a sentence of the loop.

Source: inspect_ai, `handoff` and `content_only`.
"""

from typing import Any

from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_events.transcript import Event

_CALL = "transfer_to_"


class Handoffs:
    """Reads the messages of a sample one by one, as far as they are of a handoff."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._agents: list[str] = []

    def read(self, message: Any, place: str) -> bool:
        """Read a message; False: it is read as any other."""
        if not isinstance(message, dict):
            return False
        role = message.get("role")
        tool = message.get("function")
        if role == "tool" and isinstance(tool, str) and tool.startswith(_CALL) and not message.get("error"):
            read_message(message, self._builder, place)
            self._agents.append(tool.removeprefix(_CALL))
            self._builder.handover("main agent", self._agents[-1], place)
            return True
        if not self._agents:
            return False
        if role == "user" and message.get("source") is None:
            self._of_the_loop(message, place)
            return True
        if role == "assistant" and (named := _without_prefix(message, self._agents[-1])) is not None:
            read_message(named, self._builder, place)
            return True
        return False

    def _of_the_loop(self, message: dict[str, Any], place: str) -> None:
        agent = self._agents[-1]
        if message.get("content") == f"The {agent} agent has completed its work.":
            self._agents.pop()
            self._builder.add(Event, place, origin="environment", name="end of the handover", text=message["content"])
        else:
            speaker = Speaker(None, "tool")
            BlockReader(speaker, self._builder).read(message.get("content"), f"{place}.content")


def _without_prefix(message: dict[str, Any], agent: str) -> dict[str, Any] | None:
    """The message with the agent as its name; None: it is of another."""
    content = message.get("content")
    mark = f"[{agent}] "
    if isinstance(content, str) and content.startswith(mark):
        return {**message, "content": content.removeprefix(mark), "name": agent}
    if isinstance(content, list) and any(_text(one).startswith(mark) for one in content):
        blocks = [
            {**one, "text": one["text"].removeprefix(mark)} if _text(one).startswith(mark) else one for one in content
        ]
        return {**message, "content": blocks, "name": agent}
    return None


def _text(block: Any) -> str:
    found = block.get("text") if isinstance(block, dict) else None
    return found if isinstance(found, str) else ""
