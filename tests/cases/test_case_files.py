"""Cases are read from every supported format; errors name the place and the remedy."""

import json
import shlex
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_cases import CaseFileError, CaseFiles, CaseOptions
from jury_cases.containers import json_rows
from jury_events import Case


def row(**changes: Any) -> dict[str, Any]:
    return {"case_id": "c1", "question": "What is 2 + 2?", "response": "4", **changes}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in rows)


def read(content: bytes, fields: dict[str, str] | None = None, limit: int | None = None) -> list[Case]:
    return list(CaseFiles(["-"], CaseOptions(fields=fields or {}, limit=limit), stdin=BytesIO(content)))


def one(*rows: dict[str, Any], fields: dict[str, str] | None = None) -> Case:
    (case,) = read(jsonl(*rows), fields)
    return case


ONE, TWO = row(case_id="a"), row(case_id="b")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(jsonl(ONE, TWO), id="JSONL"),
        pytest.param(jsonl(ONE, TWO).removesuffix(b"\n"), id="JSONL without a last line break"),
        pytest.param(b"\x1e" + jsonl(ONE) + b"\x1e" + jsonl(TWO), id="a sequence of RFC 7464"),
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

    cases = iter(CaseFiles([tmp_path / "one.txt", str(tmp_path / "two.json")]))

    assert ["a", "b"] == [case.case_id for case in cases]


def test_cases_are_streamed_so_a_late_fault_costs_no_earlier_case():
    cases = iter(CaseFiles(["-"], stdin=BytesIO(jsonl(ONE, TWO) + b"oops\n")))

    assert ["a", "b"] == [next(cases).case_id, next(cases).case_id]
    with pytest.raises(CaseFileError, match="stdin:3: not JSON"):
        next(cases)


def test_a_limit_stops_before_the_next_line_is_read():
    assert ["a"] == [case.case_id for case in read(jsonl(ONE) + b"oops\n", limit=1)]
    assert [] == read(b"oops", limit=0)


FILES = {
    "blank": b"\xef\xbb\xbf\n \n",
    "Latin-1": jsonl(ONE) + '{"question": "é"}'.encode("latin-1"),
    "Latin-1 in a document": b'[{"question": "q",\n"response": "\xe9"}]',
    "UTF-16": '{"question": "q"}'.encode("utf-16"),
    "UTF-32": '{"question": "q"}'.encode("utf-32"),
    "old line ends": b'{"question": "q"}\r{"question": "r"}\r',
    "UTF-16 without its mark": '{"question": "q"}'.encode("utf-16-be"),
    "gzip": b"\x1f\x8b\x08\x00",
    "huge integer": b'{"a": ' + b"9" * 5000 + b"}\n",
    "deep": b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            "- id: a\n  question: x\x01\n", ":2: not YAML: the character U[+]0001 is not allowed", id="control"
        ),
        pytest.param("- id: a\n  question: 'x\n\n", ":4: not YAML: .* which begins in line 2", id="open quotation"),
    ],
)
def test_what_is_no_yaml_is_refused_at_its_line(tmp_path, text, says):
    (tmp_path / "f.yaml").write_text(text)

    with pytest.raises(CaseFileError, match=f"f.yaml{says}"):
        list(CaseFiles([tmp_path / "f.yaml"]))


def test_a_bad_file_is_refused_with_place_and_remedy(refusals):
    texts = {name: text.encode() for name, text in refusals.rows("case_files").items()}

    refusals.check("case_files", texts | FILES, read, CaseFileError)


def test_a_part_of_a_case_that_there_is_not_is_refused_before_a_file_is_opened():
    with pytest.raises(CaseFileError, match="no such part"):
        CaseFiles(["nowhere.jsonl"], CaseOptions(fields={"answer": "x"}))


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
        "case_paths", rows, lambda names: list(CaseFiles([tmp_path / name for name in names])), CaseFileError
    )


