"""Google ADK: saved sessions, sets and results of evaluations, events, rows of the table `events` of its databases.

Source: the types of `google-adk` (`google.adk.sessions`, `google.adk.evaluation`, `google.adk.sessions.schemas`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.gathering import RowsByKey
from jury_cases.transcripts.adk_events import USER, read_events
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.gemini import snake_keys
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, json_kind, text_or_none

_SETS = {"eval_cases": "eval_set_id", "eval_case_results": "eval_set_result_id"}
_SETS |= {"evalCases": "evalSetId", "evalCaseResults": "evalSetResultId"}
_STATUS = {1: "passed", 2: "failed", 3: "not evaluated"}
_CELLS = (
    *("content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata", "actions"),
    *("input_transcription", "output_transcription"),
)
"""Columns of an event that are JSON text in a table's cell."""


class AdkEvents(dict[str, Any]):
    """The events of one session, gathered from rows."""


def _read(row: Any) -> CaseDraft:
    table = snake_keys(row) if isinstance(row, dict) else {}
    if "eval_id" not in table:
        return _session(table)
    if "conversation" not in table:
        return _result(table)
    draft = _invocations(table["conversation"], "conversation")
    draft.case_id = text_or_none(table["eval_id"])
    return draft


def _session(session: dict[str, Any], place: str = "events") -> CaseDraft:
    events = session.get("events")
    if not isinstance(events, list):
        raise CaseFileError(f"{place}: must be a list of events, not {json_kind(events)}")
    builder = TranscriptBuilder()
    error = read_events(events, builder, place)
    kept = {"app_name": session.get("app_name"), "session_id": session.get("id")}
    return CaseDraft(
        case_id=text_or_none(session.get("id")),
        built=builder,
        error=error,
        metadata={name: value for name, value in kept.items() if value is not None},
    )


def _result(table: dict[str, Any]) -> CaseDraft:
    """The session of an evaluated case, else its invocations; scores are metadata."""
    results = as_objects(table.get("eval_metric_result_per_invocation"), "eval_metric_result_per_invocation", "results")
    invocations = [snake_keys(one).get("actual_invocation") for one in results]
    details = table.get("session_details")
    if isinstance(details, dict):
        draft = _session(snake_keys(details), "session_details.events")
        draft.policy = _instructions(invocations)
    else:
        draft = _invocations(invocations, "eval_metric_result_per_invocation")
    draft.case_id = draft.case_id or text_or_none(table.get("session_id"))
    eval_id = text_or_none(table["eval_id"])
    draft.cluster = eval_id
    status = table.get("final_eval_status")
    draft.metadata |= {"eval_id": eval_id, "session_id": table.get("session_id")}
    draft.metadata |= {"final_eval_status": _STATUS.get(status, status) if isinstance(status, int) else status}
    draft.metadata |= dict(_scores(table.get("overall_eval_metric_results")))
    draft.metadata = {name: value for name, value in draft.metadata.items() if value is not None}
    return draft


def _scores(results: Any) -> Iterator[tuple[str, Any]]:
    for one in as_objects(results, "overall_eval_metric_results", "results"):
        metric = snake_keys(one)
        name = text_or_none(metric.get("metric_name"))
        if name is not None:
            yield name, metric.get("score")


def _invocations(value: Any, place: str) -> CaseDraft:
    """The invocations of a case: what the user wrote, what happened then, the final response."""
    invocations = [snake_keys(one) for one in as_objects(value, place, "invocations")]
    if not invocations:
        raise CaseFileError(f"{place}: has no invocation; a scenario is no case before it was run")
    builder = TranscriptBuilder()
    for index, one in enumerate(invocations):
        read_events(_events_of(one, f"{place}.{index}"), builder, f"{place}.{index}")
    return CaseDraft(built=builder, policy=_instructions(invocations))


def _events_of(invocation: dict[str, Any], place: str) -> list[dict[str, Any]]:
    """The events of an invocation; the final response stands where an event was left without its content."""
    final = invocation.get("final_response")
    data = invocation.get("intermediate_data")
    data = snake_keys(data) if isinstance(data, dict) else {}
    events: list[dict[str, Any]] = [{"author": USER, "content": invocation.get("user_content")}]
    agent: Any = None
    for one in as_objects(data.get("invocation_events"), f"{place}.invocation_events", "events"):
        event = snake_keys(one)
        agent = event.get("author")
        if event.get("content") is None and final is not None:
            event, final = {**event, "content": final}, None
        events.append(event)
    events += _older(data, place)
    if final is not None and all(event.get("content") != final for event in events):
        events.append({"author": agent, "content": final})
    return events


