"""Traces: a span for each answer of the model, with all messages before it, below the agent's span.

OpenInference, MLflow, LangSmith runs, openai-agents spans, observations of Langfuse.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from producers.renderers.conversation import Conversation, Shape
from producers.renderers.langchain import constructors, plain_messages
from producers.renderers.openai import chat_messages
from producers.renderers.opentelemetry import export, span

TRACE = "0af7651916cd43dd8448eb211c80319c"


class _Request(NamedTuple):
    """A model's answer, or None where the record ends in a request without one, with the messages before it."""

    number: int
    messages: list[dict[str, Any]]
    answer: dict[str, Any] | None


def _requests(messages: list[dict[str, Any]], answer_role: str = "assistant") -> Iterator[_Request]:
    key = "role" if "role" in messages[0] else "type"
    for index, message in enumerate(messages):
        if message[key] == answer_role:
            yield _Request(index + 2, messages[:index], message)
    if messages[-1][key] != answer_role:
        yield _Request(len(messages) + 2, messages, None)


def _nanoseconds(number: int) -> tuple[int, int]:
    begin = 1_764_000_000_000_000_000 + number * 1_000_000_000
    return begin, begin + 500_000_000


def _iso(number: int, *, end: bool = False) -> str:
    return f"2026-11-23T10:{number // 60 % 60:02}:{number % 60:02}.{'500' if end else '000'}Z"


def _open_inference(conversation: Conversation) -> dict[str, Any]:
    spans = [span(1, {"openinference.span.kind": "AGENT"})]
    for one in _requests(chat_messages(conversation)):
        attributes = {"openinference.span.kind": "LLM", **_flat("llm.input_messages", one.messages)}
        if one.answer is not None:
            attributes |= _flat("llm.output_messages", [one.answer])
        spans.append(span(one.number, attributes, parent=1))
    return export(spans)


def _flat(prefix: str, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Messages as attributes with numbers in their names."""
    found: dict[str, str] = {}
    for index, message in enumerate(messages):
        start = f"{prefix}.{index}.message"
        found[f"{start}.role"] = message["role"]
        if message.get("content") is not None:
            found[f"{start}.content"] = message["content"]
        if "tool_call_id" in message:
            found[f"{start}.tool_call_id"] = message["tool_call_id"]
        for place, call in enumerate(message.get("tool_calls", ())):
            at = f"{start}.tool_calls.{place}.tool_call"
            found[f"{at}.id"] = call["id"]
            found[f"{at}.function.name"] = call["function"]["name"]
            found[f"{at}.function.arguments"] = call["function"]["arguments"]
    return found


def _mlflow(conversation: Conversation) -> dict[str, Any]:
    spans = [_mlflow_span(1, None, "AGENT", None, None)]
    for one in _requests(chat_messages(conversation)):
        inputs = {"model": "m", "messages": one.messages}
        outputs = None if one.answer is None else {"choices": [{"index": 0, "message": one.answer}]}
        spans.append(_mlflow_span(one.number, 1, "CHAT_MODEL", inputs, outputs))
    info = {"trace_id": f"tr-{TRACE}", "state": "OK", "request_time": _iso(0), "trace_metadata": {}, "tags": {}}
    return {"info": info, "data": {"spans": spans}}


def _mlflow_span(number: int, parent: int | None, kind: str, inputs: Any, outputs: Any) -> dict[str, Any]:
    begin, end = _nanoseconds(number)
    attributes = {"mlflow.spanType": json.dumps(kind), "mlflow.traceRequestId": json.dumps(f"tr-{TRACE}")}
    for name, value in (("mlflow.spanInputs", inputs), ("mlflow.spanOutputs", outputs)):
        attributes |= {} if value is None else {name: json.dumps(value)}
    return {
        "trace_id": TRACE,
        "span_id": f"{number:016x}",
        "parent_span_id": None if parent is None else f"{parent:016x}",
        "name": "chat",
        "start_time_unix_nano": begin,
        "end_time_unix_nano": end,
        "status": {"code": "STATUS_CODE_OK", "message": ""},
        "events": [],
        "attributes": attributes,
    }


def _langsmith(conversation: Conversation) -> list[dict[str, Any]]:
    root = _langsmith_run(1, None, "chain", {}, None)
    runs = [root]
    for one in _requests(plain_messages(conversation), "ai"):
        outputs = None
        if one.answer is not None:
            (message,) = constructors([one.answer])
            generation = {"text": one.answer["content"], "type": "ChatGeneration", "message": message}
            outputs = {"generations": [[generation]], "llm_output": None, "type": "LLMResult"}
        runs.append(_langsmith_run(one.number, 1, "llm", {"messages": [constructors(one.messages)]}, outputs))
    return runs


def _langsmith_run(number: int, parent: int | None, kind: str, inputs: Any, outputs: Any) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012x}",
        "trace_id": f"00000000-0000-4000-8000-{1:012x}",
        "parent_run_id": None if parent is None else f"00000000-0000-4000-8000-{parent:012x}",
        "name": kind,
        "run_type": kind,
        "start_time": _iso(number),
        "end_time": _iso(number, end=True),
        "inputs": inputs,
        "outputs": outputs,
        "error": None,
        "extra": {},
        "tags": [],
        "session_id": "00000000-0000-4000-8000-0000000000ff",
    }


def _agents_spans(conversation: Conversation) -> list[dict[str, Any]]:
    """Spans of the agents SDK with generations, a trace's object before them."""
    lines: list[dict[str, Any]] = [{"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "w", "group_id": None}]
    for one in _requests(chat_messages(conversation)):
        data = {"type": "generation", "input": one.messages, "output": [one.answer] if one.answer else None}
        lines.append(
            {"object": "trace.span", "id": f"span_{one.number}", "trace_id": f"trace_{TRACE}", "parent_id": None}
            | {"started_at": _iso(one.number), "ended_at": _iso(one.number, end=True), "error": None}
            | {"span_data": {**data, "model": "m", "model_config": {}, "usage": None}}
        )
    return lines


def _langfuse_observations(conversation: Conversation) -> list[dict[str, Any]]:
    return [
        _observation(1, None, "AGENT", None, None),
        *(
            _observation(one.number, 1, "GENERATION", one.messages, one.answer)
            for one in _requests(chat_messages(conversation))
        ),
    ]


def _observation(number: int, parent: int | None, kind: str, inputs: Any, output: Any) -> dict[str, Any]:
    return {
        "id": f"{number:016x}",
        "traceId": TRACE,
        "parentObservationId": None if parent is None else f"{parent:016x}",
        "type": kind,
        "name": kind.lower(),
        "startTime": _iso(number),
        "endTime": _iso(number, end=True),
        "level": "DEFAULT",
        "input": inputs,
        "output": output,
        "metadata": {},
    }


SHAPES = (
    Shape("openinference spans", _open_inference, pictures=False, reasoning=False, refusals=None),
    Shape("mlflow trace", _mlflow, refusals="refusal"),
    Shape("langsmith runs", _langsmith, lines=True, failures=True),
    Shape("openai-agents spans", _agents_spans, lines=True, refusals="refusal"),
    Shape("langfuse observations", _langfuse_observations, lines=True, refusals="refusal"),
)
