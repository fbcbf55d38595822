"""The conversations of a trace's model calls: most inputs repeat what was said so far."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from jury_cases.traces.pieces import ContentPiece, PieceCounter

_REMEMBERED = 200
"""Number of latest conversations that are searched for a repeat."""

Scope = tuple[int | None, str | None]


class SpanConversation(NamedTuple):
    """A conversation up to the end of one span. `failed`: the span failed, so that the same input may follow again."""

    pieces: tuple[ContentPiece, ...]
    systems: frozenset[str]
    failed: bool


class _Repeat(NamedTuple):
    """How many first pieces of an input repeat a conversation, and which of them it lacks."""

    length: int
    new: list[ContentPiece]


class Conversations:
    """The conversations of a trace's spans so far; a later span may repeat and continue one."""

    def __init__(self) -> None:
        self._ended: dict[int, SpanConversation] = {}
        self._count = 0
        self._with: defaultdict[tuple[str, str], deque[int]] = defaultdict(partial(deque, maxlen=_REMEMBERED))
        self._systems: dict[Scope, set[str]] = {}
        self._thoughts: set[str] = set()
        self._named = PieceCounter()

    def span_ended(self, before: SpanConversation, outputs: Sequence[ContentPiece], *, failed: bool) -> None:
        added = tuple(filter(_is_compared, outputs))
        self._remember(SpanConversation(before.pieces + added, before.systems, failed and not added))

    def _remember(self, conversation: SpanConversation) -> None:
        self._ended[self._count] = conversation
        for key in {key for piece in conversation.pieces for key in piece.keys}:
            self._with[key].append(self._count)
        self._ended.pop(self._count - _REMEMBERED, None)
        self._count += 1

    def _candidates(self, first: ContentPiece) -> Iterator[SpanConversation]:
        """The conversations that an input may repeat that begins with a piece, the latest first."""
        numbers: Iterable[int] = self._ended
        if not _is_by_agent(first):
            numbers = sorted({number for key in first.keys for number in self._with.get(key, ())})
        for number in reversed(list(numbers)):
            if number in self._ended:
                yield self._ended[number]

    def shown(self, pieces: Iterable[ContentPiece], scope: Scope) -> None:
        """Record what was added to the transcript: its system messages and reasoning are not repeated."""
        pieces = list(pieces)
        self._named.add(pieces)
        for piece in pieces:
            if piece.what == "reasoning":
                self._thoughts.add(piece.text)
            elif piece.who == "system":
                self._systems.setdefault(scope, set()).add(piece.text)

    def new_of(self, inputs: Sequence[ContentPiece], scope: Scope) -> tuple[list[ContentPiece], SpanConversation]:
        """The pieces of an input that do not repeat a conversation, and the conversation including them.

        Only the beginning of an input can be a repeat, and only of the end of an earlier span's conversation, or of a
        whole one of which either lacks something that the agent said or called. Leading system messages are shown once
        per `scope`, one run of an agent, calls and results of one id once.
        """
        opening = next((index for index, piece in enumerate(inputs) if piece.who != "system"), len(inputs))
        rest = inputs[opening:]
        found, repeat = self._repeated(tuple(filter(_is_compared, rest)))
        earlier = found.pieces if found else ()
        systems = frozenset(piece.text for piece in inputs[:opening])
        known = self._systems.get(scope, set()) | (found.systems if found else set())
        new = [] if rest and systems <= known else list(inputs[:opening])
        added = self._after(rest, repeat)
        # Results answer calls of the repeated part: they were there before another agent got its instructions.
        ready = next((index for index, piece in enumerate(added) if piece.what != "result"), len(added)) if found else 0
        conversation = SpanConversation(earlier + tuple(filter(_is_compared, added)), systems, failed=False)
        return self._unnamed([*added[:ready], *new, *added[ready:]], inputs), conversation

    def _unnamed(self, added: list[ContentPiece], inputs: Sequence[ContentPiece]) -> list[ContentPiece]:
        """The pieces without calls and results that were shown, by their ids, as often as the whole input has them.

        A program may shorten or sum up what was said, so that an input repeats no conversation and yet its calls. A
        result of an id whose last call has none so far is new.
        """
        again = PieceCounter(inputs)
        return [
            piece
            for piece in added
            if piece.what not in {"call", "result"}
            or piece.call_id is None
            or self._named.of(piece) < again.of(piece)
            or (piece.what == "result" and self._named.with_id(piece, "result") < self._named.with_id(piece, "call"))
        ]

    def _repeated(self, pieces: tuple[ContentPiece, ...]) -> tuple[SpanConversation | None, _Repeat]:
        best: tuple[SpanConversation | None, _Repeat] = (None, _Repeat(0, []))
        if not pieces:
            return best
        for earlier in self._candidates(pieces[0]):
            repeat = _repeat(earlier.pieces, pieces)
            if repeat.length == len(pieces) == 1 and pieces[0].who == "user" and not earlier.failed:
                continue  # the user repeats a message to an agent that keeps the conversation itself
            if repeat.length > best[1].length:
                best = earlier, repeat
            if repeat.length and repeat.length == len(earlier.pieces):
                break
        return best

    def _after(self, pieces: Sequence[ContentPiece], repeat: _Repeat) -> list[ContentPiece]:
        """The pieces after the repeated ones, and what those have that is new; reasoning that was shown is not."""
        end = 0
        count = repeat.length
        while count:
            count -= _is_compared(pieces[end])
            end += 1
        while 0 < end < len(pieces) and not _is_compared(pieces[end]):
            end += 1
        new = set(map(id, repeat.new))
        repeated = [
            piece
            for piece in pieces[:end]
            if id(piece) in new or (piece.what == "reasoning" and piece.text not in self._thoughts)
        ]
        return [*repeated, *pieces[end:]]


