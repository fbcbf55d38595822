"""Traces as tracing tools write them: runs of tools, repeats, agents, log records, and errors that name the trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import read_cases
from support.otel_spans import ERROR, as_any_value, call, chat, export, items_of, read, returned, said, span


def test_a_tool_span_without_id_is_the_call_in_the_message_though_its_arguments_are_written_otherwise() -> None:
    asked = said("user", "Q")
    called = said("assistant", call("c1", order="17"))
    message = {"lc": 1, "kwargs": {"type": "tool", "content": "no money", "tool_call_id": "c1", "status": "error"}}
    tool = span(
        *(2, 2, 3),
        operation__name="execute_tool",
        tool__name="pay",
        tool__call__arguments={"input_str": "{'order': '17'}", "inputs": {"order": "17"}},
        tool__call__result={"output": message},
    )
    spans = [
        chat(1, [asked], [called]),
        tool,
        chat(4, [asked, called, said("tool", returned("c1", "no money"))], [said("assistant", "Not paid.")]),
    ]

    expected = ["user: Q", 'tool_call: {"order": "17"}', "tool_result (error): no money", "assistant: Not paid."]

    assert expected == items_of(read(*spans))


def test_a_run_is_the_call_of_its_tool_that_has_the_same_result() -> None:
    asked, called = said("user", "Q"), said("assistant", call("c1", a=1), call("c2", a=2))
    results = [said("tool", returned("c1", "one")), said("tool", returned("c2", "two"))]
    tool = span(
        *(2, 2, 3),
        operation__name="execute_tool",
        tool__name="pay",
        tool__call__arguments={"a": 2, "dry_run": False},
        tool__call__result="two",
    )

    items = items_of(read(chat(1, [asked], [called]), tool, chat(4, [asked, called, *results], [])))

    assert ['tool_call: {"a": 1}', 'tool_call: {"a": 2}', "tool_result: one", "tool_result: two"] == items[1:]


def test_parallel_runs_of_one_tool_that_no_message_contains_keep_their_results() -> None:
    """Neither has an id, and the second one ends first: the span connects its call with its result."""
    run = {"operation__name": "execute_tool", "tool__name": "pay"}
    slow = span(2, 2, 5, **run, tool__call__arguments={"a": 1}, tool__call__result="one")
    quick = span(3, 3, 4, **run, tool__call__arguments={"a": 2}, tool__call__result="two")

    case = read(chat(1, [said("user", "Q")], []), slow, quick)

    assert ['tool_call: {"a": 1}', 'tool_call: {"a": 2}', "tool_result: two", "tool_result: one"] == items_of(case)[1:]
    assert (None, None, None, 2, 1) == case.scenarios[0].execution.transcript.answered_calls()


def test_a_tool_span_below_another_of_the_same_run_is_no_run_of_its_own() -> None:
    run = {"operation__name": "execute_tool", "tool__name": "pay", "tool__call__arguments": {"a": 1}}
    outer = span(2, 2, 5, **run, tool__call__id="c1", tool__call__result="ok")
    inner = span(3, 3, 4, of=2, **run, tool__call__result="ok")

    items = items_of(read(chat(1, [said("user", "Q")], []), outer, inner))

    assert ["user: Q", 'tool_call: {"a": 1}', "tool_result: ok"] == items


def test_a_model_call_that_names_a_tool_is_no_run_of_it() -> None:
    called = said("assistant", call("c1"))
    chatted = chat(1, [said("user", "Q")], [called], operation__name="chat", tool__name="pay", tool__call__id="c1")

    assert ["user: Q", "tool_call: {}"] == items_of(read(chatted))


def test_a_model_call_around_another_adds_what_the_inner_one_lacks() -> None:
    asked = [said("system", "S"), said("user", "Q")]
    answered = said("assistant", "A", {"type": "refusal", "content": "No."})
    outer = chat(1, asked, [answered], 1, 9, operation__name="chat")
    inner = chat(2, asked, [said("assistant", "A")], 2, 8, of=1, operation__name="chat")

    case = read(outer, inner)

    assert "S" == case.scenarios[0].question.policy
    assert ["user: Q", "assistant: A", "refusal: No."] == items_of(case)


@pytest.mark.parametrize(
    "repeated",
    [
        [said("assistant", "Wait."), said("tool", returned("c1", "ok"))],
        [said("assistant", call("c1")), said("tool", returned("c1", "ok"))],
        [said("tool", returned("c1", "ok"))],
    ],
    ids=["without the call", "without the text", "without both"],
)
def test_a_repeat_without_what_the_agent_did_is_a_repeat(repeated: list[Any]) -> None:
    spans = [
        chat(1, [said("user", "Q")], [said("assistant", "Wait.", call("c1"))]),
        chat(2, [said("user", "Q"), *repeated], [said("assistant", "Done.")]),
        chat(3, [said("user", "Q"), *repeated, said("assistant", "Done."), said("user", "Q2")], []),
    ]

    expected = ["user: Q", "assistant: Wait.", "tool_call: {}", "tool_result: ok", "assistant: Done.", "user: Q2"]

    assert expected == items_of(read(*spans))


def test_several_agents_are_named_speakers_and_a_child_agent_is_no_handover() -> None:
    agents = [
        span(1, 1, 20, operation__name="invoke_agent", agent__name="planner"),
        span(3, 5, 9, of=1, operation__name="invoke_agent", agent__name="clerk"),
    ]
    spans = [
        chat(2, [said("user", "Q")], [said("assistant", "I ask.")], 2, 3, of=1),
        chat(4, [said("user", "Pay it")], [said("assistant", call("c1"))], 6, 7, of=3),
    ]

    items = read(*agents, *spans).scenarios[0].execution.transcript.items

    speakers = [dict(item).get("speaker") or dict(item).get("name") for item in items[:3]]
    assert ["user", "assistant", "user", "tool_call"] == [item.kind for item in items]
    assert [None, "planner", None] == speakers
    assert "clerk" == dict(items[3])["speaker"]


def test_one_agent_is_metadata_and_no_speaker() -> None:
    agent = span(1, 1, 9, operation__name="invoke_agent", agent__name="shop")

    case = read(agent, chat(2, [said("user", "Q")], [said("assistant", "A")], 2, 3, of=1))

    assert "shop" == case.metadata["agent"]
    assert [None, None] == [dict(item)["name"] for item in case.scenarios[0].execution.transcript.items]


def test_ids_are_metadata() -> None:
    case = read(chat(2, [said("user", "Q")], [], of=1, conversation__id="talk"), span(1))

    assert {"trace_id": "t", "span_id": "s1", "conversation": "talk"} == dict(case.metadata)


def record(of: str, name: str, **body: Any) -> dict[str, Any]:
    fields = [{"key": key, "value": as_any_value(value)} for key, value in body.items()]
    return {
        "traceId": "t",
        "spanId": of,
        "timeUnixNano": "1",
        "eventName": name,
        "body": {"kvlistValue": {"values": fields}},
    }


@pytest.mark.parametrize("spans", [[], [span(1, 1, 9, operation__name="chat")]], ids=["records alone", "with spans"])
def test_log_records_are_events_of_their_spans(tmp_path: Path, spans: list[Any]) -> None:
    records = [
        record("s1", "gen_ai.user.message", content="Q"),
        record("s1", "gen_ai.choice", message={"role": "assistant", "content": "A"}, finish_reason="stop"),
        record("s1", "http.request", content="x"),
    ]
    lines: list[Any] = [{"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}]
    lines += [export(*spans)] if spans else []
    path = tmp_path / "batches.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    (case,) = read_cases([path])

    assert ("t", ["user: Q", "assistant: A"]) == (case.case_id, items_of(case))


def test_a_message_whose_content_was_not_recorded_is_named_as_not_shown() -> None:
    spans = [
        chat(1, [said("user", "Q")], [said("assistant", "A", finish_reason="stop")]),
        chat(2, [said("user", "Q"), said("assistant", "A"), said("user")], [said("assistant", finish_reason="stop")]),
    ]

    lacking = "not_shown: message without content"

    assert ["user: Q", "assistant: A", lacking, lacking] == items_of(read(*spans))


def of_trace(trace: str, *spans: dict[str, Any]) -> str:
    return json.dumps(export(*({**one, "traceId": trace} for one in spans)))


GOOD = chat(1, [said("user", "Q")], [said("assistant", "A")])


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (span(1, operation__name="chat", status=ERROR), "question: missing"),
        (span(1, operation__name="chat"), "it has no messages"),
        (span(1, input__messages="[5]"), "gen_ai.input.messages.0"),
    ],
)
def test_errors_name_the_trace_and_its_own_line(tmp_path: Path, bad: dict[str, Any], problem: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join([of_trace("a", GOOD), of_trace("bad", bad), of_trace("c", GOOD)]), encoding="utf-8")

    with pytest.raises(CaseFileError, match=rf"traces.jsonl:2: trace bad: .*{problem}"):
        list(read_cases([path]))


def test_a_trace_that_only_makes_an_agent_is_no_case(tmp_path: Path) -> None:
    made = span(1, operation__name="create_agent", agent__name="shop", system_instructions="Be brief.")
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join([of_trace("made", made), of_trace("a", GOOD)]), encoding="utf-8")

    assert ["a"] == [case.case_id for case in read_cases([path])]


def test_the_exception_of_a_failed_model_call_is_the_error_of_the_case() -> None:
    thrown = {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "no key"}}]}

    case = read(chat(1, [said("user", "Q")], [], status={"code": 2}, events=[thrown]))

    assert (["user: Q"], "no key") == (items_of(case), case.scenarios[0].execution.error)


def test_deeply_nested_spans_are_read_in_their_order() -> None:
    nested = [chat(number, [said("user", f"Q{number}")], [], of=number - 1) for number in range(1, 3000)]

    assert [f"user: Q{number}" for number in range(1, 3000)] == items_of(read(*nested))
