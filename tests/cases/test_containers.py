"""Rows come out of JSON, compressed data and pipes as they are, and unreadable input is reported in one line."""

import gzip
import io
import json
import os
import tracemalloc
import zipfile
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest

from jury_cases import CaseFileError, FileRow, RowSelection, read_rows
from jury_cases.containers import byte_streams, json_rows
from support.compression import gzipped
from support.each_row import each_row

ROWS = [{"case_id": f"c{number}", "question": "q", "response": "é" * number} for number in range(5)]
TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def jsonl(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def read(content: bytes, **selected: Any) -> list[FileRow]:
    return list(read_rows(["-"], RowSelection(**selected), stdin=io.BytesIO(content)))


def zstd(content: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return packed


class SlowPipe(io.RawIOBase):
    """Gives one byte at a time, and cannot be sought in."""

    def __init__(self, content: bytes) -> None:
        self._rest = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        content = self._rest.read(1)
        target[: len(content)] = content
        return len(content)


def test_a_list_is_decoded_the_same_wherever_the_buffer_ends(monkeypatch):
    values = [{"a": 'é\\"\n', "n": [-12.5e3, True, None], "deep": {"x": "😀"}}, {"long": "x" * 50}, {}]
    content = json.dumps(values, indent=1).encode()
    for size in range(1, 40):
        monkeypatch.setattr(json_rows, "_CHUNK", size)

        assert values == [row.data for row in read(content)]


def test_lines_are_counted_and_rows_before_a_fault_yielded_wherever_the_buffer_ends(monkeypatch):
    content = b'\n\n[{"a": 1},\n {"b":\n 2}, {"c": 3},\n\n oops]'
    for size in range(1, 20):
        monkeypatch.setattr(json_rows, "_CHUNK", size)
        rows = read_rows(["-"], stdin=io.BytesIO(content))

        assert [("stdin:3", 1), ("stdin:4", 2), ("stdin:5", 3)] == [(r.place, r.number) for r in islice(rows, 3)]
        with pytest.raises(CaseFileError, match=r"^stdin:7: not JSON: a value should be here \(column 2\)$"):
            next(rows)


def test_a_long_list_is_read_with_flat_memory():
    content = b"[" + b",".join([json.dumps({"text": "x" * 10_000}).encode()] * 2_000) + b"]"
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_rows(["-"], stdin=io.BytesIO(content)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 2_000
    assert peak < 12 << 20


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(json.dumps(TALK).encode(), [TALK], id="a document"),
        pytest.param(json.dumps(TALK, indent=2).encode(), [TALK], id="a document over many lines"),
        pytest.param(jsonl([TALK, TALK]), [TALK, TALK], id="lines"),
        pytest.param(jsonl([{"question": "q"}, TALK]), [{"question": "q"}, TALK], id="a line among objects"),
        pytest.param(json.dumps([TALK, TALK]).encode(), [TALK, TALK], id="a list of lists"),
        pytest.param(b'[{"role": "user", "question": "q"}]', [{"role": "user", "question": "q"}], id="no message"),
    ],
)
def test_a_list_of_chat_messages_is_one_row(content, expected):
    assert expected == [row.data for row in read(content)]


@each_row("indent", [None, 2])
def test_rows_inside_of_a_document_are_found_by_their_path(indent):
    document = {"version": 3, "results": {"results": [{"a": 1}, {"a": 2}]}}

    rows = read(json.dumps(document, indent=indent).encode(), rows_path="results.results")

    assert [{"a": 1}, {"a": 2}] == [row.data for row in rows]
    assert ["stdin:1: results.results row 1", "stdin:1: results.results row 2"] == [row.place for row in rows]


def test_a_wrong_path_to_the_rows_is_refused_with_the_keys_that_are_there(refusals):
    content = b'{"version": 1, "results": {"table": [1]}}'
    paths = ("result", "results.rows", "results", "version.x", "results.table")

    refusals.check(
        "paths_to_rows", {path: path for path in paths}, lambda path: read(content, rows_path=path), CaseFileError
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("content", [jsonl(ROWS), json.dumps(ROWS).encode(), b"case_id,question\na,b\n"])
def test_compressed_data_is_read_as_its_content(pack, content, tmp_path):
    (tmp_path / "any.name").write_bytes(pack(content))

    expected = [row.data for row in read(content)]

    assert expected == [row.data for row in read(pack(content))]
    assert expected == [row.data for row in read_rows([tmp_path / "any.name"])]


@each_row(("pack", "kind"), [(gzip.compress, "gzip"), (zstd, "Zstandard")])
def test_cut_or_damaged_compressed_data_is_reported(pack, kind):
    packed = pack(jsonl([{"n": os.urandom(9).hex()} for _ in range(5_000)]))

    for damaged in (packed[:-20], packed[:8] + b"\xff" * 20 + packed[28:]):
        with pytest.raises(CaseFileError, match=f"^stdin: the {kind} data is cut off or damaged near byte "):
            read(damaged)


def test_a_bomb_of_blank_lines_is_stopped(monkeypatch):
    monkeypatch.setattr(byte_streams, "FREE_BYTES", 1 << 20)

    with pytest.raises(CaseFileError, match=r"over 1 MiB came out of .* more than 1000 times as much; decompress it"):
        read(zstd(b"\n" * (64 << 20)))


STREAMS = {
    "Parquet": b"PAR1\x15\x04",
    "Arrow": b"ARROW1\0\0",
    "zip": b"PK\x03\x04",
    "Parquet in gzip": gzipped(b"PAR1"),
    "gzip in gzip": gzipped(gzipped(b"{}")),
    "bzip2": b"BZh91AY",
    "xz": b"\xfd7zXZ\x00",
    "Excel before 2007": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "deep list": b"[" * 100_000,
    "deep list in an object in a list": b'[{"a": ' + b"[" * 100_000,
    "deep list in an object": b'{"a": ' + b"[" * 100_000,
    "deep list in an object over lines": b'{\n"a": ' + b"[" * 100_000,
}


def test_what_cannot_be_read_from_a_stream_is_refused_with_the_remedy(refusals):
    refusals.check("streams", STREAMS, read, CaseFileError)


def test_a_spreadsheet_of_libreoffice_is_refused_with_the_remedy(tmp_path):
    with zipfile.ZipFile(tmp_path / "cases.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<x/>")

    with pytest.raises(CaseFileError, match=r"a file of LibreOffice; save the sheet as CSV \(UTF-8\)"):
        list(read_rows([tmp_path / "cases.ods"]))


@each_row("content", [jsonl(ROWS), json.dumps(ROWS, indent=1).encode(), gzipped(jsonl(ROWS))])
def test_a_pipe_that_returns_one_byte_at_a_time_is_recognised(content):
    rows = read_rows(["-"], stdin=SlowPipe(content))  # type: ignore[arg-type]

    assert ROWS == [row.data for row in rows]


def test_a_named_pipe_is_refused_without_waiting_for_a_writer_and_a_link_is_followed(tmp_path):
    for name in ("cases.jsonl", "cases.csv", "cases"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(CaseFileError, match="a pipe or device, and no file; name - to read standard input"):
            list(read_rows([tmp_path / name]))
    with pytest.raises(CaseFileError, match="a pipe or device, and no file"):
        list(read_rows([tmp_path]))
    (tmp_path / "real").write_bytes(jsonl(ROWS))
    (tmp_path / "link.jsonl").symlink_to("real")

    assert ROWS == [row.data for row in read_rows([tmp_path / "link.jsonl"])]


class Counted(io.RawIOBase):
    """A line without an end, and how much of it was read."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        size = min(len(target), self.left)
        target[:size] = b"x" * size
        self.left, self.taken = self.left - size, self.taken + size
        return size


def test_a_line_that_does_not_end_is_refused_before_it_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rows, "MAX_LINE", 1 << 20)
    line = Counted(64 << 20)
    with pytest.raises(CaseFileError, match="the line is longer than 1 MiB; split the row"):
        list(json_rows.read_rows(line, json_rows.RowSource("endless")))

    assert line.taken < 4 << 20
