"""Every type of block, item and part in the SDKs of OpenAI, Anthropic and Google: what jurors are shown of it."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import anthropic.types.beta as anthropic_beta
import openai.types.responses as openai_responses
import pytest
from google.genai import types as genai
from openai.types.chat import ChatCompletionContentPartParam
from pydantic import BaseModel

from jury_cases.rows import read_case
from jury_events.transcript import Item
from support.foreign_rows import PNG_BASE64, PNG_URL

CALL = {"type": "tool_use", "id": "c", "name": "act", "input": {}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64}}
TEXT = {"type": "text", "text": "words"}
FETCHED = {"type": "web_fetch_result", "url": "u"}
TOOL = {"type": "tool_reference", "name": "pay"}

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


ANTHROPIC: dict[str, tuple[dict[str, Any], list[Shown]]] = {
    "text": (TEXT, [("assistant", "model", "words")]),
    "image": (IMAGE, [("attachment", "model", "image/png", "")]),
    "document": (
        {
            "type": "document",
            "title": "terms",
            "source": {"type": "text", "media_type": "text/plain", "data": "30 days"},
            "citations": {"enabled": True},
        },
        [("attachment", "model", "terms", "30 days")],
    ),
    "search_result": (
        {
            "type": "search_result",
            "title": "Terms",
            "source": "https://shop.example/terms",
            "content": [{"type": "text", "text": "30 days"}, {"type": "text", "text": "no fee"}],
            "citations": {"enabled": True},
        },
        [("attachment", "model", "Terms (https://shop.example/terms)", "30 days\nno fee")],
    ),
    "thinking": ({"type": "thinking", "thinking": "hm", "signature": "s"}, [("reasoning", "model", "hm")]),
    "redacted_thinking": (
        {"type": "redacted_thinking", "data": "x"},
        [("not_shown", "model", "reasoning that the provider encrypted")],
    ),
    "tool_use": (
        {"type": "tool_use", "id": "t", "name": "pay", "input": {"a": 1}, "caller": {"type": "direct"}},
        [("tool_call", "model", "pay", '{"a": 1}')],
    ),
    "tool_result": (
        {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True},
        [("tool_result", "tool", "error", "no")],
    ),
    "server_tool_use": (
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        [("tool_call", "model", "web_search", '{"query": "q"}')],
    ),
    "web_search_tool_result": (
        {
            "type": "web_search_tool_result",
            "tool_use_id": "c",
            "content": [{"type": "web_search_result", "title": "T", "url": "u", "encrypted_content": "x"}],
        },
        [
            ("tool_result", "tool", "", '[{"type": "web_search_result", "title": "T", "url": "u"}]'),
            ("not_shown", "tool", "result that the provider encrypted"),
        ],
    ),
    "web_fetch_tool_result": (
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "c",
            "content": FETCHED
            | {
                "content": {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "a/pdf", "data": "JVBERi0="},
                }
            },
        },
        [
            (
                "tool_result",
                "tool",
                "",
                json.dumps(
                    FETCHED | {"content": {"type": "document", "source": {"type": "base64", "media_type": "a/pdf"}}}
                ),
            ),
            ("attachment", "tool", "a/pdf", ""),
        ],
    ),
    "advisor_tool_result": (
        {
            "type": "advisor_tool_result",
            "tool_use_id": "c",
            "content": {"type": "advisor_redacted_result", "encrypted_content": "x"},
        },
        [
            ("tool_result", "tool", "", '{"type": "advisor_redacted_result"}'),
            ("not_shown", "tool", "result that the provider encrypted"),
        ],
    ),
    "code_execution_tool_result": (
        {
            "type": "code_execution_tool_result",
            "tool_use_id": "c",
            "content": {"type": "code_execution_result", "stdout": "7", "stderr": "", "return_code": 0},
        },
        [
            (
                "tool_result",
                "tool",
                "",
                '{"type": "code_execution_result", "stdout": "7", "stderr": "", "return_code": 0}',
            )
        ],
    ),
    "bash_code_execution_tool_result": (
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "c",
            "content": {"type": "bash_code_execution_result", "stderr": "gone", "return_code": 2},
        },
        [
            (
                "tool_result",
                "tool",
                "error",
                '{"type": "bash_code_execution_result", "stderr": "gone", "return_code": 2}',
            )
        ],
    ),
    "text_editor_code_execution_tool_result": (
        {
            "type": "text_editor_code_execution_tool_result",
            "tool_use_id": "c",
            "content": {"type": "text_editor_code_execution_tool_result_error", "error_code": "file_not_found"},
        },
        [
            (
                "tool_result",
                "tool",
                "error",
                '{"type": "text_editor_code_execution_tool_result_error", "error_code": "file_not_found"}',
            )
        ],
    ),
    "tool_search_tool_result": (
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "c",
            "content": {"type": "tool_search_tool_search_result", "tool_references": ["pay"]},
        },
        [("tool_result", "tool", "", '{"type": "tool_search_tool_search_result", "tool_references": ["pay"]}')],
    ),
    "mcp_tool_use": (
        {"type": "mcp_tool_use", "id": "m", "name": "pay", "server_name": "bank", "input": {}},
        [("tool_call", "model", "bank.pay", "{}")],
    ),
    "mcp_tool_result": (
        {"type": "mcp_tool_result", "tool_use_id": "c", "is_error": True, "content": [TEXT]},
        [("tool_result", "tool", "error", "words")],
    ),
    "mcp_tool_listing": (
        {"type": "mcp_tool_listing", "mcp_server_name": "bank", "tools": [{"name": "pay"}]},
        [("event", "tool", "mcp_tool_listing", '{"mcp_server_name": "bank", "tools": [{"name": "pay"}]}')],
    ),
    "container_upload": (
        {"type": "container_upload", "file_id": "f"},
        [("not_shown", "model", "file by its id")],
    ),
    "compaction": (
        {
            "type": "compaction",
            "content": "They paid.",
            "encrypted_content": "x",
            "tool_changes": [{"type": "tool_removal", "tool": TOOL}],
        },
        [
            ("event", "model", "compaction", "They paid."),
            ("not_shown", "model", "compaction that the provider encrypted"),
            ("event", "model", "tool_removal", json.dumps(TOOL)),
        ],
    ),
    "tool_addition": (
        {"type": "tool_addition", "tool": TOOL},
        [("event", "model", "tool_addition", json.dumps(TOOL))],
    ),
    "tool_removal": (
        {"type": "tool_removal", "tool": TOOL},
        [("event", "model", "tool_removal", json.dumps(TOOL))],
    ),
    "fallback": (
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}},
        [
            (
                "event",
                "environment",
                "fallback",
                '{"from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}',
            )
        ],
    ),
}


@pytest.mark.parametrize("kind", ANTHROPIC)
def test_a_block_of_anthropic_is_shown_or_named(kind: str) -> None:
    block, expected = ANTHROPIC[kind]

    found = items({"messages": [{"role": "assistant", "content": [CALL, block]}]})

    assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_block_of_the_anthropic_sdk_is_tried() -> None:
    unions = (anthropic_beta.BetaContentBlock, anthropic_beta.BetaContentBlockParam)

    assert set(ANTHROPIC) == {kind for union in unions for kind in kinds_of(union)}


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


RESPONSES: dict[str, tuple[dict[str, Any], list[Shown]]] = {
    "message": (
        {"role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "text": "words"}]},
        [("assistant", "model", "words")],
    ),
    "reasoning": (
        {"summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
        [("reasoning", "model", "hm"), ("not_shown", "model", "reasoning that the provider encrypted")],
    ),
    "function_call": (
        {"call_id": "k", "name": "pay", "namespace": "bank", "arguments": "{}", "caller": {"type": "direct"}},
        [("tool_call", "model", "bank.pay", "{}")],
    ),
    "function_call_output": (
        {"call_id": "c", "name": "act", "output": [{"type": "input_image", "image_url": PNG_URL}]},
        [("attachment", "tool", "image/png", "")],
    ),
    "custom_tool_call": ({"call_id": "k", "name": "sh", "input": "ls"}, [("tool_call", "model", "sh", "ls")]),
    "custom_tool_call_output": ({"call_id": "c", "output": "a.txt"}, [("tool_result", "tool", "", "a.txt")]),
    "file_search_call": (
        {"queries": ["q"], "results": [{"text": "found"}], "status": "completed"},
        [
            ("tool_call", "model", "file_search_call", '{"queries": ["q"]}'),
            ("tool_result", "tool", "file_search_call", '[{"text": "found"}]'),
        ],
    ),
    "web_search_call": (
        {"action": {"type": "search", "query": "q"}, "status": "failed"},
        [
            ("tool_call", "model", "web_search_call", '{"action": {"type": "search", "query": "q"}}'),
            ("tool_result", "tool", "error", "failed"),
        ],
    ),
    "computer_call": (
        {"call_id": "k", "action": {"type": "wait"}, "pending_safety_checks": []},
        [("tool_call", "model", "computer_call", '{"action": {"type": "wait"}, "pending_safety_checks": []}')],
    ),
    "computer_call_output": (
        {
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": PNG_URL},
            "acknowledged_safety_checks": [{"code": "odd"}],
        },
        [
            ("attachment", "tool", "image/png", ""),
            ("event", "user", "acknowledged_safety_checks", '[{"code": "odd"}]'),
        ],
    ),
    "program": (
        {"call_id": "k", "code": "await pay()", "fingerprint": "f"},
        [("tool_call", "model", "program", "await pay()")],
    ),
    "program_output": (
        {"call_id": "c", "result": "paid", "status": "incomplete"},
        [("tool_result", "tool", "error", "paid")],
    ),
    "tool_search_call": (
        {"call_id": "k", "arguments": {"q": 1}, "execution": "server"},
        [("tool_call", "model", "tool_search_call", '{"arguments": {"q": 1}}')],
    ),
    "tool_search_output": (
        {"call_id": "c", "tools": [{"name": "pay"}], "execution": "server"},
        [("tool_result", "tool", "", '[{"name": "pay"}]')],
    ),
    "additional_tools": (
        {"role": "developer", "tools": [{"name": "pay"}]},
        [("event", "developer", "additional_tools", '{"role": "developer", "tools": [{"name": "pay"}]}')],
    ),
    "configuration_update": (
        {"reasoning": {"effort": "low"}},
        [("event", "developer", "configuration_update", '{"reasoning": {"effort": "low"}}')],
    ),
    "compaction": (
        {"encrypted_content": "x"},
        [("not_shown", "model", "compaction that the provider encrypted")],
    ),
    "compaction_trigger": ({}, [("event", "environment", "compaction_trigger", "")]),
    "item_reference": ({"id": "i"}, [("not_shown", "model", "item by its id")]),
    "image_generation_call": (
        {"result": PNG_BASE64, "revised_prompt": "a cat", "output_format": "png", "id": "g"},
        [
            ("tool_call", "model", "image_generation_call", '{"revised_prompt": "a cat", "output_format": "png"}'),
            ("attachment", "tool", "image/png", ""),
        ],
    ),
    "code_interpreter_call": (
        {
            "id": "i",
            "code": "print(7)",
            "container_id": "k",
            "outputs": [{"type": "logs", "logs": "7"}, {"type": "image", "url": PNG_URL}],
        },
        [
            ("tool_call", "model", "code_interpreter_call", '{"code": "print(7)"}'),
            ("tool_result", "tool", "code_interpreter_call", '[{"type": "logs", "logs": "7"}]'),
            ("attachment", "tool", "image/png", ""),
        ],
    ),
    "local_shell_call": (
        {"call_id": "k", "action": {"command": ["ls"]}},
        [("tool_call", "model", "local_shell_call", '{"action": {"command": ["ls"]}}')],
    ),
    "local_shell_call_output": ({"id": "c", "output": "a.txt"}, [("tool_result", "tool", "", "a.txt")]),
    "shell_call": (
        {"call_id": "k", "action": {"commands": ["ls"]}},
        [("tool_call", "model", "shell_call", '{"action": {"commands": ["ls"]}}')],
    ),
    "shell_call_output": (
        {"call_id": "c", "output": [{"stdout": "a", "outcome": {"type": "timeout"}}], "max_output_length": 9},
        [("tool_result", "tool", "error", '[{"stdout": "a", "outcome": {"type": "timeout"}}]')],
    ),
    "apply_patch_call": (
        {"call_id": "k", "operation": {"type": "delete_file", "path": "a"}},
        [("tool_call", "model", "apply_patch_call", '{"operation": {"type": "delete_file", "path": "a"}}')],
    ),
    "apply_patch_call_output": (
        {"call_id": "c", "status": "failed", "output": "no"},
        [("tool_result", "tool", "error", "no")],
    ),
    "mcp_call": (
        {
            "id": "m",
            "name": "pay",
            "server_label": "bank",
            "arguments": "{}",
            "approval_request_id": "r",
            "error": {"type": "http_error", "code": 502, "message": "gone"},
        },
        [
            ("tool_call", "model", "bank.pay", "{}"),
            ("tool_result", "tool", "error", '{"type": "http_error", "code": 502, "message": "gone"}'),
        ],
    ),
    "mcp_list_tools": (
        {"server_label": "bank", "tools": [], "error": "unreachable"},
        [("event", "tool", "mcp_list_tools", '{"server_label": "bank", "tools": [], "error": "unreachable"}')],
    ),
    "mcp_approval_request": (
        {"name": "pay", "server_label": "bank", "arguments": "{}"},
        [("event", "model", "mcp_approval_request", '{"name": "pay", "server_label": "bank", "arguments": "{}"}')],
    ),
    "mcp_approval_response": (
        {"approve": False, "approval_request_id": "r", "reason": "too much"},
        [("event", "user", "mcp_approval_response", '{"approve": false, "reason": "too much"}')],
    ),
}


@pytest.mark.parametrize("kind", RESPONSES)
def test_an_item_of_openai_is_shown_or_named(kind: str) -> None:
    item, expected = RESPONSES[kind]
    call = {"type": "function_call", "call_id": "c", "name": "act", "arguments": "{}"}

    found = items({"object": "response", "output": [call, {"type": kind, **item}]})

    assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_item_of_the_openai_sdk_is_tried() -> None:
    unions = (openai_responses.ResponseOutputItem, openai_responses.ResponseItem)
    unions += (openai_responses.ResponseInputItemParam,)

    assert set(RESPONSES) == {kind for union in unions for kind in kinds_of(union)}


PARTS: dict[str, tuple[Any, list[Shown]]] = {
    "text": ("words", [("assistant", "model", "words")]),
    "thought": (True, []),
    "functionCall": ({"name": "pay", "args": {}, "willContinue": False}, [("tool_call", "model", "pay", "{}")]),
    "functionResponse": (
        {"name": "act", "response": {"error": "no"}, "parts": [{"fileData": {"fileUri": "u", "mimeType": "a/b"}}]},
        [("tool_result", "tool", "error", "no"), ("not_shown", "tool", "a/b at a URL")],
    ),
    "toolCall": (
        {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}},
        [("tool_call", "model", "GOOGLE_SEARCH_WEB", '{"queries": ["q"]}')],
    ),
    "toolResponse": (
        {"id": "c", "toolType": "GOOGLE_SEARCH_WEB", "response": {"results": ["r"]}},
        [("tool_result", "tool", "GOOGLE_SEARCH_WEB", '{"results": ["r"]}')],
    ),
    "executableCode": (
        {"code": "print(7)", "language": "PYTHON"},
        [("tool_call", "model", "code_execution", "print(7)")],
    ),
    "codeExecutionResult": (
        {"outcome": "OUTCOME_FAILED", "output": "no"},
        [("tool_result", "tool", "error", "no")],
    ),
    "inlineData": ({"data": PNG_BASE64, "mimeType": "image/png"}, [("attachment", "model", "image/png", "")]),
    "fileData": ({"fileUri": "u", "mimeType": "video/mp4"}, [("not_shown", "model", "video/mp4 at a URL")]),
    "audioTranscription": (
        {"text": "heard", "finished": True},
        [("event", "model", "audio transcription", "heard")],
    ),
    "thoughtSignature": ("c2ln", []),
    "videoMetadata": ({"fps": 1}, []),
    "mediaResolution": ({"level": "LOW"}, []),
    "mediaProcessing": ("STATIC", []),
    "partMetadata": ({"k": "v"}, []),
    "speechMetadata": ({"speaker": "A"}, []),
    "documentMetadata": ({"startPage": 1}, []),
    "spreadsheetMetadata": ({"sheetIndex": 1}, []),
    "audioMetadata": ({"startOffset": "1s"}, []),
}


@pytest.mark.parametrize("field", PARTS)
def test_a_part_of_google_is_shown_or_named(field: str) -> None:
    value, expected = PARTS[field]
    call = {"functionCall": {"id": "c", "name": "act", "args": {}}}

    found = items({"contents": [{"role": "model", "parts": [call, {field: value}]}]})

    assert [("tool_call", "model", "act", "{}"), *expected] == found


def test_every_part_of_the_google_sdk_is_tried() -> None:
    assert set(PARTS) == {one.alias or name for name, one in genai.Part.model_fields.items()}


def test_a_blocked_prompt_says_why() -> None:
    row = {
        "contents": [{"role": "user", "parts": [{"text": "Q"}]}],
        "candidates": [],
        "promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Not this."},
    }

    assert ("event", "environment", "end of the answer", "SAFETY: Not this.") == items(row)[1]


def test_parts_of_chat_messages_are_those_of_the_sdk() -> None:
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
