"""Tool spans: their calls and results that no message contains."""

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable
from typing import Any

from jury_cases.traces.pieces import ContentPiece, call_text, canonical
from jury_cases.traces.span import SpanTool
from jury_cases.traces.tree import Node
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.transcript import Event, Item, ToolCall, ToolResult


class ToolSpans:
    """Compares the tool spans of a trace with the calls and results of its messages.

    Args:
        pieces: everything that the transcript has from messages.
        moments: starts and ends (True) of the spans, in order of time.

    Raises:
        CaseFileError: a tool's name, call or result is invalid; the message begins with the span's place.
    """

    def __init__(self, pieces: Iterable[ContentPiece], moments: Iterable[tuple[Node, bool]]) -> None:
        listed = list(pieces)
        results = [piece for piece in listed if piece.what == "result"]
        texts: dict[str | None, str] = {piece.call_id: piece.text for piece in results if piece.call_id is not None}
        self._calls = _Pieces((piece for piece in listed if piece.what == "call"), lambda piece: piece.text)
        self._calls_of_tool = _Pieces(self._calls.listed, lambda piece: piece.name)
        self._answered = _Pieces(self._calls.listed, lambda piece: (piece.name, texts.get(piece.call_id)))
        self._results = _Pieces(results, lambda piece: piece.text)
        self._taken: set[int] = set()
        self._call_ids: dict[int, str | None] = {}
        self._own_ids: dict[int, str] = {}
        self._added: set[tuple[str, str | None]] = set()
        self._items: dict[tuple[int, bool], tuple[Item, ...]] = {}
        self._failed: set[int] = set()
        for node, at_end in moments:
            if node.span.tool is not None and not _runs_again(node, node.span.tool):
                (self._ended if at_end else self._started)(node, node.span.tool)

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

    def _started(self, node: Node, tool: SpanTool) -> None:
        self._call_ids[node.entered] = tool.call_id
        if tool.call_id is not None and ("call", tool.call_id) in self._added:
            return
        found = self._call_of(tool)
        if found is None:
            if tool.call_id is not None:
                self._added.add(("call", tool.call_id))
            else:
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
        if (tool.result is None and failure is None) or (call_id is not None and ("result", call_id) in self._added):
            return
        text = tool.result if tool.result is not None else failure or ""
        found = self._result_of(call_id, canonical(text))
        if found is None:
            if call_id is not None:
                self._added.add(("result", call_id))
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
        """The call in a message: by its id, else by tool and arguments, or by the tool alone if those are missing.

        Arguments may be written otherwise, as with defaults; then it is the call of the tool with the same result.
        """
        if (same := self._calls.by_id(tool.call_id)) is not None:
            return same
        with_ids = tool.call_id is None
        if tool.arguments is None:
            return self._calls_of_tool.first(tool.name, self._taken, with_ids=with_ids)
        found = self._calls.first(call_text(tool.name, tool.arguments), self._taken, with_ids=with_ids)
        if found is not None or tool.result is None or not with_ids:
            return found
        return self._answered.first((tool.name, canonical(tool.result)), self._taken, with_ids=True)

    def _result_of(self, call_id: str | None, text: str) -> ContentPiece | None:
        """The result in a message: by the id of its call, else by text, each at most once."""
        if (same := self._results.by_id(call_id)) is not None:
            return same
        found = self._results.first(text, self._taken, with_ids=call_id is None)
        if found is not None:
            self._taken.add(id(found))
        return found


class _Pieces:
    """Pieces by the id of their call, and in order by another key."""

    def __init__(self, pieces: Iterable[ContentPiece], key: Callable[[ContentPiece], Any]) -> None:
        self.listed = list(pieces)
        self._ids: dict[str, ContentPiece] = {}
        self._keys: defaultdict[tuple[Any, bool], deque[tuple[int, ContentPiece]]] = defaultdict(deque)
        for number, piece in enumerate(self.listed):
            if piece.call_id is not None:
                self._ids.setdefault(piece.call_id, piece)
            self._keys[key(piece), piece.call_id is not None].append((number, piece))

    def by_id(self, call_id: str | None) -> ContentPiece | None:
        """The first piece with the id."""
        return None if call_id is None else self._ids.get(call_id)

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
