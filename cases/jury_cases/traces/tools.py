"""Tool spans: their calls and results that no message contains."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, NamedTuple

from jury_cases.traces.pieces import ContentPiece, call_text, canonical
from jury_cases.traces.span import SpanTool
from jury_cases.traces.tree import Node
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.pending_calls import CallResult, Step, TurnEnd, joined_calls
from jury_events.transcript import Event, Item, ToolCall, ToolResult, step_of


class Moment(NamedTuple):
    """A piece in the order of time; if it is None, the start or end of a tool."""

    node: Node
    at_end: bool
    piece: ContentPiece | None


class ToolSpans:
    """Compares the tool spans of a trace with the calls and results of its messages.

    An id means a call of the latest turn that has it, as in `jury_events.pending_calls`.

    Args:
        timeline: everything that the transcript has from messages, and the tools' starts and ends, in order of time.

    Raises:
        CaseFileError: a tool's name, call or result is invalid; the message begins with the span's place.
    """

    def __init__(self, timeline: Sequence[Moment]) -> None:
        listed = [one.piece for one in timeline if one.piece is not None]
        results = [piece for piece in listed if piece.what == "result"]
        texts: dict[str | None, str] = {piece.call_id: piece.text for piece in results if piece.call_id is not None}
        calls = [piece for piece in listed if piece.what == "call"]
        self._ids = {piece.call_id for piece in calls}
        self._calls = _Pieces(calls, lambda piece: piece.text)
        self._calls_of_tool = _Pieces(calls, lambda piece: piece.name)
        self._answered = _Pieces(calls, lambda piece: (piece.name, texts.get(piece.call_id)))
        self._results = _Pieces(results, lambda piece: piece.text)
        self._taken: set[int] = set()
        self._call_ids: dict[int, str | None] = {}
        self._own_ids: dict[int, str] = {}
        self._items: dict[tuple[int, bool], tuple[Item, ...]] = {}
        self._failed: set[int] = set()
        runs = [
            (index, one.node, one.at_end, one.node.span.tool)
            for index, one in enumerate(timeline)
            if one.piece is None and one.node.span.tool is not None and not _runs_again(one.node, one.node.span.tool)
        ]
        self._reused = _ReusedIds(timeline, calls, [(index, tool) for index, _, at_end, tool in runs if not at_end])
        self._runs: dict[int, object] = {}
        for index, node, at_end, tool in runs:
            if not at_end:
                self._started(index, node, tool)
        self._by_call, self._unclear = self._joined(timeline)
        self._added: set[int] = set()
        for _, node, at_end, tool in runs:
            if at_end:
                self._ended(node, tool)

    def items(self, node: Node, *, at_end: bool) -> tuple[Item, ...]:
        """What no message contains of a span's call (at its start), or of its result and failure."""
        return self._items.get((node.entered, at_end), ())

    def marked(self, piece: ContentPiece) -> tuple[Item, ...]:
        """A piece's items; the result of a tool whose span says that it failed is marked as an error."""
        if id(piece) not in self._failed:
            return piece.items
        return tuple(
            item.model_copy(update={"error": True}) if isinstance(item, ToolResult) else item for item in piece.items
        )

    def _joined(self, timeline: Sequence[Moment]) -> "tuple[dict[int, ContentPiece], _Pieces]":
        """The first result in a message of each run's call, and the results of which it is not recorded."""
        steps: list[Step] = []
        owners: list[object] = []
        for moment in timeline:
            items = self.items(moment.node, at_end=False) if moment.piece is None else moment.piece.items
            ended = moment.piece is None and moment.at_end
            steps += [TurnEnd()] if ended else map(step_of, items)
            owners += [moment.node if moment.piece is None else moment.piece] * (1 if ended else len(items))
        found: dict[int, ContentPiece] = {}
        unclear: list[ContentPiece] = []
        for owner, join in zip(owners, joined_calls(steps), strict=True):
            if isinstance(owner, ContentPiece) and owner.what == "result":
                if join.call is not None:
                    found.setdefault(id(owners[join.call]), owner)
                elif join.unclear:
                    unclear.append(owner)
        return found, _Pieces(unclear, lambda piece: (piece.call_id, piece.text))

    def _started(self, index: int, node: Node, tool: SpanTool) -> None:
        self._call_ids[node.entered] = tool.call_id
        found: ContentPiece | None
        if tool.call_id is not None:
            run = self._reused.run_of(index, node, tool)
            found = run if isinstance(run, ContentPiece) else None
            if run is not node and found is None:
                self._runs[node.entered] = run
                return
            if found is None and tool.call_id not in self._ids:
                found = self._call_of(tool)
        else:
            found = self._call_of(tool)
        self._runs[node.entered] = node if found is None else found
        if found is None:
            if tool.call_id is None:
                # The span itself connects its call and its result, also beside other open calls of the tool.
                self._own_ids[node.entered] = f"{node.span.place} ({node.entered})"
            called = {
                "call_id": self._own_ids.get(node.entered, tool.call_id),
                "name": tool.name,
                "arguments": tool.arguments or "",
            }
            self._add(node, ToolCall, at_end=False, **called)
            return
        self._call_ids[node.entered] = found.call_id
        if tool.call_id is None or found.call_id is None:
            self._taken.add(id(found))

    def _ended(self, node: Node, tool: SpanTool) -> None:
        call_id = self._call_ids.get(node.entered)
        failure = node.span.failure
        failed = tool.failed or failure is not None
        run = self._runs[node.entered]
        if (tool.result is None and failure is None) or id(run) in self._added:
            return
        text = tool.result if tool.result is not None else failure or ""
        found = self._result_of(run, call_id, canonical(text))
        if found is None:
            self._added.add(id(run))
            result = {
                "call_id": self._own_ids.get(node.entered, call_id),
                "name": tool.name,
                "text": text,
                "error": failed,
            }
            self._add(node, ToolResult, at_end=True, **result)
        elif failed:
            self._failed.add(id(found))
        shown = text if found is None else found.text
        if failure and failure not in shown and shown not in failure:
            self._add(node, Event, at_end=True, origin="tool", name="error", text=failure)

    def _add(self, node: Node, make: type[Item], *, at_end: bool, **fields: Any) -> None:
        builder = TranscriptBuilder()
        builder.add(make, node.span.place, **fields)
        key = node.entered, at_end
        self._items[key] = self._items.get(key, ()) + builder.transcript().items

    def _call_of(self, tool: SpanTool) -> ContentPiece | None:
        """The call in a message without the id: by tool and arguments, or by the tool alone if those are missing.

        Arguments may be written otherwise, as with defaults; then it is the call of the tool with the same result.
        """
        with_ids = tool.call_id is None
        if tool.arguments is None:
            return self._calls_of_tool.first(tool.name, self._taken, with_ids=with_ids)
        found = self._calls.first(call_text(tool.name, tool.arguments), self._taken, with_ids=with_ids)
        if found is not None or tool.result is None or not with_ids:
            return found
        return self._answered.first((tool.name, canonical(tool.result)), self._taken, with_ids=True)

    def _result_of(self, run: object, call_id: str | None, text: str) -> ContentPiece | None:
        """The result in a message: that of the run's call, else by text, each at most once."""
        if call_id is not None and (same := self._by_call.get(id(run))) is not None:
            return same
        found = self._results.first(text, self._taken, with_ids=call_id is None)
        if found is None and call_id is not None:
            found = self._unclear.first((call_id, text), self._taken, with_ids=True)
        if found is not None:
            self._taken.add(id(found))
        return found


