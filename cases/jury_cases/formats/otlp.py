"""OTLP as JSON: the spans of an export, grouped by trace, with plain attributes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, json_kind

MAX_EXPORT = 256 * 1024 * 1024
"""Characters of the batches of one file, which are in memory at once."""

RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


class Trace(dict[str, Any]):
    """One trace of an export: its spans, each with plain attributes, as a row."""


class TraceGrouper:
    """Groups the spans of an export's batches by trace."""

    def __init__(self) -> None:
        self._traces: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._size = 0

    def add(self, document: Any) -> None:
        """Add a batch.

        Raises:
            CaseFileError: it is not OTLP, or the batches together exceed `MAX_EXPORT`.
        """
        try:
            self._size += len(as_text(document))
            if self._size > MAX_EXPORT and self._traces:
                raise CaseFileError(
                    f"resourceSpans: more than {MAX_EXPORT >> 20} MiB of spans; split the file by trace"
                )
            for span in _spans(document):
                self._traces[as_text(first_of(span, ("traceId", "trace_id")))].append(span)
        except RecursionError as error:
            raise CaseFileError("resourceSpans: nested too deeply") from error

    def traces(self) -> Iterator[tuple[str, Any]]:
        """The traces with spans of generative AI, in the order of their first span.

        Raises:
            CaseFileError: there is none.
        """
        found = 0
        for trace, spans in self._traces.items():
            if any(is_genai(span) for span in spans):
                found += 1
                yield trace, Trace(spans=spans, trace_id=trace)
        if not found:
            raise CaseFileError("resourceSpans: no span has gen_ai attributes with messages; nothing can be judged")


def traces_of(document: Any) -> Iterator[tuple[str, Any]]:
    grouper = TraceGrouper()
    grouper.add(document)
    yield from grouper.traces()


def _spans(document: Any) -> Iterator[dict[str, Any]]:
    """The spans of a batch, with their resource's attributes, and plain values in attributes and events."""
    if not isinstance(document, dict):
        raise CaseFileError(f"resourceSpans: must be an object with resourceSpans, not {json_kind(document)}")
    for resource in as_objects(first_of(document, RESOURCES), "resourceSpans", "resources"):
        common = _attributes(_table(resource.get("resource")).get("attributes"))
        for scope in as_objects(first_of(resource, _SCOPES), "scopeSpans", "scopes"):
            for span in as_objects(scope.get("spans"), "spans", "spans"):
                events = as_objects(span.get("events"), "events", "events")
                plain = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
                yield {**span, "attributes": common | _attributes(span.get("attributes")), "events": plain}


def is_genai(span: dict[str, Any]) -> bool:
    names = [*span["attributes"], *(as_text(event.get("name")) for event in span["events"])]
    return any(name.startswith("gen_ai.") for name in names)


def nanoseconds(span: dict[str, Any], names: Iterable[str]) -> int | None:
    """A field in nanoseconds; None if missing or invalid."""
    written = first_of(span, names)
    if isinstance(written, str) and written.isdecimal() and len(written) < _DIGITS:
        return int(written)
    return written if isinstance(written, int) and not isinstance(written, bool) else None


_DIGITS = 40


def first_of(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return {as_text(key): value for key, value in listed.items()}
    return {
        as_text(one.get("key")): _any_value(one.get("value")) for one in as_objects(listed, "attributes", "attributes")
    }


def _any_value(value: Any) -> Any:
    """OTLP's AnyValue as plain JSON; other values unchanged."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "arrayValue":
            values = _table(inner).get("values")
            return [_any_value(one) for one in values] if isinstance(values, list) else inner or []
        case "kvlistValue":
            return _attributes(inner["values"]) if isinstance(inner, dict) and "values" in inner else inner or {}
        case "intValue":
            return _whole(inner)
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value


def _whole(value: Any) -> Any:
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    return int(value) if digits.isdecimal() and len(digits) < _DIGITS else value


def as_list(value: Any) -> list[Any]:
    decoded = decoded_json(value)
    if decoded is None:
        return []
    return decoded if isinstance(decoded, list) else [decoded]
