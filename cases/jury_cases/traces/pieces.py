"""Pieces of messages in a form for comparison, to find what a trace records twice."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jury_cases.transcripts.json_values import as_text
from jury_events.transcript import Attachment, Event, Item, Message, NotShown, Reasoning, Refusal, ToolCall, ToolResult

What = Literal["text", "call", "result", "reasoning", "other", ""]


@dataclass(frozen=True, eq=False)
class ContentPiece:
    """An item, with those that belong to it and are not compared: why an answer ended, unknown fields.

    Attributes:
        items: in order.
        what: "" if none of the items is compared, such as an empty text.
        who: the kind of message, for texts.
        call_id: for calls and results.
        text: the text; for a call its tool and arguments, for a file its digest.
        name: the tool, for calls.
    """

    items: tuple[Item, ...]
    what: What
    who: str = ""
    call_id: str | None = None
    text: str = ""

    @property
    def name(self) -> str | None:
        return next((item.name for item in self.items if isinstance(item, ToolCall)), None)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Equal pieces have one in common."""
        own = (self.what, self.text)
        return (own,) if self.call_id is None else (own, ("id", self.call_id))

    def same_as(self, other: "ContentPiece") -> bool:
        """Whether the pieces are equal: by id if both have one, else by text."""
        if (self.what, self.who) != (other.what, other.who):
            return False
        if self.call_id is not None and other.call_id is not None:
            return self.call_id == other.call_id
        return self.text == other.text


def pieces_of(items: Iterable[Item]) -> list[ContentPiece]:
    """The pieces of a list of items; an item that is not compared belongs to the one before it."""
    groups: list[tuple[list[Item], tuple[What, str, str | None, str]]] = []
    for item in items:
        compared = _compared(item)
        if groups and (compared is _NOT_COMPARED or groups[-1][1] is _NOT_COMPARED):
            groups[-1][0].append(item)
            if compared is not _NOT_COMPARED:
                groups[-1] = groups[-1][0], compared
        else:
            groups.append(([item], compared))
    return [ContentPiece(tuple(listed), *compared) for listed, compared in groups]


_NOT_COMPARED: tuple[What, str, str | None, str] = ("", "", None, "")


def _compared(item: Item) -> tuple[What, str, str | None, str]:
    match item:
        case ToolCall():
            return "call", "", item.call_id, call_text(item.name, item.arguments)
        case ToolResult():
            return "result", "", item.call_id, canonical(item.text)
        case Attachment():
            return "other", item.origin, None, item.digest
        case Message() | Refusal() | Reasoning() if not item.text.strip():
            return _NOT_COMPARED
        case Message():
            return "text", item.kind, None, item.text.strip()
        case Refusal():
            return "text", "assistant", None, item.text.strip()
        case Reasoning():
            return "reasoning", "", None, item.text.strip()
        case Event(name="end of the answer"):
            return _NOT_COMPARED
        case NotShown() if item.what.startswith("field ") or item.what == "another choice":
            return _NOT_COMPARED
        case _:
            written = item.model_dump(exclude={"location"})
            return "other", item.origin, None, json.dumps(written, sort_keys=True, default=str)


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


def items_of(pieces: Iterable[ContentPiece]) -> list[Item]:
    return [item for piece in pieces for item in piece.items]


class PieceCounter:
    """Counts pieces, to find those that other messages do not contain.

    Attributes:
        counts: by kind and author, and the id of the call or the text.
    """

    def __init__(self, pieces: Iterable[ContentPiece] = ()) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.add(pieces)

    def add(self, pieces: Iterable[ContentPiece]) -> None:
        for piece in pieces:
            if piece.what:
                if piece.call_id is not None:
                    self.counts[piece.what, piece.who, "both", piece.call_id, piece.text] += 1
                own = ("id", piece.call_id) if piece.call_id is not None else ("text", piece.text)
                self.counts[piece.what, piece.who, *own] += 1
                self.counts[piece.what, piece.who, "any", piece.text] += 1

    def __bool__(self) -> bool:
        return bool(self.counts)

    def of(self, piece: ContentPiece) -> int:
        """How often a call or a result with this id and this text was counted."""
        return self.counts[piece.what, piece.who, "both", piece.call_id or "", piece.text]

    def with_id(self, piece: ContentPiece, what: What) -> int:
        """How often a call or a result (`what`) with the id of a piece was counted."""
        return self.counts[what, "", "id", piece.call_id or ""]

    def merged(self, other: "PieceCounter") -> "PieceCounter":
        """The maximum of both counts for each piece; made in the larger of both, which is not to be used any more."""
        smaller, larger = sorted((self, other), key=lambda one: len(one.counts))
        larger.counts.update({key: max(count, larger.counts[key]) for key, count in smaller.counts.items()})
        return larger

    def missing(self, pieces: Sequence[ContentPiece]) -> list[ContentPiece]:
        """The pieces that occur more often here than counted; none of those that are not compared."""
        used: Counter[tuple[str, ...]] = Counter()
        return [piece for piece in pieces if piece.what and not self._has(piece, used)]

    def _has(self, piece: ContentPiece, used: Counter[tuple[str, ...]]) -> bool:
        base = (piece.what, piece.who)
        keys: list[tuple[str, ...]] = [(*base, "any", piece.text)]
        if piece.call_id is not None:
            keys = [(*base, "id", piece.call_id), (*base, "text", piece.text)]
        key = next((one for one in keys if self.counts[one] > used[one]), None)
        if key is None:
            return False
        used[key] += 1
        return True
