"""Threads of LangGraph: snapshots that repeat each other, events of the SDK, what ends a thread."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_events.case import Case

ASKED = {"type": "human", "content": "Pay.", "id": "1"}
SAID = {"type": "ai", "content": "Paid.", "id": "2"}
SUMMARY = {"type": "human", "content": "They paid.", "id": "3", "additional_kwargs": {"lc_source": "summarization"}}


def cases(folder: Path, *rows: Any) -> list[Case]:
    path = folder / "thread.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(CaseFiles([path]))


def texts(case: Case) -> list[str]:
    return [item.text for item in case.scenarios[0].execution.transcript.items if hasattr(item, "text")]


def snapshot(time: str, *messages: dict[str, Any], thread: str = "t", **more: Any) -> dict[str, Any]:
    config = {"configurable": {"thread_id": thread}}
    return {"values": {"messages": list(messages)}, "next": [], "config": config, "created_at": time, **more}


def test_snapshots_of_a_thread_are_one_case_with_what_a_later_one_removed(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, snapshot("3", SUMMARY), snapshot("1", ASKED), snapshot("2", ASKED, SAID))

    assert ["Pay.", "Paid.", "They paid."] == texts(case)
    assert {"conversation": "t"} == case.metadata


def test_threads_of_a_file_are_cases_of_their_own(tmp_path: Path) -> None:
    rows = [snapshot("1", ASKED, SAID, thread=thread) for thread in "abab"]

    assert ["a", "b"] == [case.metadata["conversation"] for case in cases(tmp_path, *rows)]


def test_equal_messages_without_an_id_in_one_snapshot_are_both_shown(tmp_path: Path) -> None:
    again = {"type": "human", "content": "Pay."}

    (case,) = cases(tmp_path, snapshot("1", again, again, SAID), snapshot("0", again))

    assert ["Pay.", "Pay.", "Paid."] == texts(case)


def test_the_error_of_a_task_is_that_of_the_case(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, snapshot("1", ASKED, tasks=[{"name": "agent", "error": "TimeoutError()"}]))

    assert "TimeoutError()" == case.scenarios[0].execution.error


def test_partial_messages_of_the_sdk_grow_and_are_shown_once(tmp_path: Path) -> None:
    def part(text: str) -> dict[str, Any]:
        return {"event": "messages/partial", "data": [{"type": "AIMessageChunk", "content": text, "id": "run-2"}]}

    rows = [
        {"event": "metadata", "data": {"run_id": "r"}},
        {"event": "values", "data": {"messages": [ASKED]}},
        *map(part, ("P", "Pai", "Paid.")),
        {"event": "custom", "data": {"progress": 1}},
        {"event": "end", "data": None},
    ]

    (case,) = cases(tmp_path, *rows)

    assert ["Pay.", "Paid."] == texts(case)
    assert ["event custom"] == [one.what for one in case.omissions(images_seen=True)]


@pytest.mark.parametrize(
    "row",
    [
        {"values": {"messages": [5]}, "next": []},
        {"values": {"messages": [{"type": "ai", "content": 5}]}, "next": []},
        {"channel_values": {"messages": [{"type": "ai", "content": [], "tool_calls": 5}]}},
        {"event": "messages/partial", "data": [[[[]]]]},
        {"event": "error", "data": {"message": "down"}},
        {"event": "messages", "data": [5, 6]},
    ],
)
def test_odd_rows_are_read_or_refused_in_one_line(tmp_path: Path, row: dict[str, Any]) -> None:
    try:
        result = [case.case_id for case in cases(tmp_path, row)]
    except CaseFileError as error:
        result = [str(error)]

    assert not any("\n" in one for one in result)
