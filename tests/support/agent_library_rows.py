"""Rows as libraries for agents and their tests write them: pydantic-ai, DeepEval, LangGraph."""

from typing import Any

PDF = "JVBERi0="


def pydantic_ai(png_base64: str) -> dict[str, Any]:
    """A run with parts of this and earlier releases: files, a legacy retry, a provider's tool, a refusal."""
    prompt = [
        "Read these.",
        {"kind": "binary", "data": png_base64, "media_type": "image/png", "identifier": "a"},
        {"kind": "binary", "data": PDF, "media_type": "application/pdf", "vendor_metadata": None},
        {"kind": "image-url", "url": "https://example.org/a.png", "force_download": False},
        {"kind": "audio-url", "url": "https://example.org/a.wav"},
        {"kind": "uploaded-file", "file_id": "f", "provider_name": "openai"},
        {"kind": "text-content", "content": "A note.", "metadata": None},
        {"kind": "cache-point", "ttl": "5m"},
    ]
    first = {
        "kind": "request",
        "instructions": "Be brief.",
        "run_id": "run-1",
        "conversation_id": "talk-1",
        "parts": [
            {"part_kind": "system-prompt", "content": "You read mail."},
            {"part_kind": "user-prompt", "content": prompt},
        ],
    }
    called = {
        "kind": "response",
        "model_name": "m",
        "finish_reason": "tool_call",
        "failed_attempts": [{"model_name": "n", "outcome": "error", "error": "503"}],
        "parts": [
            {"part_kind": "thinking", "content": "Hm.", "signature": "s"},
            {"part_kind": "text", "content": "I look."},
            {"part_kind": "tool-call", "tool_name": "read", "args": {"box": "in"}, "tool_call_id": "c1"},
            {"part_kind": "tool-call", "tool_name": "send", "args": "{", "tool_call_id": "c2"},
            {"part_kind": "builtin-tool-call", "tool_name": "search", "args": {"q": "x"}, "tool_call_id": "c3"},
            {"part_kind": "builtin-tool-return", "tool_name": "search", "content": {"hits": 2}, "tool_call_id": "c3"},
            {"part_kind": "file", "content": {"kind": "binary", "data": png_base64, "media_type": "image/png"}},
        ],
    }
    returned = {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "read",
                "content": {"new": 1},
                "tool_call_id": "c1",
                "metadata": {"raw": 1},
            },
            {"part_kind": "retry-prompt", "tool_name": "send", "content": "no JSON", "tool_call_id": "c2"},
            {"part_kind": "retry-feedback", "content": "Answer as JSON."},
            {"part_kind": "tool-availability-delta", "tools_added": ["delete"]},
        ],
    }
    refused = {
        "kind": "response",
        "parts": [],
        "finish_reason": "content_filter",
        "provider_details": {"refusal": "I can't."},
        "state": "complete",
    }
    return {"case_id": "a", "tags": ["mail"], "message_history": [first, called, returned, refused]}


def deepeval(png_base64: str) -> dict[str, Any]:
    """A multimodal test case with tools, tools of an MCP server, and the result of a metric."""
    image = {"dataBase64": png_base64, "mimeType": "image/png", "local": False, "filename": "bill.png"}
    blocks = [{"type": "text", "text": "5 left"}, {"type": "image", "data": png_base64, "mimeType": "image/png"}]
    return {
        "id": "a",
        "input": "Read [DEEPEVAL:IMAGE:i1].",
        "actualOutput": "Paid.",
        "expectedOutput": "It is paid.",
        "context": ["Bills are paid at once."],
        "retrievalContext": ["Rule 1.", {"context": "Rule 2.", "source": "rules"}],
        "toolsCalled": [
            {
                "name": "read",
                "type": "FUNCTION",
                "reasoning": "First read.",
                "inputParameters": {"box": "in"},
                "output": "5",
            }
        ],
        "expectedTools": [{"name": "pay", "inputParameters": {"sum": 5}}],
        "mcpToolsCalled": [{"name": "stock", "args": {"of": "x"}, "result": {"content": blocks, "isError": False}}],
        "mcpResourcesCalled": [{"uri": "file:a", "result": {"contents": [{"uri": "file:a", "text": "A."}]}}],
        "imagesMapping": {"i1": image},
        "metricsData": [{"name": "Correct", "score": 0.5, "success": True}],
        "comments": "One of ten.",
        "tags": ["bills"],
        "tokenCost": 0.01,
    }


def langgraph(png_url: str) -> dict[str, Any]:
    """A snapshot of a thread that waits for a person, with a channel besides its messages."""
    image = {"type": "image_url", "image_url": {"url": png_url}}
    call = {"name": "pay", "args": {"sum": 5}, "id": "c1", "type": "tool_call"}
    broken = {"name": "pay", "args": "{", "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}
    messages = [
        {"type": "system", "content": "You pay bills.", "id": "m0"},
        {"type": "human", "content": [{"type": "text", "text": "Pay this."}, image], "id": "m1"},
        {
            "type": "ai",
            "content": "I pay.",
            "name": "clerk",
            "id": "m2",
            "tool_calls": [call],
            "invalid_tool_calls": [broken],
        },
        {"type": "tool", "content": "paid", "tool_call_id": "c1", "name": "pay", "id": "m3", "artifact": {"raw": 1}},
    ]
    return {
        "values": {"messages": messages, "cart": ["bill"], "branch:to:agent": None},
        "next": ["agent"],
        "config": {"configurable": {"thread_id": "t1", "checkpoint_id": "1"}},
        "created_at": "2026-11-23T10:00:00+00:00",
        "interrupts": [{"value": "May I?", "id": "i1"}],
    }
