"""Folders, globs and data sets in many files are read whole and in order, or reported as incomplete."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_cases import CaseFileError, FileRow, read_cases, read_rows
from jury_cases.containers.row import RowSelection
from support.compression import gzipped


def write(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"n": value}) + "\n" for value in values))
    return path


def parquet(path: Path, *values: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": list(values)}), path)


def saved(folder: Path, *shards: list[int], **state: Any) -> None:
    """A folder as `Dataset.save_to_disk` leaves it."""
    folder.mkdir(parents=True)
    names = [f"data-{index:05}-of-{len(shards):05}.arrow" for index in range(len(shards))]
    for name, values in zip(names, shards, strict=True):
        with pa.ipc.new_stream(folder / name, pa.schema({"n": pa.int64()})) as writer:
            writer.write_table(pa.table({"n": pa.array(values, pa.int64())}))
    (folder / "dataset_info.json").write_text("{}")
    files = [{"filename": name} for name in names]
    (folder / "state.json").write_text(json.dumps({"_data_files": files, "_split": None, **state}))


def rows(*paths: Path | str, split: str | None = None) -> list[FileRow]:
    return list(read_rows(paths, RowSelection(split=split)))


def values(*paths: Path | str, split: str | None = None) -> list[Any]:
    return [row.data["n"] for row in rows(*paths, split=split) if isinstance(row.data, dict)]


def refusal(path: Path | str, split: str | None = None) -> str:
    with pytest.raises(CaseFileError) as caught:
        rows(path, split=split)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))


def test_a_folder_yields_the_files_of_known_extensions_in_the_order_of_their_paths(tmp_path):
    write(tmp_path / "b.jsonl", 2)
    write(tmp_path / "a" / "z.ndjson", 3)
    (tmp_path / "a" / "c.csv.gz").write_bytes(gzipped(b"n,m\n4,5\n"))
    parquet(tmp_path / "c.parquet", 5, 6)
    write(tmp_path / ".hidden.jsonl", 7)
    write(tmp_path / ".git" / "x.jsonl", 8)
    write(tmp_path / "README.md", 9)
    write(tmp_path / "dataset_info.json", 10)

    assert [2, 5, 6, "4", 3] == values(tmp_path)


def test_rows_of_a_folder_are_named_by_the_path_within_it(tmp_path):
    write(tmp_path / "all" / "en" / "one.jsonl", 1)
    write(tmp_path / "all" / "one.jsonl", 2)

    found = [(row.place, row.file, row.folder) for row in rows(tmp_path / "all")]
    assert found == [
        (f"{tmp_path}/all/one.jsonl:1", "one", tmp_path / "all"),
        (f"{tmp_path}/all/en/one.jsonl:1", "en-one", tmp_path / "all" / "en"),
    ]


def test_a_folder_without_a_case_file_is_reported(tmp_path):
    write(tmp_path / "notes.txt", 1)

    assert refusal(tmp_path).startswith(": this is a directory without a case file; files are read that end in .jsonl")


def test_a_glob_yields_its_matches_in_order(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt", "sub/d.jsonl"):
        write(tmp_path / name, name)

    assert ["a.jsonl", "b.jsonl"] == values(f"{tmp_path}/*.jsonl")
    assert ["a.jsonl", "b.jsonl", "sub/d.jsonl"] == values(f"{tmp_path}/*")
    assert ["a.jsonl", "b.jsonl", "sub/d.jsonl"] == values(f"{tmp_path}/**/*.jsonl")
    assert ["c.txt"] == values(f"{tmp_path}/?.txt")


def test_a_glob_without_a_match_is_reported(tmp_path):
    assert refusal(f"{tmp_path}/*.jsonl").startswith(": no file matches; files are read that end in .jsonl")


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path):
    write(tmp_path / "case[1].jsonl", "itself")
    write(tmp_path / "case1.jsonl", "matched")

    assert ["itself"] == values(tmp_path / "case[1].jsonl")


def test_a_file_that_does_not_exist_is_reported(tmp_path):
    assert refusal(tmp_path / "cases.jsonl") == ": there is no such file"


def test_records_are_read_from_beside_the_file_in_a_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "gate.jsonl.txt").write_text('{"verdict": "fail"}\n')
    case = {"question": "q", "response": "r", "security_gate_uri": "gate.jsonl.txt"}
    (tmp_path / "sub" / "cases.jsonl").write_text(json.dumps(case))

    (read,) = read_cases([tmp_path])

    assert ("sub-cases-1", ["fail"]) == (read.case_id, [record.verdict for record in read.security_gate_records])


def test_a_saved_data_set_is_read_in_the_order_of_its_state(tmp_path):
    saved(tmp_path / "one", [1, 2], [], [3])

    found = rows(tmp_path / "one")

    assert [{"n": 1}, {"n": 2}, {"n": 3}] == [row.data for row in found]
    assert f"{tmp_path}/one/data-00002-of-00003.arrow: row 1" == found[-1].place


def test_a_saved_data_set_of_several_splits_needs_the_option_split(tmp_path):
    saved(tmp_path / "all" / "train", [1])
    saved(tmp_path / "all" / "test", [2])
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')

    assert [2] == values(tmp_path / "all", split="test")
    assert refusal(tmp_path / "all") == (
        ": contains several splits (train, test); choose one with --split, or name the files"
    )
    assert refusal(tmp_path / "all", "dev") == ": --split dev: no such split; the splits there are train, test"


def test_the_only_split_of_a_saved_data_set_need_not_be_named(tmp_path):
    saved(tmp_path / "all" / "train", [1])
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["train"]}')

    assert [1] == values(tmp_path / "all") == values(tmp_path / "all", split="train")


def test_a_split_of_one_saved_data_set_is_refused(tmp_path):
    saved(tmp_path / "one", [1])

    assert refusal(tmp_path / "one", "train") == ": --split train: this folder is one split; leave --split out"


def test_a_missing_file_of_a_saved_data_set_is_named(tmp_path):
    saved(tmp_path / "one", [1], [2], [3])
    (tmp_path / "one" / "data-00001-of-00003.arrow").unlink()

    assert refusal(tmp_path / "one") == ": 1 of 3 files are missing: data-00001-of-00003.arrow; fetch them"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("state.json", "{", "state.json: cannot be read: not JSON"),
        ("state.json", "[]", "state.json: must be a JSON object"),
        ("state.json", "{}", "state.json names no files"),
        ("state.json", '{"_data_files": [{"filename": "../secret"}]}', "'../secret' is no name of a file"),
        ("state.json", '{"_data_files": [], "_indices_data_files": [1]}', "selects rows by a file of indices"),
        ("dataset_dict.json", '{"splits": ["/etc"]}', "'/etc' is no name of a file"),
        ("dataset_dict.json", '{"splits": "train"}', "must be a list of names"),
        ("dataset_dict.json", '{"splits": []}', "names no split"),
        ("dataset_dict.json", '{"splits": ["train"]}', "the split train has no state.json"),
    ],
)
def test_a_damaged_state_is_reported(tmp_path, name, content, says):
    (tmp_path / name).write_text(content)

    assert says in refusal(tmp_path)


@pytest.mark.parametrize(
    ("names", "split"),
    [
        (["data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"], "test"),
        (["train.parquet", "test.parquet"], "test"),
        (["agents_train.parquet", "agents_test.parquet"], "test"),
        (["train/a.parquet", "test/a.parquet"], "test"),
        (["data/first.half-00000-of-00001.parquet", "data/second-00000-of-00001.parquet"], "second"),
        (["train/data-00000-of-00001.parquet", "dev/data-00000-of-00001.parquet"], "dev"),
    ],
)
def test_a_split_is_detected_by_the_name_of_file_or_folder(tmp_path, names, split):
    for number, name in enumerate(names, start=1):
        parquet(tmp_path / name, number)

    assert [2] == values(tmp_path, split=split)
    assert refusal(tmp_path).startswith(": contains several splits (")


def test_shards_of_a_split_are_read_together(tmp_path):
    for index in range(3):
        parquet(tmp_path / "data" / f"train-{index:05}-of-00003.parquet", index)

    assert [0, 1, 2] == values(tmp_path) == values(tmp_path, split="train")


def test_missing_shards_are_named(tmp_path):
    for index in (0, 3):
        parquet(tmp_path / "data" / f"train-{index:05}-of-00004.parquet", index)

    assert refusal(tmp_path) == (
        ": 2 of 4 shards are there; missing: data/train-00001-of-00004.parquet, data/train-00002-of-00004.parquet; "
        "fetch them"
    )


def test_missing_shards_of_another_split_are_ignored(tmp_path):
    parquet(tmp_path / "train-00000-of-00009.parquet", 1)
    parquet(tmp_path / "test-00000-of-00001.parquet", 2)

    assert [2] == values(tmp_path, split="test")


def test_an_absurd_number_of_shards_is_reported_in_short(tmp_path):
    parquet(tmp_path / "train-000000000-of-999999999.parquet", 1)

    message = refusal(tmp_path)

    assert message.startswith(": 1 of 999999999 shards are there; missing: train-000000001-of-999999999.parquet, ")
    assert message.endswith(" and 999999993 more; fetch them")


def test_a_folder_without_splits_refuses_one(tmp_path):
    write(tmp_path / "cases.jsonl", 1)

    assert refusal(tmp_path, "test") == (
        ": --split test: no such split; no file's name contains a split; leave --split out"
    )
    assert refusal(tmp_path / "cases.jsonl", "test") == (
        ": --split test: this is one file, and its name contains no such split"
    )


def test_a_pipe_in_a_folder_is_refused(tmp_path):
    os.mkfifo(tmp_path / "x.jsonl")

    assert "a pipe or device, and no file" in refusal(tmp_path)
