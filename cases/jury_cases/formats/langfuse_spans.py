"""Langfuse's observations as spans of a trace.

Source: `ObservationsView` and `ObservationV2` of Langfuse's published API. Input and output depend on the traced
program, and are texts in v2. `@observe` records the arguments of a function as `{"args": […], "kwargs": {…}}`.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.formats.langfuse_tools import ToolRuns, failure_of, is_tool, tool_of, type_of
from jury_cases.formats.langfuse_values import in_order, is_call_list, names_authors, plain_value, read_value
from jury_cases.traces.span import Span, SpanKind
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, text_or_none
from jury_events.transcript import Item, Message, NotShown, ToolCall

_KINDS: dict[str, SpanKind] = {"GENERATION": "model", "AGENT": "agent", "TOOL": "tool", "RETRIEVER": "tool"}


class UnknownAuthor(NamedTuple):
    """Texts of a step of which the record does not say whose words they are, or that cannot be read."""

    place: str
    kind: str
    texts: tuple[str, ...]


class ObservedSpans(NamedTuple):
    """The spans of a trace, and the texts of its steps that no span has."""

    spans: list[Span]
    unknown: list[UnknownAuthor]


class Contents(NamedTuple):
    """Input and output of a trace or observation."""

    inputs: TranscriptBuilder
    outputs: TranscriptBuilder

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Contents":
        """Read them, without what the output repeats of the input; text without a role is the user's or the agent's.

        Raises:
            CaseFileError: a part of a known form is invalid.
        """
        given, answer = in_order(_value(row, "input"), _value(row, "output"))
        found = cls(TranscriptBuilder(), TranscriptBuilder())
        read_value(given, "user", found.inputs, "input")
        read_value(answer, "assistant", found.outputs, "output")
        return found

    @classmethod
    def nothing(cls) -> "Contents":
        """No content."""
        return cls(TranscriptBuilder(), TranscriptBuilder())

    def span(self, **fields: Any) -> Span:
        """A span with these contents."""
        images = (*self.inputs.images, *self.outputs.images)
        return Span(inputs=_said(self.inputs), outputs=_said(self.outputs), images=images, **fields)


def _said(builder: TranscriptBuilder) -> tuple[Item, ...]:
    """The items without empty messages, as models return them where an answer has no text."""
    return tuple(one for one in builder.transcript().items if not (isinstance(one, Message) and not one.text.strip()))


def _value(row: dict[str, Any], name: str) -> Any:
    return plain_value(decoded_json(row.get(name), texts=True))


def observed_spans(observations: Iterable[tuple[str, dict[str, Any]]], root: Span | None = None) -> ObservedSpans:
    """The spans of observations, in the order of their start.

    Args:
        observations: each with its place.
        root: the trace as a span above those that have no parent; None: the observations are all that there is.
    """
    placed = _in_order(observations)
    ids = {as_text(one.get("id")) for _, one, _ in placed}
    runs = ToolRuns(one for _, one, _ in placed)
    root_has_content = root is not None and bool(root.inputs or root.outputs)
    spans: list[Span] = [] if root is None else [root]
    unknown: list[UnknownAuthor] = []
    for place, one, start in placed:
        parent = text_or_none(one.get("parentObservationId"))
        is_root = parent not in ids or parent == as_text(one.get("id")) or one.get("isRootObservation") is True
        contents = _contents(one, place, unknown, runs, known_author=is_root and not root_has_content)
        span = contents.span(
            span_id=as_text(one.get("id")) or place,
            place=place,
            kind=_KINDS.get(type_of(one), "other"),
            start=start,
            end=moment(one.get("endTime")) or None,
            parent_id=root.span_id if is_root and root is not None else parent,
            tool=tool_of(one) if is_tool(one) else None,
            failure=failure_of(one),
            agent=text_or_none(one.get("name")) if type_of(one) == "AGENT" else None,
        )
        spans.append(span)
    calls = [item for span in spans for item in (*span.inputs, *span.outputs) if isinstance(item, ToolCall)]
    named = runs.named_by(calls)
    return ObservedSpans([replace(one, tool=named(one.span_id, one.tool)) for one in spans], unknown)


def _in_order(observations: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any], int]]:
    """The observations with their start, by it; those of one millisecond in the order of the file.

    The API lists the latest first: such a file is read from its end.
    """
    placed = [(place, one, moment(one.get("startTime"))) for place, one in observations]
    starts = [start for _, _, start in placed]
    if starts == sorted(starts, reverse=True) and (starts[0:1] != starts[-1:] or _begins_with_children(placed)):
        placed.reverse()
    return sorted(placed, key=lambda one: one[2])


def _begins_with_children(placed: list[tuple[str, dict[str, Any], int]]) -> bool:
    """Whether observations stand before their parents."""
    numbers = {as_text(one.get("id")): number for number, (_, one, _) in enumerate(placed)}
    parents = (
        (number, numbers.get(as_text(one.get("parentObservationId")))) for number, (_, one, _) in enumerate(placed)
    )
    return any(parent is not None and number < parent for number, parent in parents)


def _contents(
    one: dict[str, Any], place: str, unknown: list[UnknownAuthor], runs: ToolRuns, *, known_author: bool
) -> Contents:
    """What an observation other than a tool's says; texts of unknown authors are added to `unknown`."""
    kind = text_or_none(one.get("type")) or "of no type"
    if is_tool(one):
        return Contents.nothing()
    try:
        found = Contents.of(one)
    except CaseFileError:
        unread = tuple(as_text(one.get(name)) for name in ("input", "output"))
        unknown.append(UnknownAuthor(place, kind, unread))
        return Contents.nothing()
    if type_of(one) == "GENERATION":
        return found
    texts: list[str] = []
    kept: list[TranscriptBuilder] = []
    for name, builder in (("input", found.inputs), ("output", found.outputs)):
        value = _value(one, name)
        if is_call_list(value) and runs.below(one):
            kept.append(TranscriptBuilder())
        elif known_author or names_authors(value):
            kept.append(runs.without_runs(one, builder))
        else:
            kept.append(TranscriptBuilder())
            texts += _leaves(value)
    if texts:
        unknown.append(UnknownAuthor(place, kind, tuple(texts)))
    return Contents(*kept)


def _leaves(value: Any) -> list[str]:
    """The texts of a value, without names and numbers."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one
        elif isinstance(one, str) and one.strip():
            found.append(one)
    return found[::-1]


def report_unknown(unknown: Iterable[UnknownAuthor], builder: TranscriptBuilder) -> None:
    """Report the texts of unknown authors that nothing shown contains."""
    shown = "\n".join(_words(item) for item in builder.transcript().items)
    for one in unknown:
        if not all(text.strip() in shown for text in one.texts):
            builder.not_shown(f"observation {one.kind}", "environment", one.place, "".join(one.texts))


def _words(item: Item) -> str:
    if isinstance(item, ToolCall):
        return f"{item.name} {item.arguments}"
    return "" if isinstance(item, NotShown) else as_text(getattr(item, "text", ""))


def moment(value: Any) -> int:
    """A time in microseconds since 1970; 0 if it is none."""
    try:
        found = datetime.fromisoformat(value)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return round(found.timestamp() * 1_000_000)
    except (TypeError, ValueError, OverflowError):
        return 0
