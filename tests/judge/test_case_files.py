"""Cases are read from every supported format; errors name the place and the remedy."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_cases import CaseFileError, CaseOptions, read_cases
from jury_cases.containers import json_rows
from jury_events import Case, Verdict
from support.printed_cases import printed_case


def row(**changes: Any) -> dict[str, Any]:
    return {"case_id": "c1", "question": "What is 2 + 2?", "response": "4", **changes}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in rows)


def read(content: bytes, fields: dict[str, str] | None = None, limit: int | None = None) -> list[Case]:
    return list(read_cases(["-"], CaseOptions(fields=fields or {}, limit=limit), stdin=BytesIO(content)))


def one(*rows: dict[str, Any], fields: dict[str, str] | None = None) -> Case:
    (case,) = read(jsonl(*rows), fields)
    return case


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
    assert ["a", "b"] == [case.case_id for case in read(content)]


def test_files_follow_each_other(tmp_path):
    (tmp_path / "one.txt").write_bytes(jsonl(ONE))
    (tmp_path / "two.json").write_bytes(json.dumps(TWO, indent=4).encode())

    cases = read_cases([tmp_path / "one.txt", str(tmp_path / "two.json")])

    assert ["a", "b"] == [case.case_id for case in cases]


def test_cases_are_streamed_so_a_late_fault_costs_no_earlier_case():
    cases = read_cases(["-"], stdin=BytesIO(jsonl(ONE, TWO) + b"oops\n"))

    assert ["a", "b"] == [next(cases).case_id, next(cases).case_id]
    with pytest.raises(CaseFileError, match="stdin:3: not JSON"):
        next(cases)


def test_a_limit_stops_before_the_next_line_is_read():
    assert ["a"] == [case.case_id for case in read(jsonl(ONE) + b"oops\n", limit=1)]
    assert [] == read(b"oops", limit=0)


FILES = {
    "empty": b"",
    "blank": b"\xef\xbb\xbf\n \n",
    "empty list": b"[]",
    "malformed": b'{"question": "q" "response": "r"}\n',
    "truncated last line": jsonl(ONE) + b'{"case_id": "b", "quest',
    "truncated only line": b'{"case_id": "b", "quest',
    "line break in a string": jsonl(ONE) + b'{"q": "a\nb"}\n',
    "truncated list": b'[{"question": "q",\n"response": "r"}',
    "truncated object in a list": b'[{"question": "q",\n"response":',
    "missing comma": b'[{"question": "q", "response": "r"}\n{}]',
    "Latin-1": jsonl(ONE) + '{"question": "é"}'.encode("latin-1"),
    "Latin-1 in a document": b'[{"question": "q",\n"response": "\xe9"}]',
    "UTF-16": '{"question": "q"}'.encode("utf-16"),
    "gzip": b"\x1f\x8b\x08\x00",
    "Parquet": b"PAR1\x15\x04",
    "CSV without a response": b"case_id,question\n1,2\n",
    "text": b'"text"\n',
    "list on a line": jsonl(ONE) + b"[1]\n",
    "number in a list": b"[1]",
    "duplicate key": b'{"a": 1, "a": 2}\n',
    "NaN": b'{"a": NaN}\n',
    "infinity": b'{"a": -Infinity}\n',
    "huge float": b'{"a": 1e400}\n',
    "huge integer": b'{"a": ' + b"9" * 5000 + b"}\n",
    "lone surrogate": b'{"a": "\\ud800"}\n',
    "lone surrogate in a key": b'{"\\uDC00": 1}\n',
    "deep": b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    "two objects on a line": jsonl(ONE) + b"{} {}\n",
    "case id on two lines": jsonl(ONE) + b"\n" + jsonl(ONE),
    "case id of two objects on one line": json.dumps([ONE, ONE]).encode(),
    "no answer": jsonl({"item_id": "x", "question": "q", "completion": "r"}),
    "messages in another column": jsonl({"history": [{"role": "user", "content": "Fix it."}]}),
    "fault in a scenario": jsonl({"case_id": "c", "scenarios": [{"question": "q", "response": "r"}, {}]}),
}


def test_a_bad_file_is_refused_with_place_and_remedy(refusals):
    refusals.check("case_files", FILES, read, CaseFileError)


FIELDS: dict[str, dict[str, Any]] = {
    "control character in an id": {"case_id": "a\nb"},
    "empty id": {"case_id": ""},
    "broken number as an id": {"case_id": 1.5},
    "no question": {"question": None},
    "number as a question": {"question": 5},
    "unknown field of a question": {"question": {"prompt": "q", "polcy": "p"}},
    "question without a prompt": {"question": {"policy": "p"}},
    "number as a text of the policy": {"policy": ["a", {"type": "text", "text": 3}]},
    "object as a response": {"response": {"a": 1}},
    "unknown field of an execution": {"execution": {"answer": "4"}},
    "number as an execution": {"execution": 4},
    "text as messages": {"messages": "hi"},
    "text as a message": {"messages": ["hi"]},
    "message without a role": {"messages": [{"content": "hi"}]},
    "object as tool calls": {"messages": [{"role": "user", "tool_calls": {}}]},
    "tool call without a name": {"messages": [{"role": "user", "tool_calls": [{"id": "c"}]}]},
    "object as scenarios": {"scenarios": {}},
    "scenarios beside a question": {"scenarios": [{"question": "q", "response": "r"}]},
    "object as records": {"security_gate_records": {}},
    "number as a record": {"agent_card_records": [1]},
    "record without a verdict": {"agent_card_records": [{"verdict": "pass"}, {"id": 2, "prompt": "q"}]},
    "long verdict of a record": {"agent_card_records": [{"verdict": "x" * 101}]},
    "records beside their address": {"agent_card_records": [], "agent_card_uri": "x"},
    "number as an address": {"security_gate_uri": 1},
}


def test_a_bad_field_is_refused_with_its_path(refusals):
    refusals.check(
        "case_fields", FIELDS, lambda changes: read(jsonl(row(case_id="first"), row(**changes))), CaseFileError
    )


COLUMNS = {
    "no such column": {"response": "completion"},
    "no such field of an object": {"response": "task.answer"},
    "no such element of a list": {"response": "runs.3"},
    "element before the first": {"response": "runs.-1"},
    "field of a text": {"response": "question.x"},
    "label that is no verdict": {"response": "question", "label": "judge"},
    "no such part of a case": {"answer": "question"},
}


def test_a_named_column_that_is_missing_is_refused_with_the_existing_ones(refusals):
    content = jsonl({"question": "q", "task": {"result": 1}, "runs": [], "judge": "meh"})

    refusals.check("case_columns", COLUMNS, lambda fields: read(content, fields), CaseFileError)
    with pytest.raises(CaseFileError, match="no such part"):  # before a file is opened
        read_cases(["nowhere.jsonl"], CaseOptions(fields={"answer": "x"}))


def test_what_is_too_long_is_refused_but_not_a_list_of_short_elements(refusals, monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(json_rows, "MAX_DOCUMENT", 1 << 20)
    long = row(case_id="long", response="x" * (1 << 20))
    short = [row(case_id=str(number), response="x" * (1 << 18)) for number in range(9)]
    rows = {
        "line": jsonl(ONE, long),
        "document": json.dumps(long, indent=1).encode(),
        "element of a list": json.dumps([*short, long], indent=1).encode(),
    }

    refusals.check("long_cases", rows, read, CaseFileError)
    assert 9 == len(read(json.dumps(short, indent=1).encode()))


def test_a_path_that_is_no_file_is_refused(refusals, tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "gate.jsonl").write_bytes(b'{"verdict": "fail"}\noops\n')
    files = {
        "1.jsonl": jsonl(ONE),
        "2.jsonl": jsonl(TWO, ONE),
        "records.jsonl": jsonl(row(security_gate_uri="gate.jsonl")),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    rows = {
        "no file": ["none.jsonl"],
        "folder without cases": ["folder.jsonl"],
        "NUL in the name": ["a\0b"],
        "file named twice": ["1.jsonl", "1.jsonl"],
        "case id in two files": ["1.jsonl", "2.jsonl"],
        "fault in the records of a case": ["records.jsonl"],
    }

    refusals.check(
        "case_paths", rows, lambda names: list(read_cases([tmp_path / name for name in names])), CaseFileError
    )


def test_a_native_case_is_read_whole():
    case = one(
        row(
            question={"prompt": "q", "policy": "p", "expected_behavior": "e"},
            execution={"response": "r", "messages": [{"role": "user", "content": "q"}], "error": "late"},
            response=None,
            security_gate_records=[{"verdict": "Blocked", "id": 1}],
            agent_card_records=[{"id": 2, "evaluation": {"verdict": "pass"}}],
            label="reject",
        )
    )

    (scenario,) = case.scenarios
    execution = scenario.execution
    assert ("q", "p", "e") == tuple(scenario.question.model_dump().values())
    assert ("r", "late", 1) == (execution.response, execution.error, len(execution.transcript))
    assert ["blocked"] == [record.verdict for record in case.security_gate_records]
    assert ["pass"] == [record.verdict for record in case.agent_card_records]
    assert Verdict.UNSAFE_FAIL is case.label


def test_scenarios_keep_their_ids_or_are_counted():
    scenarios = [{"scenario_id": "x", "question": "q", "response": "r"}, {"question": "q", "response": "r"}]

    assert ("x", "scenario-2") == one({"case_id": "c", "scenarios": scenarios}).scenario_ids


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
QUESTION = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "https://x.example"}}]
RESPONSE = [{"type": "text", "text": "A cat."}, {"type": "refusal", "refusal": "No more."}]
ROWS_WITH_MESSAGES: dict[str, dict[str, Any]] = {
    "tool calls in every format": {"messages": TRANSCRIPT},
    "a profile is the policy": {"messages": TRANSCRIPT, "profile": "You are a bank agent."},
    "blocks of question and response": {"question": QUESTION, "response": RESPONSE},
    "messages in a column that is named": {"environment": "main", "history": TRANSCRIPT[1:2]},
}


def test_messages_give_question_policy_response_and_items_in_their_order(printed):
    rows = ROWS_WITH_MESSAGES.items()
    found = {name: one(row, fields={"messages": "history"} if "history" in row else None) for name, row in rows}

    printed.compare("cases_of_messages", {name: printed_case(case) for name, case in found.items()})


def test_no_other_column_enters_the_case():
    columns = ("human_label", "human_risk_description", "attack_succeeded", "category", "upstream_id", "scenario")
    truth = dict.fromkeys((*columns, "suggested_verdict"), "TRUTH")

    case = one({**truth, "messages": [{"role": "user", "content": "q", "human_label": "TRUTH"}]})

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
    assert expected == one(row(**columns)).label


def test_an_id_is_found_or_made_of_the_file_and_the_line(tmp_path):
    rows = [{name: name, "question": "q", "response": "r"} for name in ("case_id", "item_id", "id", "debate_id")]
    rows += [{"upstream_id": "x", "question": "q", "response": "r"}] * 2
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(rows))

    assert ["case_id", "item_id", "id", "debate_id", "mine-5", "mine-6"] == [
        case.case_id for case in read_cases([path])
    ]


def test_fields_name_columns_by_path():
    data = {"nr": 5, "task": {"text": "q"}, "runs": [{"answer-4.5": {"raw": "r"}}], "a.b": "e", "gold": "unsafe"}
    fields = {
        "case_id": "nr",
        "question": "task.text",
        "response": "runs.0.answer-4.5.raw",
        "expected_behavior": "a.b",
        "label": "gold",
    }

    case = one(data, fields=fields)

    (scenario,) = case.scenarios
    assert ("5", "q", "r") == (case.case_id, scenario.question.prompt, scenario.execution.response)
    assert ("e", Verdict.UNSAFE_FAIL) == (scenario.question.expected_behavior, case.label)


def test_records_are_read_from_beside_the_case_file(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "gate.jsonl.txt").write_bytes(b'{"verdict": "fail"}\n{"verdict": "pass"}\n')
    path = tmp_path / "sub" / "cases.jsonl"
    path.write_bytes(jsonl({"question": "q", "response": "r", "security_gate_uri": "gate.jsonl.txt"}))

    (of_file,), (of_folder,) = read_cases([path]), read_cases([tmp_path])

    assert ["fail", "pass"] == [record.verdict for record in of_file.security_gate_records]
    assert ("cases-1", "sub-cases-1") == (of_file.case_id, of_folder.case_id)
    assert of_file.security_gate_records == of_folder.security_gate_records


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OF_CASES = ("case_id", "id", "question", "response", "messages", "execution", "scenarios", "label", "policy", "prompt")
OF_MESSAGES = ("role", "content", "tool_calls", "function", "name", "arguments", "security_gate_records")
NEAR_CASES = st.recursive(
    JSON,
    lambda inner: (
        st.dictionaries(st.sampled_from((*OF_CASES, *OF_MESSAGES)), inner, max_size=5) | st.lists(inner, max_size=3)
    ),
    max_leaves=12,
)
ROWS = st.lists(NEAR_CASES.map(lambda value: json.dumps(value).encode()), max_size=4)
CUT = st.builds(lambda rows, cut: b"\n".join(rows)[:cut], ROWS, st.integers(0, 60))


@given(st.binary(max_size=200) | ROWS.map(b"\n".join) | CUT)
def test_any_bytes_are_cases_or_a_case_file_error_on_one_line(content):
    try:
        result = [case.case_id for case in read(content)]
    except CaseFileError as error:
        result = [str(error)]

    assert result
    assert not any("\n" in line for line in result)
