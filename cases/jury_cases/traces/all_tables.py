"""The conventions of spans in the order of detection, those of single frameworks, and the spans that they read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from jury_cases.traces.gen_ai import GEN_AI, LOGFIRE, TRACELOOP
from jury_cases.traces.span import PlainSpan, Span, SpanKind, optional_text
from jury_cases.traces.span_tables import SpanRecord, SpanTable, in_order, record_of, spans_of
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank
from jury_events.transcript import Event

_LONGEST = 24
"""Parts of a dotted name that are taken apart."""


def nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with dotted names as nested objects; the value of a name that others continue is under ""."""
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        at = found
        parts = as_text(name).split(".", _LONGEST)
        for part in parts[:-1]:
            inner = at.get(part)
            if not isinstance(inner, dict):
                inner = {} if inner is None else {"": inner}
                at[part] = inner
            at = inner
        plain = _plain(value)
        known = at.get(parts[-1])
        if isinstance(known, dict) and not isinstance(plain, dict):
            known[""] = plain
        else:
            at[parts[-1]] = {**known, **plain} if isinstance(known, dict) and isinstance(plain, dict) else plain
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > _LONGEST:
        return value
    if isinstance(value, dict):
        return nested({name: _plain(one, depth + 1) for name, one in value.items()})
    return [_plain(one, depth + 1) for one in value] if isinstance(value, list) else value


