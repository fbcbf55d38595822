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
from jury_cases.formats.langfuse_spans import observed_spans
from jury_cases.traces.span import failures
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, decoded_json, text_or_none

_MARKS = frozenset({"traceId", "sessionId", "projectId", "htmlPath", "observations", "bookmarked", "userId"})


def _read(row: Any) -> CaseDraft:
    observations = decoded_json(row.get("observations"), texts=True)
    row = {**as_object(row["trace"]), "observations": observations} if _is_download(row) else row
    listed = list(enumerate(observations)) if isinstance(observations, list) else []
    objects = [(f"observations.{index}", one) for index, one in listed if isinstance(one, dict)]
    builder = TranscriptBuilder()
    spans = (
        observed_spans([("observation", row)]) if is_observation(row) and not objects else observed_spans(objects, row)
    )
    read_spans(spans, builder)
    if any(isinstance(one, str) for _, one in listed):
        builder.not_shown("observations by their ids", "environment", "observations")
    cost = next((row[name] for name in ("totalCost", "calculatedTotalCost") if row.get(name) is not None), None)
    facts = facts_of(row)
    if not is_observation(row):
        facts.setdefault("trace_id", row.get("id"))
    return CaseDraft(
        case_id=row.get("id"),
        built=builder,
        answered="output" in row or bool(objects),
        error=failures(spans),
        metadata=facts,
        tags=decoded_json(row.get("tags"), texts=True),
        cluster=text_or_none(row.get("sessionId")) or text_or_none(row.get("traceId")),
        agent_cost=cost if cost is not None else sum_of_costs([one for _, one in objects]),
    )


def is_observation(row: Mapping[str, Any]) -> bool:
    return "traceId" in row or row.get("type") not in (None, "TRACE")


def _is_download(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("trace"), dict) and isinstance(row.get("observations"), list)


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    return _is_download(row) or ({"input", "output"} <= row.keys() and bool(row.keys() & _MARKS))


def _rows_path(document: Mapping[str, Any]) -> str | None:
    listed = document.get("data")
    return "data" if isinstance(listed, list) and any(map(_recognises, listed)) else None


LANGFUSE = Format(
    "langfuse",
    _recognises,
    _read,
    _rows_path,
    marks=frozenset({"input", "trace"}),
    lists=frozenset({"data"}),
    recognised_by="a trace with `input` and `output`, as the interface downloads it too (`trace`), or one observation",
    shows=(
        "`input` and `output` (text, messages, providers' objects, LangGraph states), `observations` as spans of the "
        "trace, tools, scores, tags, session as cluster, cost"
    ),
)
