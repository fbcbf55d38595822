"""Sessions of Google ADK: fragments of streams, copies of texts in the state, rows in any order, older evaluations."""

import json
from pathlib import Path
from typing import Any

from jury_cases import CaseFileError, read_case, read_cases
from support.printed_cases import items_of, printed_case
from support.refusals import RefusalTables

USER = {"author": "user", "content": {"role": "user", "parts": [{"text": "Refund it."}]}}


def by(agent: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": agent, "content": {"role": "model", "parts": list(parts)}, **more}


def partly(*parts: dict[str, Any]) -> dict[str, Any]:
    return by("desk", *parts, partial=True)


PAY = {"functionCall": {"name": "pay", "args": {"a": 1}}}
PAID = by("desk", {"text": "Paid."})
SESSIONS: dict[str, list[dict[str, Any]]] = {
    "fragments beside the whole answer": [USER, partly({"text": "It is"}), partly({"text": " paid."}), PAID],
    "fragments without a whole answer": [
        partly({"text": "Hm", "thought": True}),
        partly({"text": "m", "thought": True}),
        partly({"text": "I pay"}, PAY),
        USER,
        PAID,
    ],
    "a state with a copy of the text": [
        USER,
        by("desk", {"text": "Paid."}, actions={"stateDelta": {"answer": "Paid.", "due": 0}}),
    ],
    "an error": [USER, {"author": "desk", "errorCode": "SAFETY", "errorMessage": "No."}],
    "the end of the tokens": [USER, {"author": "desk", "errorCode": "MAX_TOKENS", "finishReason": "MAX_TOKENS"}],
    "an interruption": [USER, {"author": "desk", "interrupted": True}],
}
OLDER = {
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


def test_sessions(printed: RefusalTables) -> None:
    rows = {name: {"id": "s", "appName": "shop", "events": events} for name, events in SESSIONS.items()}
    rows["calls of an older evaluation and their responses"] = {"eval_id": "e", "conversation": [OLDER]}

    printed.compare(
        "google_adk", {name: printed_case(read_case(row, default_id="first")) for name, row in rows.items()}
    )


def test_rows_of_a_database_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    events = [USER, PAID]
    rows = [
        {"session_id": name, "invocation_id": "e", "timestamp": time, "event_data": json.dumps(events[time])}
        for time in (1, 0)
        for name in ("one", "two")
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    cases = list(read_cases([path]))

    assert ["one", "two"] == [case.case_id for case in cases]
    assert [[("user", "Refund it."), ("assistant", "Paid.")]] * 2 == [items_of(case) for case in cases]


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
    assert ("s", "e") == (case.case_id, case.cluster)
    assert ("failed", 0.5) == (case.metadata["final_eval_status"], case.metadata["match"])


ROWS: dict[str, dict[str, Any]] = {
    "number as an event": {"appName": "a", "events": [5]},
    "number as a content": {"appName": "a", "events": [{"author": "user", "content": 5}]},
    "no invocation": {"eval_id": "e", "conversation": []},
    "number as the data of an event": {"invocation_id": "e", "session_id": "s", "event_data": "5"},
}


def test_what_is_no_event_is_refused_with_its_place(refusals: RefusalTables) -> None:
    refusals.check("google_adk", ROWS, lambda row: read_case(row, default_id="first"), CaseFileError)
