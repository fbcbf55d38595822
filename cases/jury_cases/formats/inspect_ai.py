"""Samples of Inspect logs: messages with resolved attachments, output, target, scores and metadata.

Source: inspect_ai, `EvalSample`. A sample's `events` record how its messages came about; of them only the reasons are
read why answers ended.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_chat, read_end, read_message
from jury_cases.transcripts.json_values import as_object, as_text, text_or_none
from jury_cases.transcripts.reading import first_prompt
from jury_events.transcript import Event, Item, ToolCall

_CALL = "transfer_to_"


# A handoff is a call of `transfer_to_NAME`. The messages of that agent follow in the same list, changed for the first
# one: its texts begin with `[NAME] `, its calls are written as text, and its tools' results have the user's role. At
# the end is a sentence of the loop.
#
# Source: inspect_ai, `handoff` and `content_only`.
class Handoffs:
    """Reads the messages of a sample one by one, as far as they are of a handoff."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._agents: list[str] = []

    def read(self, message: Any, place: str) -> bool:
        """Read a message; False: it is read as any other."""
        if not isinstance(message, dict):
            return False
        role = message.get("role")
        tool = message.get("function")
        if role == "tool" and isinstance(tool, str) and tool.startswith(_CALL) and not message.get("error"):
            read_message(message, self._builder, place)
            self._agents.append(tool.removeprefix(_CALL))
            self._builder.handover("main agent", self._agents[-1], place)
            return True
        if not self._agents:
            return False
        if role == "user" and message.get("source") is None:
            self._of_the_loop(message, place)
            return True
        if role == "assistant" and (named := _without_prefix(message, self._agents[-1])) is not None:
            read_message(named, self._builder, place)
            return True
        return False

    def _of_the_loop(self, message: dict[str, Any], place: str) -> None:
        agent = self._agents[-1]
        if message.get("content") == f"The {agent} agent has completed its work.":
            self._agents.pop()
            self._builder.add(Event, place, origin="environment", name="end of the handover", text=message["content"])
        else:
            speaker = Speaker(None, "tool")
            BlockReader(speaker, self._builder).read(message.get("content"), f"{place}.content")


def _without_prefix(message: dict[str, Any], agent: str) -> dict[str, Any] | None:
    """The message with the agent as its name; None: it is of another."""
    content = message.get("content")
    mark = f"[{agent}] "
    if isinstance(content, str) and content.startswith(mark):
        return {**message, "content": content.removeprefix(mark), "name": agent}
    if isinstance(content, list) and any(_text(one).startswith(mark) for one in content):
        blocks = [
            {**one, "text": one["text"].removeprefix(mark)} if _text(one).startswith(mark) else one for one in content
        ]
        return {**message, "content": blocks, "name": agent}
    return None


def _text(block: Any) -> str:
    found = block.get("text") if isinstance(block, dict) else None
    return found if isinstance(found, str) else ""


_ATTACHMENT = "attachment://"
_LACKED = re.compile(r"attachment://[0-9a-f]{32}")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEADER = "_eval"
"""The key of the log's `eval` object in a sample from an archive."""


def _read(row: Any) -> CaseDraft:
    sample = row
    header = as_object(sample.get(HEADER))
    attachments = as_object(sample.get("attachments"))
    builder = TranscriptBuilder()
    last = _messages(sample.get("messages") or [], attachments, builder, _ends(sample))
    _output(_resolved(sample.get("output"), attachments), last, builder)
    _limit(sample.get("limit"), builder)
    error = sample.get("error")
    target = sample.get("target")
    targets = [as_text(one) for one in (target if isinstance(target, list) else [target]) if one not in (None, "")]
    epoch = sample.get("epoch") or 1
    identity = as_text(sample.get("id")) or None
    return CaseDraft(
        case_id=identity if epoch == 1 or identity is None else f"{identity} epoch {as_text(epoch)}",
        question=_question(_resolved(sample.get("input"), attachments), sample.get("choices"), builder),
        expected_behavior="\n".join(targets) or None,
        built=builder,
        error=as_text(error.get("message")) if isinstance(error, dict) else as_text(error) or None,
        metadata={
            **as_object(sample.get("metadata")),
            **{f"score.{name}": _score(score) for name, score in as_object(sample.get("scores")).items()},
            **{name: header[name] for name in ("task", "model") if header.get(name) is not None},
            "epoch": epoch,
        },
        tags=header.get("tags"),
        cluster=identity,
    )


def _ends(sample: dict[str, Any]) -> dict[str, Any]:
    """Why answers ended, by the ids of their messages; the answer of the output is left out, which says it itself."""
    events = sample.get("events")
    found: dict[str, Any] = {}
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and event.get("event") == "model":
            name, reason = _end(event.get("output"))
            found |= {} if name is None else {name: reason}
    name, _ = _end(sample.get("output"))
    found.pop(name or "", None)
    return found


def _end(output: Any) -> tuple[str | None, Any]:
    choices = as_object(output).get("choices")
    first = as_object(choices[0]) if isinstance(choices, list) and choices else {}
    return text_or_none(as_object(first.get("message")).get("id")), first.get("stop_reason")


