"""Langfuse's traces, with their observations: input and output of a program and its steps, tags, scores and costs.

Source: `TraceWithFullDetails` and `ObservationsView` of Langfuse's public API, and its JSON, JSONL and CSV exports.
Input and output depend on the traced program: text, messages, a provider's request and response, a LangGraph state with
LangChain messages. A trace without input and output has them in its observations.
"""

from collections.abc import Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.langfuse_facts import facts_of, sum_of_costs
from jury_cases.formats.langfuse_spans import Contents, moment, observed_spans, report_unknown
from jury_cases.formats.langfuse_tools import failure_of, is_tool, tool_of
from jury_cases.traces.span import Span, failures
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import decoded_json, text_or_none

_MARKS = frozenset({"traceId", "sessionId", "projectId", "htmlPath", "observations", "bookmarked", "userId"})


def _read(row: Any) -> CaseDraft:
    observations = decoded_json(row.get("observations"), texts=True)
    listed = list(enumerate(observations)) if isinstance(observations, list) else []
    objects = [(f"observations.{index}", one) for index, one in listed if isinstance(one, dict)]
    builder = TranscriptBuilder()
    found = observed_spans(objects, _root(row, [one for _, one in objects]))
    read_spans(found.spans, builder)
    report_unknown(found.unknown, builder)
    if any(isinstance(one, str) for _, one in listed):
        builder.not_shown("observations by their ids", "environment", "observations")
    cost = next((row[name] for name in ("totalCost", "calculatedTotalCost") if row.get(name) is not None), None)
    facts = facts_of(row)
    if not is_observation(row):
        facts.setdefault("trace_id", row.get("id"))
    return CaseDraft(
        case_id=row.get("id"),
        built=builder,
        answered="output" in row,
        error=failures(found.spans),
        metadata=facts,
        tags=decoded_json(row.get("tags"), texts=True),
        cluster=text_or_none(row.get("sessionId")) or text_or_none(row.get("traceId")),
        agent_cost=cost if cost is not None else sum_of_costs([one for _, one in objects]),
    )


def _root(row: dict[str, Any], observations: list[dict[str, Any]]) -> Span:
    """The trace around its observations; or an observation that is a row of its own."""
    if is_tool(row):
        return Span(span_id="", place="observation", kind="tool", start=0, tool=tool_of(row), failure=failure_of(row))
    starts = [moment(one.get("startTime")) for one in observations]
    ends = [moment(one.get("endTime")) for one in observations]
    return Contents.of(row).span(
        span_id="",
        place="trace",
        kind="agent",
        start=min(starts, default=0),
        end=max([*starts, *ends], default=0) + 1,
        failure=failure_of(row),
    )


def is_observation(row: Mapping[str, Any]) -> bool:
    """Whether a row is an observation and no trace."""
    return "traceId" in row or row.get("type") not in (None, "TRACE")


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
    recognised_by="a trace with `input` and `output`, or one observation",
    shows=(
        "`input` and `output` (text, messages, providers' objects, LangGraph states), `observations` as spans of the "
        "trace, tools, scores, tags, session as cluster, cost"
    ),
)
