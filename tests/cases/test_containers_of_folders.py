"""Folders, globs and data sets in many files are read whole and in order, or reported as incomplete."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_cases import CaseFileError, FileRow, RowSelection, read_rows
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


def splits(folder: Path, *names: str) -> None:
    """A folder as `DatasetDict.save_to_disk` leaves it; the rows of a split are its place among them."""
    for number, name in enumerate(names, 1):
        saved(folder / name, [number])
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": names}))


def rows(*paths: Path | str, split: str | None = None) -> list[FileRow]:
    return list(read_rows(paths, RowSelection(split=split)))


def values(*paths: Path | str, split: str | None = None) -> list[Any]:
    return [row.data["n"] for row in rows(*paths, split=split) if isinstance(row.data, dict)]


def test_a_folder_yields_the_files_of_known_extensions_in_the_order_of_their_paths(tmp_path):
    write(tmp_path / "b.jsonl", 2)
    write(tmp_path / "a" / "z.ndjson", 3)
    (tmp_path / "a" / "c.csv.gz").write_bytes(gzipped(b"n,m\n4,5\n"))
    parquet(tmp_path / "c.parquet", 5, 6)
    for name in (".hidden.jsonl", ".git/x.jsonl", "README.md", "dataset_info.json"):
        write(tmp_path / name, 7)

    assert [2, 5, 6, "4", 3] == values(tmp_path)


def test_a_glob_yields_its_matches_in_order_and_a_file_of_that_name_itself(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt", "sub/d.jsonl", "case[1].csv", "case1.csv"):
        write(tmp_path / name, name)

    assert ["a.jsonl", "b.jsonl"] == values(f"{tmp_path}/*.jsonl")
    assert ["a.jsonl", "b.jsonl", "sub/d.jsonl"] == values(f"{tmp_path}/**/*.jsonl")
    assert ["a.jsonl", "b.jsonl", "sub/d.jsonl"] == values(f"{tmp_path}/[a-bs]*")
    assert ["c.txt"] == values(f"{tmp_path}/?.txt")
    assert ["case[1].csv"] == values(tmp_path / "case[1].csv")


def test_a_saved_data_set_is_read_in_the_order_of_its_state(tmp_path):
    saved(tmp_path / "one", [1, 2], [], [3])

    found = rows(tmp_path / "one")

    assert [{"n": 1}, {"n": 2}, {"n": 3}] == [row.data for row in found]
    assert f"{tmp_path}/one/data-00002-of-00003.arrow: row 1" == found[-1].place


def test_a_split_of_a_saved_data_set_is_chosen_by_name_where_there_are_several(tmp_path):
    splits(tmp_path / "all", "train", "test")
    splits(tmp_path / "single", "train")

    assert [2] == values(tmp_path / "all", split="test")
    assert [1] == values(tmp_path / "single") == values(tmp_path / "single", split="train")


@pytest.mark.parametrize(
    ("names", "split"),
    [
        (["data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"], "test"),
        (["train.parquet", "test.parquet"], "test"),
        (["agents_train.parquet", "agents_test.parquet"], "test"),
        (["train/a.parquet", "test/a.parquet"], "test"),
        (["data/first.half-00000-of-00001.parquet", "data/second-00000-of-00001.parquet"], "second"),
        (["train/data-00000-of-00001.parquet", "dev/data-00000-of-00001.parquet"], "dev"),
        (["train-00000-of-00009.parquet", "test-00000-of-00001.parquet"], "test"),
    ],
)
def test_a_split_is_detected_by_the_name_of_file_or_folder(tmp_path, names, split):
    for number, name in enumerate(names, start=1):
        parquet(tmp_path / name, number)

    assert [2] == values(tmp_path, split=split)
    with pytest.raises(CaseFileError, match=": contains several splits "):
        rows(tmp_path)


def without_a_shard(folder: Path) -> None:
    saved(folder, [1], [2], [3])
    (folder / "data-00001-of-00003.arrow").unlink()


def shards(*names: str) -> Callable[[Path], None]:
    def write_them(folder: Path) -> None:
        for name in names:
            parquet(folder / name, 1)

    return write_them


def with_state(name: str, content: str) -> Callable[[Path], None]:
    def write_it(folder: Path) -> None:
        folder.mkdir()
        (folder / name).write_text(content)

    return write_it


FOLDERS: dict[str, tuple[Callable[[Path], object], str | None]] = {
    "no case file": (lambda folder: write(folder / "notes.txt", 1), None),
    "several splits": (lambda folder: splits(folder, "train", "test"), None),
    "no such split": (lambda folder: splits(folder, "train", "test"), "dev"),
    "split of one data set": (lambda folder: saved(folder, [1]), "train"),
    "split where no name has one": (lambda folder: write(folder / "cases.jsonl", 1), "test"),
    "missing file of a data set": (without_a_shard, None),
    "missing shards": (shards("data/train-00000-of-00004.parquet", "data/train-00003-of-00004.parquet"), None),
    "absurd number of shards": (shards("train-000000000-of-999999999.parquet"), None),
    "state that is cut off": (with_state("state.json", "{"), None),
    "state that is a list": (with_state("state.json", "[]"), None),
    "state without files": (with_state("state.json", "{}"), None),
    "state with a path": (with_state("state.json", '{"_data_files": [{"filename": "../secret"}]}'), None),
    "state with indices": (with_state("state.json", '{"_data_files": [], "_indices_data_files": [1]}'), None),
    "split that is a path": (with_state("dataset_dict.json", '{"splits": ["/etc"]}'), None),
    "text as splits": (with_state("dataset_dict.json", '{"splits": "train"}'), None),
    "no split": (with_state("dataset_dict.json", '{"splits": []}'), None),
    "split without a folder": (with_state("dataset_dict.json", '{"splits": ["train"]}'), None),
}


def test_an_incomplete_folder_is_refused_with_what_is_missing(refusals, tmp_path):
    for name, (make, _) in FOLDERS.items():
        make(tmp_path / name)
    asked = {name: (tmp_path / name, split) for name, (_, split) in FOLDERS.items()}
    asked["glob without a match"] = (tmp_path / "*.parquet", None)
    asked["split of a file"] = (tmp_path / "split where no name has one" / "cases.jsonl", "test")

    refusals.check("folders", asked, lambda one: rows(one[0], split=one[1]), CaseFileError)
