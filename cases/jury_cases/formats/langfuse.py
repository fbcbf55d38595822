"""Langfuse's traces, with their observations: input and output of a program and its steps, tags, scores and costs.

Source: `TraceWithFullDetails` and `ObservationsView` of Langfuse's public API, and its JSON, JSONL and CSV exports.
Input and output depend on the traced program: text, messages, a provider's request and response, a LangGraph state with
LangChain messages. A trace without input and output has them in its observations.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, GatheredRows, RowsByKey, rows_at
from jury_cases.formats.langfuse_spans import moment, observed_spans, once
from jury_cases.traces.timeline import draft_of_spans
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, json_kind, text_or_none

_FACTS = ("name", "type", "userId", "sessionId", "environment", "release", "version", "level", "model")
_IDS = {"traceId": "trace_id", "sessionId": "session_id"}
_OF_EXPORTERS = frozenset({"resourceAttributes", "scope"})
"""Metadata that the platform adds to every observation: the exporting library."""


def facts_of(row: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a case by a trace or observation: its own, ids, and its scores."""
    metadata = decoded_json(row.get("metadata"), texts=True)
    own = metadata if isinstance(metadata, dict) else {}
    found = {
        **{name: value for name, value in own.items() if name not in _OF_EXPORTERS},
        **{name: row[name] for name in _FACTS if row.get(name) is not None},
        **{name: row[key] for key, name in _IDS.items() if row.get(key) is not None},
        **scores_of(decoded_json(row.get("scores"), texts=True)),
    }
    if "traceId" in row and row.get("id") is not None:
        found["observation_id"] = row["id"]
    return found


def scores_of(scores: Any) -> dict[str, Any]:
    """Scores by name, of any version of the API; the text of a categorical score, else its value; comments."""
    found: dict[str, Any] = {}
    for one in scores if isinstance(scores, list) else []:
        if not isinstance(one, dict) or not one.get("name"):
            continue
        name = f"score.{as_text(one['name'])}"
        value = one.get("value") if one.get("stringValue") is None else one["stringValue"]
        found |= {name: value} if value is not None else {}
        found |= {f"{name}.comment": one["comment"]} if isinstance(one.get("comment"), str) else {}
    return found


def sum_of_costs(observations: Iterable[dict[str, Any]]) -> float | None:
    """The cost of all observations, each its own; None if none has one."""
    found = [cost for one in observations if (cost := _cost(one)) is not None]
    return sum(found) if found else None


def _cost(observation: dict[str, Any]) -> float | None:
    details = decoded_json(observation.get("costDetails"))
    total = details.get("total") if isinstance(details, dict) else None
    written = (observation.get("totalCost"), total, observation.get("calculatedTotalCost"))
    numbers = (one for one in written if isinstance(one, int | float) and not isinstance(one, bool))
    return next((float(one) for one in numbers if one >= 0), None)


_MARKS = frozenset({"traceId", "sessionId", "projectId", "htmlPath", "observations", "bookmarked", "userId"})


def _read(row: Any) -> CaseDraft:
    observations = decoded_json(row.get("observations"), texts=True)
    row = {**as_object(row["trace"]), "observations": observations} if _is_download(row) else row
    listed = observations if isinstance(observations, list) else []
    objects = once([one for one in listed if isinstance(one, dict)])
    if is_observation(row) and not objects:
        spans = observed_spans([("observation", row)])
    else:
        spans = observed_spans([(f"observations.{index}", one) for index, one in enumerate(objects)], row)
    facts = facts_of(row)
    if not is_observation(row):
        facts.setdefault("trace_id", row.get("id"))
    draft = draft_of_spans(
        spans,
        facts,
        case_id=row.get("id"),
        answered="output" in row or bool(objects),
        agent_cost=sum_of_costs(objects),
    )
    draft.tags = decoded_json(row.get("tags"), texts=True)
    draft.cluster = text_or_none(row.get("sessionId")) or text_or_none(row.get("traceId"))
    cost = next((row[name] for name in ("totalCost", "calculatedTotalCost") if row.get(name) is not None), None)
    draft.agent_cost = cost if cost is not None else draft.agent_cost
    if any(isinstance(one, str) for one in listed) and draft.built is not None:
        draft.built.not_shown("observations by their ids", "environment", "observations")
    return draft


