"""OpenTelemetry traces of generative AI (OTLP as JSON): one case a trace, from its chat and tool spans.

Source: OpenTelemetry's semantic conventions for generative AI: `gen_ai.*` attributes of spans, and the span events that
earlier versions had. Each chat span repeats the conversation so far: a message is taken where it occurs first.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from jury_events.transcript import ToolCall, ToolResult
from jury_judge.cases.draft import Draft
from jury_judge.cases.formats.format import Format
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_objects, as_text, text_or_none
from jury_judge.cases.transcripts.otel import read_part, read_parts_message
from jury_judge.errors import CaseFileError

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_SPANS = "_spans"
_FACTS = {
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.system": "provider",
    "gen_ai.agent.name": "agent",
    "gen_ai.conversation.id": "conversation",
    "service.name": "service",
}


def _split(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The traces of an export, in the order of their first span; spans that are not of generative AI are left out."""
    traces: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for resource in as_objects(_first(document, _RESOURCES), "resourceSpans", "resources"):
        common = _attributes((resource.get("resource") or {}).get("attributes"))
        for scope in as_objects(_first(resource, _SCOPES), "scopeSpans", "scopes"):
            for span in as_objects(scope.get("spans"), "spans", "spans"):
                attributes = {**common, **_attributes(span.get("attributes"))}
                trace = as_text(span.get("traceId") or span.get("trace_id"))
                traces[trace].append({**span, "attributes": attributes})
    found = 0
    for trace, spans in traces.items():
        if any(_is_genai(span) for span in spans):
            found += 1
            yield trace, {_SPANS: spans, "trace_id": trace}
    if not found:
        raise CaseFileError("resourceSpans: no span has gen_ai attributes with messages; nothing can be judged")


def _read(row: Any) -> Draft:
    builder = TranscriptBuilder()
    seen: Counter[str] = Counter()
    facts: dict[str, Any] = {}
    errors = []
    told = {call_id for span in row[_SPANS] for message in _messages(span) for call_id in _answered(message)}
    for span in sorted(row[_SPANS], key=_start):
        attributes = span["attributes"]
        facts |= {name: attributes[key] for key, name in _FACTS.items() if key in attributes and name not in facts}
        if attributes.get("gen_ai.operation.name") == "execute_tool" or "gen_ai.tool.name" in attributes:
            _tool(span, builder, told)
        else:
            _chat(span, builder, seen)
        status = span.get("status") or {}
        if _is_genai(span) and status.get("code") in {2, "STATUS_CODE_ERROR", "ERROR"}:
            errors.append(as_text(status.get("message")) or as_text(span.get("name")))
    return Draft(case_id=row["trace_id"] or None, built=builder, error="\n".join(errors) or None, metadata=facts)


def _chat(span: dict[str, Any], builder: TranscriptBuilder, seen: Counter[str]) -> None:
    place = f"span {as_text(span.get('spanId') or span.get('span_id'))}"
    here: Counter[str] = Counter()
    attributes = span["attributes"]
    for index, part in enumerate(_list(attributes.get("gen_ai.system_instructions"))):
        if _is_new({"system": part}, here, seen):
            at = f"{place}.gen_ai.system_instructions.{index}"
            read_part(
                {"type": "text", "content": part} if isinstance(part, str) else part, "system", "developer", builder, at
            )
    for index, message in enumerate(_messages(span)):
        if _is_new(message, here, seen):
            read_parts_message(message, builder, f"{place}.messages.{index}")
    seen |= here


def _messages(span: dict[str, Any]) -> Iterator[dict[str, Any]]:
    attributes = span["attributes"]
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        yield from as_objects(_list(attributes.get(key)), key, "messages")
    for prefix in ("gen_ai.prompt", "gen_ai.completion"):
        yield from _indexed(attributes, prefix)
    for event in as_objects(span.get("events"), "events", "events"):
        yield from _of_event(as_text(event.get("name")), _attributes(event.get("attributes")))


