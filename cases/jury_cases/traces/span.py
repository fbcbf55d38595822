"""A span as it is recorded, as it is read without the names of any one tool, and the tree of spans."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Literal

from jury_cases.errors import CaseFileError
from jury_cases.traces.pieces import ContentPiece, PieceCounter, pieces_of
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, text_or_none
from jury_events.case import Image
from jury_events.transcript import Item

SpanKind = Literal["model", "tool", "agent", "other"]
"""model: one call of a model. tool: one run of a tool. agent: a run of an agent. other: anything around them."""


@dataclass(frozen=True, kw_only=True)
class SpanTool:
    """What a tool's span says of its call.

    Attributes:
        name: the tool's.
        call_id: the id that the model gave to the call; None: not recorded.
        arguments: as text (JSON where it was JSON); None: not recorded.
        result: as text; None: not recorded.
        failed: the tool says so of its result; a span that failed has a `failure` instead.
    """

    name: str
    call_id: str | None = None
    arguments: str | None = None
    result: str | None = None
    failed: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Span:
    """One span.

    Attributes:
        span_id: unique in its trace, if the trace is well formed; the first of several equal ones is the parent of
            spans that name it.
        place: begins errors and locations of what is not shown.
        kind: what the span covers.
        parent_id: None or unknown in the trace: a root.
        start, end: in any one unit for the whole trace; an `end` of None is that of the latest span below it.
        name: as the trace names it.
        inputs, outputs: the messages that the span got and gave, as items of a transcript.
        given, answer: input and output that have no form of messages, decoded; None: there is none.
        images: the pictures of both.
        tool: the run of a span of kind `tool`.
        failure: the reason of its failure; None: it did not fail.
        agent: the name of the agent whose span it is; None: that of the span above it.
        handover: at its start one agent handed the conversation over to another, by their names; None: it says nothing
            of that kind. An agent's span below another's is no handover.
    """

    span_id: str
    place: str
    kind: SpanKind
    start: int
    end: int | None = None
    parent_id: str | None = None
    name: str = ""
    inputs: tuple[Item, ...] = ()
    outputs: tuple[Item, ...] = ()
    given: Any = None
    answer: Any = None
    images: tuple[Image, ...] = ()
    tool: SpanTool | None = None
    failure: str | None = None
    agent: str | None = None
    handover: tuple[str | None, str | None] | None = None


def root_of(spans: Sequence[Span]) -> Span | None:
    """The first span of a trace without a parent in it, by start; None if all have one."""
    ids = {span.span_id for span in spans}
    roots = (span for span in spans if span.parent_id is None or span.parent_id not in ids)
    return min(roots, key=lambda span: span.start, default=None)


def failures(spans: Iterable[Span]) -> str | None:
    """The failures of all spans, each once; None: there is none.

    But for those of tools, which are results of their calls, and of models that were asked again and answered.
    """
    spans = list(spans)
    again = made_good(spans)
    found = (span.failure for span in spans if span.failure is not None and span.tool is None and span not in again)
    return "\n".join(dict.fromkeys(found)) or None


def made_good(spans: Iterable[Span]) -> frozenset[Span]:
    """The calls of models that failed, and after which one with equal input below the same span was answered."""
    models = [span for span in spans if span.kind == "model" and span.inputs]
    failed = [span for span in models if span.failure is not None and not span.outputs]
    if not failed:
        return frozenset()
    answered: dict[tuple[Any, ...], int] = {}
    for span in models:
        if span.failure is None and span.outputs:
            key = _asked(span)
            answered[key] = max(span.start, answered.get(key, span.start))
    return frozenset(span for span in failed if answered.get(_asked(span), span.start - 1) >= span.start)


def _asked(span: Span) -> tuple[Any, ...]:
    parts = ("text", "name", "arguments", "call_id")
    return span.parent_id, tuple((one.kind, *(getattr(one, part, None) for part in parts)) for one in span.inputs)


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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\):.*", re.DOTALL)
_RAISED = re.compile(r"(?:[\w.]+)\((?P<quote>['\"])(?P<text>.*)(?P=quote),?\)", re.DOTALL)


def failure_text(written: Any) -> str | None:
    """The message of an exception without its type and traceback (`ValueError('no')`); None: there is none."""
    text = _TRACEBACK.sub("", as_text(written)).strip()
    raised = _RAISED.fullmatch(text)
    return (raised["text"] if raised else text) or None


def instant(written: Any) -> int | None:
    """A time in nanoseconds: ISO 8601, a datetime of a table, or a number (seconds, milliseconds … by its size).

    None: missing or invalid.
    """
    if isinstance(written, datetime):
        moment = written if written.tzinfo else written.replace(tzinfo=UTC)
        return _nanoseconds(moment)
    if isinstance(written, str):
        if written.isdecimal() and len(written) < _DIGITS:
            return instant(int(written))
        try:
            return instant(datetime.fromisoformat(written))
        except ValueError:
            return None
    if isinstance(written, bool) or not isinstance(written, int | float) or not 0 <= written < _LATEST:
        return None
    for unit in (1_000_000_000, 1_000_000, 1_000):
        if written * unit < _LATEST:
            return int(written * unit)
    return int(written)


_DIGITS = 40
_LATEST = 10**19
"""In nanoseconds: the year 2286."""


def _nanoseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def optional_text(value: Any) -> str | None:
    """Text or a number as text; None for other values, and for the word that tables write for a missing text."""
    found = text_or_none(value)
    return None if found in {"nan", "None", "null"} else found


def id_text(value: Any) -> str:
    """An id without the `0x` that OpenTelemetry's SDK writes before it; "" if there is none."""
    return (optional_text(value) or "").removeprefix("0x")


