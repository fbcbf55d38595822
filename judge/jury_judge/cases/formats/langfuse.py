"""Traces and observations as Langfuse exports them: input and output of a call, with names, tags, scores and costs.

Source: Langfuse's public API and its JSON, JSONL and CSV exports.
"""

import json
from collections.abc import Mapping
from typing import Any

from jury_events.transcript import ToolCall, ToolResult
from jury_judge.cases.draft import Draft
from jury_judge.cases.formats.format import Format
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.chat import read_choices, read_message
from jury_judge.cases.transcripts.json_values import as_text, text_or_none
from jury_judge.cases.transcripts.reading import is_message, read_messages

_CUT = "<truncated due to size exceeding limit>"
_FACTS = ("name", "userId", "sessionId", "environment", "release", "version", "level", "model")
_MARKS = frozenset({"traceId", "sessionId", "projectId", "htmlPath", "observations", "bookmarked", "userId"})


def _read(row: Any) -> Draft:
    builder = TranscriptBuilder()
    _input(_decoded(row.get("input")), builder)
    for index, observation in enumerate(_tools(row.get("observations"))):
        _tool(observation, builder, f"observations.{index}")
    _output(_decoded(row.get("output")), builder)
    scores = row.get("scores")
    metadata = _decoded(row.get("metadata"))
    return Draft(
        case_id=row.get("id"),
        built=builder,
        answered="output" in row,
        error=as_text(row.get("statusMessage")) or None if row.get("level") == "ERROR" else None,
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **{name: row[name] for name in _FACTS if row.get(name) is not None},
            **_scores(scores),
        },
        tags=_decoded(row.get("tags")),
        cluster=text_or_none(row.get("sessionId")) or text_or_none(row.get("traceId")),
        agent_cost=next(
            (row[name] for name in ("totalCost", "calculatedTotalCost") if row.get(name) is not None), None
        ),
    )


def _input(given: Any, builder: TranscriptBuilder) -> None:
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        for name, value in given.items():
            if name not in {"messages", "tools", "tool_choice"}:
                builder.not_shown(f"field {name}", "environment", f"input.{name}", value)
        given = given["messages"]
    if isinstance(given, list) and any(map(is_message, given)):
        read_messages(given, builder, "input")
    elif is_message(given):
        read_message(given, builder, "input")
    elif given is not None:
        _text("user", given, builder, "input")


def _output(answer: Any, builder: TranscriptBuilder) -> None:
    if isinstance(answer, list) and any(map(is_message, answer)):
        read_messages(answer, builder, "output")
    elif is_message(answer):
        read_message(answer, builder, "output")
    elif isinstance(answer, dict) and isinstance(answer.get("choices"), list):
        read_choices(answer["choices"], builder, "output.choices")
    elif answer is not None:
        _text("assistant", answer, builder, "output")


def _text(kind: Any, value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Text or JSON; a text that Langfuse has cut says that its rest is missing."""
    text = as_text(value)
    builder.message(kind, text, place)
    if _CUT in text:
        builder.not_shown("rest of a text that the export cut", "environment", place)


def _tools(value: Any) -> list[dict[str, Any]]:
    listed = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    found = [one for one in listed if one.get("type") in {"TOOL", "RETRIEVER"}]
    return sorted(found, key=lambda one: as_text(one.get("startTime")))


def _tool(observation: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    name, call_id = as_text(observation.get("name")) or "unnamed", text_or_none(observation.get("id"))
    arguments = as_text(_decoded(observation.get("input")))
    builder.add(ToolCall, place, call_id=call_id, name=name, arguments=arguments)
    failed = observation.get("level") == "ERROR"
    text = as_text(observation.get("output")) or (as_text(observation.get("statusMessage")) if failed else "")
    builder.add(ToolResult, place, call_id=call_id, name=name, text=text, error=failed)


def _scores(scores: Any) -> dict[str, Any]:
    listed = [one for one in scores if isinstance(one, dict)] if isinstance(scores, list) else []
    return {
        f"score.{as_text(one.get('name'))}": one.get("stringValue", one.get("value"))
        for one in listed
        if one.get("name")
    }


def _decoded(value: Any) -> Any:
    """CSV exports hold JSON in cells."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{", '"'}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _recognises(row: Any) -> bool:
    return isinstance(row, dict) and {"input", "output"} <= row.keys() and bool(row.keys() & _MARKS)


def _rows_path(document: Mapping[str, Any]) -> str | None:
    listed = document.get("data")
    return "data" if isinstance(listed, list) and any(map(_recognises, listed)) else None


LANGFUSE = Format("langfuse", _recognises, _read, _rows_path)
