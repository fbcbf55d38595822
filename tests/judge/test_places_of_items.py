"""Items know the message of the source that they come from, and their place in it; a label can name a message."""

from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseOptions, read_case, read_cases
from jury_events import Case, decisive_message
from support.described_cases import outcome
from support.refusals import RefusalTables

SYSTEM = {"role": "system", "content": "Refund within 30 days."}
ASKED = {"role": "user", "content": "Refund it."}
CALLS = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("find", "pay")]
CALLED = {"role": "assistant", "content": "I look.", "tool_calls": CALLS}
FOUND = {"role": "tool", "tool_call_id": "find", "content": "Order 7"}
DONE = {"role": "assistant", "content": "Done."}
NOTHING = {"type": "reasoning", "summary": []}
TEXT = [{"type": "text", "text": "Hi."}]
GEMINI = {"role": "user", "parts": [{"text": "q"}]}

ROWS: dict[str, dict[str, Any]] = {
    "items of a message share its number": {"messages": [ASKED, CALLED, FOUND]},
    "a system message that is the policy counts": {"messages": [SYSTEM, ASKED, DONE]},
    "instructions of Anthropic do not count and the answer does": {
        "system": "Be kind.",
        "messages": [ASKED],
        "content": TEXT,
        "type": "message",
        "role": "assistant",
    },
    "instructions of Responses do not count and the answer does": {
        "instructions": "Be kind.",
        "input": [ASKED],
        "output": [{"type": "message", **CALLED, "tool_calls": None}],
    },
    "instructions of Gemini do not count and the answer does": {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
        "candidates": [{"content": {"parts": [{"text": "Hi."}]}}],
    },
    "messages without items count in the list before": {
        "input": [ASKED, NOTHING, NOTHING],
        "output": [{"type": "message", **DONE}],
    },
    "chunks have the number of the first": {
        "messages": [
            {"type": "human", "content": "q"},
            *({"type": "AIMessageChunk", "content": text, "id": "run-1"} for text in ("A", "B")),
            {"type": "human", "content": "r"},
        ]
    },
    "a cut text has the number of its beginning": {
        "contents": [GEMINI, *({"role": "model", "parts": [{"text": text}]} for text in ("A", "B")), GEMINI]
    },
    "why an answer ended is of its message": {
        "messages": [ASKED],
        "choices": [{"message": {"role": "assistant", "content": "I"}, "finish_reason": "length"}],
    },
    "the calls of a single answer are one message": {
        "input": "q",
        "actual_output": "a",
        "tools_called": [{"name": "find", "output": "7"}],
    },
}


def test_items_have_the_number_of_their_message_and_their_path_in_the_row(
    printed: RefusalTables, tmp_path: Path
) -> None:
    printed.compare("places_of_items", {name: outcome(tmp_path, {"id": "c", **row}) for name, row in ROWS.items()})


def test_messages_and_items_find_each_other() -> None:
    case = read_case({"messages": [ASKED, CALLED, FOUND]}, default_id="c")
    transcript = case.scenarios[0].execution.transcript

    assert (1, (1, 2, 3), ()) == (
        transcript.message_of(2),
        transcript.items_of_message(1),
        transcript.items_of_message(9),
    )


def test_provenance_is_no_part_of_what_is_judged() -> None:
    case = read_case({"question": "q", "messages": [ASKED, CALLED, FOUND]}, default_id="c")

    assert not any(name in case.to_part() for name in (b"sources", b"position", b"messages.1"))
    assert case.to_part() == case.changed(position="cases.jsonl:3").to_part()


WHO_AND_WHEN = {
    "case_id": "algorithm-1",
    "question": "How many?",
    "messages": [
        {"role": "Orchestrator (thought)", "content": "Ask the browser."},
        {"role": "user", "name": "Terminal", "content": "exit 0"},
        {"role": "assistant", "name": "Expert", "content": "42"},
    ],
    "human_label": "failed",
}


@pytest.mark.parametrize(
    "columns",
    [{"decisive_agent": "Expert", "decisive_message": 2}, {"mistake_agent": "Expert", "mistake_step": "2"}],
)
def test_the_decisive_message_of_a_row_is_label_data(columns: dict[str, Any]) -> None:
    case = read_case({**WHO_AND_WHEN, **columns}, default_id="c")
    (decisive,) = case.scenarios[0].execution.transcript.items_of_message(2)
    item = dict(case.scenarios[0].execution.transcript.items[decisive])

    assert {"decisive_message": 2, "decisive_agent": "Expert"} == case.metadata
    assert 2 == decisive_message(case.metadata)
    assert b"decisive" not in case.to_part()
    assert ("42", "Expert") == (item["text"], item["name"])


def test_an_empty_cell_is_no_decisive_message_and_what_is_no_number_is_refused(
    printed: RefusalTables, tmp_path: Path
) -> None:
    written = (None, "", " ", -1, "the third", 1.5, True, [2], 10**9)
    printed.compare(
        "decisive_messages",
        {repr(one): outcome(tmp_path, {**WHO_AND_WHEN, "decisive_message": one}) for one in written},
    )


@pytest.mark.parametrize("found", [None, "2", True, -1, 2.0])
def test_metadata_that_name_no_message(found: Any) -> None:
    assert decisive_message({} if found is None else {"decisive_message": found}) is None


def test_a_case_of_a_file_knows_its_row_and_another_column_may_name_the_message(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('\n{"question": "q", "response": "a", "failed_at": 4}\n')
    (case,) = read_cases([path], CaseOptions(fields={"decisive_message": "failed_at"}))

    assert ({"decisive_message": 4}, "cases.jsonl:2") == (case.metadata, case.position)
    assert Case.from_part(case.to_part()).position is None
