"""Google ADK: saved sessions, sets and results of evaluations, events, rows of the table `events` of its databases.

Source: the types of `google-adk` (`google.adk.sessions`, `google.adk.evaluation`, `google.adk.sessions.schemas`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, GatheredRows, RowsByKey
from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.gemini import GOOD_ENDS, read_content_of, snake_keys
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, is_blank, json_kind, text_or_none
from jury_events.transcript import Event, Message

USER = "user"
"""The author of the user's events; every other author is an agent."""

_TRUE = (True, 1, "1", "true", "True", "TRUE")
_BOOKKEEPING = frozenset(
    {"id", "invocation_id", "timestamp", "branch", "isolation_scope", "node_info", "long_running_tool_ids", "name"}
    | {"app_name", "user_id", "session_id", "long_running_tool_ids_json"}
    | {"model_version", "usage_metadata", "cache_metadata", "avg_logprobs", "logprobs_result", "turn_complete"}
    | {"turn_complete_reason", "interaction_status", "interaction_id", "environment_id", "live_session_id"}
    | {"live_session_resumption_update", "go_away", "voice_activity"}
)
_READ = frozenset(
    {"author", "content", "actions", "partial", "finish_reason", "error_code", "error_message", "interrupted", "output"}
    | {"input_transcription", "output_transcription"}
)
_ACTIONS_BOOKKEEPING = frozenset({"skip_summarization", "end_of_agent", "agent_state", "route", "set_model_response"})
_ACTIONS: Mapping[str, str] = {
    "artifact_delta": "artifacts changed",
    "requested_tool_confirmations": "confirmation asked",
    "rewind_before_invocation_id": "rewind",
}
"""Actions that are shown as events, by the event's name."""


def read_events(events: Iterable[Any], builder: TranscriptBuilder, place: str = "events") -> str | None:
    """Read events in order; returns the error of the last one, None if it has none.

    Fragments of a streamed answer are read only where the record has no whole answer.
    """
    listed = [_event(one, f"{place}.{index}") for index, one in enumerate(events)]
    error: str | None = None
    for index, event in builder.messages.of_list(_whole(listed), len(listed)):
        error = _EventReader(event, builder, f"{place}.{index}").read()
    return error


def _event(written: Any, place: str) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise CaseFileError(f"{place}: must be an event, not {json_kind(written)}")
    event = snake_keys(written)
    more = event.pop("event_metadata", None)  # of sessions that a server keeps
    return {**snake_keys(more), **event} if isinstance(more, dict) else event


def _whole(events: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The events with their numbers, without fragments that a whole event of their author follows.

    Other fragments of one answer are one event, which is marked as interrupted.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    answered: set[str] = set()
    ends: dict[str, list[dict[str, Any]]] = {}
    for index in reversed(range(len(events))):
        event = events[index]
        author = as_text(event.get("author"))
        if event.get("partial") not in _TRUE:
            if author == USER:
                answered.clear()
                ends = {}
            answered.add(author)
            ends.pop(author, None)
            found.append((index, event))
        elif author in ends:
            ends[author].append(event)
        elif author not in answered:
            ends[author] = [event]
            found.append((index, {"fragments": ends[author], "author": event.get("author")}))
    return [(index, _joined(event)) for index, event in reversed(found)]


def _joined(event: dict[str, Any]) -> dict[str, Any]:
    """The event of fragments that stand in reverse order; the last one says how the answer ended."""
    if "fragments" not in event:
        return event
    whole: dict[str, Any] = {}
    content: dict[str, Any] = {}
    parts: list[Any] = []
    for fragment in reversed(event["fragments"]):
        whole |= fragment
        table = fragment.get("content")
        content |= table if isinstance(table, dict) else {}
        listed = table.get("parts") if isinstance(table, dict) else None
        for part in listed if isinstance(listed, list) else ():
            _add_fragment(part, parts)
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("text"), list):
            part["text"] = "".join(part["text"])
    return {**whole, "content": {**content, "parts": parts}, "interrupted": True}


def _add_fragment(part: Any, parts: list[Any]) -> None:
    """Add a part behind the others; the texts of one answer are gathered in a list."""
    if not isinstance(part, dict):
        parts.append(part)
        return
    last = parts[-1] if parts and isinstance(parts[-1], dict) else {}
    if not isinstance(part.get("text"), str):
        # The arguments of a call have not all arrived.
        parts.append({f"fragment_of_{name}": value for name, value in snake_keys(part).items()})
    elif isinstance(last.get("text"), list) and bool(last.get("thought")) is bool(part.get("thought")):
        last["text"].append(part["text"])
        last |= {name: value for name, value in part.items() if name != "text"}
    else:
        parts.append({**part, "text": [part["text"]]})


