"""LangChain's messages: what a program may have done to them, and hostile values. Real dumps are in tests/producers."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.rows import read_case
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.reading import read_messages
from jury_events.transcript import Event, Item, NotShown, ToolCall, ToolResult

PRODUCED = Path(__file__).parents[1] / "producers" / "langchain"
ODD = (None, [], {}, "x", 5, True, [1], {"a": 1}, ["x"], [None], [{}], {"type": ["x"]}, 0, "", {"type": {}}, [[]])


def items_of(*messages: dict[str, Any]) -> tuple[Item, ...]:
    builder = TranscriptBuilder()
    read_messages([{"type": "human", "content": "Go on."}, *messages], builder)
    return builder.transcript().items[1:]


def ai(content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "ai", "content": content, **fields}


def test_a_message_that_the_program_added_is_an_event_and_no_request() -> None:
    summary = {"type": "human", "content": "They met.", "additional_kwargs": {"lc_source": "summarization"}}

    (item,) = items_of(summary)

    assert isinstance(item, Event)
    assert ("environment", "summarization", "They met.") == (item.origin, item.name, item.text)


def test_calls_of_older_releases_are_only_in_the_additional_fields() -> None:
    function = {"name": "pay", "arguments": "{}"}

    (item,) = items_of(ai(additional_kwargs={"tool_calls": [{"id": "a", "type": "function", "function": function}]}))

    assert isinstance(item, ToolCall)
    assert ("a", "pay") == (item.call_id, item.name)


def test_a_call_in_the_content_and_in_the_list_without_an_id_is_one_call() -> None:
    call = {"type": "tool_call", "name": "pay", "args": {}, "id": None}

    items = items_of(ai([call], tool_calls=[call]))

    assert ["tool_call"] == [item.kind for item in items]


def test_an_invalid_call_in_the_content_and_in_the_list_is_shown_once_with_its_error() -> None:
    call = {"type": "invalid_tool_call", "name": "pay", "args": "{", "id": "a", "error": "no JSON"}

    called, failed = items_of(ai([call], invalid_tool_calls=[call]))

    assert isinstance(called, ToolCall)
    assert isinstance(failed, ToolResult)
    assert ("{", "no JSON", True, "a") == (called.arguments, failed.text, failed.error, failed.call_id)


@pytest.mark.parametrize(
    ("metadata", "end"),
    [
        ({"finish_reason": "content_filter"}, "content_filter"),
        ({"finish_reason": "SAFETY"}, "SAFETY"),
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"stopReason": "guardrail_intervened"}, "guardrail_intervened"),
        ({"done_reason": "length"}, "length"),
        ({"prompt_feedback": {"block_reason": "OTHER"}}, "OTHER"),
        ({"finish_reason": "STOP"}, None),
        ({"stop_reason": "end_turn", "finish_reason": None}, None),
    ],
)
def test_the_end_of_an_answer_is_shown_unless_it_is_the_usual_one(metadata: dict[str, Any], end: str | None) -> None:
    items = items_of(ai("Well", response_metadata=metadata))

    assert [end] if end else [] == [item.text for item in items if isinstance(item, Event)]


def test_an_unknown_field_is_counted_and_bookkeeping_is_not() -> None:
    given = {"__private": 1, "parsed": {"a": 1}, "unheard_of": "x"}

    items = items_of(ai("Yes.", additional_kwargs=given, id="run-1", usage_metadata={"input_tokens": 1}, strange="y"))

    assert {"field strange", "field unheard_of"} == {item.what for item in items if isinstance(item, NotShown)}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "aGk=", "mime_type": "image/png"},
        {"type": "audio", "base64": "aGk=", "mime_type": "audio/wav"},
        {"type": "video", "base64": "aGk=", "mime_type": "video/mp4"},
        {"type": "file", "base64": "aGk=", "mime_type": "application/pdf", "extras": {"filename": "bill.pdf"}},
        {"type": "media", "data": "aGk=", "mime_type": "application/pdf"},
        {"type": "text-plain", "text": "hi", "mime_type": "text/plain", "title": "note"},
    ],
)
def test_files_in_standard_blocks_are_attachments(block: dict[str, Any]) -> None:
    (item,) = items_of({"type": "human", "content": [block]})

    assert "attachment" == item.kind


@pytest.mark.parametrize(
    "block",
    [{"type": "image", "url": "https://example.org/a.png"}, {"type": "file", "file_id": "f"}, {"type": "audio"}],
)
def test_files_elsewhere_are_named_as_not_shown(block: dict[str, Any]) -> None:
    (item,) = items_of({"type": "human", "content": [block]})

    assert "not_shown" == item.kind


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("name", ["message_to_dict", "dumpd", "responses_v1", "anthropic_v0_chunks", "chat_v0_chunks"])
def test_odd_values_are_read_or_refused_in_one_line(name: str) -> None:
    messages = json.loads((PRODUCED / f"{name}.json").read_text(encoding="utf-8"))

    for index, place in enumerate(places(messages)):
        changed = copy.deepcopy(messages)
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = copy.deepcopy(ODD[index % len(ODD)])
        try:
            result = read_case({"messages": changed}, default_id="first").case_id
        except CaseFileError as error:
            result = str(error)

        assert "\n" not in result
