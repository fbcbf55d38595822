"""promptfoo: what providers return beside the output, and its tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.test_exports import of
from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_cases.options import CaseOptions
from jury_cases.rows import RowReading, read_case
from jury_events.case import Case


def result(**response: Any) -> Case:
    row = {"testIdx": 1, "vars": {}, "prompt": {"raw": "Pay."}, "response": {"output": "Paid.", **response}}
    return read_case(row, RowReading(format="promptfoo"), default_id="first")


def used(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"id-{name}", "name": name, "input": {"of": name}, "output": f"{name} done", **fields}


def test_the_calls_of_a_sub_agent_stand_between_its_call_and_its_result() -> None:
    calls = [used("Task"), used("read", parentToolUseId="id-Task"), used("write", parentToolUseId=None)]

    case = result(metadata={"toolCalls": calls})

    assert [
        ("tool_call", 'Task {"of": "Task"}'),
        ("tool_call", 'read {"of": "read"}'),
        ("tool_result", "read done"),
        ("tool_result", "Task done"),
        ("tool_call", 'write {"of": "write"}'),
        ("tool_result", "write done"),
        ("assistant", "Paid."),
    ] == of(case)[1:]
    assert () == case.omissions(images_seen=True)


def test_calls_whose_parents_form_a_cycle_are_all_shown() -> None:
    calls = [used("a", parentToolUseId="id-b"), used("b", parentToolUseId="id-a"), used("c", parentToolUseId="id-c")]

    case = result(metadata={"toolCalls": calls})

    assert {"a done", "b done", "c done"} <= {text for kind, text in of(case) if kind == "tool_result"}
    assert 8 == len(of(case))


def test_a_call_that_never_returned_has_no_result() -> None:
    (call, answer) = of(result(metadata={"toolCalls": [{"id": "a", "type": "web_search", "status": "failed"}]}))[1:]

    assert (("tool_call", "web_search "), ("assistant", "Paid.")) == (call, answer)


@pytest.mark.parametrize("calls", ["x", [1], {"a": 1}, [["a"]]])
def test_tool_calls_of_another_form_are_reported(calls: Any) -> None:
    assert ("not_shown", "field toolCalls") in of(result(metadata={"toolCalls": calls}))


def test_what_tools_of_a_protocol_returned_is_not_the_models_text() -> None:
    calls = [used("look"), used("pay", is_error=True)]
    output = "MCP Tool Result (look): look done\nMCP Tool Error (pay): pay done"

    assert [] == [one for one in of(result(output=output, metadata={"toolCalls": calls})) if one[0] == "assistant"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reasoning": "Why."}, [("reasoning", "Why."), ("assistant", "Paid.")]),
        ({"reasoning": [{"type": "x", "thought": "Why."}]}, [("reasoning", "Why."), ("assistant", "Paid.")]),
        ({"reasoning": [{"type": "x", "y": 1}]}, [("not_shown", "reasoning"), ("assistant", "Paid.")]),
        ({"isRefusal": True}, [("refusal", "Paid.")]),
        ({"isRefusal": True, "output": {"a": 1}}, [("assistant", '{"a": 1}')]),
        ({"finishReason": "length"}, [("assistant", "Paid."), ("event", "end of the answer: length")]),
        (
            {"output": "Content filtered by provider", "isRefusal": True, "finishReason": "content_filter"},
            [("event", "end of the answer: content_filter")],
        ),
        ({"guardrails": {"flagged": True}}, [("assistant", "Paid.")]),
        (
            {"guardrails": {"flagged": True, "flaggedInput": True, "reason": "a number"}},
            [("assistant", "Paid."), ("event", "flagged by a guardrail: input: a number")],
        ),
        ({"raw": json.dumps({"id": "r", "content": [{"type": "text", "text": "Paid."}]})}, [("assistant", "Paid.")]),
        ({"raw": {"more": "Unsaid."}}, [("assistant", "Paid."), ("not_shown", "raw response of the provider")]),
        ({"raw": "Unsaid."}, [("assistant", "Paid."), ("not_shown", "raw response of the provider")]),
        ({"audio": {"data": "AAAA"}}, [("assistant", "Paid."), ("not_shown", "audio")]),
        ({"output": "AAAA", "isBase64": True}, [("not_shown", "output in base64")]),
        ({"metadata": {"note": "x" * 301}}, [("assistant", "Paid."), ("not_shown", "field note")]),
        (
            {"conversationEnded": True, "conversationEndReason": "closed"},
            [("assistant", "Paid."), ("event", "end of the conversation: closed")],
        ),
        (
            {"metadata": {"permissionDenials": [{"tool_use_id": "a"}]}},
            [("assistant", "Paid."), ("not_shown", "call that was not permitted")],
        ),
    ],
)
def test_what_a_provider_returns_beside_the_output(fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert expected == of(result(**fields))[1:]


def test_short_values_of_a_providers_metadata_are_metadata() -> None:
    case = result(metadata={"numTurns": 3, "http": {"status": 200}}, sessionId="s", guardrails={"flagged": True})

    assert {"response.numTurns": 3, "session_id": "s", "flagged": True} == case.metadata


def table(folder: Path, text: str) -> list[Case]:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return list(CaseFiles([path]))


GROUP = "Status,Score,Named Scores,Grader Reason,Comment"


def test_each_output_of_a_table_is_a_case(tmp_path: Path) -> None:
    text = f"word,[a] Say {{{{word}}}}.,{GROUP},[a] Say {{{{word}}}}.,{GROUP}\nX,1,PASS,1.00,,,,2,FAIL,0.00,,Bad.,\n"

    first, second = table(tmp_path, text)

    assert [("user", "Say X."), ("assistant", "1")] == of(first)
    assert [("user", "Say X."), ("assistant", "2")] == of(second)
    assert ("table-1-prompt-1", "row-1", "Bad.") == (second.case_id, second.cluster, second.metadata["reason"])


@pytest.mark.parametrize(
    ("header", "cells", "asked"),
    [
        ("word,[a] v1", "X", "X"),
        ("word,name,[a] v1", "X,Y", "word: X\nname: Y"),
        ("word,[a] {% if word %}{{word}}{% endif %}", "X", "X"),
        ("word,[a] {{other}}", "X", "X"),
        ("[a] Hello.", None, "Hello."),
        ("word,[a] {{word}}", "'=X", "=X"),
        ("word,[a] {{word}}", "'-5", "'-5"),
        ("word,[a] {{word}}", "'quoted'", "'quoted'"),
    ],
)
def test_the_request_of_a_table_is_the_template_or_the_variables(
    header: str, cells: str | None, asked: str, tmp_path: Path
) -> None:
    before = "" if cells is None else f"{cells},"

    (case,) = table(tmp_path, f"{header},{GROUP}\n{before}done,PASS,1.00,,,\n")

    assert asked == case.scenarios[0].question.prompt


def test_an_error_of_a_table_is_the_runs(tmp_path: Path) -> None:
    (case,) = table(tmp_path, f"word,[a] {{{{word}}}},{GROUP}\nX,,ERROR,0.00,,,\n")

    assert "the run failed; the table does not say why" == case.scenarios[0].execution.error


def test_names_are_repeated_in_tables_of_promptfoo_alone(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match="two columns are named 'Status'"):
        table(tmp_path, "question,response,Status,Status\na,b,c,d\n")


ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Why."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paid."}]},
    {"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}"},
]


def test_the_items_of_a_response_are_read_in_place_of_its_text() -> None:
    raw = {"id": "r", "object": "response", "output": ITEMS, "incomplete_details": {"reason": "max_output_tokens"}}

    case = result(raw=raw, output='Reasoning: Why.\nPaid.\n{"type": "function_call"}')

    assert [
        ("reasoning", "Why."),
        ("assistant", "Paid."),
        ("tool_call", "pay {}"),
        ("event", "end of the answer: max_output_tokens"),
    ] == of(case)[1:]


def test_an_output_that_was_transformed_is_shown_as_it_is() -> None:
    case = result(raw={"object": "response", "output": ITEMS}, output="PAID")

    assert [("assistant", "PAID"), ("not_shown", "raw response of the provider")] == of(case)[1:]


CALL = '{"type":"tool_use","id":"c","name":"pay","input":{"a":1}}'


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            f"Thinking: One.\n\nTwo.\nSignature: c2ln\n\nPaid.\n\nAll.\n\n{CALL}",
            [("reasoning", "One.\n\nTwo."), ("assistant", "Paid.\n\nAll."), ("tool_call", 'pay {"a": 1}')],
        ),
        (
            "Redacted Thinking: AAAA\n\nPaid.",
            [("not_shown", "reasoning that the provider encrypted"), ("assistant", "Paid.")],
        ),
        ("Thinking: is hard.\n\nPaid.", [("assistant", "Thinking: is hard.\n\nPaid.")]),
        ('Paid.\n\n{"a": 1}', [("assistant", 'Paid.\n\n{"a": 1}')]),
    ],
)
def test_the_blocks_of_anthropics_output_are_read(output: str, expected: list[tuple[str, str]]) -> None:
    row = {"testIdx": 1, "vars": {}, "prompt": {"raw": "Pay."}, "response": {"output": output}}
    provider = {"provider": {"id": "anthropic:messages:claude"}}

    case = read_case({**row, **provider}, RowReading(format="promptfoo"), default_id="first")

    assert expected == of(case)[1:]
    assert [("assistant", output)] == of(result(output=output))[1:]


@pytest.mark.parametrize("form", ["promptfoo-table", "langfuse-observations"])
@pytest.mark.parametrize("line", ["[1]", '{"Named Scores": 1}', "[[]]", '{"traceId": []}'])
def test_a_row_of_another_form_is_read_or_refused_in_one_line(form: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(CaseFileError, match=r"^\S*rows\.jsonl:1: [^\n]+$"):
        list(CaseFiles([path], CaseOptions(format=form)))
