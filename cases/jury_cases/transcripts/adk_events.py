"""The events of Google ADK's sessions as items: contents by agents with names, handovers, changes of state, errors.

Source: the types of `google-adk` (`google.adk.events`, `google.adk.models.llm_response`). Keys are in camelCase or
snake_case.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.gemini import GOOD_ENDS, read_content_of, snake_keys
from jury_cases.transcripts.json_values import as_text, is_blank, json_kind, text_or_none
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
    """Reads one event."""

    def __init__(self, event: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
        self._event = event
        self._builder = builder
        self._place = place
        self._by_user = event.get("author") == USER
        self._agent = None if self._by_user else text_or_none(event.get("author"))
        self._texts: set[str] = set()

    def read(self) -> str | None:
        """Add its items; returns its error."""
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
        """What was said aloud, by the user or the agent."""
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
