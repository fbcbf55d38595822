"""Cases are read from every supported format; errors name the place and the remedy."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_cases import CaseFileError, CaseOptions, read_cases
from jury_cases.containers import json_rows
from jury_events import Case, Message, Reasoning, ToolCall, ToolResult, Verdict


def row(**changes: Any) -> dict[str, Any]:
    return {"case_id": "c1", "question": "What is 2 + 2?", "response": "4", **changes}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in rows)


def read(content: bytes, fields: dict[str, str] | None = None, limit: int | None = None) -> list[Case]:
    return list(read_cases(["-"], CaseOptions(fields=fields or {}, limit=limit), stdin=BytesIO(content)))


def refusal(content: bytes, fields: dict[str, str] | None = None) -> str:
    with pytest.raises(CaseFileError) as caught:
        read(content, fields)
    return str(caught.value)


ONE, TWO = row(case_id="a"), row(case_id="b")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(jsonl(ONE, TWO), id="JSONL"),
        pytest.param(jsonl(ONE, TWO).removesuffix(b"\n"), id="JSONL without a last line break"),
        pytest.param(b"\n  \n" + jsonl(ONE) + b"\n\n" + jsonl(TWO), id="JSONL with blank lines"),
        pytest.param(jsonl(ONE, TWO).replace(b"\n", b"\r\n"), id="JSONL with CR LF"),
        pytest.param(b"\xef\xbb\xbf" + jsonl(ONE, TWO), id="JSONL after a byte order mark"),
        pytest.param(json.dumps([ONE, TWO]).encode(), id="a list on one line"),
        pytest.param(json.dumps([ONE, TWO], indent=2).encode(), id="a list over many lines"),
        pytest.param(json.dumps(ONE, indent=2).encode() + b"\n" + json.dumps(TWO, indent=2).encode(), id="objects"),
    ],
)
def test_the_content_decides_how_a_file_is_read(content):
    ids = [case.case_id for case in read(content)]

    assert ids == ["a", "b"]


def test_one_object_is_one_case():
    cases = read(json.dumps(row(), indent=4).encode())

    assert [case.case_id for case in cases] == ["c1"]


def test_files_follow_each_other(tmp_path):
    (tmp_path / "one.txt").write_bytes(jsonl(ONE))
    (tmp_path / "two.json").write_bytes(json.dumps([TWO]).encode())

    cases = read_cases([tmp_path / "one.txt", str(tmp_path / "two.json")])

    assert [case.case_id for case in cases] == ["a", "b"]


def test_cases_are_streamed_so_a_late_fault_costs_no_earlier_case():
    cases = read_cases(["-"], stdin=BytesIO(jsonl(ONE, TWO) + b"oops\n"))

    assert [next(cases).case_id, next(cases).case_id] == ["a", "b"]
    with pytest.raises(CaseFileError, match="stdin:3: not JSON"):
        next(cases)


def test_a_limit_stops_before_the_next_line_is_read():
    cases = read(jsonl(ONE) + b"oops\n", limit=1)

    assert [case.case_id for case in cases] == ["a"]


def test_a_limit_of_zero_reads_nothing():
    assert read(b"oops", limit=0) == []


@pytest.mark.parametrize(
    ("content", "place", "says"),
    [
        pytest.param(b"", "stdin:", "empty", id="empty"),
        pytest.param(b"\xef\xbb\xbf\n \n", "stdin:", "empty", id="blank"),
        pytest.param(b"[]", "stdin:", "empty", id="empty list"),
        pytest.param(b'{"question": "q" "response": "r"}\n', "stdin:1:", "not JSON", id="malformed"),
        pytest.param(jsonl(ONE) + b'{"case_id": "b", "quest', "stdin:2:", "cut off", id="truncated last line"),
        pytest.param(b'{"case_id": "b", "quest', "stdin:1:", "cut off", id="truncated only line"),
        pytest.param(jsonl(ONE) + b'{"q": "a\nb"}\n', "stdin:2:", "on one line", id="line break in a string"),
        pytest.param(b'[{"question": "q",\n"response": "r"}', "stdin:2:", "cut off", id="truncated list"),
        pytest.param(b'[{"question": "q",\n"response":', "stdin:2:", "cut off", id="truncated object in a list"),
        pytest.param(b'[{"question": "q", "response": "r"}\n{}]', "stdin:2:", "comma", id="missing comma"),
        pytest.param(jsonl(ONE) + '{"question": "é"}'.encode("latin-1"), "stdin:2:", "UTF-8", id="Latin-1"),
        pytest.param(b'[{"question": "q",\n"response": "\xe9"}]', "stdin:2:", "UTF-8", id="Latin-1 in a document"),
        pytest.param('{"question": "q"}'.encode("utf-16"), "stdin:", "UTF-16", id="UTF-16"),
        pytest.param(b"\x1f\x8b\x08\x00", "stdin:", "decompress", id="gzip"),
        pytest.param(b"PAR1\x15\x04", "stdin:", "Parquet", id="Parquet"),
        pytest.param(b"case_id,question\n1,2\n", "stdin:2:", "response: missing", id="CSV without a response"),
        pytest.param(b'"text"\n', "stdin:1:", "must be a JSON object, not text", id="text"),
        pytest.param(jsonl(ONE) + b"[1]\n", "stdin:2:", "must be a JSON object, not a list", id="list on a line"),
        pytest.param(b"[1]", "stdin:1:", "must be a JSON object, not a number", id="number in a list"),
        pytest.param(b'{"a": 1, "a": 2}\n', "stdin:1:", "the key 'a' is twice", id="duplicate key"),
        pytest.param(b'{"a": NaN}\n', "stdin:1:", "NaN is not JSON", id="NaN"),
        pytest.param(b'{"a": -Infinity}\n', "stdin:1:", "-Infinity is not JSON", id="infinity"),
        pytest.param(b'{"a": 1e400}\n', "stdin:1:", "too large", id="huge float"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}\n", "stdin:1:", "a number of 5000 characters", id="huge integer"),
        pytest.param(b'{"a": "\\ud800"}\n', "stdin:1:", "half a character", id="lone surrogate"),
        pytest.param(b'{"\\uDC00": 1}\n', "stdin:1:", "half a character", id="lone surrogate in a key"),
        pytest.param(b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n", "stdin:1:", "too deeply", id="deep"),
        pytest.param(jsonl(ONE) + b"{} {}\n", "stdin:2:", "more text after", id="two objects on a line"),
    ],
)
def test_a_bad_file_is_named_with_place_and_remedy(content, place, says):
    message = refusal(content)

    assert message.startswith(place)
    assert says in message
    assert "\n" not in message


def test_a_line_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_LINE", 1 << 20)

    message = refusal(jsonl(ONE, row(case_id="b", response="x" * (1 << 20))))

    assert message == "stdin:2: the line is longer than 1 MiB; split the row"


def test_a_document_that_is_too_long_is_reported_to_become_jsonl(monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_DOCUMENT", 1 << 20)

    message = refusal(json.dumps(row(response="x" * (1 << 20)), indent=1).encode())

    assert "JSONL" in message


def test_a_list_has_no_limit_but_each_of_its_elements_has(monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(json_rows, "MAX_DOCUMENT", 1 << 20)
    short = [row(case_id=str(number), response="x" * (1 << 18)) for number in range(9)]

    assert len(read(json.dumps(short, indent=1).encode())) == 9
    message = refusal(json.dumps([*short, row(response="x" * (1 << 20))], indent=1).encode())
    assert message == "stdin:47: an element of the list is longer than 1 MiB; split the row"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.mkdir(), "this is a directory"),
    ],
)
def test_a_path_that_is_no_file_is_named(tmp_path, make, says):
    path = tmp_path / "cases.jsonl"
    make(path)

    with pytest.raises(CaseFileError) as caught:
        list(read_cases([path]))

    assert str(caught.value).startswith(f"{path}: {says}")


def test_a_path_with_a_nul_is_refused():
    with pytest.raises(CaseFileError, match="not a path"):
        list(read_cases(["a\0b"]))


def test_a_case_id_on_two_lines_names_both():
    message = refusal(jsonl(ONE) + b"\n" + jsonl(ONE))

    assert message == "stdin:3: case id 'a' is on lines 1 and 3; give each case a different id"


def test_a_case_id_in_two_files_names_both(tmp_path):
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_bytes(jsonl(ONE))
    second.write_bytes(jsonl(TWO, ONE))

    with pytest.raises(CaseFileError) as caught:
        list(read_cases([first, second]))

    assert str(caught.value) == f"{second}:2: case id 'a' is also at {first}:1; give each case a different id"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"case_id": "a\nb"}, "case_id: character U+000A"),
        ({"case_id": ""}, "case_id: String should have at least 1 character"),
        ({"case_id": 1.5}, "case_id: must be text or a whole number, not a number"),
        ({"question": None}, "question: missing; write question"),
        ({"question": 5}, "question: must be text or an object with a prompt, not a number"),
        ({"question": {"prompt": "q", "polcy": "p"}}, "question.polcy: Extra inputs are not permitted"),
        ({"question": {"policy": "p"}}, "question.prompt: Field required"),
        ({"policy": ["a", {"type": "text", "text": 3}]}, "policy.content.1.text: must be text, not a number"),
        ({"response": {"a": 1}}, "response: must be text, not an object"),
        ({"execution": {"answer": "4"}}, "execution.answer: unknown"),
        ({"execution": 4}, "execution: must be text or an object"),
        ({"messages": "hi"}, "messages: must be a list of messages, not text"),
        ({"messages": ["hi"]}, "messages.0: must be a message object with role and content, not text"),
        ({"messages": [{"content": "hi"}]}, "messages.0.role: must be text"),
        ({"messages": [{"role": "user", "tool_calls": {}}]}, "messages.0.tool_calls: must be a list"),
        ({"messages": [{"role": "user", "tool_calls": [{"id": "c"}]}]}, "messages.0.tool_calls.0: must be a tool call"),
        ({"scenarios": {}}, "scenarios: must be a list of objects"),
        ({"scenarios": [{"question": "q", "response": "r"}]}, "question: the row has scenarios"),
        ({"security_gate_records": {}}, "security_gate_records: must be a list of objects, not an object"),
        ({"agent_card_records": [1]}, "agent_card_records.0: must be an object, not a number"),
        (
            {"agent_card_records": [{"verdict": "pass"}, {"id": 2, "prompt": "q"}]},
            "agent_card_records.1: no verdict; write",
        ),
        ({"agent_card_records": [{"verdict": "x" * 101}]}, "agent_card_records.0.verdict: String should have"),
        ({"agent_card_records": [], "agent_card_uri": "x"}, "agent_card_uri: the row has agent_card_records too"),
        ({"security_gate_uri": 1}, "security_gate_uri: must be text, not a number"),
    ],
)
def test_a_bad_field_is_named(changes, says):
    message = refusal(jsonl(row(case_id="first"), row(**changes)))

    assert message.startswith(f"stdin:2: {says}")
    assert "\n" not in message


def test_a_row_without_an_answer_is_reported_with_the_option_to_name_its_column():
    message = refusal(jsonl({"item_id": "x", "question": "q", "completion": "r"}))

    assert message == (
        "stdin:1: response: missing; write response or messages, or name the column with --field response=COLUMN; "
        "the row has item_id, question, completion"
    )


def test_a_row_with_messages_in_another_column_is_reported_with_the_option_that_reads_them():
    said = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Fixed.", "agent": "main"}]
    sent = jsonl({"environment": "main", "history": said})

    assert (
        refusal(sent) == "stdin:1: response: missing; history is a list of messages: --field messages=history reads it"
    )
    assert "Fixed." == read(sent, fields={"messages": "history"})[0].scenarios[0].execution.response


def test_a_fault_in_a_scenario_names_the_scenario():
    scenarios = [{"question": "q", "response": "r"}, {"question": "q"}]

    message = refusal(jsonl({"case_id": "c", "scenarios": scenarios}))

    assert message.startswith("stdin:1: scenarios.1.response: missing")


def test_a_native_case_is_read_whole():
    (case,) = read(
        jsonl(
            row(
                question={"prompt": "q", "policy": "p", "expected_behavior": "e"},
                execution={"response": "r", "messages": [{"role": "user", "content": "q"}], "error": "late"},
                response=None,
                security_gate_records=[{"verdict": "Blocked", "id": 1}],
                agent_card_records=[{"id": 2, "evaluation": {"verdict": "pass"}}],
                label="reject",
            )
        )
    )

    (scenario,) = case.scenarios
    assert tuple(scenario.question.model_dump().values()) == ("q", "p", "e")
    assert (
        scenario.execution.response,
        scenario.execution.error,
        len(scenario.execution.transcript),
    ) == ("r", "late", 1)
    assert [record.verdict for record in case.security_gate_records] == ["blocked"]
    assert [record.verdict for record in case.agent_card_records] == ["pass"]
    assert Verdict.UNSAFE_FAIL is case.label


def test_scenarios_keep_their_ids_or_are_counted():
    scenarios = [{"scenario_id": "x", "question": "q", "response": "r"}, {"question": "q", "response": "r"}]

    (case,) = read(jsonl({"case_id": "c", "scenarios": scenarios}))

    assert case.scenario_ids == ("x", "scenario-2")


TRANSCRIPT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Pay"}, {"type": "image_url", "image_url": {}}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "pay", "arguments": '{"a": 1}'}}]},
    {"role": "tool", "tool": "pay", "content": {"ok": True}},
    {
        "role": "assistant",
        "content": "Paid.",
        "thought": "Done",
        "tool_calls": [{"name": "log", "arguments": {"n": 2}}],
    },
    {"role": "assistant", "content": None, "tool_calls": [{"function": "end", "args": {}}]},
]


def test_a_transcript_gives_question_policy_and_response():
    (case,) = read(jsonl({"id": 7, "messages": TRANSCRIPT}))

    (scenario,) = case.scenarios
    assert case.case_id == "7"
    assert scenario.question.prompt == "Pay"
    assert scenario.question.policy == "Be kind."
    assert scenario.execution.response == "Paid."
    assert [item.kind for item in scenario.execution.transcript.items] == [
        "user",
        "not_shown",
        "tool_call",
        "tool_result",
        "reasoning",
        "assistant",
        "tool_call",
        "tool_call",
    ]


def test_tool_calls_are_read_in_every_format():
    (case,) = read(jsonl({"messages": TRANSCRIPT}))

    items = case.scenarios[0].execution.transcript.items
    calls = [(item.name, item.arguments) for item in items if isinstance(item, ToolCall)]
    assert calls == [("pay", '{"a": 1}'), ("log", '{"n": 2}'), ("end", "{}")]
    assert [("pay", '{"ok": true}')] == [(item.name, item.text) for item in items if isinstance(item, ToolResult)]
    assert ["Done"] == [item.text for item in items if isinstance(item, Reasoning)]


def test_anthropic_blocks_become_calls_and_results():
    messages = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "get", "input": {"c": "東京"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "Rain"}]}],
        },
    ]

    (case,) = read(jsonl({"messages": messages}))

    assert (
        Message(kind="user", origin="user", text="Weather?"),
        ToolCall(call_id="t", name="get", arguments='{"c": "東京"}'),
        ToolResult(call_id="t", text="Rain"),
    ) == case.scenarios[0].execution.transcript.items


def test_blocks_of_question_and_response_join_the_transcript_in_their_order():
    question = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://x.example"}},
    ]
    response = [{"type": "text", "text": "A cat."}, {"type": "refusal", "refusal": "No more."}]

    (case,) = read(jsonl({"question": question, "response": response}))

    (scenario,) = case.scenarios
    kinds = [item.kind for item in scenario.execution.transcript.items]
    assert ["user", "not_shown", "assistant", "refusal"] == kinds
    assert ("What is this?", "A cat.\nNo more.") == (scenario.question.prompt, scenario.execution.response)


def test_a_profile_is_the_policy_and_leaves_the_system_message_in_place():
    (case,) = read(jsonl({"profile": "You are a bank agent.", "messages": TRANSCRIPT}))

    assert case.scenarios[0].question.policy == "You are a bank agent."
    assert case.scenarios[0].execution.transcript.items[0].kind == "system"


def test_no_other_column_enters_the_case():
    truth = {
        "human_label": "TRUTH",
        "human_risk_description": "TRUTH",
        "attack_succeeded": "TRUTH",
        "category": "TRUTH",
        "suggested_verdict": "TRUTH",
        "upstream_id": "TRUTH",
        "scenario": "TRUTH",
    }

    (case,) = read(jsonl({**truth, "messages": [{"role": "user", "content": "q", "human_label": "TRUTH"}]}))

    assert "TRUTH" not in case.model_dump_json()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"label": "safe"}, Verdict.SAFE_PASS),
        ({"expected_verdict": "manual"}, Verdict.NEEDS_REVIEW),
        ({"label": "fail, sort of", "expected_verdict": "reject"}, Verdict.UNSAFE_FAIL),
        ({"label": None}, None),
        ({"label": " "}, None),
    ],
)
def test_a_detected_label_is_a_verdict_or_none(columns, expected):
    (case,) = read(jsonl(row(**columns)))

    assert expected == case.label


def test_an_explicit_label_must_be_a_verdict():
    message = refusal(jsonl(row(judges={"gpt": "meh"})), {"label": "judges.gpt"})

    assert message.startswith("stdin:1: label: 'meh' is not understood; say what it means with --map label:meh=")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("case_id", "x"), ("item_id", "x"), ("id", "x"), ("debate_id", "x"), ("upstream_id", "stdin-1")],
)
def test_an_id_is_found_or_made_of_the_file_and_the_line(name, expected):
    (case,) = read(jsonl({name: "x", "question": "q", "response": "r"}))

    assert expected == case.case_id


def test_cases_of_a_list_without_ids_are_counted(tmp_path: Path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"question": "q", "response": "r"}] * 2))

    cases = read_cases([path])

    assert [case.case_id for case in cases] == ["mine-1", "mine-2"]


def test_fields_name_columns_by_path():
    data = {"nr": 5, "task": {"text": "q"}, "runs": [{"answer": "r"}], "a.b": "e", "gold": "unsafe"}
    fields = {
        "case_id": "nr",
        "question": "task.text",
        "response": "runs.0.answer",
        "expected_behavior": "a.b",
        "label": "gold",
    }

    (case,) = read(jsonl(data), fields)

    (scenario,) = case.scenarios
    assert (case.case_id, scenario.question.prompt, scenario.execution.response) == ("5", "q", "r")
    assert (scenario.question.expected_behavior, case.label) == ("e", Verdict.UNSAFE_FAIL)


@pytest.mark.parametrize(
    ("source", "there"),
    [
        ("completion", "its columns are question, task, runs"),
        ("task.answer", "'task' contains result"),
        ("runs.3", "'runs' contains a list of 0"),
        ("runs.-1", "'runs' contains a list of 0"),
        ("question.x", "'question' contains no columns"),
    ],
)
def test_a_named_column_that_is_missing_is_an_error_that_lists_the_existing_ones(source, there):
    message = refusal(jsonl({"question": "q", "task": {"result": 1}, "runs": []}), {"response": source})

    assert message == f"stdin:1: response: the row has no '{source}'; {there}"


def test_a_column_name_with_a_dot_is_found_in_a_path():
    (case,) = read(
        jsonl({"question": "q", "judges": {"model-4.5": {"raw": "yes"}}}), {"response": "judges.model-4.5.raw"}
    )

    assert case.scenarios[0].execution.response == "yes"


def test_an_unknown_target_is_refused_before_any_file_is_opened():
    with pytest.raises(CaseFileError, match="no such part"):
        read_cases(["nowhere.jsonl"], CaseOptions(fields={"answer": "x"}))


def test_records_are_read_from_beside_the_case_file(tmp_path):
    (tmp_path / "gate.jsonl").write_bytes(b'{"verdict": "fail"}\n{"verdict": "pass"}\n')
    (tmp_path / "cases.jsonl").write_bytes(jsonl(row(security_gate_uri="gate.jsonl")))

    (case,) = read_cases([tmp_path / "cases.jsonl"])

    assert [record.verdict for record in case.security_gate_records] == ["fail", "pass"]


def test_a_fault_behind_a_uri_names_both_files(tmp_path):
    (tmp_path / "gate.jsonl").write_bytes(b'{"verdict": "fail"}\noops\n')
    (tmp_path / "cases.jsonl").write_bytes(jsonl(row(security_gate_uri="gate.jsonl")))

    with pytest.raises(CaseFileError, match=r"cases\.jsonl:1: gate\.jsonl:2: not JSON"):
        list(read_cases([tmp_path / "cases.jsonl"]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OF_CASES = ("case_id", "id", "question", "response", "messages", "execution", "scenarios", "label", "policy", "prompt")
OF_MESSAGES = ("role", "content", "tool_calls", "function", "name", "arguments", "security_gate_records")
COLUMNS = st.sampled_from((*OF_CASES, *OF_MESSAGES))
NEAR_CASES = st.recursive(
    JSON, lambda inner: st.dictionaries(COLUMNS, inner, max_size=5) | st.lists(inner, max_size=3), max_leaves=12
)
ROWS = st.lists(NEAR_CASES.map(lambda value: json.dumps(value).encode()), max_size=4)
CUT = st.builds(lambda rows, cut: b"\n".join(rows)[:cut], ROWS, st.integers(0, 60))
FILES = st.binary(max_size=200) | ROWS.map(b"\n".join) | CUT


@given(FILES)
def test_any_bytes_are_cases_or_a_case_file_error_on_one_line(content):
    try:
        result = [case.case_id for case in read(content)]
    except CaseFileError as error:
        result = [str(error)]

    assert result
    assert not any("\n" in line for line in result)