def _older(data: dict[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """Tool calls, each with its response, and texts of sub-agents, as earlier versions wrote them: without an order."""
    responses = as_objects(data.get("tool_responses"), f"{place}.tool_responses", "responses")
    waiting = {as_text(one.get("id")): one for one in responses if one.get("id")}
    seen: set[int] = set()
    for call in as_objects(data.get("tool_uses"), f"{place}.tool_uses", "calls"):
        yield _by_agent(None, [{"function_call": call}])
        response = waiting.pop(as_text(call.get("id")), None)
        if response is not None:
            seen.add(id(response))
            yield _by_agent(None, [{"function_response": response}])
    for response in responses:
        if id(response) not in seen:
            yield _by_agent(None, [{"function_response": response}])
    listed = data.get("intermediate_responses")
    for index, pair in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(pair, list) or len(pair) != 2:  # noqa: PLR2004  (a pair)
            raise CaseFileError(f"{place}.intermediate_responses.{index}: must be an author and parts")
        yield _by_agent(pair[0], pair[1])


def _by_agent(author: Any, parts: Any) -> dict[str, Any]:
    return {"author": author, "content": {"role": "model", "parts": parts}}


def _instructions(invocations: list[Any]) -> str | None:
    """The instructions of the agents, if the record has them; with several agents, each behind its name."""
    found: dict[str, str] = {}
    for one in invocations:
        details = snake_keys(one).get("app_details") if isinstance(one, dict) else None
        agents = snake_keys(details).get("agent_details") if isinstance(details, dict) else None
        for name, agent in agents.items() if isinstance(agents, dict) else ():
            text = text_or_none(agent.get("instructions")) if isinstance(agent, dict) else None
            if text is not None:
                found.setdefault(name, text)
    if len(found) == 1:
        return next(iter(found.values()))
    return "\n\n".join(f"{name}:\n{text}" for name, text in found.items()) or None


def _read_gathered(data: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    rows = data["events"] if isinstance(data, AdkEvents) else [data]
    events = [_event_of_row(one, f"events.{index}") for index, one in enumerate(rows)]
    error = read_events(_in_order(events), builder)
    key = data.get("session_id") if isinstance(data, AdkEvents) else None
    app = next((one["app_name"] for one in events if text_or_none(one.get("app_name"))), None)
    kept = {"app_name": app, "session_id": key}
    return CaseDraft(
        case_id=key or None,
        built=builder,
        error=error,
        metadata={name: value for name, value in kept.items() if value},
    )


def _event_of_row(row: Any, place: str) -> dict[str, Any]:
    """An event, from itself or from a row of a table: `event_data`, or a column for each of its fields."""
    if not isinstance(row, dict):
        raise CaseFileError(f"{place}: must be an event, not {json_kind(row)}")
    table = snake_keys(row)
    if table.get("event_data") is None:
        return {**table, **{name: decoded_json(table[name]) for name in _CELLS if name in table}}
    data = decoded_json(table.pop("event_data"))
    if not isinstance(data, dict):
        raise CaseFileError(f"{place}.event_data: must be an event as JSON, not {json_kind(data)}")
    return {**table, **snake_keys(data)}


def _in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a database by their times, which are all numbers or all texts; other events as they stand."""
    times = [event.get("timestamp") for event in events]
    for kind in (float, int), (str,):
        if all(event.get("session_id") for event in events) and all(isinstance(time, kind) for time in times):
            return sorted(events, key=lambda event: event["timestamp"])
    return events


def _session_id(row: Any) -> str:
    return as_text(row.get("session_id", row.get("sessionId"))) if isinstance(row, dict) else ""


def _is_session(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    if isinstance(row.get("events"), list) and ("appName" in row or "app_name" in row):
        return True
    columns = ("conversation", "session_details", "sessionDetails", "eval_metric_result_per_invocation")
    return ("eval_id" in row or "evalId" in row) and any(
        isinstance(row.get(name), dict | list) for name in (*columns, "evalMetricResultPerInvocation")
    )


def _is_event(row: Any) -> bool:
    if isinstance(row, AdkEvents):
        return True
    if not isinstance(row, dict) or not ("invocationId" in row or "invocation_id" in row):
        return False
    return isinstance(row.get("author"), str) or row.get("event_data") is not None


def _rows_path(document: Mapping[str, Any]) -> str | None:
    return next(
        (name for name, named in _SETS.items() if named in document and isinstance(document.get(name), list)), None
    )


GOOGLE_ADK = Format(
    "google-adk",
    _is_session,
    _read,
    _rows_path,
    marks=frozenset({"appName", "app_name", "evalId", "eval_id"}),
    lists=frozenset(_SETS),
    recognised_by="`events` and `appName`, `eval_id`",
    shows="a session: agents with names, calls, handovers, changes of state, errors; cases and results of evaluations",
)
GOOGLE_ADK_EVENTS = Format(
    "google-adk-events",
    _is_event,
    _read_gathered,
    gather=lambda: RowsByKey(_session_id, "session", lambda session, rows: AdkEvents(events=rows, session_id=session)),
    marks=frozenset({"invocationId", "invocation_id"}),
    recognised_by="`author` or `event_data` beside `invocationId`",
    shows="one case per session: its events, or the rows of the table `events` of a database",
)
