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

from jury_cases import CaseFileError, read_rows
from jury_cases.containers import csv_rows
from support.container_files import read, refusal


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


def test_rows_have_their_first_line_and_number(tmp_path):
    path = csv_file(tmp_path, b'a,b\r\n1,"x\r\ny\r\nz"\r\n\r\n2,w\r\n')

    assert [(f"{path}:2", 2, 1), (f"{path}:6", 6, 2)] == [(row.place, row.line, row.number) for row in read(path)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cases.tsv", b"a\tb\n1,0\t2\n"),
        ("cases.csv", b"a\tb\n1,0\t2\n"),
        ("cases.csv", b'"a";b\n1,0;2\n'),
        ("cases.txt", b'a,b\n"1,0",2\n'),
        ("cases", b'"a","b"\n"1,0","2"\n'),
    ],
)
def test_the_header_determines_the_delimiter(tmp_path, name, content):
    (row,) = read(csv_file(tmp_path, content, name))

    assert {"a": "1,0", "b": "2"} == row.data


def test_a_column_without_a_name_is_named_by_its_position(tmp_path):
    (row,) = read(csv_file(tmp_path, b",question\n0,q\n"))

    assert {"column_1": "0", "question": "q"} == row.data


def test_json_lines_in_a_file_named_csv_are_json(tmp_path):
    (row,) = read(csv_file(tmp_path, b'{"a": 1, "b": 2}\n'))

    assert {"a": 1, "b": 2} == row.data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": the file is empty; it must contain a header and at least one row"),
        (b"a,b\n", ": contains a header and no row"),
        (b"a,b\n1\n", ":2: the row has 1 cells and the header 2 (a, b); put quotes around cells with "),
        (b"a,b\n1,2\n3,4,5\n", ":3: the row has 3 cells and the header 2 (a, b); put quotes around cells with "),
        (b"a,b,a\n1,2,3\n", ":1: two columns are named 'a'; rename one of them"),
        (b"a,b\n1,\0\n", ":2: a NUL byte; save the file as CSV in UTF-8 without it"),
        (b'a,b\n1,2\n3,"x\ny\n', ":3: a quote that is opened in this row is never closed; close it, or "),
        (b'a,b\n1,"x"y\n', ":2: not CSV: ',' expected after '\"'; write a quote inside a quoted cell twice"),
        (b"a,b\n1,\xff\n", ":2: the byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"a,b\r1,2\r", ":1: a line ends with CR alone; save the file with LF or CR LF"),
        ("a,b\n1,2\n".encode("utf-16"), ": this is UTF-16 text; save it as UTF-8"),
        (b",".join(b"c%d" % n for n in range(100_000)), ":1: 100,000 columns; at most 10,000 are read"),
    ],
)
def test_a_csv_file_that_cannot_be_read_is_reported_with_line_and_remedy(tmp_path, content, message):
    assert refusal(csv_file(tmp_path, content)).startswith(message)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n3,%s\n", b'a,b\n1,2\n3,"%s\n4,5\n'])
def test_a_row_that_is_too_long_is_reported_with_its_first_line(tmp_path, monkeypatch, content):
    monkeypatch.setattr(csv_rows, "MAX_ROW", 1 << 20)

    message = refusal(csv_file(tmp_path, content % (b"x\n" if b'"' in content else b"xx").ljust(2 << 20, b"x")))

    assert message == ":3: the row that begins here is longer than 1 MiB; close its quote, or split the row"


def test_a_cell_may_exceed_the_standard_librarys_default_limit(tmp_path):
    (row,) = read(csv_file(tmp_path, b"a,b\n1," + b"x" * 1_000_000))

    assert {"a": "1", "b": "x" * 1_000_000} == row.data


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
@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_truncated_file_is_reported(tmp_path, form, kind, kept):
    content = pa.table({"text": [os.urandom(50).hex() for _ in range(2_000)]})
    path = write(tmp_path / "cut", content, form)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])

    message = refusal(path)

    assert message.startswith(f": the {kind} is cut off or damaged")
    assert message.endswith("; fetch or write it again")


@pytest.mark.parametrize("form", ["parquet", "stream", "file"])
def test_damage_anywhere_is_rows_or_one_line(tmp_path, form):
    content = pa.table({"text": [f"text {n}" for n in range(50)], "list": [[n] for n in range(50)]})
    whole = write(tmp_path / "whole", content, form).read_bytes()
    path = tmp_path / "damaged"
    for position in range(8, len(whole), 7):
        path.write_bytes(whole[:position] + b"\xff\x7f\xff" + whole[position + 3 :])
        try:
            result = str(len(read(path)))
        except CaseFileError as error:
            result = str(error)

        assert result
        assert "\n" not in result


@pytest.mark.parametrize("form", ["parquet", "stream"])
def test_too_many_columns_are_refused(tmp_path, form):
    content = pa.table({f"c{n}": pa.array([1]) for n in range(10_001)})

    assert refusal(write(tmp_path / "wide", content, form)).startswith(": 10,001 columns; at most 10,000 are read")


def test_a_file_without_rows_is_reported(tmp_path):
    path = write(tmp_path / "none.parquet", pa.table({"a": pa.array([], pa.string())}), "parquet")

    assert refusal(path) == ": contains no row; it must contain at least one"


def test_columns_of_one_name_are_refused(tmp_path):
    content = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])

    assert refusal(write(tmp_path / "x", content, "stream")) == ": two columns are named 'a'; rename one of them"


def test_csv_from_standard_input_is_recognised():
    rows = read_rows(["-"], stdin=io.BytesIO(b"question,response\nq,r\n"))

    assert [("stdin:2", {"question": "q", "response": "r"})] == [(row.place, row.data) for row in rows]


@pytest.mark.full
def test_a_value_that_is_written_once_and_repeated_is_not_copied_for_all_rows_at_once(tmp_path):
    path = write(tmp_path / "repeated.parquet", pa.table({"text": ["x" * 4_000_000] * 300}), "parquet")
    before = pa.total_allocated_bytes()
    allocated = 0
    for row in read_rows([path]):
        assert isinstance(row.data, dict)
        assert len(row.data["text"]) == 4_000_000
        allocated = max(allocated, pa.total_allocated_bytes() - before)

    assert allocated < 200 << 20