def _of_event(name: str, attributes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Messages of span events, as versions of the conventions before 1.37 had them."""
    body = {key.removeprefix("gen_ai.event."): _decoded(value) for key, value in attributes.items()}
    role = _EVENT_ROLES.get(name)
    if role is not None:
        body = {key: value for key, value in body.items() if not key.startswith("gen_ai.") and key != "event.name"}
        yield {"content": None, **body, "role": as_text(body.get("role")) or role} | (
            {"tool_call_id": body["id"]} if role == "tool" and "id" in body else {}
        )
    elif name == "gen_ai.choice":
        message = body.get("message")
        yield {**(message if isinstance(message, dict) else {"content": message}), "role": "assistant"}
    elif name == "gen_ai.client.inference.operation.details":
        for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
            yield from as_objects(_list(attributes.get(key)), key, "messages")


def _indexed(attributes: dict[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """`gen_ai.prompt.0.role`, `gen_ai.prompt.0.content` … as OpenLLMetry writes them."""
    messages: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    calls: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        path = key.removeprefix(f"{prefix}.").split(".")
        if not key.startswith(f"{prefix}.") or not path[0].isdecimal():
            continue
        number = int(path[0][:6])
        if path[1:2] == ["tool_calls"] and len(path) == 4 and path[2].isdecimal():  # noqa: PLR2004
            calls[number, int(path[2][:6])][path[3]] = value
        elif len(path) == 2:  # noqa: PLR2004
            messages[number][path[1]] = _decoded(value) if path[1] == "content" else value
    for (number, _), call in sorted(calls.items()):
        messages[number].setdefault("tool_calls", []).append(call)
    for _, message in sorted(messages.items()):
        yield {"role": "assistant" if prefix.endswith("completion") else "user", **message}


def _answered(message: dict[str, Any]) -> Iterator[str]:
    """The ids of the calls whose results a message has."""
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else [message]:
        call_id = part.get("id") if isinstance(part, dict) and part.get("type") == "tool_call_response" else None
        if call_id is None and part is message and message.get("role") == "tool":
            call_id = message.get("tool_call_id")
        if isinstance(call_id, str):
            yield call_id


def _tool(span: dict[str, Any], builder: TranscriptBuilder, told: Collection[str]) -> None:
    """A tool that ran; its call and its result are taken from messages where those have them (`told`: results)."""
    attributes = span["attributes"]
    place = f"span {as_text(span.get('spanId') or span.get('span_id'))}"
    call_id = text_or_none(attributes.get("gen_ai.tool.call.id"))
    name = as_text(attributes.get("gen_ai.tool.name")) or "unnamed"
    if call_id is None or call_id not in builder.called:
        arguments = as_text(attributes.get("gen_ai.tool.call.arguments"))
        builder.add(ToolCall, place, call_id=call_id, name=name, arguments=arguments)
    result = attributes.get("gen_ai.tool.call.result")
    if result is not None and (call_id is None or call_id not in told):
        builder.add(ToolResult, place, call_id=call_id, name=name, text=as_text(result))


def _is_new(message: Any, here: Counter[str], seen: Counter[str]) -> bool:
    """Whether it was not told by an earlier span; a message may really occur twice."""
    table = {key: value for key, value in message.items() if key != "finish_reason"}
    key = json.dumps(table, sort_keys=True, default=str)
    here[key] += 1
    return here[key] > seen[key]


def _is_genai(span: dict[str, Any]) -> bool:
    names = [*span["attributes"], *(as_text(event.get("name")) for event in span.get("events") or ())]
    return any(name.startswith("gen_ai.") for name in names)


def _start(span: dict[str, Any]) -> int:
    written = _first(span, ("startTimeUnixNano", "start_time_unix_nano"))
    return int(written) if isinstance(written, int) or (isinstance(written, str) and written.isdecimal()) else 0


def _first(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return listed
    return {
        as_text(one.get("key")): _any_value(one.get("value")) for one in as_objects(listed, "attributes", "attributes")
    }


def _any_value(value: Any) -> Any:
    """OTLP's AnyValue as plain JSON."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "arrayValue":
            return [_any_value(one) for one in (inner or {}).get("values") or []]
        case "kvlistValue":
            return _attributes((inner or {}).get("values") or [])
        case "intValue":
            return int(inner) if isinstance(inner, int | str) and str(inner).lstrip("-").isdecimal() else inner
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value


def _list(value: Any) -> list[Any]:
    decoded = _decoded(value)
    if decoded is None:
        return []
    return decoded if isinstance(decoded, list) else [decoded]


def _decoded(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


OTEL = Format(
    "otel",
    lambda row: isinstance(row, dict) and (_SPANS in row or bool(row.keys() & set(_RESOURCES))),
    _read,
    split=_split,
)
