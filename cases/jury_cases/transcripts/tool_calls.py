"""Reads tool calls in the formats of OpenAI, Anthropic, LangChain, AgentDojo and Inspect."""

from collections.abc import Collection
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, is_blank, json_kind, text_or_none
from jury_events.transcript import Origin, ToolCall

_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId")
_KNOWN = frozenset(
    {
        "function",
        "custom",
        "type",
        "index",
        "view",
        "internal",
        "placeholder_args",
        "requestor",
        *_NAMES,
        *_ARGUMENTS,
        *_IDS,
    }
)
"""`placeholder_args`: AgentDojo's arguments before substitution. `view`: Inspect's display of a call. `requestor`: a
call's author in τ²-bench."""


def add_calls(
    value: Any,
    builder: TranscriptBuilder,
    place: str,
    origin: Origin = "model",
    *,
    known: Collection[str] = (),
) -> None:
    """Add a list of calls; null is [], calls with `known` ids are skipped.

    Raises:
        CaseFileError: it is not a list, or a call names no tool.
    """
    if value is None:
        return
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of tool calls, not {json_kind(value)}")
    for index, item in enumerate(value):
        if is_blank(item) or (isinstance(item, dict) and call_id_of(item) in known):
            continue
        add_call(item, builder, f"{place}.{index}", origin)


def call_id_of(item: dict[str, Any]) -> str | None:
    """The id of a call; None if missing."""
    return next((found for key in _IDS if (found := text_or_none(item.get(key))) is not None), None)


def add_call(item: Any, builder: TranscriptBuilder, place: str, origin: Origin = "model") -> None:
    """Add a call.

    Formats: `{id, function: {name, arguments}}`, `{name, arguments}`, `{function: name, args}`,
    `{custom: {name, input}}`.

    Raises:
        CaseFileError: it names no tool.
    """
    inner = item.get("function") or item.get("custom") or item if isinstance(item, dict) else None
    if isinstance(inner, str):
        inner = {**item, "name": inner}
    if not isinstance(inner, dict):
        raise CaseFileError(f"{place}: must be a tool call with a name and arguments")
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)
    if name is None:
        raise CaseFileError(f"{place}: must be a tool call with a name and arguments")
    builder.add(
        ToolCall,
        place,
        origin="user" if item.get("requestor") == "user" else origin,
        call_id=call_id_of(item),
        name=name,
        arguments=as_text(next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)),
    )
    builder.unread(item, _KNOWN, "model", place)
    if inner is not item:
        builder.unread(inner, _KNOWN, "model", place)
