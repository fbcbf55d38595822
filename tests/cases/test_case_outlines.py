"""Cases are named without being built, where their ids are all that is needed."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from jury_cases import FORMATS as case_formats
from jury_cases import CaseFileError, CaseFiles, CaseOptions, Skip, format_of
from jury_events import Case
from support.foreign_rows import FORMATS, whole_row

FIRST, MOST = 64, 1024
"""So many ids are looked up at once, at first and later."""

ANSWERED = {"question": "Open?", "response": "Yes."}
ROWS: dict[str, Any] = {
    **{name: whole_row(name) for name in FORMATS if isinstance(whole_row(name), dict)},
    "own": {"case_id": "a", **ANSWERED},
    "number": {"id": 17, **ANSWERED},
    "no id": ANSWERED,
}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def skipping(*chosen: str, asked: list[str] | None = None) -> Skip:
    def skip(case_ids: Sequence[str]) -> frozenset[str]:
        if asked is not None:
            asked.extend(case_ids)
        return frozenset(chosen)

    return skip


def named(found: Case | str) -> str:
    return found if isinstance(found, str) else f"built {found.case_id}"


@pytest.mark.parametrize("fields", [{}, {"case_id": "key"}, {"case_id": ""}], ids=["", "column", "none"])
def test_the_id_without_the_case_is_the_id_of_the_case(tmp_path, subtests, fields):
    for form, row in ROWS.items():
        if fields and case_formats[format_of(row, None).name].gather:
            continue  # what is gathered of several rows has no columns
        with subtests.test(form):
            files = CaseFiles([written(tmp_path, {**row, "key": "k"})], CaseOptions(fields=fields))
            (case,) = files
            asked: list[str] = []

            assert [case.case_id] == list(files.outline(skipping(case.case_id, asked=asked)))
            assert [case.case_id] == asked
            assert [case] == list(files.outline(skipping()))


def test_a_row_that_is_passed_is_not_read_further_and_a_fault_comes_in_its_place(tmp_path):
    bad = {"case_id": "bad", "question": 7, "response": "Yes."}
    files = CaseFiles([written(tmp_path, {"case_id": "a", **ANSWERED}, bad, {"case_id": "b", **ANSWERED})])

    assert ["built a", "bad", "built b"] == [named(one) for one in files.outline(skipping("bad"))]
    found = files.outline(skipping("b"))
    assert "built a" == named(next(found))
    with pytest.raises(CaseFileError, match=r"cases\.jsonl:2: "):
        next(found)


def test_an_id_that_comes_twice_is_refused_after_the_rows_between_though_no_case_is_built(tmp_path):
    rows = [{"case_id": name, **ANSWERED} for name in ("a", "b", "c", "b", "d")]
    found = CaseFiles([written(tmp_path, *rows)], CaseOptions(case_ids=("[bc]",))).outline(skipping("a", "b", "c", "d"))

    assert ["b", "c"] == [next(found), next(found)]
    with pytest.raises(CaseFileError, match="case id 'b' is on lines 2 and 4"):
        next(found)


def test_few_rows_are_looked_up_at_once_at_first_and_later_more_but_never_all(tmp_path):
    asked: list[int] = []

    def skip(case_ids: Sequence[str]) -> Sequence[str]:
        asked.append(len(case_ids))
        return case_ids

    rows = [{"case_id": f"c{number}", **ANSWERED} for number in range(4 * MOST)]
    found = CaseFiles([written(tmp_path, *rows)]).outline(skip)

    assert "c0" == next(found)
    assert [FIRST] == asked
    assert [row["case_id"] for row in rows[1:]] == list(found)
    assert [FIRST, 2 * FIRST] == asked[:2]
    assert MOST == max(asked)


def test_rows_of_megabytes_are_not_read_ahead_together(tmp_path):
    rows = [{"case_id": f"c{number}", "question": "Open?", "response": "x" * 3_000_000} for number in range(4)]
    asked: list[str] = []

    next(CaseFiles([written(tmp_path, *rows)]).outline(skipping("c0", asked=asked)))

    assert ["c0", "c1"] == asked


SELECTIONS = ({"where": ("metadata.level=2",)}, {"case_ids": ("*2",)}, {"sample": 2, "seed": 3}, {"limit": 3})


@pytest.mark.parametrize("options", SELECTIONS)
def test_a_selection_chooses_the_same_cases_whether_they_are_built_or_not(tmp_path, options):
    rows = [{"case_id": f"c{number}", **ANSWERED, "metadata": {"level": number % 4}} for number in range(40)]
    files = CaseFiles([written(tmp_path, *rows)], CaseOptions(**options))
    first, *others = [case.case_id for case in files]

    assert others
    assert [first, *others] == list(files.outline(skipping(first, *others)))
    assert [f"built {first}", *others] == [named(one) for one in files.outline(skipping(*others))]


@pytest.mark.full
def test_standard_input_is_read_by_two_readers_at_once():
    rows = "".join(json.dumps({"case_id": f"c{number}", **ANSWERED}) + "\n" for number in range(2500))
    files = CaseFiles(["-"], stdin=BytesIO(rows.encode()))

    together = list(zip(files, files.outline(skipping()), strict=True))

    assert 2500 == len(together)
    assert all(one == other for one, other in together)
