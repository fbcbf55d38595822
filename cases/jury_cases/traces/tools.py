"""Tool spans: their calls and results that no message contains."""

from collections.abc import Iterable
from typing import Any

from jury_cases.traces.pieces import ContentPiece, call_text, canonical
from jury_cases.traces.span import Span, SpanTool
from jury_cases.traces.tree import Node
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.transcript import Event, ToolCall, ToolResult


class ToolSpans:
    """Adds the calls and results of tool spans that no message contains.

    Args:
        pieces: everything that the transcript has from messages.
        builder: gets the rest.
    """

    def __init__(self, pieces: Iterable[ContentPiece], builder: TranscriptBuilder) -> None:
        listed = list(pieces)
        self._builder = builder
        self._calls = [piece for piece in listed if piece.what == "call"]
        self._results = [piece for piece in listed if piece.what == "result"]
        self._call_ids: dict[int, str | None] = {}
        self._added: set[tuple[str, str | None]] = set()

    def started(self, node: Node, tool: SpanTool) -> None:
        """Add the call of a tool's span, unless a message has it."""
        self._call_ids[node.entered] = tool.call_id
        if tool.call_id is not None and ("call", tool.call_id) in self._added:
            return
        found = self._call_of(tool)
        if found is None:
            self._add("call", tool, node.span)
            return
        self._call_ids[node.entered] = found.call_id
        if tool.call_id is None or found.call_id is None:
            self._calls.remove(found)

    def ended(self, node: Node, tool: SpanTool) -> None:
        """Add the result or the failure of a tool's span, unless a message has it."""
        call_id = self._call_ids.get(node.entered)
        failure = node.span.failure
        if (tool.result is None and failure is None) or (call_id is not None and ("result", call_id) in self._added):
            return
        text = tool.result if tool.result is not None else failure or ""
        found = self._result_of(call_id, canonical(text))
        if found is None:
            self._add("result", tool, node.span, call_id=call_id, text=text)
        if failure and failure not in (text if found is None else found.text):
            self._builder.add(Event, node.span.place, origin="tool", name="error", text=failure)

    def _add(self, what: str, tool: SpanTool, span: Span, **of_result: Any) -> None:
        call_id = of_result.pop("call_id", tool.call_id)
        if call_id is not None:
            self._added.add((what, call_id))
        if what == "call":
            self._builder.add(ToolCall, span.place, call_id=call_id, name=tool.name, arguments=tool.arguments or "")
        else:
            self._builder.add(
                ToolResult, span.place, call_id=call_id, name=tool.name, error=span.failure is not None, **of_result
            )

    def _call_of(self, tool: SpanTool) -> ContentPiece | None:
        """The call in a message: by its id, else by tool and arguments (by tool alone if those are missing)."""
        if tool.call_id is not None:
            same = next((one for one in self._calls if one.call_id == tool.call_id), None)
            if same is not None:
                return same
        written = call_text(tool.name, tool.arguments)
        for one in self._calls:
            if tool.call_id is not None and one.call_id is not None:
                continue
            if one.text == written or (tool.arguments is None and one.text.startswith(f"{tool.name} ")):
                return one
        return None

    def _result_of(self, call_id: str | None, text: str) -> ContentPiece | None:
        """The result in a message: by the id of its call, else by text, each at most once."""
        for index, one in enumerate(self._results):
            if call_id is not None and one.call_id is not None:
                if one.call_id == call_id:
                    return one
            elif one.text == text:
                return self._results.pop(index)
        return None
