"""A trace's spans as one transcript. The one rule of what wins when a trace records a thing twice:

1. The span of a model call records the conversation: its inputs at its start, its outputs at its end. Of an input that
   repeats the conversation of an earlier span, only what follows the repeated part is new.
2. A span with spans below it adds only what nothing below it records.
3. A tool's span adds only what no message records: its call is that of a message with the same id of the call in the
   same turn (see `jury_events.transcript`), else with the same tool and arguments, in order, each once; its result
   is that of this call. Its failure marks the message's result.
4. Where several agents have names, what an agent's span gives is said by that agent.
5. Several sources of the same messages in one span: the first that has some, and what the others have more.
6. What a model is asked below a tool that another model called is a task that the agent gave, and no user's request,
   unless a user wrote the same above.

The rule is by shape, not by tool: adapters map a tool's records to `Span`s, and decide nothing of this.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

from jury_cases.draft import CaseDraft
from jury_cases.traces.pieces import ContentPiece, PieceCounter, pieces_of
from jury_cases.traces.span import Node, Span, failures, made_good, tree_of
from jury_cases.traces.speakers import only_models_speak
from jury_cases.traces.tools import Moment, ToolSpans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.transcript import Event, Item, Message

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


def read_spans(spans: Iterable[Span], builder: TranscriptBuilder) -> None:
    """Add what happened in the spans of one trace to a transcript, in order of time.

    A span counts as a message, numbered in the order in which the spans began.
    """
    nodes = tree_of(only_models_speak(spans))
    number = {node.entered: index for index, node in enumerate(sorted(nodes, key=lambda node: node.when(at_end=False)))}
    moments = sorted(
        ((node, at_end) for node in nodes for at_end in (False, True)), key=lambda one: one[0].when(at_end=one[1])
    )
    timeline = _timeline(moments)
    tools = ToolSpans(timeline)
    several = len({node.agent for node in nodes if node.agent is not None}) > 1
    above = [node for node in nodes if node.tool_above is None and node.span.kind == "model"]
    asked = {item.text for node in above for item in node.span.inputs if _is_request(item)}
    steps = ((number[step.node.entered], step) for step in timeline)
    for _, step in builder.messages.of_list(steps, len(nodes)):
        items = tools.items(step.node, at_end=step.at_end) if step.piece is None else tools.marked(step.piece)
        by_agent = step.at_end or step.piece is None
        said = _said_by(step.node.agent, items) if several and by_agent else items
        if above and step.node.tool_above is not None:
            said = [_as_task(item) if _is_request(item) and item.text not in asked else item for item in said]
        builder.take(said, place=step.node.span.place)
    for node in nodes:
        builder.take((), node.span.images)


def draft_of_spans(spans: Collection[Span], facts: Mapping[str, Any], **parts: Any) -> CaseDraft:
    """The draft of what happened in the spans of one trace; `facts` that are known are its metadata."""
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    known = {name: value for name, value in facts.items() if value is not None}
    return CaseDraft(built=builder, error=failures(spans), metadata=known, **parts)


def _timeline(moments: list[tuple[Node, bool]]) -> list[Moment]:
    conversations = Conversations()
    begun: dict[int, SpanConversation] = {}
    steps: list[Moment] = []
    again = made_good(node.span for node, at_end in moments if at_end)
    for node, at_end in moments:
        if node.span.handover is not None and not at_end:
            event = TranscriptBuilder()
            event.handover(*node.span.handover, node.span.place)
            steps += [Moment(node, at_end, piece) for piece in pieces_of(event.transcript().items)]
        if node.span.tool is not None:
            steps.append(Moment(node, at_end, None))
        if node.missing is not None:
            new = _shown_of_parent(node, node.missing, conversations, at_end=at_end)
        elif at_end:
            new = node.outputs
            if node.inputs or new:
                conversations.span_ended(begun[node.entered], new, failed=node.span.failure is not None)
        else:
            new, begun[node.entered] = conversations.new_of(node.inputs, node.scope)
        conversations.shown(new, node.scope)
        steps += [Moment(node, at_end, piece) for piece in new]
        if at_end and node.span in again:
            event = TranscriptBuilder()
            event.add(Event, node.span.place, origin="environment", name="error", text=node.span.failure or "")
            steps += [Moment(node, at_end, piece) for piece in pieces_of(event.transcript().items)]
    return steps


def _shown_of_parent(
    node: Node, missing: Collection[int], conversations: Conversations, *, at_end: bool
) -> list[ContentPiece]:
    new = node.outputs if at_end else conversations.new_of(node.inputs, node.scope)[0]
    return [piece for piece in new if id(piece) in missing]


def _is_request(item: Item) -> TypeGuard[Message]:
    return isinstance(item, Message) and item.kind == "user"


def _as_task(item: Message) -> Event:
    return Event(origin="model", name="task", text=item.text)


def _said_by(agent: str | None, items: Iterable[Item]) -> list[Item]:
    return [
        item.model_copy(update={field: agent})
        if (field := _SPEAKERS.get(item.kind)) is not None and getattr(item, field) is None
        else item
        for item in items
    ]


_SPEAKERS = {"assistant": "name", "reasoning": "speaker", "refusal": "speaker", "tool_call": "speaker"}
"""By kind of item, the field of the agent's name."""
