"""Differences between a record and its replay, in a readable form."""

import json
from collections.abc import Callable, Iterator
from difflib import unified_diff
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from jury_debate.assignment import CallMessage
from jury_events.codec import DebateEvent
from jury_events.exchange import RequestMessage
from jury_events.parts import PartRef
from jury_events.text import visible_line

Text = Callable[[str], bytes]
"""The content of a part by the 43 characters of its reference."""

_NOTHING = "(nothing)"
_WIDTH = 400
_MOST = 40
"""Lines of one difference that are shown."""


class DifferenceKind(StrEnum):
    """event: another event. prompt: another prompt. call: another model call. tool: another tool result."""

    EVENT = "event"
    PROMPT = "prompt"
    CALL = "call"
    TOOL = "tool"


class FieldChange(NamedTuple):
    """One field by its path (`judgment.votes.0.kind`), as recorded and as replayed; JSON values."""

    path: str
    recorded: Any
    now: Any


class ReplayDifference(NamedTuple):
    """One difference. `place` is the id of an event, an exchange or a step; `version` that of the event.

    `cause` names the likely cause.
    """

    kind: DifferenceKind
    place: str
    changes: tuple[FieldChange, ...]
    cause: str
    version: int | None = None

    def shown_lines(self) -> Iterator[str]:
        """`lines` for people: what cannot be seen is written out, what is too long is cut, said so."""
        lines = list(self.lines())
        yield from (visible_line(line, _WIDTH) for line in lines[:_MOST])
        if len(lines) > _MOST:
            yield f"  … {len(lines) - _MOST} more lines"

    def lines(self) -> Iterator[str]:
        """Readable lines: a heading, then `-` the recorded and `+` the replayed value, long texts as a diff."""
        at = "" if self.version is None else f"event {self.version}, "
        yield f"{self.kind.value} at {at}{self.place}: {self.cause}"
        for change in self.changes:
            yield from _change_lines(change)


def _change_lines(change: FieldChange) -> Iterator[str]:
    old, new = _shown(change.recorded), _shown(change.now)
    if "\n" not in old + new:
        yield f"  {change.path}"
        yield f"  - {old}"
        yield f"  + {new}"
        return
    yield f"  {change.path}"
    diff = unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=1)
    yield from (f"  {line}" for line in diff if not line.startswith(("---", "+++")))


def _shown(value: Any) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def with_texts(event: DebateEvent, text: Text) -> dict[str, Any]:
    """The event's body as JSON with texts in place of their references; bytes that are not UTF-8 as escapes.

    A picture is described by media type, size and digest.
    """
    body: dict[str, Any] = _resolved(json.loads(event.model_dump_json()), text)
    return body


def _resolved(value: Any, text: Text) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"media_type", "content"}:
            return _picture(value["media_type"], text(value["content"]["part"]))
        if value.keys() == {"part"}:
            return text(value["part"]).decode("utf-8", "backslashreplace")
        return {key: _resolved(inner, text) for key, inner in value.items()}
    return [_resolved(inner, text) for inner in value] if isinstance(value, list) else value


def _picture(media_type: str, content: bytes) -> str:
    """The description shown in place of a picture."""
    return f"{media_type}, {len(content)} bytes, SHA-256 {sha256(content).hexdigest()}"


_RENDERED: dict[str, frozenset[str]] = {
    "debate_opened": frozenset({"pieces"}),
    "juror_evaluated": frozenset({"peer_text"}),
    "round_started": frozenset({"instruction"}),
    "statement_made": frozenset({"peer_text"}),
}
"""Fields with pieces of prompts: they depend on the prompts version, not on an answer."""


def split_changes(
    event_type: str, recorded: dict[str, Any], now: dict[str, Any]
) -> tuple[tuple[FieldChange, ...], tuple[FieldChange, ...]]:
    """Changes between two bodies of one type: (of facts, of prompt pieces)."""
    rendered = _RENDERED.get(event_type, frozenset())
    facts: list[FieldChange] = []
    prompts: list[FieldChange] = []
    # Pieces by name lose their order and repeated names: compare by number when no name differs.
    for change in [*_changes("", _named(recorded), _named(now))] or _changes("", recorded, now):
        (prompts if change.path.partition(".")[0] in rendered else facts).append(change)
    return tuple(facts), tuple(prompts)


def _named(body: dict[str, Any]) -> dict[str, Any]:
    if "pieces" not in body:
        return body
    return {**body, "pieces": {piece["name"]: piece["text"] for piece in body["pieces"]}}


def _changes(path: str, recorded: Any, now: Any) -> Iterator[FieldChange]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*recorded, *now)):
            yield from _changes(f"{path}.{key}" if path else key, recorded.get(key), now.get(key))
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for index, (old, new) in enumerate(zip(recorded, now, strict=True)):
            yield from _changes(f"{path}.{index}", old, new)
    elif recorded != now:
        yield FieldChange(path, recorded, now)


def request_changes(
    recorded: tuple[RequestMessage, ...], now: tuple[CallMessage, ...], text: Callable[[PartRef], bytes]
) -> tuple[FieldChange, ...]:
    """Changes between a recorded request and the replayed one, message by message."""
    if len(recorded) == len(now) and all(
        (old.role, old.call_id, old.parts, old.images) == (new.role, new.call_id, new.parts, new.images)
        for old, new in zip(recorded, now, strict=True)
    ):
        return ()
    before = [_message(old, text) for old in recorded]
    after = [_message(new, text) for new in now]
    return tuple(_changes("request", before, after))


def _message(message: RequestMessage | CallMessage, text: Callable[[PartRef], bytes]) -> dict[str, Any]:
    joined = b"".join(map(text, message.parts)).decode("utf-8", "backslashreplace")
    shown: dict[str, Any] = {"role": message.role, "call_id": message.call_id, "text": joined}
    if message.images:
        shown["images"] = [_picture(image.media_type, text(image.content)) for image in message.images]
    return shown
