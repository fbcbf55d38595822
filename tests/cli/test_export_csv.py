"""`jury export --csv`: the tables of `--parquet`, which read back equal, and compute nothing in a spreadsheet."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_judge import CsvFile
from support.command_line import CommandLine

NAMES = ("debates", "ballots", "exchanges", "labels")
FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "'=quoted",
    "''+",
    "＝1",
    "plain",
    "'plain",
    'a "b", c',
    "",
    "返金",
)
CASES = (
    {"case_id": "=HYPERLINK(1)", "question": "Open?", "response": "At nine.", "label": "approve", "agent_cost": 1e-7},
    {
        "case_id": "two, words",
        "question": 'Say "x"',
        "response": "x",
        "tags": ["+1", "a"],
        "cluster": "-1",
        "label": "reject",
    },
    {"case_id": "返金", "question": "返金して", "response": "はい", "metadata": {"note": "@you", "n": -3}},
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Run `r`, and its tables in both forms, with texts."""
    jury = CommandLine(tmp_path_factory.mktemp("exported"))
    assert 0 == jury.run(jury.write("c.jsonl", *CASES), "--run", "r").code
    for form in ("--parquet", "--csv"):
        assert 0 == jury("export", "--all", form, form.strip("-"), "--texts").code
    return jury


def read_back(content: bytes, schema: pa.Schema) -> pa.Table:
    """As docs/python-api.md says: an empty cell is null unless it is quoted, an apostrophe before a formula is none."""
    plain = {one.name: pa.string() if pa.types.is_list(one.type) else one.type for one in schema}
    convert = pa_csv.ConvertOptions(
        column_types=plain, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    table = pa_csv.read_csv(
        io.BytesIO(content), parse_options=pa_csv.ParseOptions(newlines_in_values=True), convert_options=convert
    )
    rows = [{name: original(value) for name, value in row.items()} for row in table.to_pylist()]
    for row in rows:
        for one in schema:
            if pa.types.is_list(one.type):
                row[one.name] = json.loads(row[one.name])
    return pa.Table.from_pylist(rows, schema)


def original(value: Any) -> Any:
    return re.sub(r"^'(?='*[=+\-@\t\r\n＝＋－＠])", "", value) if isinstance(value, str) else value


@pytest.mark.parametrize("name", NAMES)
def test_a_table_reads_back_as_that_of_parquet(exported: CommandLine, name: str) -> None:
    expected = pq.read_table(exported.folder / "parquet" / f"{name}.parquet").replace_schema_metadata()
    content = (exported.folder / "csv" / f"{name}.csv").read_bytes()

    assert expected.num_rows
    assert expected.to_pylist() == read_back(content, expected.schema).to_pylist()


@given(texts=st.lists(st.one_of(st.none(), st.sampled_from(FORMULAS), st.text(st.characters(codec="utf-8")))))
def test_any_text_reads_back_and_none_begins_like_a_formula(texts: list[str | None]) -> None:
    schema = pa.schema([("number", pa.int64()), ("text", pa.string())])
    out = io.BytesIO()
    with CsvFile(out, schema) as file:
        for number, text in enumerate(texts):
            file.add({"number": number - 1, "text": text})

    content = out.getvalue()
    cells = [row[1] for row in csv.reader(io.StringIO(content.decode(), newline=""))][1:]
    assert len(texts) == file.rows == len(cells)
    assert not [
        cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    ]
    assert [text or "" for text in texts] == [original(cell) for cell in cells]
    if not any(text and ("\0" in text) for text in texts):
        assert texts == read_back(content, schema)["text"].to_pylist()


def test_a_time_that_python_does_not_have_is_said_and_ends_no_table() -> None:
    schema = pa.schema([pa.field("at", pa.timestamp("us", "UTC"))])
    out = io.BytesIO()
    with CsvFile(out, schema) as file:
        file.write(pa.table([pa.array([2**62, None, 0], pa.int64()).cast(schema.field("at").type)], schema))

    assert [
        b"at",
        '"4611686018427387904 µs after 1970"'.encode(),
        b"",
        b"1970-01-01T00:00:00.000000Z",
    ] == out.getvalue().splitlines()


def test_lines_end_as_rfc_4180_says_and_the_bytes_are_utf_8(exported: CommandLine) -> None:
    content = (exported.folder / "csv" / "debates.csv").read_bytes()

    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    assert content.endswith(b"\r\n")
    assert [b"debate_id", b"case_id"] == content.partition(b"\r\n")[0].split(b",")[:2]
    assert {"'=HYPERLINK(1)", "two, words", "返金"} == {row["case_id"] for row in rows}
    assert {"1e-07", ""} == {row["agent_cost"] for row in rows}


def test_a_file_that_is_no_such_export_is_not_replaced(exported: CommandLine, tmp_path: Path) -> None:
    mine = b"debate_id,mine\n1,2\n"
    for path, output in ((tmp_path / "my.csv", tmp_path / "my.csv"), (tmp_path / "labels.csv", tmp_path)):
        path.write_bytes(mine)

        refused = exported("export", "--all", "--csv", str(output))

        assert (2, 1) == (refused.code, refused.err.count("\n"))
        assert str(path) in refused.err
        assert mine == path.read_bytes()
