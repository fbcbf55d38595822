"""What a debate that was told again has otherwise than the record, made readable."""

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

Text = Callable[[str], bytes]
"""The content of a part by the 43 characters of its reference."""

_NOTHING = "(nothing)"


class Kind(StrEnum):
    """event: something else happened. prompt: a model was told something else. call: another call is due.
    tool: a tool answers something else.
    """

    EVENT = "event"
    PROMPT = "prompt"
    CALL = "call"
    TOOL = "tool"


class FieldChange(NamedTuple):
    """One field, by its path (`judgment.votes.0.kind`), as recorded and as it is now; values as JSON shows them."""

    path: str
    recorded: Any
    now: Any


class Difference(NamedTuple):
    """One thing that is otherwise. `place` is an event's id, an exchange's, or a step's; `version` that of the event.

    `cause` says what is likely to have changed.
    """

    kind: Kind
    place: str
    changes: tuple[FieldChange, ...]
    cause: str
    version: int | None = None

    def lines(self) -> Iterator[str]:
        """For people: a heading, then `-` what was recorded and `+` what it is now, long texts as a diff."""
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


def as_told(event: DebateEvent, text: Text) -> dict[str, Any]:
    """The event's body as JSON with its texts in place of their references; bytes that are no UTF-8 as escapes.

    Pictures are told by media type, size and digest.
    """
    told: dict[str, Any] = _with_texts(json.loads(event.model_dump_json()), text)
    return told


def _with_texts(value: Any, text: Text) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"media_type", "content"}:
            return _picture(value["media_type"], text(value["content"]["part"]))
        if value.keys() == {"part"}:
            return text(value["part"]).decode("utf-8", "backslashreplace")
        return {key: _with_texts(inner, text) for key, inner in value.items()}
    return [_with_texts(inner, text) for inner in value] if isinstance(value, list) else value


def _picture(media_type: str, content: bytes) -> str:
    """Stands for a picture, which is not to be read as text."""
    return f"{media_type}, {len(content)} bytes, SHA-256 {sha256(content).hexdigest()}"


_RENDERED: dict[str, frozenset[str]] = {
    "debate_opened": frozenset({"pieces"}),
    "juror_evaluated": frozenset({"shown"}),
    "round_started": frozenset({"instruction"}),
    "statement_made": frozenset({"shown"}),
}
"""Fields that hold pieces of prompts: what they say follows from the prompts, not from what a model answered."""


def split_changes(
    event_type: str, recorded: dict[str, Any], now: dict[str, Any]
) -> tuple[tuple[FieldChange, ...], tuple[FieldChange, ...]]:
    """What differs between two bodies of one type: (of what happened, of what prompts say)."""
    rendered = _RENDERED.get(event_type, frozenset())
    happened: list[FieldChange] = []
    said: list[FieldChange] = []
    # By name the order of pieces is lost, and all but the last of one name.
    for change in [*_changes("", _named(recorded), _named(now))] or _changes("", recorded, now):
        (said if change.path.partition(".")[0] in rendered else happened).append(change)
    return tuple(happened), tuple(said)


def _named(body: dict[str, Any]) -> dict[str, Any]:
    """Pieces by their names instead of their numbers."""
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
    """What differs between a request as it was sent and as it would be sent now, message by message.

    Raises:
        UnknownPart: a text of it is not there.
    """
    if len(recorded) == len(now) and all(
        (old.role, old.call_id, old.parts, old.images) == (new.role, new.call_id, new.parts, new.images)
        for old, new in zip(recorded, now, strict=True)
    ):
        return ()
    before = [_message(old, text) for old in recorded]
    after = [_message(new, text) for new in now]
    return tuple(_changes("request", before, after))


def _message(message: RequestMessage | CallMessage, text: Callable[[PartRef], bytes]) -> dict[str, Any]:
    said = b"".join(map(text, message.parts)).decode("utf-8", "backslashreplace")
    told: dict[str, Any] = {"role": message.role, "call_id": message.call_id, "text": said}
    if message.images:
        told["images"] = [_picture(image.media_type, text(image.content)) for image in message.images]
    return told
