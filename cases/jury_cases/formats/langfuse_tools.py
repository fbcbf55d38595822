"""Tool runs in a Langfuse trace, and whether its messages contain them."""

import ast
import json
from typing import Any, NamedTuple

from jury_cases.formats.langfuse_values import has_role, plain_value
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, text_or_none
from jury_events.transcript import ToolCall, ToolResult

_LONGEST_LITERAL = 100_000


class ToolRun(NamedTuple):
    """A tool's run.

    Attributes:
        call_id: the call's id if the observation has it, else the observation's id.
        name: of the tool.
        arguments: as JSON or text.
        text: its result.
        error: whether it failed.
    """

    call_id: str | None
    name: str
    arguments: str
    text: str
    error: bool

    @classmethod
    def of(cls, observation: dict[str, Any]) -> "ToolRun":
        """The run recorded by an observation."""
        given, output = (
            decoded_json(observation.get("input"), texts=True),
            plain_value(decoded_json(observation.get("output"), texts=True)),
        )
        returned = output if has_role(output, "tool", "function") else {}
        metadata = decoded_json(observation.get("metadata"), texts=True)
        ids = [one.get("tool_call_id") for one in (returned, metadata, given) if isinstance(one, dict)]
        failed = observation.get("level") == "ERROR" or returned.get("is_error") is True
        text = as_text(returned.get("content", output))
        return cls(
            next((found for one in [*ids, observation.get("id")] if (found := text_or_none(one)) is not None), None),
            as_text(observation.get("name")) or "unnamed",
            as_text(given),
            text or (as_text(observation.get("statusMessage")) if failed else ""),
            failed,
        )


def add_tool(run: ToolRun, builder: TranscriptBuilder, place: str) -> None:
    builder.add(ToolCall, place, call_id=run.call_id, name=run.name, arguments=run.arguments)
    _add_result(run, run.call_id, builder, place)


def _add_result(run: ToolRun, call_id: str | None, builder: TranscriptBuilder, place: str) -> None:
    builder.add(ToolResult, place, call_id=call_id, name=run.name, text=run.text, error=run.error)


class ReportedCalls:
    """The tool calls in the messages of input and output; each matches at most one tool run."""

    def __init__(self, before: TranscriptBuilder, after: TranscriptBuilder) -> None:
        self._before = before
        self._open = [
            (item, builder)
            for builder in (before, after)
            for item in builder.transcript().items
            if isinstance(item, ToolCall)
        ]
        self._results = [
            item for one in (before, after) for item in one.transcript().items if isinstance(item, ToolResult)
        ]

    def run(self, run: ToolRun, place: str) -> None:
        """Add the run if no message contains it, or only its result if the messages contain the call."""
        same = [one for one in self._open if run.call_id is not None and one[0].call_id == run.call_id]
        same = same or [one for one in self._open if _is_call_of(one[0], run)]
        if not same:
            add_tool(run, self._before, place)
            return
        call, builder = same[0]
        self._open.remove(same[0])
        if not self._has_result(call):
            _add_result(run, call.call_id, builder, place)

    def _has_result(self, call: ToolCall) -> bool:
        """Remove the call's result, matched by id, else by the tool's name; False if there is none."""
        for result in self._results:
            by_id = call.call_id is not None and result.call_id == call.call_id
            if by_id or (result.call_id is None and result.name in {None, call.name}):
                self._results.remove(result)
                return True
        return False


def _is_call_of(call: ToolCall, run: ToolRun) -> bool:
    return call.name == run.name and canonical_json_text(call.arguments) == canonical_json_text(run.arguments)


def canonical_json_text(arguments: str) -> str:
    """Arguments as JSON with sorted keys; LangChain writes them as Python literals."""
    for decode in (json.loads, ast.literal_eval):
        if len(arguments) > _LONGEST_LITERAL:
            break
        try:
            return json.dumps(decode(arguments), sort_keys=True, default=as_text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return arguments
