"""Every text of a transcript is shown to jurors under its author, or counted among what they are not shown."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import Case
from support.described_cases import read, text_shown
from support.each_row import each_row
from support.foreign_rows import FORMATS, PNG_BASE64, PNG_URL, whole_row
from support.odd_values import Place, with_value

NEW = "unheard_of"
TOKEN = "TOKEN-4711"

OUTSIDE = frozenset(
    {
        # Of the row, not of the transcript: read for lists and statistics, or not (docs/reference/cases.md).
        *("metadata", "usage", "usageMetadata", "info", "injections", "vars", "testCase", "gradingResult", "provider"),
        *("agent", "metrics", "final_metrics"),
        *("scores", "tokenUsage", "observations", "resource", "attributes", "request", "body", "incomplete_details"),
        # How a block is cached, and a call that its message repeats.
        *("cache_control", "tool_call"),
        # Expected calls and scores of DeepEval, and what LangGraph was run with, are no part of the transcript.
        *("expectedTools", "metricsData", "config"),
        # What a library keeps of an answer or a retry for itself.
        *("provider_details", "retry"),
    }
)


def objects(value: Any, path: Place = ()) -> Iterator[Place]:
    """The path of every object below a transcript."""
    if isinstance(value, dict):
        if path:
            yield path
        for key, inner in value.items():
            if key not in OUTSIDE:
                yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, (*path, index))


def with_bodies(name: str) -> Any:
    """The row with requests and responses merged, so that only transcripts are below its top."""
    row = whole_row(name)
    if name == "openai-chat":
        return {"messages": row["request"]["body"]["messages"], "choices": row["response"]["body"]["choices"]}
    if name == "promptfoo":
        return {**row, "prompt": {"raw": json.loads(row["prompt"]["raw"])}}
    if name == "langfuse-observations":
        return {**row, "input": json.loads(row["input"]), "output": [json.loads(row["output"])]}
    return row


TRACES = frozenset(
    {
        *("otel", "openinference", "mlflow", "langsmith", "openai-agents", "opik", "opik-spans", "langwatch"),
        *("braintrust", "weave"),
    }
)
"""Spans are records of a tracing tool: most of their fields are of the tool."""

WITHOUT_OBJECTS = {*TRACES, "promptfoo-table"}
"""Rows whose messages are in texts, or that have texts only."""


REPEATED = {"google-adk": ("events", 5), "openai-agents-state": ("generated_items", 5)}
"""A fragment of an answer that follows whole, and the approval of a call that stands before it."""


@each_row("name", [name for name in FORMATS if name not in WITHOUT_OBJECTS])
def test_an_unknown_field_is_shown_or_counted(name: str) -> None:
    row = with_bodies(name)
    before = omitted(read(row)[0])
    lost = []
    for place in (one for one in objects(row) if len(one) > 1 and one[:2] != REPEATED.get(name)):
        (case,) = read(with_value(row, (*place, NEW), TOKEN))
        counted = any(NEW in one.what for one in case.omissions(images_seen=True)) or omitted(case) > before
        if TOKEN not in text_shown(case) and not counted:
            lost.append(place)

    assert any(len(one) > 1 for one in objects(row))
    assert [] == lost


def omitted(case: Case) -> int:
    """Bytes that jurors are not shown."""
    return sum(one.size or 0 for one in case.omissions(images_seen=True))


class Said(NamedTuple):
    """One thing that happened. `kind`: user, assistant, reasoning, refusal, call, result, image, strange."""

    kind: str
    call: int = 0

    def role(self, model: str, result: str = "user") -> str:
        """Who writes it in the words of a form."""
        return {"user": "user", "image": "user", "strange": "user", "result": result}.get(self.kind, model)


HEADINGS = {
    "user": "User",
    "assistant": "Agent",
    "reasoning": "The agent's thought",
    "refusal": "The agent declined",
    "call": "The agent calls a tool",
    "result": "What a tool returned (nobody's request)",
}


def text(number: int) -> str:
    return f"words {number} of it"


def chat(number: int, one: Said) -> dict[str, Any]:
    said = text(number)
    function = {"name": "act", "arguments": json.dumps({"say": said})}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {
        "user": {"role": "user", "content": said},
        "assistant": {"role": "assistant", "content": [{"type": "text", "text": said}]},
        "reasoning": {"role": "assistant", "reasoning_content": said, "content": None},
        "refusal": {"role": "assistant", "content": None, "refusal": said},
        "call": {"role": "assistant", "tool_calls": calls},
        "result": {"role": "tool", "tool_call_id": f"c{one.call}", "content": said},
        "image": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PNG_URL}}]},
        "strange": {"role": "user", "content": [{"type": "hologram", "value": said}]},
    }[one.kind]


def anthropic(number: int, one: Said) -> dict[str, Any]:
    said = text(number)
    block = {
        "user": {"type": "text", "text": said},
        "assistant": {"type": "text", "text": said},
        "refusal": {"type": "text", "text": said},
        "reasoning": {"type": "thinking", "thinking": said, "signature": "s"},
        "call": {"type": "tool_use", "id": f"c{number}", "name": "act", "input": {"say": said}},
        "result": {"type": "tool_result", "tool_use_id": f"c{one.call}", "content": said},
        "image": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64}},
        "strange": {"type": "hologram", "value": said},
    }[one.kind]
    return {"role": one.role(model="assistant"), "content": [block]}


def responses(number: int, one: Said) -> dict[str, Any]:
    said = text(number)
    answer = {"type": "message", "role": "assistant"}
    call = {"type": "function_call", "call_id": f"c{number}", "name": "act", "arguments": json.dumps(said)}
    return {
        "user": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]},
        "assistant": {**answer, "content": [{"type": "output_text", "text": said}]},
        "refusal": {**answer, "content": [{"type": "refusal", "refusal": said}]},
        "reasoning": {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": said}]},
        "call": call,
        "result": {"type": "function_call_output", "call_id": f"c{one.call}", "output": said},
        "image": {"role": "user", "content": [{"type": "input_image", "image_url": PNG_URL}]},
        "strange": {"type": "hologram", "value": said},
    }[one.kind]


def gemini(number: int, one: Said) -> dict[str, Any]:
    said = text(number)
    part = {
        "user": {"text": said},
        "assistant": {"text": said},
        "refusal": {"text": said},
        "reasoning": {"text": said, "thought": True},
        "call": {"functionCall": {"id": f"c{number}", "name": "act", "args": {"say": said}}},
        "result": {"functionResponse": {"id": f"c{one.call}", "name": "act", "response": {"output": said}}},
        "image": {"inlineData": {"mimeType": "image/png", "data": PNG_BASE64}},
        "strange": {"hologram": {"value": said}},
    }[one.kind]
    return {"role": one.role(model="model"), "parts": [part]}


def otel(number: int, one: Said) -> dict[str, Any]:
    said = text(number)
    part = {
        "user": {"type": "text", "content": said},
        "assistant": {"type": "text", "content": said},
        "refusal": {"type": "text", "content": said},
        "reasoning": {"type": "reasoning", "content": said},
        "call": {"type": "tool_call", "id": f"c{number}", "name": "act", "arguments": {"say": said}},
        "result": {"type": "tool_call_response", "id": f"c{one.call}", "response": said},
        "image": {"type": "blob", "mime_type": "image/png", "content": PNG_BASE64},
        "strange": {"type": "hologram", "value": said},
    }[one.kind]
    return {"role": one.role(model="assistant", result="tool"), "parts": [part]}


def spans(messages: list[Any]) -> dict[str, Any]:
    value = {"stringValue": json.dumps(messages)}
    span = {"traceId": "t", "spanId": "s", "attributes": [{"key": "gen_ai.input.messages", "value": value}]}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


OPENING = {"role": "user", "content": [{"type": "tool_result", "content": []}]}
"""Only Anthropic has such a message, so that the row is its."""

Encoder = tuple[Callable[[int, Said], dict[str, Any]], Callable[[list[Any]], dict[str, Any]]]
ENCODERS: dict[str, Encoder] = {
    "openai-chat": (chat, lambda messages: {"messages": messages, "choices": []}),
    "anthropic": (anthropic, lambda messages: {"messages": [OPENING, *messages]}),
    "openai-responses": (responses, lambda items: {"object": "response", "output": items}),
    "gemini": (gemini, lambda contents: {"contents": contents}),
    "otel": (otel, spans),
}
"""One event of a course, and the row of all."""


@st.composite
def courses(draw: st.DrawFn) -> list[Said]:
    """What happened, results of earlier calls in any order."""
    course = [Said("user")]
    waiting: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        kinds = [one for one in (*HEADINGS, "image", "strange") if waiting or one != "result"]
        kind = draw(st.sampled_from(kinds))
        call = draw(st.sampled_from(waiting)) if kind == "result" else 0
        if kind == "result":
            waiting.remove(call)
        if kind == "call":
            waiting.append(len(course))
        course.append(Said(kind, call))
    return course


def blocks(case: Case) -> dict[int, str]:
    """The items of the record as jurors are shown them, by number."""
    total, _, items = text_shown(case).partition("(items: ")[2].partition(")\n\n")
    found = items.split("\n\n")[: int(total)]
    return {int(block[1 : block.index("]")]): block for block in found}


@given(course=courses())
@pytest.mark.parametrize("name", ENCODERS)
def test_every_item_is_shown_under_its_author_and_results_with_their_calls(name: str, course: list[Said]) -> None:
    encode, row = ENCODERS[name]

    (case,) = read(row([encode(number, one) for number, one in enumerate(course)]))

    found = blocks(case)
    numbers = {
        number: next((item for item, block in found.items() if text(number) in block), 0)
        for number in range(len(course))
    }
    for number, one in enumerate(course):
        if one.kind in HEADINGS:
            kind = one.kind
            if kind == "refusal" and name in {"anthropic", "gemini", "otel"}:
                kind = "assistant"  # these forms have no refusals of their own
            block = found[numbers[number]]
            assert block.startswith(f"[{numbers[number]}] {HEADINGS[kind]}\n")
            if one.kind == "result":
                assert f"It belongs to tool call [{numbers[one.call]}]." in block
        elif one.kind == "strange":
            assert numbers[number] == 0
    strange = sum(one.kind == "strange" for one in course)
    pictures = sum(one.kind == "image" for one in course)
    assert strange == sum(
        omission.count for omission in case.omissions(images_seen=True) if "hologram" in omission.what
    )
    assert pictures == sum(block.count("picture 1 of 1 of this message") for block in found.values())
