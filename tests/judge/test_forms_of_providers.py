"""Every type of block, item and part in the SDKs of OpenAI, Anthropic and Google: what jurors are shown of it."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from jury_cases import read_case
from jury_events import Item
from support.foreign_forms import forms

CALL = {"type": "tool_use", "id": "c", "name": "act", "input": {}}
TEXT = {"type": "text", "text": "words"}

Shown = tuple[str, ...]


def said(item: Item) -> Shown:
    """Kind and author of an item, and what it says."""
    match item.kind:
        case "tool_call":
            return (item.kind, item.origin, item.name, item.arguments)
        case "tool_result":
            return (item.kind, item.origin, "error" if item.error else item.name or "", item.text)
        case "attachment":
            return (item.kind, item.origin, item.name or item.media_type, item.text or "")
        case "event":
            return (item.kind, item.origin, item.name, item.text)
        case "not_shown":
            return (item.kind, item.origin, item.what)
        case _:
            return (item.kind, item.origin, item.text)


def items(row: dict[str, Any]) -> list[Shown]:
    case = read_case({"question": "Q", **row}, default_id="first")
    return [said(item) for item in case.scenarios[0].execution.transcript.items]


BLOCKS, ITEMS, PARTS = forms("anthropic_blocks"), forms("openai_items"), forms("google_parts")


def test_a_block_of_anthropic_is_shown_or_named(subtests: pytest.Subtests) -> None:
    for kind, (block, expected) in BLOCKS.items():
        with subtests.test(kind):
            found = items({"messages": [{"role": "assistant", "content": [CALL, block]}]})

            assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_block_of_the_anthropic_sdk_is_tried() -> None:
    import anthropic.types.beta as anthropic_beta

    unions = (anthropic_beta.BetaContentBlock, anthropic_beta.BetaContentBlockParam)

    assert set(BLOCKS) == {kind for union in unions for kind in kinds_of(union)}


def kinds_of(union: Any) -> Iterator[str]:
    """The values of `type` in a union of models or typed dictionaries."""
    if get_origin(union) is Annotated:
        yield from kinds_of(get_args(union)[0])
    elif members := get_args(union):
        for member in members:
            yield from kinds_of(member)
    elif issubclass(union, BaseModel):
        yield from literals_of(union.model_fields["type"].annotation)
    else:
        yield from literals_of(get_type_hints(union)["type"])


def literals_of(hint: Any) -> Iterator[str]:
    for one in get_args(hint):
        yield from [one] if isinstance(one, str) else literals_of(one)


def test_the_refusal_of_a_server_says_why() -> None:
    row = {
        "type": "message",
        "role": "assistant",
        "content": [TEXT],
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "cyber", "explanation": "Not this."},
        "context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3}]},
    }

    assert [
        ("assistant", "model", "words"),
        ("event", "environment", "end of the answer", "refusal: cyber: Not this."),
        (
            "event",
            "environment",
            "context management",
            '[{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3}]',
        ),
    ] == items(row)


def test_search_results_in_a_result_are_its_json() -> None:
    found = {"type": "search_result", "title": "T", "source": "u", "content": [TEXT]}
    block = {"type": "tool_result", "tool_use_id": "c", "content": [found]}

    shown = items({"messages": [{"role": "assistant", "content": [CALL]}, {"role": "user", "content": [block]}]})

    assert ("tool_result", "tool", "", json.dumps([found])) == shown[1]


def test_an_item_of_openai_is_shown_or_named(subtests: pytest.Subtests) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "act", "arguments": "{}"}
    for kind, (item, expected) in ITEMS.items():
        with subtests.test(kind):
            found = items({"object": "response", "output": [call, {"type": kind, **item}]})

            assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_item_of_the_openai_sdk_is_tried() -> None:
    import openai.types.responses as openai_responses

    unions = (openai_responses.ResponseOutputItem, openai_responses.ResponseItem)
    unions += (openai_responses.ResponseInputItemParam,)

    assert set(ITEMS) == {kind for union in unions for kind in kinds_of(union)}


def test_a_part_of_google_is_shown_or_named(subtests: pytest.Subtests) -> None:
    call = {"functionCall": {"id": "c", "name": "act", "args": {}}}
    for field, (value, expected) in PARTS.items():
        with subtests.test(field):
            found = items({"contents": [{"role": "model", "parts": [call, {field: value}]}]})

            assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_part_of_the_google_sdk_is_tried() -> None:
    from google.genai import types as genai

    assert set(PARTS) == {one.alias or name for name, one in genai.Part.model_fields.items()}


def test_a_blocked_prompt_says_why() -> None:
    row = {
        "contents": [{"role": "user", "parts": [{"text": "Q"}]}],
        "candidates": [],
        "promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Not this."},
    }

    assert ("event", "environment", "end of the answer", "SAFETY: Not this.") == items(row)[1]


def test_parts_of_chat_messages_are_those_of_the_sdk() -> None:
    from openai.types.chat import ChatCompletionContentPartParam

    assert {"text", "image_url", "input_audio", "file"} == set(kinds_of(ChatCompletionContentPartParam))


def test_chunks_of_a_streamed_chat_are_one_text() -> None:
    chunks: list[list[dict[str, Any]]] = [
        [{"text": "hm", "thought": True}],
        [{"text": "mm", "thought": True}, {"text": "No"}],
        [{"text": ", I "}],
        [{"text": "won't.", "thoughtSignature": "c2ln"}, {"functionCall": {"name": "act", "args": {}}}],
        [{"text": "Then"}],
    ]

    found = items({"contents": [{"role": "model", "parts": parts} for parts in chunks]})

    assert [
        ("reasoning", "model", "hmmm"),
        ("assistant", "model", "No, I won't."),
        ("tool_call", "model", "act", "{}"),
        ("assistant", "model", "Then"),
    ] == found


@pytest.mark.parametrize(
    ("row", "ends"),
    [
        ({"object": "response"}, ["incomplete"]),
        ({"object": "response", "incomplete_details": {"reason": "max_output_tokens"}}, ["max_output_tokens"]),
    ],
)
def test_an_incomplete_message_is_said_to_be_so_once(row: dict[str, Any], ends: list[str]) -> None:
    content = [{"type": "output_text", "text": "It is"}]
    message = {"type": "message", "role": "assistant", "status": "incomplete", "content": content}

    found = items({**row, "output": [message]})

    assert [
        ("assistant", "model", "It is"),
        *(("event", "environment", "end of the answer", end) for end in ends),
    ] == found
