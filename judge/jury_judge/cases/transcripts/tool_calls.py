"""Tool calls as transcripts write them: OpenAI's, Anthropic's, LangChain's, AgentDojo's and Inspect's forms."""

from typing import Any

from jury_events.transcript import ToolCall
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_text, json_kind, text_or_none
from jury_judge.errors import CaseFileError

_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId")
_KNOWN = frozenset(
    {"function", "custom", "type", "index", "view", "internal", "placeholder_args", *_NAMES, *_ARGUMENTS, *_IDS}
)
"""`placeholder_args` are AgentDojo's arguments before they were filled in; `view` is how Inspect displays a call."""


def add_calls(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """A list of calls; null is none.

    Raises:
        CaseFileError: it is no list, or one of them names no tool.
    """
    if value is None:
        return
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of tool calls, not {json_kind(value)}")
    for index, item in enumerate(value):
        add_call(item, builder, f"{place}.{index}")


def add_call(item: Any, builder: TranscriptBuilder, place: str) -> None:
    """`{id, function: {name, arguments}}`, `{name, arguments}`, `{function: name, args}`, `{custom: {name, input}}`.

    Raises:
        CaseFileError: it names no tool.
    """
    inner = item.get("function") or item.get("custom") or item if isinstance(item, dict) else None
    if isinstance(inner, str):
        inner = {**item, "name": inner}
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None) if inner else None
    if not isinstance(inner, dict) or name is None:
        raise CaseFileError(f"{place}: must be a tool call with a name and arguments")
    builder.add(
        ToolCall,
        place,
        call_id=next((found for key in _IDS if (found := text_or_none(item.get(key))) is not None), None),
        name=name,
        arguments=as_text(next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)),
    )
    builder.unread(item, _KNOWN, "model", place)
    if inner is not item:
        builder.unread(inner, _KNOWN, "model", place)
