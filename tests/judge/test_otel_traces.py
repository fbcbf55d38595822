"""Traces of OpenTelemetry: repeated messages, order, and unexpected values."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import read_cases
from jury_cases.formats.gathering import gathered_data
from jury_cases.formats.otel_traces import OTEL
from jury_cases.formats.otlp import Traces
from jury_cases.rows import read_case
from support.foreign_rows import PNG_BASE64, otel
from support.otel_spans import ERROR, as_any_value, call, chat, export, items_of, read, returned, said, span


def test_an_agent_span_that_repeats_its_chats_is_reported_once_with_its_answer_last() -> None:
    agent = chat(1, [said("user", "Q")], [said("assistant", "Final")], 1, 9, operation__name="invoke_agent")
    first = chat(2, [said("user", "Q")], [said("assistant", call("c1"))], 2, 3, of=1)
    last = chat(
        3,
        [said("user", "Q"), said("assistant", call("c1")), said("tool", returned("c1", "ok"))],
        [said("assistant", "Final")],
        *(4, 8),
        of=1,
    )

    case = read(agent, first, last)

    assert ["user: Q", "tool_call: {}", "tool_result: ok", "assistant: Final"] == items_of(case)
    assert "Final" == case.scenarios[0].execution.response


def test_content_that_an_agent_adds_to_its_chats_is_placed_at_the_spans_start_and_end() -> None:
    agent = chat(
        *(1, [said("user", "Q", "Be quick.")], [said("assistant", "**Final**")], 1, 9), operation__name="invoke_agent"
    )
    inner = chat(2, [said("user", "Q")], [said("assistant", "Final")], 2, 8, of=1)

    case = read(agent, inner)

    assert ["user: Q\nBe quick.", "user: Q", "assistant: Final", "assistant: **Final**"] == items_of(case)
    assert "**Final**" == case.scenarios[0].execution.response


def test_a_spans_outputs_are_placed_at_its_end() -> None:
    agent = chat(1, [said("user", "Q")], [said("assistant", "Final")], 1, 9, operation__name="invoke_agent")
    tool = span(2, 3, 4, of=1, operation__name="execute_tool", tool__name="read", tool__call__result="x")

    assert ["user: Q", "tool_call: read", "tool_result: x", "assistant: Final"] == items_of(read(agent, tool))


@pytest.mark.parametrize("answers", [["Sure?", "Really?", "Fine."], []])
def test_a_repeated_user_message_is_reported_again(answers: list[str]) -> None:
    asked = ["Pay.", "yes", "yes"]
    spans = [
        chat(index, [said("user", text)], [said("assistant", answers[index])] if answers else [])
        for index, text in enumerate(asked)
    ]

    users = [text for text in items_of(read(*spans)) if text.startswith("user")]

    assert ["user: Pay.", "user: yes", "user: yes"] == users


def test_two_agents_with_equal_prompts_are_both_reported() -> None:
    spans = [
        chat(
            number, [said("system", "S"), said("user", "P")], [said("assistant", text)], operation__name="invoke_agent"
        )
        for number, text in ((1, "A"), (2, "B"))
    ]

    items = items_of(read(*spans))

    assert ["user: P", "assistant: A", "system: S", "user: P", "assistant: B"] == items


def test_a_retried_request_is_reported_once() -> None:
    spans = [chat(1, [said("user", "Q")], [], status=ERROR), chat(2, [said("user", "Q")], [said("assistant", "A")])]

    assert ["user: Q", "assistant: A"] == items_of(read(*spans))


def test_two_requests_that_go_on_from_the_same_answer_repeat_it_once() -> None:
    begun = [said("user", "Q"), said("assistant", "A")]
    spans = [
        chat(1, begun[:1], begun[1:]),
        chat(2, [*begun, said("user", "x")], [said("assistant", "X")]),
        chat(3, [*begun, said("user", "y")], [said("assistant", "Y")]),
    ]

    expected = ["user: Q", "assistant: A", "user: x", "assistant: X", "user: y", "assistant: Y"]

    assert expected == items_of(read(*spans))


def test_a_repeat_without_the_reasoning_is_a_repeat() -> None:
    thought = {"type": "reasoning", "content": "Hm."}
    spans = [
        chat(1, [said("user", "Q")], [said("assistant", thought, "A1", finish_reason="stop")]),
        chat(2, [said("user", "Q"), said("assistant", "A1"), said("user", "Q2")], [said("assistant", "A2")]),
    ]

    assert ["user: Q", "reasoning: Hm.", "assistant: A1", "user: Q2", "assistant: A2"] == items_of(read(*spans))


def test_new_content_of_a_repeated_message_is_reported() -> None:
    spans = [
        chat(1, [said("user", "Q")], [said("assistant", "A1")]),
        chat(2, [said("user", "Q"), said("assistant", "A1", call("c"))], [said("assistant", "A2")]),
    ]

    assert ["user: Q", "assistant: A1", "tool_call: {}", "assistant: A2"] == items_of(read(*spans))


@pytest.mark.parametrize("ids", [("m1", None), (None, None), (None, "s1")])
def test_a_tool_span_is_the_call_of_the_message_with_its_arguments(ids: tuple[str | None, str | None]) -> None:
    in_message, in_span = ids
    given = {"tool__call__id": in_span} if in_span else {}
    tool = span(
        *(2, 2, 3),
        operation__name="execute_tool",
        tool__name="pay",
        tool__call__arguments='{"b":2, "a":1}',
        tool__call__result={"ok": True},
        **given,
    )
    asked = said("user", "Q")
    called = said("assistant", call(in_message, a=1, b=2))
    spans = [
        chat(1, [asked], [called]),
        tool,
        chat(4, [asked, called, said("tool", returned(in_message, {"ok": True}))], [said("assistant", "Paid.")]),
    ]

    items = items_of(read(*spans))

    assert ["user: Q", 'tool_call: {"a": 1, "b": 2}', 'tool_result: {"ok": true}', "assistant: Paid."] == items


def test_a_tool_that_ran_twice_with_one_reported_call_is_reported_twice() -> None:
    run = {"operation__name": "execute_tool", "tool__name": "pay", "tool__call__arguments": {"a": 1}}
    spans = [
        chat(1, [said("user", "Q")], [said("assistant", call(None, a=1))]),
        *(span(number, **run, tool__call__result="ok") for number in (2, 3)),
    ]

    items = items_of(read(*spans))

    assert 2 * ['tool_call: {"a": 1}', "tool_result: ok"] == items[1:]


def test_a_tool_that_failed_gives_its_call_an_error() -> None:
    chatted = chat(1, [said("user", "Q")], [said("assistant", call("c1"))])
    tool = span(2, operation__name="execute_tool", tool__name="pay", tool__call__id="c1", status=ERROR)

    case = read(chatted, tool)

    assert ["user: Q", "tool_call: {}", "tool_result (error): boom"] == items_of(case)
    assert (None, 1) == (
        case.scenarios[0].execution.error,
        case.scenarios[0].execution.transcript.answered_calls()[-1],
    )


def test_a_chat_that_failed_is_the_error_of_the_case() -> None:
    case = read(chat(1, [said("user", "Q")], [], status=ERROR))

    assert "boom" == case.scenarios[0].execution.error


def test_names_of_messages_are_kept() -> None:
    case = read(chat(1, [said("user", "Q", name="Ann")], [said("assistant", "A", name="planner")]))

    assert ["Ann", "planner"] == [dict(item)["name"] for item in case.scenarios[0].execution.transcript.items]


def test_the_first_of_several_choices_is_the_answer_with_its_finish_reason() -> None:
    def choice(index: int, text: str) -> dict[str, Any]:
        values = {"index": index, "finish_reason": "length", "message": {"role": "assistant", "content": text}}
        attributes = [
            {"key": key, "value": {"intValue": value} if key == "index" else {"stringValue": json.dumps(value)}}
            for key, value in values.items()
        ]
        attributes[1]["value"] = {"stringValue": "length"}
        return {"name": "gen_ai.choice", "attributes": attributes}

    asked = {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "Q"}}]}
    case = read(span(1, events=[asked, choice(0, "A"), choice(1, "B")]))

    assert ["user: Q", "assistant: A", "event: length", "not_shown: another choice"] == items_of(case)
    assert "A" == case.scenarios[0].execution.response


def test_messages_in_both_attributes_and_events_of_a_span_are_reported_once() -> None:
    asked, answered = [said("user", "Q")], [said("assistant", "A")]
    details = {
        "name": "gen_ai.client.inference.operation.details",
        "attributes": [
            {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(asked)}},
            {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(answered)}},
        ],
    }

    assert ["user: Q", "assistant: A"] == items_of(read(chat(1, asked, answered, events=[details])))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "uri", "modality": "image", "uri": "https://x.example/y.png"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": PNG_BASE64},
        {"type": "file", "modality": "image", "file_id": "f"},
    ],
)
def test_unknown_fields_of_files_are_counted(part: dict[str, Any]) -> None:
    case = read(chat(1, [said("user", "Q", {**part, "caption": "a bill"})], []))

    assert ["not_shown: field caption"] == items_of(case)[2:]


def test_consecutive_texts_are_one_item() -> None:
    case = read(chat(1, [said("user", "Q1", "Q2"), said("critic", "Bad.", "Worse.")], []))

    assert ["user: Q1\nQ2", "speaker: Bad.\nWorse."] == items_of(case)
    assert "Q1\nQ2" == case.scenarios[0].question.prompt


def test_a_trace_may_be_spread_over_the_lines_of_a_file(tmp_path: Path) -> None:
    lines = [
        export({**span(0), "traceId": "http"}),
        export(chat(1, [said("user", "Q")], [said("assistant", "A")])),
        export({**chat(2, [said("user", "other")], []), "traceId": "u"}),
        export(chat(3, [said("user", "Q"), said("assistant", "A"), said("user", "Q2")], [])),
    ]
    path = tmp_path / "batches.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    cases = {case.case_id: items_of(case) for case in read_cases([path])}

    assert {"t": ["user: Q", "assistant: A", "user: Q2"], "u": ["user: other"]} == cases


def test_a_batch_that_cannot_be_read_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    path.write_text("\n".join(map(json.dumps, [otel(), {"resourceSpans": 5}])), encoding="utf-8")

    with pytest.raises(CaseFileError, match=r"batches.jsonl:2: resourceSpans: must be a list"):
        list(read_cases([path]))


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "OK"},
        {"status": {"code": [2]}},
        {"events": ["x"]},
        {"events": [{"name": "gen_ai.choice", "attributes": "x"}]},
        {"attributes": [{"key": "gen_ai.x", "value": {"arrayValue": [1]}}]},
        {"attributes": [{"key": "gen_ai.x", "value": {"kvlistValue": {"values": [1]}}}]},
        {"attributes": [{"key": "gen_ai.x", "value": {"intValue": "--5"}}]},
        {"startTimeUnixNano": "9" * 5000},
        {"parentSpanId": "s1"},
    ],
)
def test_odd_values_of_a_span_are_read_or_refused_in_one_line(changed: dict[str, Any]) -> None:
    assert is_read_or_refused(export(chat(1, [said("user", "Q")], []), {**chat(2, [], [], of=1), **changed}))


@pytest.mark.parametrize(
    "message",
    [
        said("assistant", "A", finish_reason=["stop"]),
        said("assistant", {"type": ["x"]}),
        {"role": ["user"], "parts": [{"content": ["x"]}]},
        {"role": "user", "parts": "x"},
    ],
)
def test_odd_values_of_a_message_are_read_or_refused_in_one_line(message: dict[str, Any]) -> None:
    assert is_read_or_refused(export(chat(1, [said("user", "Q")], [message])))


def test_an_odd_resource_is_read_or_refused_in_one_line() -> None:
    assert is_read_or_refused({"resourceSpans": [{**otel()["resourceSpans"][0], "resource": "x"}]})


def test_any_value_may_be_anything() -> None:
    random = Random(20261120)
    document = otel()
    for listed in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for attribute in listed["attributes"]:
            text = attribute["value"]["stringValue"]
            attribute["value"] = as_any_value(json.loads(text)) if text[:1] in {"[", "{"} else {"stringValue": text}
    places = list(paths(document))

    refused = 0
    for _ in range(400):
        changed = copy.deepcopy(document)
        *above, last = random.choice(places)
        table = changed
        for key in above:
            table = table[key]
        table[last] = random.choice([None, [], ["x"], [["x"]], "x", "", "[1]", 2, -1, True, {}, {"x": ["y"]}])
        outcome = is_read_or_refused(changed)
        assert outcome
        refused += outcome == "refused"

    assert 0 < refused < 400


def is_read_or_refused(document: dict[str, Any]) -> str:
    """What became of it; any other exception passes through."""
    try:
        for row in gathered_data(Traces(), [document]):
            read_case(row, default_id="first", form=OTEL)
    except CaseFileError as error:
        return "refused" if "\n" not in str(error) else ""
    return "read"


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The place of every value below this one."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (key,)
        if isinstance(inner, dict | list):
            yield from ((key, *path) for path in paths(inner))
