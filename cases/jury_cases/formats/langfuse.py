"""Langfuse's exported traces and observations: input and output of a call, with names, tags, scores and costs.

Source: Langfuse's public API and its JSON, JSONL and CSV exports. Input and output depend on the traced program:
text, messages, a provider's request and response, a LangGraph state with LangChain messages.
"""

from collections.abc import Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.langfuse_tools import ReportedCalls, ToolRun, add_tool, canonical_json_text
from jury_cases.formats.langfuse_values import in_order, plain_value, read_value
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, text_or_none
from jury_events.transcript import Item, ToolCall

_FACTS = ("name", "type", "userId", "sessionId", "environment", "release", "version", "level", "model")
_MARKS = frozenset({"traceId", "sessionId", "projectId", "htmlPath", "observations", "bookmarked", "userId"})
_TOOLS = frozenset({"TOOL", "RETRIEVER"})


def _read(row: Any) -> CaseDraft:
    kind = row.get("type")
    builder = _one_tool(row) if isinstance(kind, str) and kind in _TOOLS else _trace(row)
    metadata = decoded_json(row.get("metadata"), texts=True)
    return CaseDraft(
        case_id=row.get("id"),
        built=builder,
        answered="output" in row,
        error=as_text(row.get("statusMessage")) or None if row.get("level") == "ERROR" else None,
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **{name: row[name] for name in _FACTS if row.get(name) is not None},
            **_scores(decoded_json(row.get("scores"), texts=True)),
        },
        tags=decoded_json(row.get("tags"), texts=True),
        cluster=text_or_none(row.get("sessionId")) or text_or_none(row.get("traceId")),
        agent_cost=next(
            (row[name] for name in ("totalCost", "calculatedTotalCost") if row.get(name) is not None), None
        ),
    )


def _one_tool(row: dict[str, Any]) -> TranscriptBuilder:
    """A tool's observation as a separate row: a call and its result, without a request to the agent."""
    builder = TranscriptBuilder()
    add_tool(ToolRun.of(row), builder, "observation")
    return builder


def _trace(row: dict[str, Any]) -> TranscriptBuilder:
    """Input, tool runs that the messages lack, output; then the content of other steps as not shown."""
    given, answer = in_order(
        plain_value(decoded_json(row.get("input"), texts=True)),
        plain_value(decoded_json(row.get("output"), texts=True)),
    )
    before, after = TranscriptBuilder(), TranscriptBuilder()
    read_value(given, "user", before, "input")
    read_value(answer, "assistant", after, "output")
    observations = decoded_json(row.get("observations"), texts=True)
    listed = list(enumerate(observations)) if isinstance(observations, list) else []
    objects = [(f"observations.{index}", one) for index, one in listed if isinstance(one, dict)]
    objects.sort(key=lambda placed: as_text(placed[1].get("startTime")))
    reported = ReportedCalls(before, after)
    for place, one in objects:
        if _is_tool(one):
            reported.run(ToolRun.of(one), place)
    before.extend(after)
    shown = _contents(before)
    for place, one in objects:
        if not _is_tool(one):
            _step(one, shown, before, place)
    if any(isinstance(one, str) for _, one in listed):
        before.not_shown("observations by their ids", "environment", "observations")
    return before


def _is_tool(observation: dict[str, Any]) -> bool:
    kind = observation.get("type")
    return isinstance(kind, str) and kind in _TOOLS


def _step(observation: dict[str, Any], shown: set[str], builder: TranscriptBuilder, place: str) -> None:
    """A generation or other step of the trace: reported as not shown if it has content that is not shown yet."""
    step = TranscriptBuilder()
    try:
        read_value(plain_value(decoded_json(observation.get("input"), texts=True)), "user", step, "input")
        read_value(plain_value(decoded_json(observation.get("output"), texts=True)), "assistant", step, "output")
    except CaseFileError:
        added = True
    else:
        added = not _contents(step) <= shown
    if observation.get("level") == "ERROR" and observation.get("statusMessage"):
        added = True
    if added:
        kind = text_or_none(observation.get("type")) or "of no type"
        texts = [observation.get(name) for name in ("input", "output", "statusMessage")]
        builder.not_shown(f"observation {kind}", "environment", place, "".join(map(as_text, texts)))


def _contents(builder: TranscriptBuilder) -> set[str]:
    """The texts, calls and results of all authors."""
    return {found for item in builder.transcript().items if (found := _words(item))}


def _words(item: Item) -> str:
    if isinstance(item, ToolCall):
        return f"{item.name} {canonical_json_text(item.arguments)}"
    if item.kind == "attachment":
        return item.digest
    return item.what if item.kind == "not_shown" else item.text


def _scores(scores: Any) -> dict[str, Any]:
    listed = [one for one in scores if isinstance(one, dict)] if isinstance(scores, list) else []
    return {
        f"score.{as_text(one.get('name'))}": one["value"] if one.get("stringValue") is None else one["stringValue"]
        for one in listed
        if one.get("name") and not (one.get("stringValue") is None and one.get("value") is None)
    }


def _recognises(row: Any) -> bool:
    return isinstance(row, dict) and {"input", "output"} <= row.keys() and bool(row.keys() & _MARKS)


def _rows_path(document: Mapping[str, Any]) -> str | None:
    listed = document.get("data")
    return "data" if isinstance(listed, list) and any(map(_recognises, listed)) else None


LANGFUSE = Format(
    "langfuse",
    _recognises,
    _read,
    _rows_path,
    marks=frozenset({"input"}),
    lists=frozenset({"data"}),
    recognised_by="a trace or observation",
    shows=(
        "`input` and `output` (text, messages, providers' objects, LangGraph states), tools, scores, tags, "
        "session as cluster, cost"
    ),
)
