"""The conversations of a trace's model calls: most inputs repeat what was said so far."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jury_cases.traces.pieces import ContentPiece

_REMEMBERED = 200
"""Number of latest conversations that are searched for a repeat."""

Scope = tuple[int | None, str | None]


class SpanConversation(NamedTuple):
    """A conversation up to the end of one span. `failed`: the span failed, so that the same input may follow again."""

    pieces: tuple[ContentPiece, ...]
    systems: frozenset[str]
    failed: bool


class Conversations:
    """The conversations of a trace's spans so far; a later span may repeat and continue one."""

    def __init__(self) -> None:
        self._ended: deque[SpanConversation] = deque(maxlen=_REMEMBERED)
        self._systems: dict[Scope, set[str]] = {}
        self._thoughts: set[str] = set()

    def span_ended(self, before: SpanConversation, outputs: Sequence[ContentPiece], *, failed: bool) -> None:
        """Record the end of a span with its outputs."""
        added = tuple(filter(_is_compared, outputs))
        self._ended.append(SpanConversation(before.pieces + added, before.systems, failed and not added))

    def shown(self, pieces: Iterable[ContentPiece], scope: Scope) -> None:
        """Record what was added to the transcript: its system messages and reasoning are not repeated."""
        for piece in pieces:
            if piece.what == "reasoning":
                self._thoughts.add(piece.text)
            elif piece.who == "system":
                self._systems.setdefault(scope, set()).add(piece.text)

    def new_of(self, inputs: Sequence[ContentPiece], scope: Scope) -> tuple[list[ContentPiece], SpanConversation]:
        """The pieces of an input that do not repeat a conversation, and the conversation including them.

        Only the beginning of an input can be a repeat, and only of the end of an earlier span's conversation. Leading
        system messages are shown once per `scope`, one run of an agent. Reasoning in the repeated part is shown if it
        was not: an answer may be recorded without it.
        """
        opening = next((index for index, piece in enumerate(inputs) if piece.who != "system"), len(inputs))
        rest = inputs[opening:]
        compared = tuple(filter(_is_compared, rest))
        found, count = self._repeated(compared)
        systems = frozenset(piece.text for piece in inputs[:opening])
        known = self._systems.get(scope, set()) | (found.systems if found else set())
        new = [] if rest and systems <= known else list(inputs[:opening])
        new += self._after(rest, count)
        return new, SpanConversation((found.pieces if found else ()) + compared[count:], systems, failed=False)

    def _repeated(self, pieces: tuple[ContentPiece, ...]) -> tuple[SpanConversation | None, int]:
        """The conversation repeated by the first pieces, and their number."""
        best: tuple[SpanConversation | None, int] = (None, 0)
        for earlier in reversed(self._ended):
            count = _overlap(earlier.pieces, pieces)
            if count == len(pieces) == 1 and pieces[0].who == "user" and not earlier.failed:
                count = 0  # the user repeats a message to an agent that keeps the conversation itself
            if count > best[1]:
                best = earlier, count
            if count and count == len(earlier.pieces):
                break
        return best

    def _after(self, pieces: Sequence[ContentPiece], count: int) -> list[ContentPiece]:
        """The pieces without the first `count` that are compared."""
        new: list[ContentPiece] = []
        is_repeat = count > 0
        for piece in pieces:
            if _is_compared(piece):
                is_repeat = count > 0
                count -= 1
            if not is_repeat or (piece.what == "reasoning" and piece.text not in self._thoughts):
                new.append(piece)
        return new


def _is_compared(piece: ContentPiece) -> bool:
    return piece.what not in {"", "reasoning"}


def _overlap(earlier: tuple[ContentPiece, ...], pieces: tuple[ContentPiece, ...]) -> int:
    """The number of first pieces that repeat the end of the earlier ones."""
    for count in range(min(len(earlier), len(pieces)), 0, -1):
        start = len(earlier) - count
        if all(pieces[index].same_as(earlier[start + index]) for index in range(count)):
            return count
    return 0
