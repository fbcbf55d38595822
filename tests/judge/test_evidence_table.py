"""The table of evidence: a row an entry, as it is recorded."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jury_judge.tables.table_export import export_tables
from jury_replay.selection import DebateSelection
from support.debate_builder import DebateBuilder
from support.evidence_debate import EvidenceDebate
from support.pages import stored


def rows(folder: Path, *debates: EvidenceDebate | DebateBuilder, texts: bool = False) -> list[dict[str, object]]:
    export_tables(stored(*debates), DebateSelection(), folder, texts=texts)  # type: ignore[arg-type]
    found: list[dict[str, object]] = pq.read_table(folder / "evidence.parquet").to_pylist()
    return found


def test_each_entry_is_a_row_in_the_order_of_the_record(tmp_path: Path) -> None:
    found = rows(tmp_path, EvidenceDebate())

    assert [
        ("initial/gpt", 1, 5, "verified", True),
        ("initial/gpt", 2, 4, "normalised", False),
        ("initial/gpt", 3, 7, "elsewhere", False),
        ("initial/gpt", 4, 6, "not_found", False),
        ("initial/claude", 1, 3, "verified", True),
    ] == [(one["step"], one["entry"], one["item"], one["result"], one["decisive"]) for one in found[:5]]
    assert found[2] == {
        "debate_id": "d1",
        "step": "initial/gpt",
        "role": "juror",
        "seat": "gpt",
        "entry": 3,
        "item": 7,
        "says": "context",
        "result": "elsewhere",
        "decisive": False,
        "unsupported": False,
        "round": 0,
        "criterion": None,
        "cited_seat": None,
        "found_in": 3,
        "start": 29,
        "end": 43,
        "decisive_item": 5,
    }


def test_a_quoted_seat_is_no_item_that_is_decisive(tmp_path: Path) -> None:
    judge = [one for one in rows(tmp_path, EvidenceDebate()) if one["role"] == "judge"]

    assert [("judge", None, "gpt", False, None), ("judge", None, None, True, 5)] == [
        (one["seat"], one["round"], one["cited_seat"], one["decisive"], one["found_in"]) for one in judge
    ]


@pytest.mark.parametrize("erased", [False, True])
def test_quotations_are_written_with_the_texts_and_null_where_they_were_erased(tmp_path: Path, *, erased: bool) -> None:
    debate = EvidenceDebate()

    found = rows(tmp_path, debate.without_quotes(recorded=True) if erased else debate, texts=True)

    assert (None if erased else "without asking") == found[0]["quote"]


def test_debates_whose_jurors_were_not_asked_have_no_rows(tmp_path: Path) -> None:
    assert [] == rows(tmp_path, DebateBuilder().phase_1().round_1().judged())
