"""Tool spans: their calls and results that no message contains."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jury_cases.traces.pieces import ContentPiece, call_text, canonical
from jury_cases.traces.span import SpanTool
from jury_cases.traces.tool_runs import ToolNames, matched_runs
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

    A span is the run of at most one call. An id means a call of the latest turn that has it, as in
    `jury_events.pending_calls`; spans without a usable id are compared by `ToolRuns`. A span that is the run of no call
    of a message is a call of its own where the messages leave no doubt of that, else the record says that a tool ran.

    Args:
        timeline: everything that the transcript has from messages, and the tools' starts and ends, in order of time.
    """

    def __init__(self, timeline: Sequence[Moment]) -> None:
        listed = [one.piece for one in timeline if one.piece is not None]
        calls = [piece for piece in listed if piece.what == "call"]
        results = [piece for piece in listed if piece.what == "result"]
        self._results = _Pieces(results, lambda piece: piece.text)
        self._taken: set[int] = set()
        self._items: dict[tuple[int, bool], tuple[Item, ...]] = {}
        self._failed: set[int] = set()
        runs = [
            (index, one.node, one.at_end, one.node.span.tool)
            for index, one in enumerate(timeline)
            if one.piece is None and one.node.span.tool is not None and not _runs_again(one.node, one.node.span.tool)
        ]
        starts = [(index, node, tool) for index, node, at_end, tool in runs if not at_end]
        self._runs: dict[int, object] = {}
        self._ids: dict[int, str | None] = {}
        self._unclear_runs: set[int] = set()
        self._match(timeline, calls, starts)
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

    def _match(
        self, timeline: Sequence[Moment], calls: Sequence[ContentPiece], starts: Sequence[tuple[int, Node, SpanTool]]
    ) -> None:
        of_ids = {piece.call_id for piece in calls}
        reused = _ReusedIds(timeline, calls, [(index, tool) for index, _, tool in starts])
        taken: set[int] = set()
        rest: list[tuple[int, Node, SpanTool]] = []
        for index, node, tool in starts:
            run = reused.run_of(index, node, tool) if tool.call_id is not None else node
            if run is node and tool.call_id not in of_ids - {None}:
                rest.append((index, node, tool))
                continue
            self._runs[node.entered] = run
            if isinstance(run, ContentPiece):
                taken.add(id(run))
        open_calls = [
            (index, one.piece) for index, one in enumerate(timeline) if one.piece and one.piece.what == "call"
        ]
        open_calls = [(index, piece) for index, piece in open_calls if id(piece) not in taken]
        found = matched_runs(
            open_calls, [(index, _with_failure(node)) for index, node, _ in rest], _results_of(timeline)
        )
        named = ToolNames(piece.name or "" for piece in calls)
        doubtful = len(found) < len(open_calls)
        for number, (_, node, tool) in enumerate(rest):
            piece = found.get(number)
            self._runs[node.entered] = node if piece is None else piece
            if piece is None and (doubtful or named.of(tool.name) or _is_inner(node)):
                self._unclear_runs.add(node.entered)
        for _, node, tool in starts:
            run = self._runs[node.entered]
            self._ids[node.entered] = run.call_id if isinstance(run, ContentPiece) else tool.call_id
            if run is node and node.entered not in self._unclear_runs:
                self._add_call(node, tool)

    def _add_call(self, node: Node, tool: SpanTool) -> None:
        # The span itself connects its call and its result, also beside other open calls of the tool.
        call_id = self._ids[node.entered] or f"{node.span.place} ({node.entered})"
        self._ids[node.entered] = call_id
        self._add(node, ToolCall, at_end=False, call_id=call_id, name=tool.name, arguments=tool.arguments or "")

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

    def _ended(self, node: Node, tool: SpanTool) -> None:
        failure = node.span.failure
        failed = tool.failed or failure is not None
        if node.entered in self._unclear_runs:
            self._add_unclear(node, tool)
            return
        run = self._runs[node.entered]
        if (tool.result is None and failure is None) or id(run) in self._added:
            return
        text = tool.result if tool.result is not None else failure or ""
        call_id = self._ids[node.entered]
        found = self._result_of(run, call_id, canonical(text))
        if found is None:
            self._added.add(id(run))
            name = run.name if isinstance(run, ContentPiece) else tool.name
            self._add(node, ToolResult, at_end=True, call_id=call_id, name=name, text=text, error=failed)
        elif failed:
            self._failed.add(id(found))
        shown = text if found is None else found.text
        if failure and failure not in shown and shown not in failure:
            self._add(node, Event, at_end=True, origin="tool", name="error", text=failure)

    def _add_unclear(self, node: Node, tool: SpanTool) -> None:
        parts = (tool.name, tool.arguments, tool.result, node.span.failure)
        text = "\n".join(dict.fromkeys(part for part in parts if part))
        self._add(node, Event, at_end=True, origin="environment", name="a tool ran that no call names", text=text)

    def _add(self, node: Node, make: type[Item], *, at_end: bool, **fields: Any) -> None:
        builder = TranscriptBuilder()
        builder.add(make, node.span.place, **fields)
        key = node.entered, at_end
        self._items[key] = self._items.get(key, ()) + builder.transcript().items

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


def _with_failure(node: Node) -> SpanTool:
    """What a tool's span says, the reason of its failure as its result where it has no other."""
    tool = node.span.tool
    assert tool is not None
    return tool if tool.result is not None else replace(tool, result=node.span.failure)


def _is_inner(node: Node) -> bool:
    """Whether the span is inside the run of another tool: work of that tool, which no model asked for."""
    return node.tool_above is not None


def _results_of(timeline: Sequence[Moment]) -> dict[int, str]:
    steps: list[Step] = []
    owners: list[ContentPiece] = []
    for moment in timeline:
        items = () if moment.piece is None else moment.piece.items
        steps += map(step_of, items)
        owners += [moment.piece] * len(items) if moment.piece is not None else []
    return {
        id(owners[join.call]): owner.text
        for owner, join in zip(owners, joined_calls(steps), strict=True)
        if owner.what == "result" and join.call is not None
    }


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


_OF_NO_TOOL = frozenset({"(merged tools)", "execute_tool (merged)"})
"""Spans of Google ADK around the results of parallel calls."""


def _runs_again(node: Node, tool: SpanTool) -> bool:
    """Whether the span is below another of the same run, as when a tool and the client of its server are traced."""
    if tool.name in _OF_NO_TOOL:
        return True
    above = None if node.tool_above is None else node.tool_above.span.tool
    if above is None or above.name != tool.name:
        return False
    if above.call_id is not None and tool.call_id is not None:
        return above.call_id == tool.call_id
    return tool.arguments is None or canonical(above.arguments) == canonical(tool.arguments)
