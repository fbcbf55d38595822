"""Langfuse's observations as spans of a trace.

Source: `ObservationsView` and `ObservationV2` of Langfuse's published API. Input and output depend on the traced
program, and are texts in v2. `@observe` records the arguments of a function as `{"args": […], "kwargs": {…}}`.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from jury_cases.formats.langfuse_values import CUT, has_messages, has_role, in_order, plain_value, read_value
from jury_cases.traces.plain_span import PlainSpan
from jury_cases.traces.span import Span, SpanKind, SpanTool
from jury_cases.traces.span_tables import declared
from jury_cases.traces.tables.all_tables import TABLES
from jury_cases.traces.values import read_instructions, returned_text, said_in
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank, text_or_none
from jury_events.transcript import Item, Message, ToolCall

_KINDS: dict[str, SpanKind] = {"GENERATION": "model", "AGENT": "agent", "TOOL": "tool", "RETRIEVER": "tool"}


def observed_spans(
    observations: Iterable[tuple[str, dict[str, Any]]], trace: dict[str, Any] | None = None
) -> list[Span]:
    """The spans of observations, in the order of their start.

    Args:
        observations: each with its place.
        trace: the trace, as a span above those that have no parent; None: the observations are all that there is.
    """
    placed = _in_order(observations)
    ids = {as_text(one.get("id")) for _, one, _ in placed}
    spans: list[Span] = []
    if trace is not None:
        times = [start for _, _, start in placed] + [moment(one.get("endTime")) for _, one, _ in placed]
        start, end = min(times[: len(placed)], default=0), max(times, default=0) + 1
        spans.append(_span(trace, "trace", "agent", span_id="", start=start, end=end))
    for place, one, start in placed:
        parent = text_or_none(one.get("parentObservationId"))
        is_root = parent not in ids or parent == as_text(one.get("id")) or one.get("isRootObservation") is True
        kind = _kind_of(one)
        span = _span(
            one,
            place,
            kind,
            span_id=as_text(one.get("id")) or place,
            start=start,
            end=moment(one.get("endTime")) or None,
            parent_id="" if is_root and trace is not None else parent,
            agent=text_or_none(one.get("name")) if kind == "agent" else None,
        )
        spans.append(span)
    called = {item.call_id for span in spans for item in (*span.inputs, *span.outputs) if isinstance(item, ToolCall)}
    return [_with_own_id(span, called) for span in spans]


def _with_own_id(span: Span, called: Collection[str | None]) -> Span:
    if span.tool is None or span.tool.call_id is not None or span.span_id not in called:
        return span
    return replace(span, tool=replace(span.tool, call_id=span.span_id))


def _span(row: dict[str, Any], place: str, kind: SpanKind, **fields: Any) -> Span:
    """A trace or an observation as a span, without what its output repeats of its input."""
    tool = _tool_of(row) if kind == "tool" else None
    named: dict[str, Any] = {
        "place": place,
        "kind": kind,
        "name": as_text(row.get("name")),
        "failure": _failure_of(row, tool),
    }
    if tool is not None:
        return Span(tool=tool, **named, **fields)
    rest: dict[str, Any] = {}
    built: list[TranscriptBuilder] = []
    for part, value in zip(("input", "output"), in_order(*map(partial(_value, row), ("input", "output"))), strict=True):
        builder = TranscriptBuilder()
        author: Literal["user", "assistant"] = "user" if part == "input" else "assistant"
        if has_messages(value):
            read_value(value, author, builder, f"{place}.{part}")
        elif kind == "model" and (text := said_in(value, part)) is not None:
            builder.message(author, text, f"{place}.{part}")
        elif not is_blank(value):
            rest[part] = value
        if CUT in as_text(value):
            builder.not_shown("rest of a text that the export cut", "environment", f"{place}.{part}")
        built.append(builder)
    asked, said = built
    if kind == "model" and not any(item.kind == "system" for item in asked.transcript().items):
        asked = TranscriptBuilder()
        read_instructions(row.get("output"), asked, f"{place}.output")
        asked.extend(built[0])
    return Span(
        inputs=_said(asked),
        outputs=_said(said),
        given=rest.get("input"),
        answer=rest.get("output"),
        images=(*asked.images, *said.images),
        **named,
        **fields,
    )


def _said(builder: TranscriptBuilder) -> tuple[Item, ...]:
    """The items without empty messages, as models return them where an answer has no text."""
    return tuple(one for one in builder.transcript().items if not (isinstance(one, Message) and not one.text.strip()))


def _value(row: dict[str, Any], name: str) -> Any:
    written = row.get(name)
    return None if written == "null" else plain_value(decoded_json(written, texts=True))


def _attributed(observation: dict[str, Any]) -> tuple[SpanKind | None, SpanTool]:
    metadata = decoded_json(observation.get("metadata"), texts=True)
    attributes = as_object(decoded_json(as_object(metadata).get("attributes")))
    return declared(PlainSpan(span_id="", place="", name="", start=0, attributes=attributes), TABLES)


def _kind_of(observation: dict[str, Any]) -> SpanKind:
    kind = (text_or_none(observation.get("type")) or "").upper()
    return _KINDS[kind] if kind in _KINDS else _attributed(observation)[0] or "other"


def _tool_of(observation: dict[str, Any]) -> SpanTool:
    given = decoded_json(observation.get("input"), texts=True)
    output = _value(observation, "output")
    returned = output if has_role(output, "tool", "function") else {}
    _, own = _attributed(observation)
    metadata = decoded_json(observation.get("metadata"), texts=True)
    ids = (one.get("tool_call_id") for one in (returned, metadata, given) if isinstance(one, dict))
    result = returned.get("content", output)
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and given["args"] == []:
        given = given["kwargs"]
    return SpanTool(
        name=own.name or text_or_none(returned.get("name")) or as_text(observation.get("name")) or "unnamed",
        call_id=own.call_id or next((found for one in ids if (found := text_or_none(one)) is not None), None),
        arguments=None if given is None else as_text(given),
        result=None if result is None else returned_text(result),
        failed=True in (as_object(output).get("is_error"), as_object(output).get("isError")),
    )


def _failure_of(observation: dict[str, Any], tool: SpanTool | None) -> str | None:
    """The reason of a failure; None if it did not fail."""
    if as_text(observation.get("level")).upper() != "ERROR" and not (tool and tool.failed):
        return None
    return as_text(observation.get("statusMessage")) or (tool.result if tool else None) or "failed"


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


def moment(value: Any) -> int:
    """A time in microseconds since 1970; 0 if it is none."""
    try:
        found = datetime.fromisoformat(value)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return round(found.timestamp() * 1_000_000)
    except (TypeError, ValueError, OverflowError):
        return 0
