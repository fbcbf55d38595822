"""The dialects of spans in the order of detection, those of single frameworks, and the spans that they read."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from jury_cases.traces.plain_span import PlainSpan
from jury_cases.traces.span import Span, SpanKind
from jury_cases.traces.span_tables import SpanRecord, SpanTable, in_order, record_of, spans_of
from jury_cases.traces.tables.gen_ai import GEN_AI, LOGFIRE, TRACELOOP
from jury_cases.traces.tables.openinference import OPENINFERENCE_SPANS
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank
from jury_events.transcript import Event


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