def _listed(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        numbered = [(int(name), one) for name, one in value.items() if name.isdecimal() and len(name) < _DIGITS]
        yield from (one for _, one in sorted(numbered, key=lambda pair: pair[0]))


_DIGITS = 9


def listed_messages(value: Any, finish_reason: Any = None) -> list[dict[str, Any]]:
    """The messages of `llm.input_messages` or `llm.output_messages` as chat messages."""
    found = [
        message
        for one in _listed(value)
        if isinstance(inner := _inner(one, "message"), dict)
        for message in _of_autogen(inner, one) or [_message(inner)]
        if inner != {"role": "tool"}  # the instrumentation of Haystack has no results
    ]
    if found and isinstance(finish_reason, str):
        found[-1]["finish_reason"] = finish_reason
    return found


def _of_autogen(message: dict[str, Any], around: dict[str, Any]) -> list[dict[str, Any]]:
    """The instrumentation of AutoGen has the results, and the text before calls, beside the message; [] for others."""
    results = [result for one in _listed(around.get("function")) if isinstance(result := decoded_json(one), dict)]
    if results:
        return [
            {
                "role": "tool",
                "tool_call_id": one.get("call_id"),
                "content": one.get("content"),
                "is_error": one.get("is_error"),
            }
            for one in results
        ]
    thought = around.get("thought")
    return [{**_message(message), "thought": thought}] if around is not message and not is_blank(thought) else []


def _inner(value: Any, name: str) -> Any:
    return value.get(name, value) if isinstance(value, dict) else None


def _message(message: dict[str, Any]) -> dict[str, Any]:
    known = {"role", "content", "contents", "tool_calls"}
    found = {name: one for name, one in message.items() if name not in known and not is_blank(one)}
    called = {name: found.pop(f"function_call_{name}", None) for name in ("name", "arguments_json")}
    if called["name"]:
        found["function_call"] = {"name": called["name"], "arguments": called["arguments_json"]}
    blocks = [_block(_inner(one, "message_content")) for one in _listed(message.get("contents"))]
    content = message.get("content")
    if blocks:
        content = blocks if is_blank(content) else [{"type": "text", "text": as_text(content)}, *blocks]
    found |= {"role": as_text(message.get("role")) or "assistant", "content": content}
    calls = [_call(_inner(one, "tool_call")) for one in _listed(message.get("tool_calls"))]
    return found | ({"tool_calls": calls} if calls else {})


def _block(content: Any) -> dict[str, Any]:
    table = content if isinstance(content, dict) else {"text": content}
    kind = as_text(table.get("type")) or "text"
    image = _inner(table.get("image"), "image")
    if kind == "image" and isinstance(image, dict):
        return {"type": "image_url", "image_url": {"url": image.get("url")}}
    return {**table, "type": kind}


def _call(call: Any) -> dict[str, Any]:
    table = call if isinstance(call, dict) else {}
    return {"id": table.get("id"), "type": "function", "function": _inner(table, "function")}


def _read(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    attributes = nested({name: one for name, one in span.attributes.items() if name.split(".")[0] in _READ})
    answer = _at(attributes, "output", "value")
    if kind == "tool" and span.name == f"handoff to {answer}" and is_blank(_at(attributes, "tool", "name")):
        giver = optional_text(_at(attributes, "input", "value"))
        return {"kind": "other", "handover": (giver, optional_text(answer)), "name": span.name}
    said = listed_messages(_at(attributes, "llm", "output_messages"), _at(attributes, "llm", "finish_reason"))
    result = decoded_json(answer)
    if isinstance(result, dict) and {"raw", "token_usage"} <= result.keys():  # of smolagents
        answer = {name: one for name, one in result.items() if name not in {"raw", "token_usage"}}
    elif isinstance(result, dict) and said and {"content", "thought", "cached"} <= result.keys():  # of AutoGen
        answer, said[-1]["thought"] = None, result["thought"]
    documents = _at(attributes, "retrieval", "documents")
    return {
        "given": _at(attributes, "input", "value"),
        "answer": documents if kind == "tool" and is_blank(answer) else answer,
        "more_given": listed_messages(_at(attributes, "llm", "input_messages")) or None,
        "more_answer": said or None,
    }


_READ = frozenset({"input", "output", "tool", "llm", "retrieval"})


def _at(table: Any, *path: str) -> Any:
    """A value below; None if there is none. An empty name is the value of an attribute that has others below it."""
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table.get("", table) if isinstance(table, dict) else table


OPENINFERENCE_SPANS = SpanTable(
    "openinference",
    marks=("openinference.span.kind",),
    kind=("openinference.span.kind",),
    kinds={"llm": "model", "tool": "tool", "retriever": "tool", "agent": "agent"},
    tool=("tool.name",),
    call_id=("tool_call.id", "tool.id"),
    agent=("agent.name",),
    read=_read,
)


def _vercel(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    if kind == "tool":
        return {}
    calls = decoded_json(span.at(("ai.response.toolCalls", "ai.result.toolCalls")))
    parts: list[Any] = [
        {"type": "reasoning", "text": span.at(("ai.response.reasoning",))},
        {"type": "text", "text": as_text(span.at(("ai.response.text", "ai.response.object", "ai.result.text")))},
    ]
    parts = [one for one in parts if not is_blank(one["text"])]
    parts += [{"type": "tool-call", **one} for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return {"answer": [{"role": "assistant", "content": parts}] if parts else None}


VERCEL = SpanTable(
    "vercel-ai",
    marks=("ai.operationId",),
    kind=("ai.operationId",),
    kinds={
        "ai.toolcall": "tool",
        **dict.fromkeys(("ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"), "agent"),
        **dict.fromkeys(("ai.generatetext.dogenerate", "ai.streamtext.dostream"), "model"),
        **dict.fromkeys(("ai.generateobject.dogenerate", "ai.streamobject.dostream"), "model"),
    },
    tool=("ai.toolCall.name",),
    call_id=("ai.toolCall.id",),
    given=("ai.toolCall.args", "ai.toolCall.input", "ai.prompt.messages", "ai.prompt"),
    answer=("ai.toolCall.result", "ai.toolCall.output"),
    read=_vercel,
)

MLFLOW_SPANS = SpanTable(
    "mlflow",
    marks=("mlflow.spanType", "mlflow.spanInputs", "mlflow.traceRequestId"),
    kind=("mlflow.spanType",),
    kinds={"llm": "model", "chat_model": "model", "tool": "tool", "retriever": "tool", "agent": "agent"},
    call_id=("tool_call_id",),
    given=("mlflow.spanInputs",),
    answer=("mlflow.spanOutputs",),
    more_given=("mlflow.chat.messages",),
)

LANGFUSE_SPANS = SpanTable(
    "langfuse",
    marks=("langfuse.observation.", "langfuse.trace."),
    kind=("langfuse.observation.type",),
    kinds={"generation": "model", "tool": "tool", "retriever": "tool", "agent": "agent"},
    given=("langfuse.observation.input", "langfuse.trace.input"),
    answer=("langfuse.observation.output", "langfuse.trace.output"),
    failure=("langfuse.observation.status_message",),
)


def _adk(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    """A request and an answer of Gemini; spans are named by what they do."""
    request = as_object(decoded_json(span.at(("gcp.vertex.agent.llm_request",))))
    if request:
        config = as_object(request.get("config"))
        given = {"system_instruction": config.get("system_instruction"), "contents": request.get("contents")}
        return {"kind": "model", "given": given}
    return {"kind": kind or ("tool" if span.name.startswith("execute_tool") else None)}


ADK_SPANS = SpanTable(
    "google-adk",
    marks=("gcp.vertex.agent.",),
    tool=("gen_ai.tool.name",),
    call_id=("gcp.vertex.agent.tool_call_id", "gen_ai.tool.call.id"),
    given=("gcp.vertex.agent.tool_call_args",),
    answer=("gcp.vertex.agent.llm_response", "gcp.vertex.agent.tool_response"),
    read=_adk,
)


def _haystack(span: PlainSpan, kind: SpanKind | None) -> Mapping[str, Any]:
    component = as_text(span.at(("haystack.component.type",)))
    found: SpanKind = "model" if component.endswith("Generator") else "agent" if component == "Agent" else "other"
    kind = kind or _HAYSTACK_STEPS.get(span.name) or found
    return {"kind": kind, **({} if kind == "tool" else {"name": span.at(("haystack.component.name",)) or span.name})}


_HAYSTACK_STEPS: Mapping[str, SpanKind] = {
    "haystack.agent.step.llm": "model",
    "haystack.agent.step.tool": "tool",
    "haystack.agent.run": "agent",
}

HAYSTACK_SPANS = SpanTable(
    "haystack",
    marks=("haystack.component.", "haystack.agent.", "haystack.tool."),
    tool=("haystack.tool.name",),
    given=(
        *("haystack.component.input", "haystack.agent.input"),
        *("haystack.agent.step.llm.input", "haystack.agent.step.tool.input"),
    ),
    answer=(
        *("haystack.component.output", "haystack.agent.output"),
        *("haystack.agent.step.llm.output", "haystack.agent.step.tool.output"),
    ),
    read=_haystack,
)


TABLES = (
    OPENINFERENCE_SPANS,
    MLFLOW_SPANS,
    VERCEL,
    LOGFIRE,
    ADK_SPANS,
    HAYSTACK_SPANS,
    GEN_AI,
    TRACELOOP,
    LANGFUSE_SPANS,
)


def spans_of_tables(plain: Iterable[PlainSpan]) -> list[Span]:
    """The spans of one trace.

    One that follows no convention, such as a request of a web framework, has its place among the others; that it failed
    is an event, unless another failed for the same reason.
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