class _ReusedIds:
    """Which call of those with its id a tool span is: of the latest turn, by tool and arguments, else in order."""

    def __init__(
        self, timeline: Sequence[Moment], calls: Sequence[ContentPiece], starts: Sequence[tuple[int, SpanTool]]
    ) -> None:
        self._joined: set[int] = set()
        self._passed: set[int] = set()
        self._said: dict[tuple[object, ...], object] = {}
        names = {(tool.call_id, tool.name) for _, tool in starts}
        asked = {
            (tool.call_id, call_text(tool.name, tool.arguments)) for _, tool in starts if tool.arguments is not None
        }
        steps: list[Step] = []
        pieces: list[ContentPiece | None] = []
        self._turns: list[int] = []
        self._at: list[int] = []
        self._shown: list[int] = []
        turn = shown = 0
        of_turn: dict[int, int] = {}
        where: dict[int, int] = {}
        for index, moment in enumerate(timeline):
            piece = moment.piece
            own: list[Step] = (
                [TurnEnd() if moment.at_end else None] if piece is None else list(map(step_of, piece.items))
            )
            self._turns.append(turn)
            self._shown.append(shown)
            if piece is not None:
                of_turn[id(piece)], where[id(piece)] = turn, index
                shown += 1
            turn += sum(isinstance(step, CallResult | TurnEnd) for step in own)
            steps += own
            pieces += [piece] * len(own)
        answers = [
            (piece, id(pieces[join.call]))
            for piece, join in zip(pieces, joined_calls(steps), strict=True)
            if piece is not None and join.call is not None
        ]
        self._texts = {call: piece.text for piece, call in answers}
        self._answers = sorted(((where[id(piece)], call) for piece, call in answers), reverse=True)
        self._any = _Pieces(calls, lambda piece: (piece.call_id, piece.text))
        self._exact = _Pieces(calls, lambda piece: (piece.call_id, of_turn[id(piece)], piece.text))
        self._loose = _Pieces(
            (piece for piece in calls if (piece.call_id, piece.text) not in asked),
            lambda piece: (
                piece.call_id,
                of_turn[id(piece)],
                piece.name if (piece.call_id, piece.name) in names else None,
            ),
        )
        self._of_id: defaultdict[str | None, list[int]] = defaultdict(list)
        self._last: dict[str | None, ContentPiece] = {}
        for piece in calls:
            self._of_id[piece.call_id].append(of_turn[id(piece)])
            self._last[piece.call_id] = piece
        self._starts: defaultdict[str | None, list[int]] = defaultdict(list)
        for index, tool in starts:
            self._starts[tool.call_id].append(self._turns[index])

    def run_of(self, index: int, node: Node, tool: SpanTool) -> object:
        """The call in a message; else the node of the span that records the same run; else `node`."""
        if len(self._of_id.get(tool.call_id, ())) == len(self._starts[tool.call_id]) == 1:
            only = self._last[tool.call_id]
            if tool.result is not None and self._texts.get(id(only)) == canonical(tool.result):
                return only  # however its tool and its arguments are written
        while self._answers and self._answers[-1][0] < index:
            self._passed.add(self._answers.pop()[1])
        text = call_text(tool.name, tool.arguments)
        same = tool.call_id, self._shown[index], text
        turns, now = self._of_id.get(tool.call_id, []), self._turns[index]
        place = bisect_right(turns, now)
        found: object = self._in_turn(turns[place - 1], tool, text) if place else None
        found = found or self._said.get(same)
        if found is None and place < len(turns):
            starts = self._starts[tool.call_id]
            after = bisect_right(starts, now)
            if after == len(starts) or starts[after] > turns[place]:
                found = self._in_turn(turns[place], tool, text)
        if found is None and place:
            found = self._any.first((tool.call_id, text), self._joined, with_ids=True)
        found = found or node
        self._said[same] = found
        if isinstance(found, ContentPiece):
            self._joined.add(id(found))
            self._passed.add(id(found))
        return found

    def _in_turn(self, turn: int, tool: SpanTool, text: str) -> ContentPiece | None:
        for index, key in ((self._exact, text), (self._loose, tool.name), (self._loose, None)):
            if found := index.first((tool.call_id, turn, key), self._passed, with_ids=True):
                return found
        return None


