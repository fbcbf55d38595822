"""Runs of LangSmith: as its client sends them, as it lists them (nested or in lines), and rows of a bulk export.

Source: the package `langsmith` (`langsmith.schemas.Run`, its batches) and LangSmith's documentation of bulk exports.
"""

from collections.abc import Iterator
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format, Record, TraceGathering, records_of
from jury_cases.traces.span import SpanKind, failure_text, instant, optional_text
from jury_cases.traces.span_tables import SpanRecord, in_order, spans_of
from jury_cases.traces.timeline import draft_of_spans
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, is_blank

_KINDS: dict[str, SpanKind] = {"llm": "model", "tool": "tool", "retriever": "tool"}
_BATCHES = ("post", "patch")
_SESSIONS = ("session_id", "thread_id", "conversation_id")
"""Names in a run's metadata under which LangSmith groups traces to threads."""


def _read(row: Any) -> CaseDraft:
    trace_id, listed = records_of(row, _expanded)
    runs = _merged(listed)
    runs.sort(key=lambda one: (as_text(one.get("dotted_order")), instant(one.get("start_time")) or 0))
    spans = spans_of(in_order(map(_record, runs)))
    root = next((one for one in runs if is_blank(one.get("parent_run_id"))), runs[0] if runs else {})
    more = _metadata(root)
    session = next((found for name in _SESSIONS if (found := optional_text(more.get(name)))), None)
    facts = {
        **{name: value for name, value in more.items() if name not in _SESSIONS},
        **_scores(decoded_json(root.get("feedback_stats"))),
        "name": optional_text(root.get("name")),
        "trace_id": trace_id or optional_text(root.get("trace_id")),
        "run_id": optional_text(root.get("id")),
        "session_id": session,
    }
    return draft_of_spans(
        spans,
        facts,
        case_id=facts["trace_id"] or facts["run_id"],
        tags=decoded_json(root.get("tags")) or None,
        cluster=session,
        agent_cost=root.get("total_cost"),
    )


def _record(run: Record) -> SpanRecord:
    run_id = as_text(run.get("id"))
    kind = as_text(run.get("run_type"))
    return SpanRecord(
        span_id=run_id,
        parent_id=optional_text(run.get("parent_run_id")),
        place=f"run {run_id}",
        kind=_KINDS.get(kind, "other"),
        name=as_text(run.get("name")),
        start=instant(run.get("start_time")) or 0,
        end=instant(run.get("end_time")),
        given=run.get("inputs"),
        answer=run.get("outputs"),
        failure=failure_text(run.get("error")),
        call_id=optional_text(_metadata(run).get("tool_call_id")),
    )


def _metadata(run: Record) -> dict[str, Any]:
    extra = decoded_json(run.get("extra"))
    found = extra.get("metadata") if isinstance(extra, dict) else None
    plain = found if isinstance(found, dict) else {}
    return {name: one for name, one in plain.items() if not name.startswith(("ls_", "LANGSMITH_", "langgraph_"))}


def _scores(stats: Any) -> dict[str, Any]:
    """`{NAME: {n, avg, values}}`: the mean, or the counts of labels."""
    found = {}
    for name, one in stats.items() if isinstance(stats, dict) else ():
        value = one.get("avg", one.get("values")) if isinstance(one, dict) else one
        if not is_blank(value):
            found[f"score.{name}"] = value if isinstance(value, int | float) else as_text(value)
    return found


def _merged(runs: list[Record]) -> list[Record]:
    """Runs that were sent in several parts (at their start, at their end) as one."""
    found: dict[str, Record] = {}
    for run in runs:
        known = found.setdefault(as_text(run.get("id")) or f"\0{len(found)}", {})
        known.update({name: value for name, value in run.items() if value is not None})
    return list(found.values())


def _expanded(row: Any) -> Iterator[Record]:
    """The runs of a line: a run with those below it, or a batch `{post, patch}`."""
    if _is_batch(row):
        waiting = [one for name in _BATCHES for one in as_objects(row.get(name), name, "runs")]
    else:
        waiting = as_objects([row], "run", "runs")
    waiting = waiting[::-1]
    while waiting:
        run = waiting.pop()
        yield {name: value for name, value in run.items() if name != "child_runs"}
        below = as_objects(decoded_json(run.get("child_runs")), "child_runs", "runs")
        waiting += [_below(one, run) for one in reversed(below)]


def _below(child: Record, run: Record) -> Record:
    """A nested run with the ids that only its place gives."""
    found = dict(child)
    if is_blank(found.get("parent_run_id")):
        found["parent_run_id"] = run.get("id")
    if is_blank(found.get("trace_id")):
        found["trace_id"] = _trace_id(run)
    return found


def _trace_id(run: Record) -> str:
    return as_text(run.get("trace_id")) or as_text(run.get("id"))


def _is_batch(row: Any) -> bool:
    return isinstance(row, dict) and "run_type" not in row and any(isinstance(row.get(one), list) for one in _BATCHES)


def _is_run(row: Any) -> bool:
    return isinstance(row, dict) and "run_type" in row and not row.keys().isdisjoint(_OF_RUNS)


_OF_RUNS = frozenset({"inputs", "outputs", "trace_id", "parent_run_id", "child_runs", "dotted_order"})


def _recognises(row: Any) -> bool:
    return _is_run(row) or (_is_batch(row) and any(_is_run(one) for name in _BATCHES for one in row.get(name) or ()))


LANGSMITH = Format(
    "langsmith",
    _recognises,
    _read,
    gather=lambda: TraceGathering(_expanded, _trace_id),
    recognised_by="a run (`run_type`), with `child_runs` or in lines, or a batch of `post` and `patch`",
    shows="one case per trace: inputs and outputs of its runs, tool runs; the thread as cluster, feedback as metadata",
)
"""Runs of LangSmith."""
