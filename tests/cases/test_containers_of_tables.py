"""Rows come out of CSV, Parquet and Arrow as plain values, and unreadable input is reported in one line."""

import io
import os
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_cases import CaseFileError, FileRow, RowSelection, read_rows
from jury_cases.containers import csv_rows


def read(path: Path) -> list[FileRow]:
    return list(read_rows([path]))


def csv_file(folder: Path, content: bytes, name: str = "cases.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_cells_are_text_and_empty_cells_null(tmp_path):
    content = '\ufeffid,question,response\n1,"a, ""b""\nc",\n\n2, é ,{"x": 1}\n'.encode()

    rows = read(csv_file(tmp_path, content.replace(b'{"x": 1}', b'"{""x"": 1}"')))

    assert [row.data for row in rows] == [
        {"id": "1", "question": 'a, "b"\nc', "response": None},
        {"id": "2", "question": " é ", "response": '{"x": 1}'},
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cases.tsv", b"a\tb\n1,0\t2\n"),
        ("cases.csv", b"a\tb\n1,0\t2\n"),
        ("cases.csv", b'"a";b\n1,0;2\n'),
        ("cases.txt", b'a,b\n"1,0",2\n'),
        ("cases", b'"a","b"\n"1,0","2"\n'),
        ("cases.csv", b'a, b\n"1,0", 2\n'),
        ("cases.csv", b'a,b\n"1,0",2,,\n'),
        ("cases.csv", b'\xef\xbb\xbf\xef\xbb\xbfa,\xe2\x80\x8bb\n"1,0",2\n'),
    ],
)
def test_the_header_determines_the_delimiter(tmp_path, name, content):
    (row,) = read(csv_file(tmp_path, content, name))

    assert {"a": "1,0", "b": "2"} == row.data


def test_a_table_of_markdown_has_no_row_of_dashes(tmp_path):
    content = b"| question | response |\n| --- | :---: |\n| q | r |\n| --- | --- |\n"

    rows = read(csv_file(tmp_path, content, "cases.md"))

    assert [("q", "r"), ("---", "---")] == [(row.data["question"], row.data["response"]) for row in rows]


def test_json_lines_in_a_file_named_csv_are_json_and_csv_in_standard_input_is_csv(tmp_path):
    (row,) = read(csv_file(tmp_path, b'{"a": 1, "b": 2}\n'))
    rows = read_rows(["-"], stdin=io.BytesIO(b"question,response\nq,r\n"))

    assert {"a": 1, "b": 2} == row.data
    assert [("stdin:2", {"question": "q", "response": "r"})] == [(row.place, row.data) for row in rows]


CSV = {
    "Latin-1": b"a,b\n1,\xff\n",
    "UTF-16": "a,b\n1,2\n".encode("utf-16"),
    "many columns": b",".join(b"c%d" % n for n in range(100_000)),
    "long row": b"a,b\n1,2\n3,".ljust(2 << 20, b"x"),
    "long row within a quote": b'a,b\n1,2\n3,"x\n4,5\n'.ljust(2 << 20, b"x"),
}


