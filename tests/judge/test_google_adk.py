"""Sessions of Google ADK: fragments of streams, copies of texts in the state, rows in any order, older evaluations."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, read_case, read_cases
from jury_events import Case
from support.refusals import RefusalTables

USER = {"author": "user", "content": {"role": "user", "parts": [{"text": "Refund it."}]}}


def by(agent: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": agent, "content": {"role": "model", "parts": list(parts)}, **more}


def session(*events: dict[str, Any]) -> Case:
    return read_case({"id": "s", "appName": "shop", "events": list(events)}, default_id="first")


def told(case: Case) -> list[tuple[str, str]]:
    """Kind of each item, and its text; that of events with their names."""
    found = []
    for item in case.scenarios[0].execution.transcript.items:
        text = str(getattr(item, "text", "") or getattr(item, "arguments", "") or getattr(item, "what", ""))
        found.append((item.kind, f"{item.name}: {text}" if item.kind == "event" else text))
    return found


def test_fragments_are_not_shown_beside_the_whole_answer() -> None:
    fragments = [by("desk", {"text": text}, partial=True) for text in ("It is", " refunded.")]

    case = session(USER, *fragments, by("desk", {"text": "It is refunded."}))

    assert [("user", "Refund it."), ("assistant", "It is refunded.")] == told(case)


def test_fragments_without_a_whole_answer_are_one_text_that_was_interrupted() -> None:
    call = {"functionCall": {"name": "pay", "args": {"a": 1}}}

    case = session(
        by("desk", {"text": "Hm", "thought": True}, partial=True),
        by("desk", {"text": "m", "thought": True}, partial=True),
        by("desk", {"text": "I pay"}, call, partial=True),
        USER,
        by("desk", {"text": "Paid."}),
    )

    assert [
        ("reasoning", "Hmm"),
        ("assistant", "I pay"),
        ("not_shown", "field fragment_of_function_call"),
        ("event", "end of the answer: interrupted"),
        ("user", "Refund it."),
        ("assistant", "Paid."),
    ] == told(case)


def test_the_state_is_shown_without_a_copy_of_the_text() -> None:
    actions = {"stateDelta": {"answer": "Paid.", "due": 0}}

    case = session(USER, by("desk", {"text": "Paid."}, actions=actions))

    assert [("user", "Refund it."), ("assistant", "Paid."), ("event", 'state changed: {"due": 0}')] == told(case)


@pytest.mark.parametrize(
    ("end", "expected", "error"),
    [
        ({"errorCode": "SAFETY", "errorMessage": "No."}, "error: SAFETY: No.", "SAFETY: No."),
        ({"errorCode": "MAX_TOKENS", "finishReason": "MAX_TOKENS"}, "end of the answer: MAX_TOKENS", None),
        ({"interrupted": True}, "end of the answer: interrupted", None),
    ],
)
def test_the_end_of_an_event_is_said_once(end: dict[str, Any], expected: str, error: str | None) -> None:
    case = session(USER, {"author": "desk", **end})

    assert [("user", "Refund it."), ("event", expected)] == told(case)
    assert error == case.scenarios[0].execution.error


def test_rows_of_a_database_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    events = [USER, by("desk", {"text": "Paid."})]
    rows = [
        {"session_id": name, "invocation_id": "e", "timestamp": time, "event_data": json.dumps(events[time])}
        for time in (1, 0)
        for name in ("one", "two")
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    cases = list(read_cases([path]))

    assert ["one", "two"] == [case.case_id for case in cases]
    assert [[("user", "Refund it."), ("assistant", "Paid.")]] * 2 == [told(case) for case in cases]


def test_calls_of_older_evaluations_are_followed_by_their_responses() -> None:
    invocation = {
        "user_content": USER["content"],
        "intermediate_data": {
            "tool_uses": [{"id": "a", "name": "pay", "args": {}}, {"id": "b", "name": "pay", "args": {}}],
            "tool_responses": [
                {"id": "b", "name": "pay", "response": {"result": "second"}},
                {"id": "a", "name": "pay", "response": {"result": "first"}},
            ],
            "intermediate_responses": [["billing", [{"text": "I pay."}]]],
        },
        "final_response": {"role": "model", "parts": [{"text": "Paid."}]},
    }

    case = read_case({"eval_id": "e", "conversation": [invocation]}, default_id="first")

    assert [
        ("user", "Refund it."),
        ("tool_call", "{}"),
        ("tool_result", "first"),
        ("tool_call", "{}"),
        ("tool_result", "second"),
        ("assistant", "I pay."),
        ("assistant", "Paid."),
    ] == told(case)


def test_instructions_of_an_evaluated_agent_are_the_policy() -> None:
    details = {"agent_details": {"desk": {"name": "desk", "instructions": "Within 30 days."}}}
    invocation = {"user_content": USER["content"], "app_details": details}
    row = {
        "eval_id": "e",
        "session_id": "s",
        "final_eval_status": 2,
        "eval_metric_result_per_invocation": [{"actual_invocation": invocation}],
        "overall_eval_metric_results": [{"metric_name": "match", "score": 0.5}],
        "session_details": {"id": "s", "app_name": "shop", "events": [USER]},
    }

    case = read_case(row, default_id="first")

    assert "Within 30 days." == case.scenarios[0].question.policy
    assert ("s", "e", "failed", 0.5) == (
        case.case_id,
        case.cluster,
        case.metadata["final_eval_status"],
        case.metadata["match"],
    )


ROWS: dict[str, dict[str, Any]] = {
    "number as an event": {"appName": "a", "events": [5]},
    "number as a content": {"appName": "a", "events": [{"author": "user", "content": 5}]},
    "no invocation": {"eval_id": "e", "conversation": []},
    "number as the data of an event": {"invocation_id": "e", "session_id": "s", "event_data": "5"},
}


def test_what_is_no_event_is_refused_with_its_place(refusals: RefusalTables) -> None:
    refusals.check("google_adk", ROWS, lambda row: read_case(row, default_id="first"), CaseFileError)
