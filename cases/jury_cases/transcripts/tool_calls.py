"""Reads tool calls in the formats of OpenAI, Anthropic, LangChain, AgentDojo and Inspect."""

from collections import Counter
from collections.abc import Iterable, Sequence
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
    shown: Sequence[ToolCall] = (),
) -> None:
    """Add a list of calls; null is [], those that repeat one of `shown` are skipped."""
    if value is None:
        return
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of tool calls, not {json_kind(value)}")
    repeated = RepeatedCalls(shown, [one for one in value if isinstance(one, dict)])
    for index, item in enumerate(value):
        if is_blank(item) or (isinstance(item, dict) and repeated.has(item)):
            continue
        add_call(item, builder, f"{place}.{index}", origin)


class RepeatedCalls:
    """Which calls of a list repeat calls of their message that were read before, by id.

    Several calls of a message may have one id: then the tool's name says which of them is repeated.
    """

    def __init__(self, shown: Iterable[ToolCall], listed: Iterable[dict[str, Any]]) -> None:
        with_ids = [one for one in shown if one.call_id is not None]
        self._named: Counter[tuple[str | None, str | None]] = Counter((one.call_id, one.name) for one in with_ids)
        self._shown: Counter[str | None] = Counter(one.call_id for one in with_ids)
        self._listed = Counter(map(call_id_of, listed))

    def has(self, item: dict[str, Any]) -> bool:
        """Whether this call of the list was read before."""
        named = call_id_of(item), _name_of(item)
        if self._named[named]:
            self._named[named] -= 1
            return True
        return 0 < self._listed[named[0]] <= self._shown[named[0]]


def _name_of(item: dict[str, Any]) -> str | None:
    inner = item.get("function") or item.get("custom") or item
    if not isinstance(inner, dict):
        return text_or_none(inner)
    return next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)


def call_id_of(item: dict[str, Any]) -> str | None:
    """The id of a call; None if missing."""
    return next((found for key in _IDS if (found := text_or_none(item.get(key))) is not None), None)


def add_call(item: Any, builder: TranscriptBuilder, place: str, origin: Origin = "model") -> None:
    """Add a call.

    Formats: `{id, function: {name, arguments}}`, `{name, arguments}`, `{function: name, args}`,
    `{custom: {name, input}}`.
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
