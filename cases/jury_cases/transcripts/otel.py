"""Messages of OpenTelemetry's GenAI conventions (a role and typed parts), and the detection of repeated ones.

Source: OpenTelemetry semantic conventions for generative AI, `gen_ai.input.messages` and `gen_ai.output.messages`.
"""

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_objects, as_text, text_or_none
from jury_events.transcript import Message, Origin, Reasoning, ToolCall, ToolResult

_SYSTEM: tuple[str, Origin] = ("system", "developer")
_USER: tuple[str, Origin] = ("user", "user")
_AGENT: tuple[str, Origin] = ("assistant", "model")
_TOOL: tuple[str, Origin] = ("", "tool")
_OTHER: tuple[str, Origin] = ("speaker", "unknown")
_KINDS: dict[str, tuple[str, Origin]] = {
    **dict.fromkeys(("system", "developer"), _SYSTEM),
    **dict.fromkeys(("user", "human"), _USER),
    **dict.fromkeys(("assistant", "ai", "agent", "model"), _AGENT),
    **dict.fromkeys(("tool", "function"), _TOOL),
}
_TEXTS = ("content", "text")
_RETURNED = ("response", "result", "content")
_THOUGHTS = ("thought", "reasoning_content", "reasoning", "thinking")
_REMEMBERED = 200
"""Number of latest conversation states that are searched for a repeat."""


