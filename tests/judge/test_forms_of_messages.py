"""Forms that real systems write, one trap each: authors, results and their calls, thoughts, and what is recognised."""

import json
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.formats.registry import format_of
from jury_cases.rows import read_case
from jury_events.case import Case
from jury_events.text.strict_json import is_cut_short
from jury_events.transcript import Item, ToolCall, ToolResult, Transcript
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


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # τ²-bench: the user has tools too, and results bear the ids of their calls.
        (
            [
                {"role": "user", "content": None, "tool_calls": [{"id": "k", "name": "toggle", "requestor": "user"}]},
                {"id": "k", "role": "tool", "content": "on", "requestor": "user"},
            ],
            [("tool_call", "user", "toggle"), ("tool_result", "tool", "on")],
        ),
        # LangChain: the content repeats the calls, messages have types, and tools a status.
        (
            [
                {
                    "type": "ai",
                    "content": [{"type": "tool_use", "id": "t", "name": "pay", "input": {"a": 1}}],
                    "tool_calls": [{"name": "pay", "args": {"a": 1}, "id": "t", "type": "tool_call"}],
                },
                {"type": "tool", "content": "refused", "tool_call_id": "t", "status": "error"},
            ],
            [("tool_call", "model", "pay"), ("tool_result", "tool", "error: refused")],
        ),
        (
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["x", "HumanMessage"],
                    "kwargs": {"content": "Hi", "type": "human"},
                }
            ],
            [("user", "user", "Hi")],
        ),
        # Vercel: results in blocks, their outputs wrapped, no separate result in the message.
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "del", "input": {}}],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result",
                            "toolCallId": "c",
                            "toolName": "del",
                            "output": {"type": "error-text", "value": "no"},
                        }
                    ],
                },
            ],
            [("tool_call", "model", "del"), ("tool_result", "tool", "error: no")],
        ),
        # A tool's own JSON stays its JSON.
        (
            [{"role": "tool", "tool_call_id": "1", "content": [{"title": "mail", "body": "IGNORE"}]}],
            [("tool_result", "tool", '[{"title": "mail", "body": "IGNORE"}]')],
        ),
        # One result is one item, whatever parts its texts.
        (
            [
                {
                    "role": "function",
                    "name": "get",
                    "content": [
                        {"type": "text", "text": "R1a"},
                        {"type": "image_url", "image_url": {"url": "https://x.example/p"}},
                        {"type": "text", "text": "R1b"},
                    ],
                }
            ],
            [("tool_result", "tool", "R1a\nR1b"), ("not_shown", "tool", "image at a URL")],
        ),
        # Thoughts: each once, summaries too, and an empty one that is signed is encrypted.
        (
            [{"role": "assistant", "content": "A", "reasoning": "same", "reasoning_content": "same"}],
            [("reasoning", "model", "same"), ("assistant", "model", "A")],
        ),
        (
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "in short"}]},
                        {"type": "thinking", "thinking": "", "signature": "c2ln"},
                    ],
                }
            ],
            [("reasoning", "model", "in short"), ("not_shown", "model", "reasoning that the provider encrypted")],
        ),
        (
            [{"role": "assistant", "content": "A", "thinking": {"content": "x", "summary": "s", "extra": "e"}}],
            [
                ("reasoning", "model", "x"),
                ("reasoning", "model", "s"),
                ("not_shown", "model", "field extra"),
                ("assistant", "model", "A"),
            ],
        ),
        # A user who shows thoughts, refusals or calls is still the user.
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "tool_use", "id": "t", "name": "pay", "input": {}}],
                    "refusal": "no",
                }
            ],
            [("tool_call", "user", "pay"), ("refusal", "user", "no")],
        ),
        # Roles of other frameworks.
        ([{"role": "tool_call", "content": '{"name": "f", "arguments": {}}'}], [("tool_call", "model", "f")]),
        ([{"role": "function_response", "content": "ok"}], [("tool_result", "tool", "ok")]),
        ([{"role": "human", "value": "Hi"}], [("user", "user", "Hi")]),
        # Columns that a table fills up with nothing.
        (
            [
                {
                    "role": "assistant",
                    "content": "A",
                    "function_call": {"name": None, "arguments": None},
                    "audio": {"id": None, "data": None},
                    "tool_calls": [{"id": None, "function": {"name": None}}],
                }
            ],
            [("assistant", "model", "A")],
        ),
        # Zero is something.
        (
            [{"role": "tool", "content": "x", "exit_code": 0}],
            [("tool_result", "tool", "x"), ("not_shown", "tool", "field exit_code")],
        ),
        # Sentences that citations cut stay sentences.
        (
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "The fee is "},
                        {"type": "text", "text": "5 EUR", "citations": [{"cited_text": "fee: 5"}]},
                        {"type": "text", "text": "."},
                    ],
                }
            ],
            [("not_shown", "model", "field citations"), ("assistant", "model", "The fee is 5 EUR.")],
        ),
    ],
)
def test_messages_of_other_formats_are_read(messages: list[dict[str, Any]], expected: list[tuple[str, ...]]) -> None:
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


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": None, "role": "user", "content": "Q"}, ("user", "user", "Q")),
        (
            {"type": "mcp_approval_response", "approve": True, "approval_request_id": "m"},
            ("event", "user", '{"approve": true}'),
        ),
        ({"type": "program_output", "call_id": "c", "output": "x"}, ("tool_result", "tool", "x")),
        (
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"},
            ("tool_result", "tool", "error: no"),
        ),
        (
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "", "stderr": "gone", "outcome": {"type": "exit", "exit_code": 1}}],
            },
            (
                "tool_result",
                "tool",
                'error: [{"stdout": "", "stderr": "gone", "outcome": {"type": "exit", "exit_code": 1}}]',
            ),
        ),
    ],
)
def test_items_of_responses_have_their_authors(item: dict[str, Any], expected: tuple[str, ...]) -> None:
    case = read({"object": "response", "input": "Q", "output": [item]})

    found = case.scenarios[0].execution.transcript.items[1]
    assert expected == (found.kind, found.origin, said(found))


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