class _EventReader:
    def __init__(self, event: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
        self._event = event
        self._builder = builder
        self._place = place
        self._by_user = event.get("author") == USER
        self._agent = None if self._by_user else text_or_none(event.get("author"))
        self._texts: set[str] = set()

    def read(self) -> str | None:
        self._content()
        self._transcriptions()
        self._output()
        self._actions()
        error = self._end()
        origin = "user" if self._by_user else "model"
        self._builder.unread(self._event, _READ | _BOOKKEEPING, origin, self._place)  # type: ignore[arg-type]
        return error

    def _content(self) -> None:
        content = self._event.get("content")
        if content is None:
            return
        if not isinstance(content, dict):
            raise CaseFileError(f"{self._place}.content: must be a content with parts, not {json_kind(content)}")
        author = MessageAuthor("user") if self._by_user else MessageAuthor("model", self._agent)
        read_content_of(author, content, self._builder, f"{self._place}.content")
        parts = content.get("parts")
        listed = parts if isinstance(parts, list) else []
        self._texts = {part["text"] for part in listed if isinstance(part, dict) and isinstance(part.get("text"), str)}

    def _transcriptions(self) -> None:
        for name, kind, speaker in (
            ("input_transcription", "user", None),
            ("output_transcription", "assistant", self._agent),
        ):
            transcription = self._event.get(name)
            text = text_or_none(transcription.get("text")) if isinstance(transcription, dict) else None
            if text is not None and text not in self._texts:
                origin = "user" if kind == "user" else "model"
                place = f"{self._place}.{name}"
                self._builder.add(Message, place, kind=kind, origin=origin, text=text, name=speaker)

    def _output(self) -> None:
        """The output of a node of a workflow, unless it is the text of the event."""
        output = self._event.get("output")
        if not is_blank(output) and as_text(output) not in self._texts:
            self._add_event("output", as_text(output), "output")

    def _actions(self) -> None:
        written = self._event.get("actions")
        if isinstance(written, str | bytes | list) and written:
            self._builder.not_shown("actions of the event", "environment", f"{self._place}.actions", written)
        if not isinstance(written, dict):
            return
        actions = snake_keys(written)
        taker = text_or_none(actions.get("transfer_to_agent"))
        if taker is not None:
            self._builder.handover(self._agent, taker, f"{self._place}.actions.transfer_to_agent")
        if actions.get("escalate") is True:
            self._add_event("escalation", self._agent or "", "actions.escalate")
        self._state(actions.get("state_delta"))
        for name, label in _ACTIONS.items():
            if not is_blank(actions.get(name)):
                self._add_event(label, as_text(actions[name]), f"actions.{name}")
        self._compaction(actions.get("compaction"))
        known = {"transfer_to_agent", "transfer_reason", "escalate", "state_delta", "compaction", *_ACTIONS}
        self._builder.unread(actions, known | _ACTIONS_BOOKKEEPING, "environment", f"{self._place}.actions")

    def _state(self, delta: Any) -> None:
        """What was written into the session's state, except a copy of the event's own text (`output_key`)."""
        if not isinstance(delta, dict):
            return
        texts = {"".join(self._texts), *self._texts}
        changed = {key: value for key, value in delta.items() if not (isinstance(value, str) and value in texts)}
        if changed:
            self._add_event("state changed", as_text(changed), "actions.state_delta")

    def _compaction(self, compaction: Any) -> None:
        if is_blank(compaction):
            return
        place = f"{self._place}.actions.compaction"
        table = snake_keys(compaction) if isinstance(compaction, dict) else {"compacted_content": compaction}
        content = table.get("compacted_content")
        summary = TranscriptBuilder()
        if isinstance(content, dict):
            read_content_of(MessageAuthor("model"), content, summary, f"{place}.compacted_content")
        elif content is not None:
            summary.message("assistant", as_text(content), place)
        items = summary.transcript().items
        texts = [item.text for item in items if isinstance(item, Message)]
        self._add_event("compaction", "\n".join(texts), "actions.compaction")
        self._builder.take((item for item in items if not isinstance(item, Message)), summary.images, place=place)
        self._builder.unread(table, {"start_timestamp", "end_timestamp", "compacted_content"}, "environment", place)

    def _end(self) -> str | None:
        """An error, or an end that is not the usual one; an error's code repeats the reason of an end."""
        code, reason = as_text(self._event.get("error_code")), as_text(self._event.get("finish_reason"))
        said = as_text(self._event.get("error_message"))
        text = ": ".join(part for part in (code, said) if part)
        if text and code != reason:
            self._add_event("error", text, "error_code")
            return text
        if text or (reason and reason not in GOOD_ENDS):
            self._add_event("end of the answer", text or reason, "finish_reason")
        elif self._event.get("interrupted") in _TRUE:
            self._add_event("end of the answer", "interrupted", "interrupted")
        return None

    def _add_event(self, name: str, text: str, field: str) -> None:
        self._builder.add(Event, f"{self._place}.{field}", origin="environment", name=name, text=text)


_SETS = {"eval_cases": "eval_set_id", "eval_case_results": "eval_set_result_id"}
_SETS |= {"evalCases": "evalSetId", "evalCaseResults": "evalSetResultId"}
_STATUS = {1: "passed", 2: "failed", 3: "not evaluated"}
_CELLS = (
    *("content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata", "actions"),
    *("input_transcription", "output_transcription"),
)
"""Columns of an event that are JSON text in a table's cell."""


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
    rows = data["events"] if isinstance(data, GatheredRows) else [data]
    events = [_event_of_row(one, f"events.{index}") for index, one in enumerate(rows)]
    error = read_events(_in_order(events), builder)
    key = data.get("session_id") if isinstance(data, GatheredRows) else None
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
    recognised_by="`events` and `appName`, `eval_id`",
    shows="a session: agents with names, calls, handovers, changes of state, errors; cases and results of evaluations",
)
GOOGLE_ADK_EVENTS = Format(
    "google-adk-events",
    _is_event,
    _read_gathered,
    gather=lambda: RowsByKey(
        _session_id, "session", lambda session, rows: GatheredRows(events=rows, session_id=session)
    ),
    recognised_by="`author` or `event_data` beside `invocationId`",
    shows="one case per session: its events, or the rows of the table `events` of a database",
)