def is_observation(row: Mapping[str, Any]) -> bool:
    return "traceId" in row or row.get("type") not in (None, "TRACE")


def _is_download(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("trace"), dict) and isinstance(row.get("observations"), list)


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    return _is_download(row) or ({"input", "output"} <= row.keys() and bool(row.keys() & _MARKS))


LANGFUSE = Format(
    "langfuse",
    _recognises,
    _read,
    rows_at("data", _recognises),
    recognised_by="a trace with `input` and `output`, as the interface downloads it too (`trace`), or one observation",
    shows=(
        "`input` and `output` (text, messages, providers' objects, LangGraph states), `observations` as spans of the "
        "trace, tools, scores, tags, session as cluster, cost"
    ),
)


_TYPES = frozenset(
    {
        *("SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"),
    }
)
_OF_THE_ROOT = ("name", "type", "level", "model", "observation_id")
"""Facts of the root observation; others may be on any observation of a trace."""


_LONGEST_ID = 200


# Source: `GET /api/public/v2/observations` of Langfuse's public API, the export of its SDK 5 (`ObservationV2`, whose
# fields depend on the groups that were asked for), and rows of the earlier `GET /api/public/observations`.
def _read_observations(row: Any) -> CaseDraft:
    listed: list[dict[str, Any]] = once(row["observations"])
    if not any(name in one for one in listed for name in ("input", "output")):
        raise CaseFileError(
            "input: no observation of the trace has input or output; export them with "
            "fields=core,basic,io,metadata,model,usage,trace_context"
        )
    root = _root(listed)
    facts: dict[str, Any] = {}
    tags: dict[str, None] = {}
    for one in listed:
        facts = {**{name: value for name, value in facts_of(one).items() if name not in _OF_THE_ROOT}, **facts}
        written = decoded_json(one.get("tags"), texts=True)
        tags |= dict.fromkeys(tag for tag in written if isinstance(tag, str)) if isinstance(written, list) else {}
    facts |= facts_of(root)
    facts["name"] = text_or_none(root.get("traceName")) or root.get("name")
    spans = observed_spans([(f"observation {as_text(one.get('id'))}", one) for one in listed])
    return draft_of_spans(
        spans,
        facts,
        case_id=row["trace_id"] or None,
        answered=True,
        tags=list(tags),
        cluster=text_or_none(root.get("sessionId")) or text_or_none(facts.get("sessionId")),
        agent_cost=sum_of_costs(listed),
    )


def _root(listed: list[dict[str, Any]]) -> dict[str, Any]:
    """The first observation without a parent; of a trace without one, the first."""
    ids = {as_text(one.get("id")) for one in listed}
    parents = [as_text(one.get("parentObservationId")) for one in listed]
    roots = [
        one
        for one, parent in zip(listed, parents, strict=True)
        if one.get("isRootObservation") is True or parent not in ids or parent == as_text(one.get("id"))
    ]
    return min(roots or listed, key=lambda one: moment(one.get("startTime")))


def _trace_id(row: Any) -> str:
    if not isinstance(row, dict):
        raise CaseFileError(f"an observation must be an object, not {json_kind(row)}")
    trace = row.get("traceId")
    if trace is None:
        return ""
    if not isinstance(trace, str) or len(trace) > _LONGEST_ID:
        raise CaseFileError(f"traceId: must be text of at most {_LONGEST_ID} characters, not {json_kind(trace)}")
    return trace


def _is_observation_row(row: Any) -> bool:
    if not isinstance(row, dict) or not {"traceId", "startTime"} <= row.keys() or "observations" in row:
        return False
    kind = row.get("type")
    return isinstance(kind, str) and kind.upper() in _TYPES


LANGFUSE_OBSERVATIONS = Format(
    "langfuse-observations",
    _is_observation_row,
    _read_observations,
    rows_at("data", _is_observation_row),
    gather=lambda: RowsByKey(_trace_id, "trace", lambda trace, rows: GatheredRows(trace_id=trace, observations=rows)),
    recognised_by="an observation with `traceId`, `startTime` and `type` (v2 of the API, the export of SDK 5)",
    shows="one case per trace: model calls, tools and steps of its rows, tags, session as cluster, the sum of costs",
)