class _Pieces:
    """Pieces in order by a key."""

    def __init__(self, pieces: Iterable[ContentPiece], key: Callable[[ContentPiece], Any]) -> None:
        self._keys: defaultdict[tuple[Any, bool], deque[tuple[int, ContentPiece]]] = defaultdict(deque)
        for number, piece in enumerate(pieces):
            self._keys[key(piece), piece.call_id is not None].append((number, piece))

    def first(self, key: Any, taken: Container[int], *, with_ids: bool) -> ContentPiece | None:
        """The first piece of a key that is not taken; `with_ids`: it may have an id."""
        found: list[tuple[int, ContentPiece]] = []
        for has_id in (False, True) if with_ids else (False,):
            queue = self._keys.get((key, has_id))
            while queue and id(queue[0][1]) in taken:
                queue.popleft()
            if queue:
                found.append(queue[0])
        return min(found, key=lambda one: one[0])[1] if found else None


def _runs_again(node: Node, tool: SpanTool) -> bool:
    """Whether the span is below another of the same run, as when a tool and the client of its server are traced."""
    above = None if node.tool_above is None else node.tool_above.span.tool
    if above is None or above.name != tool.name:
        return False
    if above.call_id is not None and tool.call_id is not None:
        return above.call_id == tool.call_id
    return tool.arguments is None or canonical(above.arguments) == canonical(tool.arguments)