def _is_compared(piece: ContentPiece) -> bool:
    return piece.what not in {"", "reasoning"}


def _repeat(earlier: tuple[ContentPiece, ...], pieces: tuple[ContentPiece, ...]) -> _Repeat:
    exact = _Repeat(_overlap(earlier, pieces), [])
    if exact.length == len(earlier):
        return exact
    aligned = _aligned(earlier, pieces)
    return aligned if aligned.length > exact.length else exact


def _overlap(earlier: tuple[ContentPiece, ...], pieces: tuple[ContentPiece, ...]) -> int:
    """The number of first pieces that repeat the end of the earlier ones."""
    for count in range(min(len(earlier), len(pieces)), 0, -1):
        start = len(earlier) - count
        if pieces[count - 1].same_as(earlier[-1]) and all(
            pieces[index].same_as(earlier[start + index]) for index in range(count)
        ):
            return count
    return 0


class _AgentTurn(NamedTuple):
    """What the agent said and called after what another said or returned (None: at the beginning)."""

    after: ContentPiece | None
    by_agent: list[ContentPiece]


def _aligned(earlier: tuple[ContentPiece, ...], pieces: tuple[ContentPiece, ...]) -> _Repeat:
    """The repeat of a whole conversation, of which pieces of the agent may be missing on either side.

    The end of the conversation is repeated if one of the agent's last pieces is, or if a result of its last calls
    follows.
    """
    known, steps = _steps(earlier), _steps(pieces)
    nothing = _Repeat(0, [])
    if len(known) < 2 or len(steps) < len(known):  # noqa: PLR2004  (one of them is the beginning)
        return nothing
    count, new = 0, []
    for before, now in zip(known, steps, strict=False):
        if before.after is not None and (now.after is None or not now.after.same_as(before.after)):
            return nothing
        missing = PieceCounter(before.by_agent).missing(now.by_agent)
        count += (now.after is not None) + len(now.by_agent)
        new += missing
    last = known[-1].by_agent
    has_part = not last or len(missing) < len(now.by_agent)
    following = steps[len(known)].after if len(steps) > len(known) else None
    called = {piece.call_id for piece in last if piece.call_id is not None}
    has_result = following is not None and following.call_id in called
    return _Repeat(count, new) if has_part or has_result else nothing


def _steps(pieces: Iterable[ContentPiece]) -> list[_AgentTurn]:
    steps = [_AgentTurn(None, [])]
    for piece in pieces:
        if _is_by_agent(piece):
            steps[-1].by_agent.append(piece)
        else:
            steps.append(_AgentTurn(piece, []))
    return steps


def _is_by_agent(piece: ContentPiece) -> bool:
    return piece.what == "call" or piece.who in {"assistant", "model"}