SCOPE = "\0scope"
"""The field of a span with the name of the library that recorded it."""

_FAILED = ("ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR", 2)
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "start_time_ns")
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "end_time_ns")


@dataclass(frozen=True, kw_only=True)
class PlainSpan:
    """One span.

    Attributes:
        span_id, parent_id, place, start, end, failure: as in `SpanRecord`.
        name: of the span.
        attributes: plain values by their names, which may be dotted, or nested objects.
        events: `{name, attributes}`.
        scope: the name of the library that recorded it; "" if none is written.
    """

    span_id: str
    place: str
    name: str
    start: int
    attributes: Mapping[str, Any]
    parent_id: str | None = None
    end: int | None = None
    failure: str | None = None
    events: tuple[Mapping[str, Any], ...] = ()
    scope: str = ""

    def at(self, names: Iterable[str]) -> Any:
        """The first attribute of these names that is not blank; None if all are."""
        for name in names:
            found = value_at(self.attributes, name)
            if not is_blank(found):
                return found
        return None


def value_at(attributes: Mapping[str, Any], name: str) -> Any:
    """An attribute by its dotted name, of plain or nested attributes; None if there is none."""
    if name in attributes:
        return attributes[name]
    at: Any = attributes
    for part in name.split("."):
        at = at.get(part) if isinstance(at, Mapping) else None
    return at


def plain_span(table: Mapping[str, Any]) -> PlainSpan:
    """A span of OTLP, of OpenTelemetry's SDK, of Phoenix or of MLflow, whose attributes are plain."""
    context = table["context"] if isinstance(table.get("context"), dict) else {}
    span_id = id_text(_first(table, ("spanId", "span_id", "context.span_id")) or context.get("span_id"))
    parent = _first(table, ("parentSpanId", "parent_span_id", "parent_id"))
    events = decoded_json(table.get("events"))
    attributes = table.get("attributes")
    return PlainSpan(
        span_id=span_id,
        parent_id=id_text(parent) or None,
        place=f"span {span_id[:_NAMED]}",
        name=as_text(table.get("name")),
        start=_time(table, _STARTS) or 0,
        end=_time(table, _ENDS),
        failure=_failure(table, events),
        attributes=attributes if isinstance(attributes, dict) else {},
        events=tuple(one for one in events if isinstance(one, dict)) if isinstance(events, list) else (),
        scope=as_text(table.get(SCOPE)),
    )


_NAMED = 60
"""Characters of an id in errors."""


def _time(table: Mapping[str, Any], names: Iterable[str]) -> int | None:
    name = next((one for one in names if table.get(one) is not None), "")
    written = table.get(name)
    if name.endswith(("_time", "Time")):
        return instant(written)
    digits = written if isinstance(written, str) and written.isdecimal() and len(written) < _DIGITS else None
    return int(digits) if digits else written if type(written) is int else None


def _first(table: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _failure(table: Mapping[str, Any], events: Any) -> str | None:
    status = decoded_json(table.get("status"))
    inner = status if isinstance(status, dict) else {"code": status}
    code = next((one for one in (inner.get("code"), inner.get("status_code"), table.get("status_code")) if one), None)
    if code is True or code not in _FAILED:
        return None
    said = (inner.get("message"), inner.get("description"), table.get("status_message"))
    thrown = (
        event["attributes"].get("exception.message")
        for event in (events if isinstance(events, list) else ())
        if isinstance(event, dict) and isinstance(event.get("attributes"), dict)
    )
    attributes = table["attributes"] if isinstance(table.get("attributes"), dict) else {}
    error = decoded_json(attributes.get("error"))
    inside = error if isinstance(error, dict) else {"message": error}
    data = inside["data"] if isinstance(inside.get("data"), dict) else {}
    reasons = (data.get("error"), inside.get("message"))
    texts = (*(one for one in thrown if not is_blank(one)), *map(failure_text, said), *reasons)
    named = (attributes.get("error.type"), table.get("name"), "failed")
    return next(text for one in (*texts, *named) if isinstance(one, str) and (text := one.strip()))
