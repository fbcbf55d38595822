"""The tool use of promptfoo's agent providers: `metadata.toolCalls`, a call with its output in each entry.

Source: promptfoo's providers of the Claude agent SDK (entries name the call that a sub-agent's call belongs to), of
OpenAI and Anthropic with MCP, and of OpenAI's agents (entries without output).
"""

from typing import Any

from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, is_blank, text_or_none
from jury_events.transcript import ToolCall

_ARGUMENTS = ("input", "arguments", "args", "parameters")
_PARENT = "parentToolUseId"
_KNOWN = frozenset(
    {*_ARGUMENTS, _PARENT, "id", "name", "type", "function", "output", "is_error", "status", "turnId", "index"}
)


def add_tool_uses(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Add calls and their results; those of a sub-agent stand between the call that started it and its result.

    A value of another form is reported as not shown.
    """
    if is_blank(value):
        return
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        builder.not_shown("field toolCalls", "environment", place, value)
        return
    by_id: dict[str, dict[str, Any]] = {}
    for one in value:
        by_id.setdefault(as_text(one.get("id")), one)
    below: dict[str, list[int]] = {}
    for index, one in enumerate(value):
        below.setdefault(_parent(one, by_id), []).append(index)
    waiting = [(index, False) for index in [*below.pop("", []), *range(len(value))]][::-1]
    begun: set[int] = set()
    while waiting:
        index, is_end = waiting.pop()
        one = value[index]
        if is_end:
            _result(one, builder, f"{place}.{index}")
        elif index not in begun:
            begun.add(index)
            _call(one, _sub_agent(one, by_id), builder, f"{place}.{index}")
            waiting.append((index, True))
            waiting += [(child, False) for child in below.pop(as_text(one.get("id")), [])][::-1]


def tool_ids(value: Any) -> set[str | None]:
    """The ids of the calls."""
    return {text_or_none(as_object(one).get("id")) for one in value} if isinstance(value, list) else set()


def output_of_tools(value: Any) -> str | None:
    """What promptfoo writes as output if all that a model did was to call MCP tools: it is not the model's text."""
    lines = [as_object(one) for one in value] if isinstance(value, list) else []
    if not lines or not all("name" in one and isinstance(one.get("output"), str) for one in lines):
        return None
    kinds = {True: "Error", False: "Result"}
    return "\n".join(f"MCP Tool {kinds[_failed(one)]} ({as_text(one['name'])}): {one['output']}" for one in lines)


def _parent(one: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> str:
    """The id of the call that it belongs to; "" if there is none of that id, or it is its own."""
    parent = as_text(one.get(_PARENT))
    return parent if parent in by_id and by_id[parent] is not one else ""


def _sub_agent(one: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> str | None:
    """The kind of the sub-agent that made a call, by the call that started it; None: the agent itself, or unknown."""
    parent = by_id.get(_parent(one, by_id), {})
    return text_or_none(as_object(parent.get("input")).get("subagent_type"))


def _call(one: dict[str, Any], speaker: str | None, builder: TranscriptBuilder, place: str) -> None:
    inner = as_object(one.get("function")) or one
    given = next((inner[name] for name in _ARGUMENTS if inner.get(name) is not None), None)
    builder.add(
        ToolCall,
        place,
        speaker=speaker,
        call_id=text_or_none(one.get("id")),
        name=_name(one),
        arguments=as_text(given),
    )
    builder.unread(one, _KNOWN, "environment", place)


def _result(one: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    if one.get("output") is None and not _failed(one):
        return
    speaker = Speaker(None, "tool", call_id=text_or_none(one.get("id")), tool=_name(one), error=_failed(one))
    BlockReader(speaker, builder).read(one.get("output"), f"{place}.output")


def _name(one: dict[str, Any]) -> str:
    names = (one.get("name"), as_object(one.get("function")).get("name"), one.get("type"))
    return next((name for name in names if isinstance(name, str) and name.strip()), "unnamed")


def _failed(one: dict[str, Any]) -> bool:
    return one.get("is_error") is True
