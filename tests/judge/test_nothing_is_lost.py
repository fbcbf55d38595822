"""Every text of a transcript is shown to jurors under its author, or counted among what they are not shown."""

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_cases.errors import CaseFileError
from jury_cases.formats.gathering import gathered_data
from jury_cases.formats.registry import FORMATS, format_of
from jury_cases.rows import read_case
from jury_debate.case_text import render_case
from jury_debate.datamark import unmark
from jury_debate.prompts_v1 import load_prompts
from jury_events.case import Case
from support.foreign_rows import PNG_BASE64, PNG_URL, ROWS

EN = load_prompts("en")
M = "⟦m⟧"
NEW = "unheard_of"
TOKEN = "TOKEN-4711"

OUTSIDE = frozenset(
    {
        # Of the row, not of the transcript: read for lists and statistics, or not read, as docs/cases.md says.
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


def read(row: Any) -> list[Case]:
    form = format_of(row, None)
    rows = gathered_data(form.gather(), [row]) if form.gather else [row]
    return [read_case(one, default_id="first") for one in rows]


def shown(case: Case) -> str:
    return unmark(render_case(case, EN, M, images=True), M)


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
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


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def inspect_sample() -> dict[str, Any]:
    """A sample with every content that Inspect has."""
    contents = [
        {"type": "text", "text": "See these.", "refusal": None, "internal": None},
        {"type": "image", "image": PNG_URL, "detail": "auto"},
        {"type": "audio", "audio": "data:audio/wav;base64,UklGRg==", "format": "wav"},
        {"type": "video", "video": "https://example.org/v.mp4", "format": "mp4"},
        {
            "type": "document",
            "document": "data:application/pdf;base64,JVBERi0=",
            "filename": "bill.pdf",
            "mime_type": "a/b",
        },
    ]
    used = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w",
        "name": "search",
        "arguments": "{}",
        "result": "r",
    }
    answer = [
        {"type": "reasoning", "reasoning": "Hm.", "signature": "s", "redacted": False},
        {**used, "error": None},
        {"type": "data", "data": {"k": "v"}},
        {"type": "text", "text": "No.", "refusal": True},
    ]
    call = {"id": "c", "function": "read", "arguments": {"box": "in"}, "type": "function"}
    return {
        "id": "s1",
        "epoch": 1,
        "input": "See these.",
        "target": "t",
        "attachments": {},
        "messages": [
            {"id": "1", "role": "user", "content": contents, "source": "input"},
            {"id": "2", "role": "assistant", "content": "", "tool_calls": [call], "model": "m"},
            {
                "id": "3",
                "role": "tool",
                "content": "x",
                "tool_call_id": "c",
                "function": "read",
                "error": {"type": "timeout", "message": "late"},
            },
            {"id": "4", "role": "assistant", "content": answer, "source": "generate"},
        ],
    }


def with_bodies(name: str) -> Any:
    """The row with requests and responses merged, so that only transcripts are below its top."""
    if name == "inspect":
        return inspect_sample()
    row = ROWS[name]()
    if name == "openai-chat":
        return {"messages": row["request"]["body"]["messages"], "choices": row["response"]["body"]["choices"]}
    if name == "promptfoo":
        return {**row, "prompt": {"raw": json.loads(row["prompt"]["raw"])}}
    if name == "langfuse-observations":
        return {**row, "input": json.loads(row["input"]), "output": [json.loads(row["output"])]}
    return row


TRACES = frozenset({"otel", "openinference", "mlflow", "langsmith", "openai-agents"})
"""Spans are records of a tracing tool: most of their fields are of the tool."""

WITHOUT_OBJECTS = {*TRACES, "promptfoo-table"}
"""Rows whose messages are in texts, or that have texts only."""


@pytest.mark.parametrize("name", ["inspect", *(name for name in ROWS if name not in WITHOUT_OBJECTS)])
def test_an_unknown_field_is_shown_or_counted(name: str) -> None:
    row = with_bodies(name)
    places = [place for place in objects(row) if len(place) > 1]
    lost = []
    for place in places:
        changed = copy.deepcopy(row)
        at(changed, place)[NEW] = TOKEN
        (case,) = read(changed)
        counted = any(NEW in omission.what for omission in case.omissions(images_seen=True))
        sizes = sum(omission.size or 0 for omission in case.omissions(images_seen=True))
        before = sum(omission.size or 0 for omission in read(row)[0].omissions(images_seen=True))
        if TOKEN not in shown(case) and not counted and sizes <= before:
            lost.append(place)

    assert places
    assert [] == lost


class Said(NamedTuple):
    """One thing that happened. `kind`: user, assistant, reasoning, refusal, call, result, image, strange."""

    kind: str
    call: int = 0


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


def chat(course: list[Said]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, one in enumerate(course):
        said = text(number)
        match one.kind:
            case "user":
                messages.append({"role": "user", "content": said})
            case "assistant":
                messages.append({"role": "assistant", "content": [{"type": "text", "text": said}]})
            case "reasoning":
                messages.append({"role": "assistant", "reasoning_content": said, "content": None})
            case "refusal":
                messages.append({"role": "assistant", "content": None, "refusal": said})
            case "call":
                function = {"name": "act", "arguments": json.dumps({"say": said})}
                messages.append(
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
                    }
                )
            case "result":
                messages.append({"role": "tool", "tool_call_id": f"c{one.call}", "content": said})
            case "image":
                url = {"url": PNG_URL}
                messages.append({"role": "user", "content": [{"type": "image_url", "image_url": url}]})
            case _:
                messages.append({"role": "user", "content": [{"type": "hologram", "value": said}]})
    return {"messages": messages, "choices": []}


def anthropic(course: list[Said]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "tool_result", "content": []}]}]
    for number, one in enumerate(course):
        said = text(number)
        role = "user" if one.kind in {"user", "result", "image", "strange"} else "assistant"
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
        messages.append({"role": role, "content": [block]})
    return {"messages": messages}


