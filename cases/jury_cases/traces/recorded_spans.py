"""The spans of a trace from plain spans, by the tables of all dialects."""

from collections.abc import Collection, Iterable

from jury_cases.traces.plain_span import PlainSpan
from jury_cases.traces.records import SpanRecord, in_order, spans_of
from jury_cases.traces.span import Span
from jury_cases.traces.span_tables import record_of
from jury_cases.traces.tables.all_tables import TABLES
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.transcript import Event


def spans_of_tables(plain: Iterable[PlainSpan]) -> list[Span]:
    """The spans of one trace.

    One that is of no dialect, such as a request of a web framework, has its place among the others; that it failed is
    an event, unless another failed for the same reason.
    """
    read = [(span, record_of(span, TABLES)) for span in plain]
    reasons = {record.failure for _, record in read if record is not None}
    return spans_of(in_order(record or _other(span, reasons) for span, record in read))


def _other(span: PlainSpan, reasons: Collection[str | None]) -> SpanRecord:
    builder = TranscriptBuilder()
    if span.failure is not None and span.failure not in reasons:
        name = f"error of {span.name or 'a step'}"
        builder.add(Event, span.place, origin="environment", name=name, text=span.failure)
    return SpanRecord(
        span_id=span.span_id,
        parent_id=span.parent_id,
        place=span.place,
        kind="other",
        name=span.name,
        start=span.start,
        end=span.end,
        events=builder.transcript().items,
    )
