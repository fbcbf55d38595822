"""Tool spans: which call of a message each is the run of; their calls and results that no message contains."""

import ast
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jury_cases.traces.pieces import ContentPiece, call_text, canonical
from jury_cases.traces.span import Node, SpanTool
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import decoded_json, is_blank
from jury_events.transcript import CallResult, Event, Item, Step, ToolCall, ToolResult, TurnEnd, joined_calls, step_of

_LONGEST_LITERAL = 100_000
_DEEPEST = 5
_FORMS = 40
"""Forms of one value that are compared."""

_UNIQUE = 8
"""Characters of arguments that say by themselves which call it is, where a span has a name of its own."""

_NEXT = 50
"""Open calls of one key among which the one with the same result is looked for."""

_WORDS = re.compile(r"__|[^\w-]+")


class ToolNames:
    """The tools' names in calls, and those that a span's name means: the name, a word of it, or it is a word of one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names) - {""}
        self._by_last: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._names):
            last = _words(name)[-1:]
            if last and last != [name]:
                self._by_last[last[0]].append(name)

    def of(self, name: str) -> list[str]:
        """The names of calls that a span's name may mean; the same name alone if a call has it."""
        if name in self._names:
            return [name]
        words = _words(name)
        found = [word for word in words if word in self._names]
        return found or [one for word in words[-1:] for one in self._by_last.get(word, ())]


def _words(name: str) -> list[str]:
    return [word for word in _WORDS.split(name) if word]


class _Open(NamedTuple):
    """An open call: its number in order, its place in the timeline, and its piece."""

    number: int
    place: int
    piece: ContentPiece


class _Run(NamedTuple):
    """A tool's span: its number, the place of its start in the timeline, what it says, and the tools that it may be."""

    number: int
    place: int
    tool: SpanTool
    names: list[str]
    forms: list[str]
    results: list[str]


def matched_runs(
    calls: Sequence[tuple[int, ContentPiece]], runs: Sequence[tuple[int, SpanTool]], results: Mapping[int, str]
) -> dict[int, ContentPiece]:
    named = ToolNames(piece.name or "" for _, piece in calls)
    listed = [_Open(number, place, piece) for number, (place, piece) in enumerate(calls)]
    waiting = [
        _Run(number, place, tool, named.of(tool.name), argument_forms(tool.arguments), result_forms(tool.result))
        for number, (place, tool) in enumerate(runs)
    ]
    return _Matching(listed, waiting, results).found


class _Matching:
    def __init__(self, calls: list[_Open], runs: list[_Run], results: Mapping[int, str]) -> None:
        self.found: dict[int, ContentPiece] = {}
        self._taken: set[int] = set()
        self._results = results
        forms = {one.number: argument_forms(getattr(one.piece.items[0], "arguments", None)) for one in calls}
        answers = {one.number: result_forms(results.get(id(one.piece))) for one in calls}
        arguments = _index(calls, lambda one: [(one.piece.name, form) for form in forms[one.number]])
        returned = _index(calls, lambda one: [(one.piece.name, form) for form in answers[one.number]])
        both = _index(calls, lambda one: [(a, r) for a in forms[one.number] for r in answers[one.number]])
        names = _index(calls, lambda one: [one.piece.name])
        for run in runs:
            self._take(run, arguments, [(name, form) for name in run.names for form in run.forms])
        for run in runs:
            self._take(run, returned, [(name, form) for name in run.names for form in run.results])
        for run in runs:
            self._take(run, both, [(a, r) for a in run.forms for r in run.results])
        alone = _index(calls, lambda one: forms[one.number])
        for run in runs:
            self._take(run, alone, [] if run.names else [form for form in run.forms if len(form) >= _UNIQUE])
        left = [run for run in runs if run.number not in self.found]
        spans = Counter(name for run in left for name in run.names)
        for run in left:
            enough = (one for one in run.names if spans[one] <= sum(c.number not in self._taken for c in names[one]))
            self._take(run, names, list(enough)[:1])

    def _take(self, run: _Run, index: Mapping[Any, list[_Open]], keys: Sequence[Any]) -> None:
        """Join a span with the best open call of the first key that has one."""
        if run.number in self.found:
            return
        for key in keys:
            calls = index.get(key)
            if not calls:
                continue
            calls[:] = [one for one in calls if one.number not in self._taken]
            if calls:
                chosen = self._best(run, calls)
                self._taken.add(chosen.number)
                self.found[run.number] = chosen.piece
                return

    def _best(self, run: _Run, calls: list[_Open]) -> _Open:
        """The call with the same result; else the first of the turn before the span, else the first of all."""
        same = (one for one in calls[:_NEXT] if self._results.get(id(one.piece)) in run.results)
        first = bisect_right(calls, run.place, key=lambda one: one.place)
        before = calls[:first][-_NEXT:]
        latest = [one for one in before if one.place >= before[-1].place - _NEXT]
        return next(same, None) or next((one for one in latest if id(one.piece) not in self._results), None) or calls[0]