def _messages(value: Any, attachments: dict[str, Any], builder: TranscriptBuilder, ends: dict[str, Any]) -> Any:
    """Read the messages; returns the assistant's last one, None if there is none."""
    last = None
    if not isinstance(value, list):
        read_chat(value, builder)
    handoffs = Handoffs(builder)
    for index, written in builder.messages.of_list(enumerate(value), len(value)):
        place = f"messages.{index}"
        message = _resolved(written, attachments)
        if not handoffs.read(message, place):
            read_message(message, builder, place)
        for _ in range(_lacking(message, attachments)):
            builder.not_shown("attachment that the log lacks", "environment", place)
        reason = ends.get(text_or_none(message.get("id")) or "")
        if reason != "unknown":
            read_end(reason, builder, f"{place}.stop_reason")
        if message["role"] == "assistant":
            last = message
    return last


class _AgentOutput(NamedTuple):
    items: tuple[Item, ...]
    words: str


def _agent_output(message: Any) -> _AgentOutput:
    """`words` is the message's text without spaces, for comparison with a completion."""
    builder = TranscriptBuilder()
    if message is not None:
        read_message(message, builder, "message")
    items = builder.transcript().items
    texts = "".join(item.text for item in items if item.kind in {"assistant", "refusal"})
    return _AgentOutput(items, _without_spaces(texts))


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _output(output: Any, last: Any, builder: TranscriptBuilder) -> None:
    """Add the output's content that the messages lack: a different final answer, more choices, an abnormal end."""
    found = as_object(output)
    choices = found.get("choices")
    listed = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    first = listed[0] if listed else {}
    before, message = _agent_output(last), first.get("message")
    after = _agent_output(message)
    if message is not None and _is_same(message, last, after, before):
        _add_calls(after, before, builder)
    elif message is not None and after.items != before.items:
        read_message(message, builder, "output.choices.0.message")
    completion = as_text(found.get("completion"))
    if _without_spaces(completion) not in {"", before.words, after.words}:
        builder.message("assistant", completion, "output.completion")
    for index, choice in enumerate(listed[1:], 1):
        builder.not_shown("another choice", "model", f"output.choices.{index}", choice)
    if first.get("stop_reason") != "unknown":
        read_end(first.get("stop_reason"), builder, "output.choices.0.stop_reason")
    if found.get("error"):
        builder.add(Event, "output.error", origin="environment", name="error", text=as_text(found["error"]))


def _is_same(message: Any, last: Any, after: _AgentOutput, before: _AgentOutput) -> bool:
    """Whether the output is the last message: by its id, else by its words."""
    if not isinstance(message, dict) or not isinstance(last, dict):
        return False
    ids = text_or_none(message.get("id")), text_or_none(last.get("id"))
    return (ids[0] == ids[1] if None not in ids else after.words == before.words) and bool(after.words)


def _add_calls(after: _AgentOutput, before: _AgentOutput, builder: TranscriptBuilder) -> None:
    """Add the calls of the output that its message has lost: an agent's loop takes the call of `submit` out of it."""
    for item in after.items:
        if isinstance(item, ToolCall) and item not in before.items and not _is_called(item, builder):
            builder.add(ToolCall, "output.choices.0.message.tool_calls", **dict(item))


def _is_called(call: ToolCall, builder: TranscriptBuilder) -> bool:
    """Whether the messages have a call: of that id and tool, as ids may be those of other turns too."""
    return any((one.call_id, one.name) == (call.call_id, call.name) for one in builder.calls_since(0))


def _limit(limit: Any, builder: TranscriptBuilder) -> None:
    if limit is None:
        return
    text = as_text(limit)
    if isinstance(limit, dict):
        value = limit.get("limit")
        written = as_text(int(value) if isinstance(value, float) and value.is_integer() else value)
        text = " ".join(part for part in (as_text(limit.get("type")), written, as_text(limit.get("reason"))) if part)
    builder.add(Event, "limit", origin="environment", name="limit", text=text)


def _question(given: Any, choices: Any, builder: TranscriptBuilder) -> str | None:
    written = given if isinstance(given, str) and given.strip() else None
    asked = written or first_prompt(builder.transcript())
    listed = [as_text(one) for one in choices] if isinstance(choices, list) else []
    if asked is None or all(choice in asked for choice in listed):
        return written
    lines = (f"{_letter(index)}) {choice}" for index, choice in enumerate(listed))
    return "\n".join([asked, "", "Choices:", *lines])


def _letter(index: int) -> str:
    return _LETTERS[index] if index < len(_LETTERS) else str(index - len(_LETTERS) + 1)


def _score(score: Any) -> Any:
    return score.get("value") if isinstance(score, dict) and "value" in score else score


def _resolved(value: Any, attachments: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]
    if isinstance(value, dict):
        return {name: _resolved(one, attachments) for name, one in value.items()}
    return value


def _lacking(value: Any, attachments: dict[str, Any]) -> int:
    """The number of references to attachments that the log does not contain."""
    if isinstance(value, str):
        return int(_LACKED.fullmatch(value) is not None and value.removeprefix(_ATTACHMENT) not in attachments)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(_lacking(one, attachments) for one in inner)


def _recognises(row: Any) -> bool:
    return isinstance(row, dict) and (HEADER in row or {"id", "epoch", "input", "target", "messages"} <= row.keys())


def _rows_path(document: Mapping[str, Any]) -> str | None:
    return "samples" if {"eval", "samples"} <= document.keys() else None


INSPECT = Format(
    "inspect",
    _recognises,
    _read,
    _rows_path,
    recognised_by="a sample of an Inspect log (`.eval`, `.json`)",
    shows=(
        "messages with their attachments, an output that differs, limits, choices; `target` as expected "
        "behaviour, scores and metadata as metadata"
    ),
)
