"""The table of evidence: a row an entry, as it is recorded."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jury_judge import export_tables
from jury_replay import DebateSelection
from jury_store import MemoryEventStore
from support.debate_builder import DebateBuilder
from support.evidence_debate import EvidenceDebate
from support.located_debates import a_located_case, a_located_debate
from support.pages import stored
from support.stored_debates import store_debate


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
        "decisive_message": None,
    }


def test_the_decisive_message_is_beside_the_decisive_item(tmp_path: Path) -> None:
    quoting = a_located_debate(a_located_case(), (2, 3, None), quote="I look")
    store = MemoryEventStore()
    store_debate(store, quoting, "c1")

    export_tables(store, DebateSelection(), tmp_path)

    found = pq.read_table(tmp_path / "evidence.parquet").to_pylist()
    assert [("gpt", 2, 1), ("claude", 3, 1), ("gemini", None, None)] == [
        (one["seat"], one["decisive_item"], one["decisive_message"]) for one in found
    ]


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
