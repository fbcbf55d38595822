"""A span as a container has it: OTLP, the JSON of OpenTelemetry's SDK, rows of a table; not what it means."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, text_or_none

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
    )


_NAMED = 60
"""Characters of an id in errors."""


def _time(table: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """A time in nanoseconds; None: there is none."""
    name = next((one for one in names if table.get(one) is not None), "")
    written = table.get(name)
    if name.endswith(("_time", "Time")):
        return instant(written)
    digits = written if isinstance(written, str) and written.isdecimal() and len(written) < _DIGITS else None
    return int(digits) if digits else written if type(written) is int else None


def _first(table: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _failure(table: Mapping[str, Any], events: Any) -> str | None:
    """What the status says, else the exception; None if the span did not fail."""
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