def _index(calls: Iterable[_Open], keys: Callable[[_Open], Iterable[Any]]) -> dict[Any, list[_Open]]:
    found: defaultdict[Any, list[_Open]] = defaultdict(list)
    for one in calls:
        for key in keys(one):
            found[key].append(one)
    return found


def argument_forms(written: Any) -> list[str]:
    """Arguments in canonical form, as they stand and out of whatever wraps them, the outermost first."""
    if written is None:
        return []
    found: dict[str, None] = {canonical(written): None}
    waiting = [(_decoded(written), 0)]
    while waiting and len(found) < _FORMS:
        value, depth = waiting.pop(0)
        if is_blank(value):
            continue
        found[canonical(value)] = None
        if isinstance(value, dict):
            found[canonical(list(value.values()))] = None
            positional, named = value.get("args"), value.get("kwargs")
            if isinstance(positional, list) and isinstance(named, dict):
                found[canonical([*positional, *named.values()])] = None
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if depth < _DEEPEST:
            waiting += [(_decoded(one), depth + 1) for one in inner if isinstance(one, dict | list | str)]
    return list(found)


def _decoded(value: Any) -> Any:
    """JSON, or a Python literal (as LangChain writes it), as a value."""
    found = decoded_json(value, texts=True)
    if not isinstance(found, str) or len(found) > _LONGEST_LITERAL or found.lstrip()[:1] not in {"{", "["}:
        return found
    try:
        return json.loads(json.dumps(ast.literal_eval(found)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return found


def result_forms(written: Any) -> list[str]:
    """A result in canonical form, as it stands, and its only text."""
    if written is None:
        return []
    found: dict[str, None] = {canonical(written): None}
    texts = list(_texts(_decoded(written)))
    if len(texts) == 1:
        found[canonical(texts[0])] = None
    return [one for one in found if one]


def _texts(value: Any) -> Iterable[str]:
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, dict) and depth < _DEEPEST:
            waiting += [(inner, depth + 1) for name, inner in one.items() if name not in _NOT_CONTENT]
        elif isinstance(one, list) and depth < _DEEPEST:
            waiting += [(inner, depth + 1) for inner in one]
        elif isinstance(one, str) and one.strip():
            yield one


_NOT_CONTENT = frozenset({"type", "role", "name", "id", "tool_call_id", "toolUseId", "status", "is_error", "isError"})


class Moment(NamedTuple):
    """A piece in the order of time; if it is None, the start or end of a tool."""

    node: Node
    at_end: bool
    piece: ContentPiece | None


class ToolSpans:
    """Compares the tool spans of a trace with the calls and results of its messages.

    A span is the run of at most one call. An id means a call of the latest turn that has it, as in
    `jury_events.transcript`; spans without a usable id are compared by name, arguments and result. A span that
    is the run of no call of a message is a call of its own where the messages leave no doubt of that, else the
    record says that a tool ran.

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
        else:  # of runs of one call the last one counts
            self._failed.discard(id(found))
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