def test_records_are_read_from_beside_the_case_file(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "gate.jsonl.txt").write_bytes(b'{"verdict": "fail"}\n{"verdict": "pass"}\n')
    path = tmp_path / "sub" / "cases.jsonl"
    path.write_bytes(jsonl({"question": "q", "response": "r", "security_gate_uri": "gate.jsonl.txt"}))

    (of_file,), (of_folder,) = CaseFiles([path]), CaseFiles([tmp_path])

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


def test_columns_that_are_not_read_are_named_in_the_order_of_the_row() -> None:
    columns = ["zeta", "alpha", "mid", "beta", "omega", "gamma", "nu", "delta"]
    files = CaseFiles(["-"], stdin=BytesIO(jsonl(row(**{name: ["long", "list"] for name in columns}))))
    list(files)

    assert list(files.notes.unread) == columns


def of_csv(*lines: str, labels: dict[str, str | None] | None = None, fields: dict[str, str] | None = None) -> CaseFiles:
    content = "".join(f"{line}\n" for line in lines).encode()
    return CaseFiles(["-"], CaseOptions(labels=labels or {}, fields=fields or {}), stdin=BytesIO(content))


@pytest.mark.parametrize("word", ["nan", "NaN", "NULL", "None", "N/A", "<NA>", " NA ", "#REF!"])
def test_a_word_for_a_missing_value_in_a_table_is_no_text_and_is_named(word) -> None:
    files = of_csv("question,response,policy,tags,cluster,label", f"q,{word},{word},{word},{word},{word}")

    (case,) = files

    (scenario,) = case.scenarios
    assert ("", None) == (scenario.execution.response, scenario.question.policy)
    assert ((), None, None) == (case.tags, case.cluster, case.label)
    assert {"read_as": f"{word.strip()} as a missing value"} == case.metadata
    assert [f"{word.strip()}: read as a missing value in 1 row, not as a text"] == list(files.notes.lines())


def test_such_a_word_stays_in_a_text_in_a_file_of_json_and_where_it_is_a_label() -> None:
    meaning: dict[str, str | None] = {"NA": "unsafe_fail"}
    files = of_csv("question,response,verdict", "q,It is NULL.,NA", labels=meaning, fields={"label": "verdict"})

    assert ("unsafe_fail", "It is NULL.") == described(*files)
    assert (None, "None") == described(one(row(response="None")))


def described(case: Case) -> tuple[str | None, str]:
    return case.label, case.scenarios[0].execution.response


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"expected_verdict": "fail", "label": "pass"}, ["label: expected_verdict is read, and label says"]),
        ({"policy": "Be brief.", "system_prompt": "Be long."}, ["policy: policy is read, and system_prompt says"]),
        ({"expected_verdict": "safe_pass", "label": "pass"}, []),
        ({"expected_verdict": "pass", "label": " "}, []),
        ({"case_id": "a", "id": "b"}, []),
    ],
)
def test_a_column_that_says_otherwise_than_the_one_that_is_read_is_named(columns, says) -> None:
    files = CaseFiles(["-"], stdin=BytesIO(jsonl(row(**columns))))

    list(files)

    assert says == [line.partition(" otherwise")[0] for line in files.notes.lines()]


def test_a_label_that_is_named_is_the_one_and_a_blank_one_is_none() -> None:
    both = row(expected_verdict="fail", label="pass")
    files = CaseFiles(["-"], CaseOptions(fields={"label": "label"}), stdin=BytesIO(jsonl(both)))

    (case,) = files

    assert ("safe_pass", []) == (case.label, list(files.notes.lines()))
    assert "safe_pass" == one(row(expected_verdict="", label="pass")).label


def test_the_remedy_for_a_column_is_one_that_a_shell_passes_on() -> None:
    asked = {"the user's question": "q", "agent's output": "r", "true output": "t"}

    with pytest.raises(CaseFileError) as refused:
        one(asked)
    given = shlex.split(str(refused.value).partition("jury cases FILE ")[2].partition(", or")[0])

    assert "r" == one(asked, fields=dict(one.split("=") for one in given[1::2])).scenarios[0].execution.response
