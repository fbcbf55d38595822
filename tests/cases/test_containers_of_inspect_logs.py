"""Logs of Inspect are read sample by sample from archives of any writer, and hostile archives are refused."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jury_cases import CaseFileError, FileRow, read_rows
from jury_cases.containers import inspect_files

HEADER = {"version": 2, "status": "success", "eval": {"task": "refunds", "model": "mockllm/model"}}


def read(path: Path) -> list[FileRow]:
    return list(read_rows([path]))


def sample(sample_id: Any, epoch: int = 1) -> dict[str, Any]:
    return {"id": sample_id, "epoch": epoch, "messages": [{"role": "user", "content": "q"}]}


def deflated(content: bytes) -> tuple[int, bytes]:
    packer = zlib.compressobj(wbits=-15)
    return 8, packer.compress(content) + packer.flush()


def stored(content: bytes) -> tuple[int, bytes]:
    return 0, content


def zstandard(content: bytes) -> tuple[int, bytes]:
    return 93, pa.Codec("zstd").compress(content, asbytes=True)


def archive(
    path: Path,
    members: dict[str, Any],
    pack: Callable[[bytes], tuple[int, bytes]] = zstandard,
    *,
    flags: int = 0,
    declared: int | None = None,
) -> Path:
    """A zip archive, written by hand so that its methods and sizes can be any."""
    body, directory = b"", b""
    for name, value in members.items():
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        method, packed = pack(content)
        size = len(content) if declared is None else declared
        fields = struct.pack(
            "<HHHHHIIIHH", 20, flags, method, 0, 0, zlib.crc32(content), len(packed), size, len(name.encode()), 0
        )
        offset = len(body)
        body += b"PK\x03\x04" + fields + name.encode() + packed
        directory += b"PK\x01\x02\x14\x00" + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name.encode()
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


@pytest.mark.parametrize("pack", [stored, deflated, zstandard])
def test_samples_contain_the_headers_eval_object(tmp_path, pack):
    members = {"_journal/start.json": {}, "samples/1_epoch_1.json": sample(1), "header.json": HEADER}

    (row,) = read(archive(tmp_path / "log.eval", members, pack))

    assert {**sample(1), "_eval": HEADER["eval"]} == row.data
    assert (f"{tmp_path}/log.eval: sample 1 (epoch 1)", 1, 1, "log") == (row.place, row.line, row.number, row.file)


def test_samples_come_in_the_natural_order_of_their_names(tmp_path):
    members = {
        f"samples/{sample_id}_epoch_{epoch}.json": sample(sample_id, epoch)
        for epoch in (2, 1)
        for sample_id in (10, 9, "a/b", 2)
    }

    rows = read(archive(tmp_path / "log.eval", {**members, "header.json": HEADER}))

    expected = [(2, 1), (2, 2), (9, 1), (9, 2), (10, 1), (10, 2), ("a/b", 1), ("a/b", 2)]
    assert expected == [(row.data["id"], row.data["epoch"]) for row in rows if isinstance(row.data, dict)]


def test_an_unfinished_log_has_its_header_in_the_journal(tmp_path):
    members = {"_journal/start.json": {"eval": {"task": "t"}}, "samples/1_epoch_1.json": sample(1)}

    (row,) = read(archive(tmp_path / "log.eval", members))

    assert {**sample(1), "_eval": {"task": "t"}} == row.data


def test_a_sample_without_an_id_is_named_by_its_file_and_a_score_that_is_nan_is_none(tmp_path):
    (row,) = read(archive(tmp_path / "log.eval", {"header.json": {}, "samples/x.json": b'{"value": NaN}'}))

    assert (f"{tmp_path}/log.eval: sample samples/x.json", {"value": None}) == (row.place, row.data)


LOGS: dict[str, dict[str, Any]] = {
    "document": {"word/document.xml": b""},
    "no member": {},
    "no sample": {"header.json": HEADER},
    "broken header": {"header.json": b"{"},
    "sample that is a list": {"header.json": {}, "samples/1.json": [1]},
    "broken sample": {"header.json": {}, "samples/1.json": b"{"},
    "sample in no UTF-8": {"header.json": {}, "samples/1.json": b'"\xff"'},
    "deep sample": {"header.json": {}, "samples/1.json": b"[" * 100_000},
}


def test_an_archive_that_is_no_log_is_refused(refusals, tmp_path):
    logs = {name: archive(tmp_path / name, members) for name, members in LOGS.items()}
    whole = {"header.json": HEADER, "samples/1.json": sample(1)}
    logs["cut off"] = archive(tmp_path / "cut off", whole)
    logs["cut off"].write_bytes(logs["cut off"].read_bytes()[:-40])
    logs["encrypted"] = archive(tmp_path / "encrypted", whole, stored, flags=1)
    logs["unknown compression"] = archive(tmp_path / "unknown compression", whole, lambda content: (14, content))

    refusals.check("inspect_logs", logs, read, CaseFileError)


@pytest.mark.parametrize("pack", [deflated, zstandard])
@pytest.mark.parametrize("declared", [None, 1_000])
def test_a_zip_bomb_is_refused(tmp_path, monkeypatch, pack, declared):
    monkeypatch.setattr(inspect_files, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(inspect_files, "MAX_MEMBER", 4 << 20)
    bomb = b'{"a": "' + b"x" * (8 << 20) + b'"}'
    path = archive(
        tmp_path / "log.eval", {"samples/1.json": bomb, "_journal/start.json": bomb}, pack, declared=declared
    )

    says = "at most 4 MiB are read, and beyond 1 MiB at most 1000 times" if declared is None else "larger than it says"
    with pytest.raises(CaseFileError, match=f": _journal/start.json: .*{says}"):
        read(path)


@pytest.mark.parametrize(
    "pack", [zstandard, *(pytest.param(one, marks=pytest.mark.full) for one in (stored, deflated))]
)
def test_no_damage_gives_other_rows(tmp_path: Path, pack: Callable[..., bytes]) -> None:
    path = archive(tmp_path / "log.eval", {"header.json": HEADER, "samples/1.json": sample(1)}, pack)
    whole, rows = path.read_bytes(), read(path)
    refused = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        try:
            found = read(path)
        except CaseFileError:
            refused += 1
        else:
            assert rows == found, position

    assert refused > len(whole) / 4
