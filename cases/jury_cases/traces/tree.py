"""The tree of a trace's spans, in the order of a depth-first walk."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from jury_cases.errors import CaseFileError
from jury_cases.traces.pieces import ContentPiece, PieceCounter, pieces_of
from jury_cases.traces.span import Span

_MOST = 100_000
"""Spans of one trace."""

_NEXT = 20
"""Tools after the start of a model's span among which those that it called are looked for."""


@dataclass(eq=False)
class Node:
    """A span with its place in the tree.

    Attributes:
        end: the span's, not before its start; the latest end of its children if it has none.
        entered, left: its numbers in a depth-first walk.
        agent: the name of the agent whose span it is, or of the nearest above it.
        tool_above: the nearest span of a tool that it is below.
        run: the number of the agent's span that it belongs to; None: no agent's.
        missing: the ids of its pieces that the spans below it lack; None: they have no content.
        ran: the start of the first tool that a model called and that ran before its span ended; None: there is none.
    """

    span: Span
    inputs: list[ContentPiece]
    outputs: list[ContentPiece]
    end: int
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    entered: int = 0
    left: int = 0
    depth: int = 0
    agent: str | None = None
    tool_above: "Node | None" = None
    run: int | None = None
    missing: frozenset[int] | None = None
    ran: int | None = None

    @property
    def start(self) -> int:
        """The span's."""
        return self.span.start

    @property
    def scope(self) -> tuple[int | None, str | None]:
        """The run of an agent, in which repeated system messages are shown once."""
        return self.run, self.span.agent

    def when(self, *, at_end: bool) -> tuple[int, int, int, int]:
        """A sort key: ends before starts at the same time; a span without duration ends where it starts.

        A model whose span covers the tools that it calls (as those of Google ADK do) has called them before they ran.
        """
        if at_end and self.end > self.start:
            return self.end if self.ran is None else min(self.ran, self.end), 0, -self.depth, self.left
        return self.start, 1, self.left if at_end else self.entered, 0


def tree_of(spans: Iterable[Span]) -> list[Node]:
    """The spans in tree order: parents before children, siblings by start. If parents form a cycle, all are ignored."""
    spans = list(spans)
    if len(spans) > _MOST:
        raise CaseFileError(f"it has {len(spans):,} spans, and at most {_MOST:,} are read together; leave it out")
    nodes = [
        Node(span, pieces_of(span.inputs), pieces_of(span.outputs), max(span.start, span.end or 0)) for span in spans
    ]
    by_id: dict[str, Node] = {}
    for node in nodes:
        by_id.setdefault(node.span.span_id, node)
    roots: list[Node] = []
    for node in nodes:
        parent = None if node.span.parent_id is None else by_id.get(node.span.parent_id)
        node.parent = None if parent is node else parent
        (roots if node.parent is None else node.parent.children).append(node)
    ordered = _walked(roots)
    if len(ordered) < len(nodes):
        for node in nodes:
            node.parent, node.children = None, []
        ordered = _walked(nodes)
    _find_missing(ordered)
    _find_runs(ordered)
    return ordered


def _find_runs(nodes: list[Node]) -> None:
    """Find the tools that ran while the span of the model that called them was open: below it, or beside it."""
    beside: dict[int, list[Node]] = {}
    for node in sorted(nodes, key=attrgetter("start")):
        if node.span.tool is not None:
            beside.setdefault(id(node.parent), []).append(node)
    for node in nodes:
        calls = {piece.name for piece in node.outputs if piece.what == "call"}
        if node.span.kind != "model" or not calls:
            continue
        for tools in (beside.get(id(node.parent), []), beside.get(id(node), [])):
            first = bisect_right(tools, node.start, key=attrgetter("start"))
            for one in tools[first : first + _NEXT]:
                if one.start < node.end and one.span.tool is not None and one.span.tool.name in calls:
                    node.ran = one.start if node.ran is None else min(node.ran, one.start)


def _walked(roots: list[Node]) -> list[Node]:
    ordered: list[Node] = []
    number = 0
    waiting = [(node, False) for node in sorted(roots, key=attrgetter("start"))][::-1]
    while waiting:
        node, is_left = waiting.pop()
        number += 1
        if is_left:
            node.left = number
            if node.parent is not None and node.parent.span.end is None:
                node.parent.end = max(node.parent.end, node.end)
            continue
        node.entered = number
        node.agent = node.span.agent
        if node.parent is not None:
            node.depth, node.run = node.parent.depth + 1, node.parent.run
            node.agent = node.agent or node.parent.agent
            node.tool_above = node.parent if node.parent.span.tool is not None else node.parent.tool_above
        if node.span.kind == "agent":
            node.run = number
        ordered.append(node)
        waiting.append((node, True))
        waiting += [(one, False) for one in sorted(node.children, key=attrgetter("start"))][::-1]
    return ordered


def _find_missing(nodes: list[Node]) -> None:
    """Compare every span with the content of all spans below it; each counter is handed up, so that none is copied."""
    below: dict[int, PieceCounter] = {}
    for node in sorted(nodes, key=attrgetter("left")):
        counter = below.pop(node.entered, PieceCounter())
        pieces = [*node.inputs, *node.outputs]
        if counter:
            node.missing = frozenset(map(id, counter.missing(pieces)))
        if node.parent is not None:
            counter = counter.merged(PieceCounter(pieces))
            siblings = below.get(node.parent.entered)
            below[node.parent.entered] = counter if siblings is None else siblings.merged(counter)
