"""Runs of tools among Langfuse's observations: what they say of the call, and of which step they are a part."""

import ast
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from jury_cases.formats.langfuse_values import has_role, plain_value
from jury_cases.traces.pieces import canonical
from jury_cases.traces.span import SpanTool
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, text_or_none
from jury_events.transcript import ToolCall, ToolResult

_TOOLS = frozenset({"TOOL", "RETRIEVER"})
_LONGEST_LITERAL = 100_000
_MOST_ABOVE = 20
"""Steps above a tool's run that are said to contain it."""


def type_of(observation: dict[str, Any]) -> str:
    """The type in capitals; "" if it has none."""
    return (text_or_none(observation.get("type")) or "").upper()


def is_tool(observation: dict[str, Any]) -> bool:
    """Whether it is the run of a tool."""
    return type_of(observation) in _TOOLS


def tool_of(observation: dict[str, Any]) -> SpanTool:
    """The run recorded by an observation of a tool."""
    given = decoded_json(observation.get("input"), texts=True)
    output = _output(observation)
    returned = output if has_role(output, "tool", "function") else {}
    metadata = decoded_json(observation.get("metadata"), texts=True)
    ids = (one.get("tool_call_id") for one in (returned, metadata, given) if isinstance(one, dict))
    result = returned.get("content", output)
    return SpanTool(
        name=as_text(observation.get("name")) or "unnamed",
        call_id=next((found for one in ids if (found := text_or_none(one)) is not None), None),
        arguments=None if given is None else as_text(_arguments(given)),
        result=None if result is None else as_text(result),
    )


def failure_of(observation: dict[str, Any]) -> str | None:
    """The reason of a failure; None if it did not fail."""
    result = tool_of(observation).result if is_tool(observation) else None
    returned = as_object(_output(observation)) if is_tool(observation) else {}
    if observation.get("level") != "ERROR" and returned.get("is_error") is not True:
        return None
    return as_text(observation.get("statusMessage")) or result or "failed"


def _output(observation: dict[str, Any]) -> Any:
    return plain_value(decoded_json(observation.get("output"), texts=True))


def _arguments(given: Any) -> Any:
    """A function's arguments by name, where all have names; a Python literal (as LangChain writes it) as an object."""
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and given["args"] == []:
        return given["kwargs"]
    if not isinstance(given, str) or len(given) > _LONGEST_LITERAL or not given.lstrip().startswith("{"):
        return given
    try:
        found = ast.literal_eval(given)
        return json.loads(json.dumps(found))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return given


class ToolRuns:
    """The runs of tools in a trace, and the steps that contain them."""

    def __init__(self, observations: Iterable[dict[str, Any]]) -> None:
        listed = list(observations)
        parents = {as_text(one.get("id")): text_or_none(one.get("parentObservationId")) for one in listed}
        self._ids: dict[str, str | None] = {}
        self._below: dict[str, list[SpanTool]] = {}
        for one in filter(is_tool, listed):
            above = text_or_none(one.get("parentObservationId"))
            for _ in range(_MOST_ABOVE):
                if above is None:
                    break
                self._below.setdefault(above, []).append(tool_of(one))
                above = parents.get(above)

    def below(self, step: dict[str, Any]) -> list[SpanTool]:
        """The runs that are a part of a step."""
        return self._below.get(as_text(step.get("id")), [])

    def without_runs(self, step: dict[str, Any], builder: TranscriptBuilder) -> TranscriptBuilder:
        """What a step says, without the calls and results of runs that are a part of it."""
        below = self.below(step)
        calls = {(one.call_id, one.name, canonical(one.arguments)) for one in below}
        ids = {one.call_id for one in below} - {None}
        results = {canonical(one.result) for one in below}
        kept = TranscriptBuilder()
        kept.take(
            (
                item
                for item in builder.transcript().items
                if not (
                    (isinstance(item, ToolCall | ToolResult) and item.call_id in ids)
                    or (isinstance(item, ToolCall) and (None, item.name, canonical(item.arguments)) in calls)
                    or (isinstance(item, ToolResult) and canonical(item.text) in results)
                )
            ),
            builder.images,
        )
        return kept

    def named_by(self, calls: Iterable[ToolCall]) -> Callable[[str, SpanTool | None], SpanTool | None]:
        """A function that completes a run by the calls in messages, by the id of its observation.

        A run whose observation has the id of a call is that call's; one of a tool that no message calls has the
        observation's id. One with arguments by position, as `@observe` records them, has the arguments of a call of the
        same tool with the same values.
        """
        ids: set[str] = set()
        names: set[str] = set()
        by_values: dict[tuple[str, str], str] = {}
        for one in calls:
            names.add(one.name)
            ids |= {one.call_id} if one.call_id is not None else set()
            named = decoded_json(one.arguments)
            if isinstance(named, dict):
                by_values.setdefault((one.name, canonical(list(named.values()))), one.arguments)

        def completed(span_id: str, tool: SpanTool | None) -> SpanTool | None:
            if tool is None:
                return None
            if tool.call_id is None and (span_id in ids or tool.name not in names):
                return replace(tool, call_id=span_id)
            values = _by_position(tool)
            written = None if values is None else by_values.get((tool.name, canonical(values)))
            return tool if written is None else replace(tool, arguments=written)

        return completed


def _by_position(tool: SpanTool) -> list[Any] | None:
    """The values of a function's arguments of which some have no name; None: all have."""
    given = decoded_json(tool.arguments)
    if not isinstance(given, dict) or given.keys() != {"args", "kwargs"}:
        return None
    args, kwargs = given["args"], given["kwargs"]
    return [*args, *kwargs.values()] if isinstance(args, list) and isinstance(kwargs, dict) else None
