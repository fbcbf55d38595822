"""Threads of LangGraph: snapshots of a state, checkpoints, and streams of messages, each thread one case.

A thread's snapshots repeat its conversation. They are read in the order of their times: a message is known by its id,
and one that a later snapshot no longer has was said nevertheless. Source: `langgraph.types.StateSnapshot`,
`langgraph.checkpoint.base`, the stream modes of `langgraph` and the events of `langgraph_sdk`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format, RowsByKey
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, is_blank, text_or_none
from jury_cases.transcripts.langchain import is_langchain, read_fields, read_langchain_list, unwrapped
from jury_cases.transcripts.reading import first_prompt, is_message, read_messages
from jury_events.transcript import Event

_WHOLE = frozenset({"messages/partial", "messages/complete"})
"""Events of the SDK with messages as they are so far."""

_EVENTS = _WHOLE | {"messages/metadata", "messages", "values", "metadata", "error", "end"}
_OWN_COLUMNS = frozenset({"question", "response", "messages", "execution"})
_OF_INTERRUPTS = frozenset({"value", "id", "interrupt_id", "ns", "resumable", "when"})


class ThreadRows(list[Any]):
    """The rows of one thread."""


def _checkpoint(row: Mapping[str, Any]) -> dict[str, Any]:
    inner = row.get("checkpoint")
    return inner if isinstance(inner, dict) and "channel_values" in inner else dict(row)


def _values(row: Any) -> dict[str, Any] | None:
    """The channels of a snapshot or a checkpoint; None: it is neither."""
    if not isinstance(row, dict):
        return None
    if isinstance(row.get("values"), dict) and "next" in row:
        return as_object(row["values"])
    found = _checkpoint(row).get("channel_values")
    return found if isinstance(found, dict) else None


def _is_streamed(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and is_langchain(row[0]) and "langgraph_node" in as_object(row[1])  # noqa: PLR2004


def _is_event(row: Any) -> bool:
    known = isinstance(row, dict) and as_text(row.get("event")) in _EVENTS and "data" in row
    return known and _OWN_COLUMNS.isdisjoint(row)


def _recognises(row: Any) -> bool:
    return _is_streamed(row) or _is_event(row) or _values(row) is not None


def _thread(row: Any) -> str:
    if isinstance(row, list):
        return as_text(as_object(row[-1]).get("thread_id"))
    places = [as_object(as_object(row.get("config")).get("configurable")), as_object(row.get("checkpoint")), row]
    return next((found for one in places if (found := text_or_none(one.get("thread_id"))) is not None), "")


class _Threads(RowsByKey):
    """Rows by their thread; events of a stream that are not messages belong to the rows before them."""

    def __init__(self) -> None:
        super().__init__(_thread, "thread", lambda _key, rows: ThreadRows(rows))

    def takes(self, data: Any) -> bool:
        return isinstance(data, dict) and "event" in data and "data" in data


def _read(given: Any) -> CaseDraft:
    rows: list[Any] = given if isinstance(given, ThreadRows) else [given]
    builder = TranscriptBuilder()
    states = sorted((row for row in rows if _values(row) is not None), key=_time)
    draft = CaseDraft(built=builder, answered=True)
    _Messages(rows, states).read(builder)
    if states:
        _read_last(states[-1], draft, builder)
    for index, row in enumerate(row for row in rows if isinstance(row, dict) and "event" in row):
        kind = as_text(row["event"])
        if kind == "error":
            draft.error = as_text(row["data"])
        elif kind not in _EVENTS and not is_blank(row.get("data")):
            builder.not_shown(f"event {kind}", "environment", f"events.{index}", row["data"])
    threads = [found for row in rows if (found := _thread(row))]
    draft.metadata = {"conversation": threads[0]} if threads else {}
    if first_prompt(builder.transcript()) is None:
        draft.question = ""  # a stream has only what the graph said
    return draft


def _time(row: dict[str, Any]) -> str:
    return as_text(row.get("created_at") or _checkpoint(row).get("ts"))


class _Messages:
    def __init__(self, rows: list[Any], states: list[dict[str, Any]]) -> None:
        self._rows = rows
        self._states = states
        self._found: dict[str, Any] = {}

    def read(self, builder: TranscriptBuilder) -> None:
        """Read the states and whole messages of streams, else the chunks of a stream, which states repeat."""
        parts: list[Any] = []
        for state in self._states:
            self._add(_channel(_values(state) or {}))
        for row in self._rows:
            data = row.get("data") if isinstance(row, dict) and "event" in row else None
            kind = as_text(row["event"]) if data is not None else ""
            if kind in _WHOLE:
                self._add(data)
            elif kind == "values":
                self._add(_channel(as_object(data)))
            elif kind == "messages" and isinstance(data, list):
                parts += data[:1]
            elif isinstance(row, list):
                parts.append(row[0])
        if not self._found:
            read_langchain_list(parts, builder)
        for index, message in builder.messages.of_list(enumerate(self._found.values()), len(self._found)):
            fields = unwrapped(message) if isinstance(message, dict) else None
            if fields is None:
                read_messages([message], builder, f"messages.{index}")
            else:
                read_fields(fields, builder, f"messages.{index}")

    def _add(self, messages: Any) -> None:
        """Add messages; one with a known id replaces the earlier one, one without an id is known by its text."""
        seen: dict[str, int] = {}
        for message in messages if isinstance(messages, list) else []:
            fields = (unwrapped(message) if isinstance(message, dict) else None) or {}
            text = text_or_none(fields.get("id")) or as_text(message)
            seen[text] = seen.get(text, 0) + 1
            self._found[f"{text} {seen[text]}"] = message


def _channel(values: Mapping[str, Any]) -> Any:
    """The channel of the messages: `messages`, else the first that has some."""
    listed = (value for value in values.values() if isinstance(value, list) and any(map(is_message, value)))
    return values["messages"] if isinstance(values.get("messages"), list) else next(listed, None)


def _read_last(state: dict[str, Any], draft: CaseDraft, builder: TranscriptBuilder) -> None:
    """What the last state has besides messages: errors of tasks, interrupts, other channels."""
    for task in _objects(state.get("tasks")):
        if not is_blank(task.get("error")):
            draft.error = as_text(task["error"])
    for index, interrupt in enumerate(_objects(state.get("interrupts"))):
        text = as_text(interrupt.get("value"))
        builder.add(Event, f"interrupts.{index}", origin="environment", name="interrupt", text=text)
        builder.unread(interrupt, _OF_INTERRUPTS, "environment", f"interrupts.{index}")
    values = _values(state) or {}
    shown = _channel(values)
    for name, value in values.items():
        if value is not shown and not is_blank(value) and ":" not in name and not name.startswith("__"):
            builder.not_shown(f"state {name}", "environment", f"values.{name}", value)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


LANGGRAPH = Format(
    "langgraph",
    _recognises,
    _read,
    gather=_Threads,
    columns=frozenset({"values", "next", "config", "metadata", "created_at", "parent_config", "tasks", "interrupts"}),
    recognised_by="a snapshot (`values`, `next`), a checkpoint (`channel_values`), a stream of messages",
    shows="one case per thread: the messages of all its snapshots, interrupts, errors of tasks",
)