def responses(course: list[Said]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for number, one in enumerate(course):
        said = text(number)
        items.append(
            {
                "user": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]},
                "assistant": {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": said}],
                },
                "refusal": {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": said}]},
                "reasoning": {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": said}]},
                "call": {
                    "type": "function_call",
                    "call_id": f"c{number}",
                    "name": "act",
                    "arguments": json.dumps(said),
                },
                "result": {"type": "function_call_output", "call_id": f"c{one.call}", "output": said},
                "image": {"role": "user", "content": [{"type": "input_image", "image_url": PNG_URL}]},
                "strange": {"type": "hologram", "value": said},
            }[one.kind]
        )
    return {"object": "response", "output": items}


def gemini(course: list[Said]) -> dict[str, Any]:
    contents = []
    for number, one in enumerate(course):
        said = text(number)
        role = "user" if one.kind in {"user", "result", "image", "strange"} else "model"
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
        contents.append({"role": role, "parts": [part]})
    return {"contents": contents}


def otel(course: list[Said]) -> dict[str, Any]:
    messages = []
    for number, one in enumerate(course):
        said = text(number)
        role = {"user": "user", "image": "user", "strange": "user", "result": "tool"}.get(one.kind, "assistant")
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
        messages.append({"role": role, "parts": [part]})
    value = {"stringValue": json.dumps(messages)}
    span = {"traceId": "t", "spanId": "s", "attributes": [{"key": "gen_ai.input.messages", "value": value}]}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


ENCODERS = {
    "openai-chat": chat,
    "anthropic": anthropic,
    "openai-responses": responses,
    "gemini": gemini,
    "otel": otel,
}


@st.composite
def courses(draw: st.DrawFn) -> list[Said]:
    """What happened, results of earlier calls in any order."""
    course = [Said("user")]
    waiting: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        kinds = [
            "user",
            "assistant",
            "reasoning",
            "refusal",
            "call",
            "image",
            "strange",
            *(["result"] if waiting else []),
        ]
        kind = draw(st.sampled_from(kinds))
        call = draw(st.sampled_from(waiting)) if kind == "result" else 0
        if kind == "result":
            waiting.remove(call)
        if kind == "call":
            waiting.append(len(course))
        course.append(Said(kind, call))
    return course


def blocks(case: Case) -> list[str]:
    """The items of the record as jurors are shown them."""
    record = shown(case).partition("(items: ")[2].partition("\n\n")[2].partition("\n\n### ")[0]
    return record.split("\n\n")


@given(course=courses())
@pytest.mark.parametrize("name", ENCODERS)
def test_every_item_is_shown_under_its_author_and_results_with_their_calls(name: str, course: list[Said]) -> None:
    row = ENCODERS[name](course)

    (case,) = read(row)

    found = blocks(case)
    numbers = {
        number: next((i for i, b in enumerate(found, 1) if text(number) in b), 0) for number in range(len(course))
    }
    for number, one in enumerate(course):
        if one.kind in HEADINGS:
            kind = one.kind
            if kind == "refusal" and name in {"anthropic", "gemini", "otel"}:
                kind = "assistant"  # these forms have no refusals of their own
            block = found[numbers[number] - 1]
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
    assert pictures == sum(block.count("picture 1 of 1 of this message") for block in found)


def test_every_format_is_tried_here() -> None:
    known = {
        *ENCODERS,
        "messages",
        "sharegpt",
        "langfuse",
        "promptfoo",
        "agentdojo",
        "tau-bench",
        "pydantic-ai",
        "deepeval",
        "langgraph",
        "rows",
        "inspect",
    }
    known |= TRACES
    known |= {
        "claude-code",
        "codex",
        "atif",
        "swe-agent",
        "google-adk",
        "google-adk-events",
        "openai-agents-session",
        "openai-agents-state",
    }
    known |= {"langfuse-observations", "promptfoo-table"}

    assert set(FORMATS) == known


ODD = (None, [], {}, "x", 5, True, [1], {"a": 1}, ["x"], "[", [None], [{}], {"type": ["x"]}, 0, "")


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of everything in a row."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("name", ["inspect", *ROWS])
def test_odd_values_are_read_or_refused_in_one_line(name: str) -> None:
    row = inspect_sample() if name == "inspect" else ROWS[name]()
    form = format_of(row, None)

    for index, place in enumerate(places(row)):
        changed = copy.deepcopy(row)
        at(changed, place[:-1])[place[-1]] = copy.deepcopy(ODD[index % len(ODD)])
        try:
            rows = gathered_data(form.gather(), [changed]) if form.gather else [changed]
            result = [read_case(one, default_id="first", form=form).case_id for one in rows]
        except CaseFileError as error:
            result = [str(error)]

        assert not any("\n" in line for line in result)
