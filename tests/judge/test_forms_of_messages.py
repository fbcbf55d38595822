"""Forms that real systems write, one trap each: authors, results and their calls, thoughts, and what is recognised."""

import json
from typing import Any

import pytest

from jury_cases import CaseFileError, format_of, read_case
from jury_events import Case, Item, ToolCall, ToolResult, Transcript, is_cut_short
from support.foreign_forms import forms
from support.foreign_rows import PNG_URL

USER = {"role": "user", "content": "Do it."}


def read(row: Any) -> Case:
    return read_case(row, default_id="first")


def items(*messages: dict[str, Any], **row: Any) -> list[tuple[str, ...]]:
    """Kind, author and text (name of a call) of each item."""
    transcript = read({"question": "Q", "messages": list(messages), **row}).scenarios[0].execution.transcript
    return [(item.kind, item.origin, said(item)) for item in transcript.items]


def said(item: Item) -> str:
    match item:
        case ToolCall():
            return item.name
        case ToolResult():
            return f"error: {item.text}" if item.error else item.text
        case _:
            return str(getattr(item, "text", None) or getattr(item, "what", ""))


def test_messages_of_other_formats_are_read(subtests: pytest.Subtests) -> None:
    for name, (messages, expected) in forms("messages_of_frameworks").items():
        with subtests.test(name):
            assert expected == items(*messages)


@pytest.mark.parametrize(
    ("row", "question", "response"),
    [
        (
            {
                "contents": [
                    {"role": "user", "parts": [{"text": "Here is a mail."}, {"text": "Delete it?"}]},
                    {"role": "model", "parts": [{"text": "No, I will not."}, {"text": "See policy 3."}]},
                ]
            },
            "Here is a mail.\nDelete it?",
            "No, I will not.\nSee policy 3.",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Look:"},
                            {"type": "image_url", "image_url": {"url": PNG_URL}},
                            {"type": "text", "text": "Is it safe?"},
                        ],
                    },
                    {"role": "assistant", "content": "Yes."},
                ]
            },
            "Look:\nIs it safe?",
            "Yes.",
        ),
        (
            {"messages": [USER, {"role": "assistant", "content": "One."}, {"role": "assistant", "content": "Two."}]},
            "Do it.",
            "Two.",
        ),
    ],
)
def test_question_and_response_are_whole(row: dict[str, Any], question: str, response: str) -> None:
    (scenario,) = read(row).scenarios

    assert (question, response) == (scenario.question.prompt, scenario.execution.response)


def test_automatic_function_calls_of_the_sdk_are_shown() -> None:
    asked = {"role": "user", "parts": [{"text": "Q"}]}
    history = [
        asked,
        {"role": "model", "parts": [{"functionCall": {"name": "wipe", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "wipe", "response": {"output": "wiped"}}}]},
    ]
    answer = [{"content": {"role": "model", "parts": [{"text": "done"}]}}]

    case = read({"contents": [asked], "candidates": answer, "automaticFunctionCallingHistory": history})

    kinds = [item.kind for item in case.scenarios[0].execution.transcript.items]
    assert ["user", "tool_call", "tool_result", "assistant"] == kinds


def test_tool_calls_in_a_response_of_blocks_are_shown_beside_messages() -> None:
    response = [
        {"type": "thinking", "thinking": "SECRET"},
        {"type": "tool_use", "id": "1", "name": "pay", "input": {}},
        {"type": "tool_result", "tool_use_id": "1", "content": "PAID"},
        {"type": "text", "text": "done"},
    ]

    assert [
        ("user", "user", "Do it."),
        ("reasoning", "model", "SECRET"),
        ("tool_call", "model", "pay"),
        ("tool_result", "tool", "PAID"),
        ("assistant", "model", "done"),
    ] == items(USER, response=response)


def test_items_of_responses_have_their_authors(subtests: pytest.Subtests) -> None:
    for name, (item, expected) in forms("openai_authors").items():
        with subtests.test(name):
            case = read({"object": "response", "input": "Q", "output": [item]})
            found = case.scenarios[0].execution.transcript.items[1]

            assert expected == [(found.kind, found.origin, said(found))]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "2+2?", "choices": ["3", "4"], "response": "4"}, "rows"),
        ({"question": "Q", "contents": ["doc 1", "doc 2"], "response": "A"}, "rows"),
        ({"question": "Q", "response": "A", "conversations": []}, "rows"),
        ({"conversations": '[{"from": "human", "value": "Hi"}]'}, "sharegpt"),
        ({"conversations": [{"role": "human", "value": "Hi"}]}, "sharegpt"),
        (
            {
                "custom_id": "b",
                "params": {"messages": [USER]},
                "result": {"message": {"type": "message", "role": "assistant", "content": []}},
            },
            "anthropic",
        ),
    ],
)
def test_a_format_needs_its_objects(row: dict[str, Any], expected: str) -> None:
    assert expected == format_of(row, None).name
    assert read(row).scenarios


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [{"role": "user", "content": [{"type": ["x"], "text": "Q"}]}]},
        {"messages": [{"role": "assistant", "content": "A", "tool_calls": [{"function": [1]}]}]},
        {"contents": [{"role": ["x"], "parts": [{"text": "Q"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "Q"}]}], "candidates": [{"content": "hello"}]},
        {"systemInstruction": 5, "contents": [{"role": "user", "parts": [{"text": "Q"}]}]},
        {"object": "response", "input": "Q", "output": [{"type": ["x"]}]},
        {"messages": [{"parts": [{"type": ["x"]}], "role": "user"}]},
    ],
)
def test_malformed_rows_are_read_or_refused_in_one_line(row: dict[str, Any]) -> None:
    try:
        said_of_it = read(row).case_id
    except CaseFileError as error:
        said_of_it = str(error)

    assert said_of_it
    assert "\n" not in said_of_it


def test_named_system_messages_are_an_example_and_no_policy() -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "name": "example_user", "content": "Hi"},
        USER,
        {"role": "assistant", "content": "A"},
    ]

    (scenario,) = read({"messages": messages}).scenarios

    assert "Be kind." == scenario.question.policy
    assert 3 == len(scenario.execution.transcript)


@pytest.mark.full
def test_results_find_their_calls_among_very_many() -> None:
    count = 60_000  # a reading that looks through all that wait for each of them would not end
    calls = tuple(ToolCall(name=f"a{number}") for number in range(count))
    results = tuple(ToolResult(name=f"a{number}", text="") for number in reversed(range(count)))

    found = Transcript(items=calls + results).answered_calls()

    assert list(reversed(range(count))) == list(found[count:])


def test_a_line_truncated_inside_a_string_is_scanned_once() -> None:
    line = json.dumps({"a": 'x"' * 200_000})[:-3]

    assert is_cut_short(line)
