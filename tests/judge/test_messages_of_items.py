"""Items know the message of the source that they come from; a label can name one."""

from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import read_cases
from jury_cases.options import CaseOptions
from jury_cases.rows import read_case
from jury_events.case import Case
from jury_events.decisive import decisive_message
from jury_events.transcript import Transcript

SYSTEM = {"role": "system", "content": "Refund within 30 days."}
ASKED = {"role": "user", "content": "Refund it."}
CALLS = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("find", "pay")]
CALLED = {"role": "assistant", "content": "I look.", "tool_calls": CALLS}
FOUND = {"role": "tool", "tool_call_id": "find", "content": "Order 7"}


def transcript_of(row: Any) -> Transcript:
    return read_case(row, default_id="c").scenarios[0].execution.transcript


def messages_of(row: Any) -> list[tuple[str, int]]:
    transcript = transcript_of(row)
    return [(item.kind, source.message) for item, source in zip(transcript.items, transcript.sources, strict=True)]


def test_the_items_of_a_message_share_its_number() -> None:
    assert [("user", 0), ("assistant", 1), ("tool_call", 1), ("tool_call", 1), ("tool_result", 2)] == messages_of(
        {"messages": [ASKED, CALLED, FOUND]}
    )


def test_messages_and_items_find_each_other() -> None:
    transcript = transcript_of({"messages": [ASKED, CALLED, FOUND]})

    assert (1, (1, 2, 3), ()) == (
        transcript.message_of(2),
        transcript.items_of_message(1),
        transcript.items_of_message(9),
    )


def test_a_place_is_the_path_in_the_row() -> None:
    transcript = transcript_of({"messages": [ASKED, CALLED, FOUND]})

    assert ["messages.0.content", "messages.1.content", "messages.1.tool_calls.0", "messages.1.tool_calls.1"] == [
        source.place for source in transcript.sources[:4]
    ]


def test_a_system_message_that_is_the_policy_counts() -> None:
    assert [("user", 1), ("assistant", 2)] == messages_of(
        {"messages": [SYSTEM, ASKED, {"role": "assistant", "content": "Done."}]}
    )


@pytest.mark.parametrize(
    "row",
    [
        {"system": "Be kind.", "messages": [ASKED], "content": [{"type": "text", "text": "Hi."}], "type": "message"},
        {"instructions": "Be kind.", "input": [ASKED], "output": [{"type": "message", **CALLED, "tool_calls": None}]},
        {
            "systemInstruction": {"parts": [{"text": "Be kind."}]},
            "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
            "candidates": [{"content": {"parts": [{"text": "Hi."}]}}],
        },
    ],
    ids=["anthropic", "openai-responses", "gemini"],
)
def test_instructions_beside_the_messages_do_not_count_and_the_answer_does(row: dict[str, Any]) -> None:
    assert [("user", 0), ("assistant", 1)] == messages_of({**row, "role": "assistant"})


def test_messages_without_items_count_in_the_list_before() -> None:
    nothing = {"type": "reasoning", "summary": []}

    assert [("user", 0), ("assistant", 3)] == messages_of(
        {"input": [ASKED, nothing, nothing], "output": [{"type": "message", "role": "assistant", "content": "Done."}]}
    )


def test_chunks_have_the_number_of_the_first() -> None:
    chunks = [{"type": "AIMessageChunk", "content": text, "id": "run-1"} for text in ("A", "B")]

    assert [("user", 0), ("assistant", 1), ("user", 3)] == messages_of(
        {"messages": [{"type": "human", "content": "q"}, *chunks, {"type": "human", "content": "r"}]}
    )


def test_a_cut_text_has_the_number_of_its_beginning() -> None:
    texts = [{"role": "model", "parts": [{"text": text}]} for text in ("A", "B")]

    assert [("user", 0), ("assistant", 1), ("user", 3)] == messages_of(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "q"}]},
                *texts,
                {"role": "user", "parts": [{"text": "r"}]},
            ]
        }
    )


def test_why_an_answer_ended_is_of_its_message() -> None:
    choice = {"message": {"role": "assistant", "content": "I"}, "finish_reason": "length"}

    assert [("user", 0), ("assistant", 1), ("event", 1)] == messages_of({"messages": [ASKED], "choices": [choice]})


def test_the_calls_of_a_single_answer_are_one_message() -> None:
    row = {"input": "q", "actual_output": "a", "tools_called": [{"name": "find", "output": "7"}]}

    assert [("user", 0), ("tool_call", 1), ("tool_result", 1), ("assistant", 1)] == messages_of(row)


def test_provenance_is_no_part_of_what_is_judged() -> None:
    row = {"question": "q", "messages": [ASKED, CALLED, FOUND]}
    case = read_case(row, default_id="c")

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
    [
        {"decisive_agent": "Expert", "decisive_message": 2},
        {"mistake_agent": "Expert", "mistake_step": "2"},
    ],
)
def test_the_decisive_message_of_a_row_is_label_data(columns: dict[str, Any]) -> None:
    case = read_case({**WHO_AND_WHEN, **columns}, default_id="c")
    (scenario,) = case.scenarios

    assert {"decisive_message": 2, "decisive_agent": "Expert"} == case.metadata
    assert 2 == decisive_message(case.metadata)
    assert b"decisive" not in case.to_part()
    (decisive,) = scenario.execution.transcript.items_of_message(2)
    assert ("42", "Expert") == (
        scenario.execution.transcript.items[decisive].text,  # type: ignore[union-attr]
        scenario.execution.transcript.items[decisive].name,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("written", [None, "", " "])
def test_no_decisive_message(written: str | None) -> None:
    assert {} == read_case({**WHO_AND_WHEN, "decisive_message": written}, default_id="c").metadata


@pytest.mark.parametrize("written", [-1, "the third", 1.5, True, [2], 10**9])
def test_a_decisive_message_that_is_no_number_is_refused(written: Any) -> None:
    with pytest.raises(CaseFileError, match=r"decisive_message: must be the number of a message, from 0 up, not"):
        read_case({**WHO_AND_WHEN, "decisive_message": written}, default_id="c")


@pytest.mark.parametrize("found", [None, "2", True, -1, 2.0])
def test_metadata_that_name_no_message(found: Any) -> None:
    assert decisive_message({} if found is None else {"decisive_message": found}) is None


def test_another_column_may_name_the_decisive_message(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": "q", "response": "a", "failed_at": 4}\n')
    (case,) = read_cases([path], CaseOptions(fields={"decisive_message": "failed_at"}))

    assert {"decisive_message": 4} == case.metadata


def test_a_case_of_a_file_knows_its_row_without_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('\n{"question": "q", "response": "a"}\n')
    (case,) = read_cases([path])

    assert "cases.jsonl:2" == case.position
    assert Case.from_part(case.to_part()).position is None