def test_a_csv_file_that_cannot_be_read_is_refused_with_line_and_remedy(refusals, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_ROW", 1 << 20)

    texts = {name: text.encode() for name, text in refusals.rows("csv_files").items()}

    refusals.check("csv_files", texts | CSV, lambda content: read(csv_file(tmp_path, content)), CaseFileError)


def test_rows_that_are_no_records_are_left_out_where_the_others_are_asked_for(tmp_path):
    path = csv_file(
        tmp_path, b"question,response,label\nq,r,pass\nTotal,1,\nq2,r2,pass,x\n,,\nNote,,\nq3,,\nTotal,5,x\n"
    )
    left: list[str] = []

    rows = list(read_rows([path], RowSelection(leave_out=lambda error: left.append(str(error)))))

    assert [(2, "q"), (7, "q3"), (8, "Total")] == [(row.line, row.data["question"]) for row in rows]
    assert [3, 4, 6] == [int(one.removeprefix(f"{path}:").partition(":")[0]) for one in left]


VALUES = {
    "text": (pa.string(), "é", "é"),
    "large": (pa.large_string(), "x", "x"),
    "bytes": (pa.binary(), b"\xff", b"\xff"),
    "none": (pa.string(), None, None),
    "whole": (pa.int64(), 2**53 + 1, 2**53 + 1),
    "nan": (pa.float64(), float("nan"), None),
    "infinite": (pa.float32(), float("inf"), "Infinity"),
    "negatively infinite": (pa.float64(), float("-inf"), "-Infinity"),
    "float": (pa.float64(), 0.1, 0.1),
    "money": (pa.decimal128(10, 2), Decimal("0.10"), 0.1),
    "integral": (pa.decimal128(30, 0), Decimal(10**25), 10**25),
    "precise": (pa.decimal128(30, 20), Decimal("0.12345678901234567891"), "0.12345678901234567891"),
    "date": (pa.date32(), date(2026, 1, 2), "2026-01-02"),
    "naive": (pa.timestamp("ns"), datetime.fromisoformat("2026-01-02T03:04:05"), "2026-01-02T03:04:05"),
    "aware": (pa.timestamp("us", "Asia/Tokyo"), datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
    "time": (pa.time64("ns"), time(1, 2, 3), "01:02:03"),
    "duration": (pa.duration("ms"), timedelta(seconds=1.5), 1.5),
    "list": (pa.list_(pa.float64()), [1.0, float("nan")], [1.0, None]),
    "struct": (
        pa.struct({"a": pa.string(), "b": pa.date32(), "c": pa.struct({"d": pa.timestamp("ns")})}),
        {"a": "x", "b": date(2026, 1, 2), "c": None},
        {"a": "x", "b": "2026-01-02", "c": None},
    ),
    "map": (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", 2)], {"a": 1, "b": 2}),
    "numbered": (pa.map_(pa.int64(), pa.string()), [(1, "a")], [[1, "a"]]),
    "messages": (
        pa.list_(pa.struct({"role": pa.string(), "content": pa.string()})),
        [{"role": "user", "content": "Hi"}],
        [{"role": "user", "content": "Hi"}],
    ),
}


def table(columns: dict[str, tuple[pa.DataType, Any, Any]]) -> pa.Table:
    return pa.table({name: pa.array([value], type=kind) for name, (kind, value, _) in columns.items()})


def write(path: Path, content: pa.Table, form: str, **options: Any) -> Path:
    if form == "parquet":
        pq.write_table(content, path, **options)
    else:
        opened = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
        with opened(path, content.schema) as writer:
            writer.write_table(content, **options)
    return path


@pytest.mark.parametrize("form", ["parquet", "stream", "file"])
def test_values_are_plain_whatever_their_type(tmp_path, form):
    (row,) = read(write(tmp_path / "any", table(VALUES), form))

    assert {name: expected for name, (_, _, expected) in VALUES.items()} == row.data


@pytest.mark.parametrize("form", ["parquet", "stream", "file"])
def test_rows_of_many_batches_are_counted(tmp_path, form):
    content = pa.table(
        {"n": list(range(1_000)), "text": [("x" * 60_000) if n % 50 == 0 else "y" for n in range(1_000)]}
    )
    options = {"row_group_size": 300} if form == "parquet" else {"max_chunksize": 300}

    rows = read(write(tmp_path / "big.any", content, form, **options))

    assert list(range(1_000)) == [row.data["n"] for row in rows]
    assert f"{tmp_path}/big.any: row 1000" == rows[-1].place
    assert (1000, 1000, "big") == (rows[-1].line, rows[-1].number, rows[-1].file)


@pytest.mark.parametrize(
    ("form", "kind"), [("parquet", "Parquet file"), ("stream", "Arrow stream"), ("file", "Arrow file")]
)
def test_a_truncated_file_is_reported(tmp_path, form, kind):
    content = pa.table({"text": [os.urandom(50).hex() for _ in range(2_000)]})
    path = write(tmp_path / "cut", content, form)
    whole = path.read_bytes()
    for kept in (0.3, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * kept)])

        with pytest.raises(CaseFileError, match=f": the {kind} is cut off or damaged.*; fetch or write it again$"):
            read(path)


@pytest.mark.parametrize("form", ["parquet", "stream", "file"])
def test_damage_anywhere_is_rows_or_one_line(tmp_path, form):
    content = pa.table({"text": [f"text {n}" for n in range(50)], "list": [[n] for n in range(50)]})
    whole = write(tmp_path / "whole", content, form).read_bytes()
    path = tmp_path / "damaged"
    for position in range(8, len(whole), 29):
        path.write_bytes(whole[:position] + b"\xff\x7f\xff" + whole[position + 3 :])
        try:
            result = str(len(read(path)))
        except CaseFileError as error:
            result = str(error)

        assert result
        assert "\n" not in result


def test_a_table_that_is_no_list_of_cases_is_refused(refusals, tmp_path):
    wide = pa.table({f"c{n}": pa.array([1]) for n in range(10_001)})
    same = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    tables = {
        "many columns in Parquet": write(tmp_path / "wide.parquet", wide, "parquet"),
        "many columns in Arrow": write(tmp_path / "wide.arrow", wide, "stream"),
        "no row": write(tmp_path / "none.parquet", pa.table({"a": pa.array([], pa.string())}), "parquet"),
        "two columns of one name": write(tmp_path / "same.arrow", same, "stream"),
    }

    refusals.check("tables", tables, read, CaseFileError)


@pytest.mark.full
def test_a_value_that_is_written_once_and_repeated_is_not_copied_for_all_rows_at_once(tmp_path):
    path = write(tmp_path / "repeated.parquet", pa.table({"text": ["x" * 4_000_000] * 60}), "parquet")
    before = pa.total_allocated_bytes()
    allocated = 0
    for row in read_rows([path]):
        assert isinstance(row.data, dict)
        assert len(row.data["text"]) == 4_000_000
        allocated = max(allocated, pa.total_allocated_bytes() - before)

    assert allocated < 150 << 20