def read_parts_messages(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """A list of messages made of parts; messages with `content` instead are read as chat messages.

    Raises:
        CaseFileError: it is not a list of messages.
    """
    for index, message in enumerate(as_objects(value, place, "messages")):
        read_parts_message(message, builder, f"{place}.{index}")


def read_parts_message(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """One message; raises as `read_parts_messages`."""
    end = message.get("finish_reason")
    if "parts" in message:
        _read_parts(message, builder, place)
    else:
        read_message({key: value for key, value in message.items() if key != "finish_reason"}, builder, place)
    if end is not None and end != "tool_call":
        read_end(as_text(end), builder, f"{place}.finish_reason")


def _read_parts(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    role = as_text(message.get("role"))
    kind, origin = _KINDS.get(role.lower(), _OTHER)
    name = text_or_none(message.get("name"))
    author = MessageAuthor(role or "unnamed role", None if origin == "tool" else name, known=kind != "speaker")
    with builder.by(author):
        _read_parts_by(message, kind, origin, author, builder, place)


def _read_parts_by(
    message: dict[str, Any], kind: str, origin: Origin, author: MessageAuthor, builder: TranscriptBuilder, place: str
) -> None:
    name = text_or_none(message.get("name")) if origin == "tool" else author.shown
    call_id = text_or_none(message.get("tool_call_id") or message.get("id"))
    parts = as_objects(message["parts"], f"{place}.parts", "parts")
    for first, run in _runs(parts):
        at = f"{place}.parts.{first}"
        if run[0].get("type", "text") != "text":
            _read_part(run[0], origin, author.shown, builder, at)
            continue
        text = "\n".join(filter(None, (_text_of(part) for part in run)))
        if kind:
            builder.add(Message, at, kind=kind, origin=origin, text=text, name=name)
        else:
            builder.add(ToolResult, at, call_id=call_id, name=name, text=text)
        for index, part in enumerate(run, start=first):
            builder.unread(part, {"type", *_TEXTS}, origin, f"{place}.parts.{index}")
    known = {"role", "parts", "finish_reason", "name"}
    builder.unread(message, known | ({"id", "tool_call_id"} if origin == "tool" else set()), origin, place)


def _runs(parts: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The parts with their indices; consecutive texts form one group."""
    run: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        if part.get("type", "text") == "text":
            run.append(part)
            continue
        if run:
            yield index - len(run), run
            run = []
        yield index, [part]
    if run:
        yield len(parts) - len(run), run


def _text_of(part: dict[str, Any]) -> str:
    return as_text(_first(part, _TEXTS))


def _first(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _read_part(
    part: dict[str, Any], origin: Origin, speaker: str | None, builder: TranscriptBuilder, place: str
) -> None:
    """Read one part that is not text, with the message's origin and the name of its author."""
    call_id = text_or_none(part.get("id"))
    caller = {"origin": origin if origin == "unknown" else "model", "speaker": speaker}
    match part.get("type"):
        case "reasoning" | "thinking":
            builder.add(Reasoning, place, origin=origin, speaker=speaker, text=_text_of(part))
            known = {*_TEXTS}
        case "tool_call":
            name = as_text(part.get("name")) or "unnamed"
            arguments = as_text(part.get("arguments"))
            builder.add(ToolCall, place, **caller, call_id=call_id, name=name, arguments=arguments)
            known = {"id", "name", "arguments"}
        case "tool_call_response":
            tool = text_or_none(part.get("name"))
            builder.add(ToolResult, place, call_id=call_id, name=tool, text=as_text(_first(part, _RETURNED)))
            known, origin = {"id", "name", *_RETURNED}, "tool"
        case "blob":
            media = part.get("mime_type") or part.get("modality")
            builder.base64_file(_first(part, ("content", "data")), media, origin, place)
            known = {"mime_type", "modality", "content", "data"}
        case "uri":
            builder.url(part.get("uri"), as_text(part.get("modality")) or "file", origin, place)
            known = {"mime_type", "modality", "uri"}
        case "file":
            builder.not_shown("file by its id", origin, place)
            known = {"mime_type", "modality", "file_id"}
        case what:
            builder.not_shown(f"part {as_text(what)}", origin, place, part)
            return
    builder.unread(part, {"type", *known}, origin, place)


class ContentPiece(NamedTuple):
    """One piece of a message's content, in a form for comparison.

    Attributes:
        what: text, call, result, reasoning, or other.
        who: the message's role, for texts.
        call_id: for calls and results.
        text: the text; for a call its tool and arguments.
        keys: its position in the message: fields with indices of parts.
    """

    what: str
    who: str
    call_id: str | None
    text: str
    keys: tuple[tuple[str, int], ...]

    def same_as(self, other: "ContentPiece") -> bool:
        """Whether the pieces are equal: by id if both have one, else by text."""
        if (self.what, self.who) != (other.what, other.who):
            return False
        if self.call_id is not None and other.call_id is not None:
            return self.call_id == other.call_id
        return self.text == other.text


def pieces_of(message: dict[str, Any]) -> list[ContentPiece]:
    """The pieces of a message, without blank texts."""
    found = list(_of_parts(message) if "parts" in message else _of_chat(message))
    return [one for one in found if one.what in {"call", "result"} or one.text]


def _of_parts(message: dict[str, Any]) -> Iterator[ContentPiece]:
    role = as_text(message.get("role")).lower()
    who = _KINDS.get(role, (role, ""))[0]
    parts = message["parts"] if isinstance(message["parts"], list) else []
    for first, run in _runs([part if isinstance(part, dict) else {} for part in parts]):
        keys = tuple(("parts", first + index) for index in range(len(run)))
        part, what = run[0], run[0].get("type", "text")
        call_id = text_or_none(part.get("id"))
        match what:
            case "text" if _KINDS.get(role) == _TOOL:
                call_id = text_or_none(message.get("tool_call_id") or message.get("id"))
                yield ContentPiece("result", "", call_id, "\n".join(map(_text_of, run)).strip(), keys)
            case "text":
                yield ContentPiece("text", who, None, "\n".join(filter(None, map(_text_of, run))).strip(), keys)
            case "reasoning" | "thinking":
                yield ContentPiece("reasoning", "", None, _text_of(part).strip(), keys)
            case "tool_call":
                yield ContentPiece("call", "", call_id, call_text(part.get("name"), part.get("arguments")), keys)
            case "tool_call_response":
                yield ContentPiece("result", "", call_id, canonical(_first(part, _RETURNED)), keys)
            case _:
                yield ContentPiece("other", who, None, canonical(part), keys)


def _of_chat(message: dict[str, Any]) -> Iterator[ContentPiece]:
    role = as_text(message.get("role")).lower()
    who = _KINDS.get(role, (role, ""))[0]
    for field in _THOUGHTS:
        yield ContentPiece("reasoning", "", None, canonical(message.get(field)), ((field, 0),))
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else one.get("text") if isinstance(one, dict) else None for one in blocks]
    text = "\n".join(one for one in texts if isinstance(one, str) and one)
    if _KINDS.get(role) == _TOOL:
        yield ContentPiece(
            "result", "", text_or_none(message.get("tool_call_id")), text or canonical(content), _CONTENT
        )
    elif len([one for one in texts if isinstance(one, str)]) == len(blocks):
        yield ContentPiece("text", who, None, text.strip(), _CONTENT)
    else:
        yield ContentPiece("other", who, None, canonical(content), _CONTENT)
    calls = message.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else []):
        table = call if isinstance(call, dict) else {}
        inner = table["function"] if isinstance(table.get("function"), dict) else table
        named = call_text(inner.get("name"), _first(inner, ("arguments", "args", "input")))
        yield ContentPiece("call", "", text_or_none(table.get("id")), named, (("tool_calls", index),))


_CONTENT = (("content", 0),)


def call_text(name: Any, arguments: Any) -> str:
    """A tool and its arguments in canonical form."""
    return f"{as_text(name)} {canonical(arguments)}"


def canonical(value: Any) -> str:
    """JSON (decoded or as text) with sorted keys; other text stripped; "" for null."""
    decoded: Any = value
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return value.strip()
    return "" if decoded is None else json.dumps(decoded, sort_keys=True, default=str)


@dataclass(frozen=True, eq=False)
class TraceMessage:
    """A message with its position. `other`: an alternative choice that the conversation did not continue."""

    data: dict[str, Any]
    place: str
    other: bool = False

    @cached_property
    def pieces(self) -> list[ContentPiece]:
        """The message's pieces."""
        return pieces_of(self.data)

    def only(self, kept: Iterable[ContentPiece]) -> "TraceMessage":
        """The message reduced to these pieces."""
        keys = {key for piece in kept for key in piece.keys}
        left = {key: value for key, value in self.data.items() if key != "finish_reason"}
        for field in ("parts", "tool_calls"):
            if isinstance(left.get(field), list):
                left[field] = [one for index, one in enumerate(left[field]) if (field, index) in keys]
        for field in ("content", *_THOUGHTS):
            if (field, 0) not in keys:
                left.pop(field, None)
        return replace(self, data=left)


class ConversationState(NamedTuple):
    """A conversation up to the end of one span. `failed`: the span failed, so that the same input may follow again."""

    pieces: tuple[ContentPiece, ...]
    systems: frozenset[str]
    failed: bool


class Conversations:
    """The conversations of a trace's spans so far; a later span may repeat and continue one."""

    def __init__(self) -> None:
        self._states: deque[ConversationState] = deque(maxlen=_REMEMBERED)
        self._systems: dict[Any, set[str]] = {}

    def span_ended(self, before: ConversationState, outputs: Sequence[TraceMessage], *, failed: bool) -> None:
        """Record the end of a span with its outputs."""
        added = tuple(piece for message in outputs if not message.other for piece in _compared(message))
        self._states.append(ConversationState(before.pieces + added, before.systems, failed and not added))

    def new_of(self, inputs: Sequence[TraceMessage], scope: Any) -> tuple[list[TraceMessage], ConversationState]:
        """The messages of an input that do not repeat a conversation, and the conversation including them.

        Only the beginning of an input can be a repeat, and only of the end of an earlier span's conversation. Leading
        system messages are reported once per `scope`, one run of an agent.
        """
        opening = _opening(inputs)
        rest = inputs[opening:]
        pieces = tuple(piece for message in rest for piece in _compared(message))
        found, count = self._repeated(pieces)
        systems = frozenset(piece.text for message in inputs[:opening] for piece in _compared(message))
        known = self._systems.setdefault(scope, set())
        before = known | (found.systems if found else set())
        known |= systems
        new = [] if rest and systems <= before else list(inputs[:opening])
        new += _after(rest, count)
        return new, ConversationState((found.pieces if found else ()) + pieces[count:], systems, failed=False)

    def _repeated(self, pieces: tuple[ContentPiece, ...]) -> tuple[ConversationState | None, int]:
        """The conversation repeated by the first pieces, and their number."""
        best: tuple[ConversationState | None, int] = (None, 0)
        for state in reversed(self._states):
            count = _overlap(state.pieces, pieces)
            if count == len(pieces) == 1 and pieces[0].who == "user" and not state.failed:
                count = 0  # the user repeats a message to an agent that keeps the conversation itself
            if count > best[1]:
                best = state, count
            if count and count == len(state.pieces):
                break
        return best


def _compared(message: TraceMessage) -> list[ContentPiece]:
    return [piece for piece in message.pieces if piece.what != "reasoning"]


def _opening(inputs: Sequence[TraceMessage]) -> int:
    """The number of leading system messages."""
    roles = (as_text(message.data.get("role")).lower() for message in inputs)
    return next((index for index, role in enumerate(roles) if _KINDS.get(role) != _SYSTEM), len(inputs))


def _overlap(earlier: tuple[ContentPiece, ...], pieces: tuple[ContentPiece, ...]) -> int:
    """The number of first pieces that repeat the end of the earlier ones."""
    for count in range(min(len(earlier), len(pieces)), 0, -1):
        start = len(earlier) - count
        if all(pieces[index].same_as(earlier[start + index]) for index in range(count)):
            return count
    return 0


def _after(inputs: Sequence[TraceMessage], count: int) -> list[TraceMessage]:
    """The messages without their first `count` pieces and the reasoning before the last of those."""
    new: list[TraceMessage] = []
    for message in inputs:
        pieces = message.pieces
        compared = sum(piece.what != "reasoning" for piece in pieces)
        if not count:
            new.append(message)
        elif compared > count:
            left = pieces[_position(pieces, count) :]
            new.append(message.only(left))
        count = max(0, count - compared)
    return new


def _position(pieces: list[ContentPiece], count: int) -> int:
    """The index after the first `count` pieces, reasoning not counted."""
    for index, piece in enumerate(pieces):
        if not count:
            return index
        count -= piece.what != "reasoning"
    return len(pieces)


class ContentCounter:
    """Counts content pieces, to find pieces that other messages do not contain."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def count(self, messages: Iterable[TraceMessage]) -> None:
        """Count the pieces of one span's messages."""
        for message in messages:
            for piece in message.pieces:
                own = ("id", piece.call_id) if piece.call_id is not None else ("text", piece.text)
                self._counts[piece.what, piece.who, *own] += 1
                self._counts[piece.what, piece.who, "any", piece.text] += 1

    def __bool__(self) -> bool:
        return bool(self._counts)

    @property
    def counts(self) -> Counter[tuple[str, ...]]:
        """The counts by piece."""
        return self._counts

    def merge_max(self, other: "ContentCounter") -> None:
        """Take the maximum of both counts for each piece."""
        self._counts |= other.counts

    def unreported(self, messages: Sequence[TraceMessage]) -> list[TraceMessage]:
        """The messages, reduced to pieces that occur more often in them than counted here."""
        used: Counter[tuple[str, ...]] = Counter()
        left = []
        for message in messages:
            pieces = message.pieces
            new = [piece for piece in pieces if not self._has(piece, used)]
            if new:
                left.append(message if len(new) == len(pieces) else message.only(new))
        return left

    def _has(self, piece: ContentPiece, used: Counter[tuple[str, ...]]) -> bool:
        base = (piece.what, piece.who)
        keys = [(*base, "any", piece.text)]
        if piece.call_id is not None:
            keys = [(*base, "id", piece.call_id), (*base, "text", piece.text)]
        key = next((one for one in keys if self._counts[one] > used[one]), None)
        if key is None:
            return False
        used[key] += 1
        return True
