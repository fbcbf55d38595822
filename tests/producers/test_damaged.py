"""A damaged file of any tool is read, or refused in one line that names it; never another exception."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_cases import CaseFileError, CaseFiles, CaseOptions
from producers.damage import DAMAGES, damaged
from producers.law import ProducedFile, produced_files


def read_whole(files: CaseFiles) -> None:
    for case in files:
        case.to_part()


def read_ids(files: CaseFiles) -> None:
    """As a run reads the cases that it has done already."""
    for _ in files.outline(frozenset):
        pass


def end_of(read: Callable[[CaseFiles], None], files: CaseFiles, named: str) -> str | None:
    """What is wrong with how the reading ends; None: nothing."""
    try:
        read(files)
    except CaseFileError as error:
        said = str(error)
        if "\n" in said or len(said) > 2000:
            return f"not one line: {said[:200]!r}"
        if named not in said:
            return f"does not name the file: {said[:200]!r}"
    return None


@pytest.mark.parametrize("produced", produced_files(), ids=lambda one: one.name)
def test_a_damaged_file_ends_as_cases_or_in_one_line(produced: ProducedFile, tmp_path: Path) -> None:
    reading = {key: value for key, value in produced.entry["reading"].items() if value}
    options = CaseOptions(**reading)
    copy = tmp_path / produced.path.name
    if produced.path.is_dir():
        shutil.copytree(produced.path, copy)
        names = sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file())
    else:
        names = [""]

    @settings(max_examples=max(1, settings().max_examples // 15))  # each reads the file four times
    @given(name=st.sampled_from(names), damage=st.sampled_from(list(DAMAGES)), seed=st.integers(0, 2**32))
    def damaged_in_many_ways(name: str, damage: str, seed: int) -> None:
        content = (produced.path / name).read_bytes()
        (copy / name).write_bytes(damaged(content, damage, seed))
        wrong = [end_of(read, CaseFiles([copy], options), copy.name) for read in (read_whole, read_ids)]
        (copy / name).write_bytes(content)

        assert [None, None] == wrong

    damaged_in_many_ways()


LONG = "x" * 70_000
KEY_OF_AN_ID = re.compile(r'"((?:tool_?)?call_?Id|(?:trace|session|parent|span|run)_?Id|uuid)": ?"', re.IGNORECASE)


def test_a_long_id_is_refused_or_left_out_and_never_kept(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Of the first file of each producer, every kind of id is long once."""
    first = {one.folder: one for one in reversed(produced_files()) if one.path.suffix in {".json", ".jsonl"}}
    for produced in first.values():
        text = produced.path.read_text(encoding="utf-8")
        reading = CaseOptions(**{key: value for key, value in produced.entry["reading"].items() if value})
        copy = tmp_path / produced.path.name
        for key in sorted({*KEY_OF_AN_ID.findall(text), "id"}):
            with subtests.test(produced.name, key=key):
                copy.write_text(re.sub(rf'("{key}": ?")[^"]+', rf"\g<1>{LONG}", text, count=1), encoding="utf-8")

                assert None is end_of(read_short, CaseFiles([copy], reading), copy.name)


def read_short(files: CaseFiles) -> None:
    for case in files:
        assert LONG.encode() not in case.to_part()
        assert LONG not in json.dumps(case.metadata)
