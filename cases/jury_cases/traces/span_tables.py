"""What a span's attributes mean: the tables of all dialects, tried on every span.

Attributes have the names of their dialect, and one span may have those of several: a platform's around a framework's
around a provider's. The first table that says something counts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jury_cases.traces.field_values import optional_text
from jury_cases.traces.plain_span import PlainSpan
from jury_cases.traces.records import SpanRecord
from jury_cases.traces.span import SpanKind, SpanTool
from jury_cases.transcripts.json_values import as_text, is_blank

Names = tuple[str, ...]


class SpanTable(NamedTuple):
    """Where the spans of one dialect have what a record says, as names of attributes; the first that is filled counts.

    Attributes:
        name: of the dialect.
        marks: names of which a span of it has one; those that end in a dot are beginnings of names.
        kind: the span's kind, one of `kinds` in small letters; one that is not among them is `other`.
        tool: the tool's name; of other spans they are not looked at.
        call_id, agent, given, answer, more_given, more_answer: as in `SpanRecord`.
        failure: the reason of a failure, where it says more than the span's status.
        read: the fields of a `SpanRecord` that a table cannot say, by a span and its kind.
    """

    name: str
    marks: Names
    kind: Names = ()
    kinds: Mapping[str, SpanKind] = {}
    tool: Names = ()
    call_id: Names = ()
    agent: Names = ()
    given: Names = ()
    answer: Names = ()
    more_given: Names = ()
    more_answer: Names = ()
    failure: Names = ()
    read: Callable[[PlainSpan, SpanKind | None], Mapping[str, Any]] | None = None

    def has(self, span: PlainSpan) -> bool:
        """Whether a span is of the dialect."""
        beginnings = tuple(mark for mark in self.marks if mark.endswith("."))
        if beginnings and any(name.startswith(beginnings) or f"{name}." in beginnings for name in span.attributes):
            return True
        return any(not mark.endswith(".") and not is_blank(span.at((mark,))) for mark in self.marks) or any(
            as_text(event.get("name")).startswith(self.marks) for event in span.events
        )

    def kind_of(self, span: PlainSpan) -> SpanKind | None:
        """The kind, if the span says one."""
        written = as_text(span.at(self.kind)).lower()
        return self.kinds.get(written, "other") if written else None


def record_of(span: PlainSpan, tables: Iterable[SpanTable]) -> SpanRecord | None:
    """The record of a span; None if it is of none of the dialects."""
    matching = [table for table in tables if table.has(span)]
    if not matching:
        return None
    kinds = [kind for table in matching if (kind := table.kind_of(span)) is not None]
    kind = next((one for one in kinds if one != "other"), "other" if kinds else None)
    found: dict[str, Any] = {}
    for table in matching:
        own = dict(table.read(span, kind)) if table.read is not None else {}
        for name in _FIELDS:
            own.setdefault(name, span.at(getattr(table, name)))
        for name, value in own.items():
            if is_blank(found.get(name)) and not is_blank(value):
                found[name] = value
    tool = optional_text(next((name for table in matching if (name := span.at(table.tool)) is not None), None))
    kind = found.pop("kind", kind or "other")
    for name in ("call_id", "agent"):
        found[name] = optional_text(found.get(name))
    failure = found.pop("failure", None)
    return SpanRecord(
        **{
            "span_id": span.span_id,
            "parent_id": span.parent_id,
            "place": span.place,
            "kind": kind,
            "name": (tool if kind == "tool" else None) or span.name,
            "start": span.start,
            "end": span.end,
            "failure": span.failure and (as_text(failure) or span.failure),
        }
        | found
    )


_FIELDS = ("call_id", "agent", "given", "answer", "more_given", "more_answer", "failure")


def declared(span: PlainSpan, tables: Iterable[SpanTable]) -> tuple[SpanKind | None, SpanTool]:
    """The kind of a span and the name and id of its tool, as far as its attributes say them."""
    matching = [table for table in tables if table.has(span)]
    kinds = [kind for table in matching if (kind := table.kind_of(span)) is not None]
    name = next((name for table in matching if (name := optional_text(span.at(table.tool))) is not None), "")
    call = next((one for table in matching if (one := optional_text(span.at(table.call_id))) is not None), None)
    return next((one for one in kinds if one != "other"), None), SpanTool(name=name, call_id=call)
