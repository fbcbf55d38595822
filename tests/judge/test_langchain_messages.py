"""LangChain's messages and LangGraph's threads: what a program may have done to them. Real dumps are in producers."""

from pathlib import Path
from typing import Any

from support.described_cases import outcome
from support.refusals import RefusalTables

CALL = {"type": "tool_call", "name": "pay", "args": {}, "id": None}
INVALID = {"type": "invalid_tool_call", "name": "pay", "args": "{", "id": "a", "error": "no JSON"}
OLDER = {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "pay", "arguments": "{}"}}]}
SUMMARISED = {"additional_kwargs": {"lc_source": "summarization"}}
ENDS: list[dict[str, Any]] = [
    {"finish_reason": "content_filter"},
    {"finish_reason": "SAFETY"},
    {"stop_reason": "max_tokens"},
    {"stopReason": "guardrail_intervened"},
    {"done_reason": "length"},
    {"prompt_feedback": {"block_reason": "OTHER"}},
    {"finish_reason": "STOP"},
    {"stop_reason": "end_turn", "finish_reason": None},
]
PDF = {"base64": "aGk=", "mime_type": "application/pdf"}
FILES: dict[str, dict[str, Any]] = {
    "an image": {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
    "an older image": {"type": "image", "source_type": "base64", "data": "aGk=", "mime_type": "image/png"},
    "audio": {"type": "audio", "base64": "aGk=", "mime_type": "audio/wav"},
    "a video": {"type": "video", "base64": "aGk=", "mime_type": "video/mp4"},
    "a file with a name": {"type": "file", **PDF, "extras": {"filename": "bill.pdf"}},
    "media": {"type": "media", "data": "aGk=", "mime_type": "application/pdf"},
    "plain text": {"type": "text-plain", "text": "hi", "mime_type": "text/plain", "title": "note"},
    "an image elsewhere": {"type": "image", "url": "https://example.org/a.png"},
    "a file elsewhere": {"type": "file", "file_id": "f"},
    "audio of nothing": {"type": "audio"},
}


def ai(content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "ai", "content": content, **fields}


def human(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "human", "content": content, **fields}


MESSAGES: dict[str, dict[str, Any]] = {
    "a message that the program added is an event and no request": human("They met.", **SUMMARISED),
    "calls of older releases are only in the additional fields": ai(additional_kwargs=OLDER),
    "a call in the content and in the list without an id is one call": ai([CALL], tool_calls=[CALL]),
    "an invalid call in both is shown once with its error": ai([INVALID], invalid_tool_calls=[INVALID]),
    **{f"an answer that ended with {end}": ai("Well", response_metadata=end) for end in ENDS},
    "an unknown field is counted and bookkeeping is not": ai(
        "Yes.",
        additional_kwargs={"__private": 1, "parsed": {"a": 1}, "unheard_of": "x"},
        id="run-1",
        usage_metadata={"input_tokens": 1},
        strange="y",
    ),
    **{name: human([block]) for name, block in FILES.items()},
}


def test_messages_are_shown_whatever_a_program_did_to_them(printed: RefusalTables, tmp_path: Path) -> None:
    printed.compare(
        "langchain",
        {name: outcome(tmp_path, {"id": "c", "messages": [human("Go on."), one]}) for name, one in MESSAGES.items()},
    )


ASKED, SAID = human("Pay.", id="1"), ai("Paid.", id="2")
SUMMARY = human("They paid.", id="3", **SUMMARISED)
AGAIN = human("Pay.")


def snapshot(time: str, *messages: dict[str, Any], thread: str = "t", **more: Any) -> dict[str, Any]:
    config = {"configurable": {"thread_id": thread}}
    return {"values": {"messages": list(messages)}, "next": [], "config": config, "created_at": time, **more}


THREADS: dict[str, list[Any]] = {
    "snapshots of a thread are one case with what a later one removed": [
        *(snapshot("3", SUMMARY), snapshot("1", ASKED), snapshot("2", ASKED, SAID)),
    ],
    "threads of a file are cases of their own": [snapshot("1", ASKED, SAID, thread=thread) for thread in "abab"],
    "equal messages without an id in one snapshot are both shown": [
        *(snapshot("1", AGAIN, AGAIN, SAID), snapshot("0", AGAIN)),
    ],
    "the error of a task is that of the case": [
        snapshot("1", ASKED, tasks=[{"name": "agent", "error": "TimeoutError()"}])
    ],
    "partial messages of the SDK grow and are shown once": [
        {"event": "metadata", "data": {"run_id": "r"}},
        {"event": "values", "data": {"messages": [ASKED]}},
        *(
            {"event": "messages/partial", "data": [{"type": "AIMessageChunk", "content": text, "id": "run-2"}]}
            for text in ("P", "Pai", "Paid.")
        ),
        {"event": "custom", "data": {"progress": 1}},
        {"event": "end", "data": None},
    ],
    "a message that is a number": [{"values": {"messages": [5]}, "next": []}],
    "a content that is a number": [{"values": {"messages": [ai(5)]}, "next": []}],
    "calls that are a number": [{"channel_values": {"messages": [ai([], tool_calls=5)]}}],
    "lists in lists": [{"event": "messages/partial", "data": [[[[]]]]}],
    "an error alone": [{"event": "error", "data": {"message": "down"}}],
    "an event of numbers": [{"event": "messages", "data": [5, 6]}],
}


def test_threads_are_cases(printed: RefusalTables, tmp_path: Path) -> None:
    printed.compare("langgraph", {name: outcome(tmp_path, *rows) for name, rows in THREADS.items()})
