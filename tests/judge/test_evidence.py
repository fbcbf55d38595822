"""Quotations and decisive items of recorded debates: in results, pages, tables and statistics."""

from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len
from rich.console import Console

from jury_analysis import MixedPanels, Statistics
from jury_judge import Records, export_tables, stored_ballots
from jury_replay import DebateSelection
from jury_store import EventStore, MemoryEventStore
from jury_views import (
    collaborative_result,
    evaluations_of,
    evidence_data,
    evidence_page,
    line_of,
)
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.each_row import each_row
from support.evidence_debate import EvidenceDebate, all_saying, quoting
from support.evidence_lists import store_quoting_debates
from support.located_debates import a_located_case, a_located_debate
from support.pages import stored
from support.quoting_debates import CLAUDE, GEMINI, GPT, a_quoting_debate
from support.refusals import RefusalTables
from support.stored_debates import store_debate


def test_every_evaluation_has_its_quotations_with_their_results() -> None:
    debate = EvidenceDebate()

    result = collaborative_result(debate.events, debate.texts)

    initial = result["phase1_evaluations"][0]
    spoken = result["discussion_rounds"][0]["statements"][0]["updated_evaluation"]
    assert [
        (5, "without asking", "verified", {"item": 5, "start": 20, "end": 34}),
        (4, "REFUNDED  48.00", "normalised", {"item": 4, "start": 0, "end": 14}),
        (7, "customer asked", "elsewhere", {"item": 3, "start": 29, "end": 43}),
        (6, "it never verified", "not_found", None),
    ] == [(one["item"], one["quote"], one["result"], one["span"]) for one in initial["evidence"]]
    assert ("for", "task_completion") == (initial["evidence"][1]["says"], initial["evidence"][1]["criterion"])
    assert (5, False) == (initial["decisive_item"], initial["unsupported"])
    assert initial["evidence"] == spoken["evidence"]
    judge = result["phase3_judgment"]["judge"]
    assert [(None, "gpt"), (5, None)] == [(one["span"]["item"], one["seat"]) for one in judge["evidence"]]


@each_row("content", [b"not JSON", b'["one too few"]', b"[1,2,3,4]", b"7", b"\xff", None])
def test_quotations_that_cannot_be_read_have_no_text_but_their_results(content: bytes | None) -> None:
    debate = EvidenceDebate()
    quotes = evaluations_of(debate.events)[0].evaluation.quotes
    assert quotes is not None
    texts = {ref: text for ref, text in debate.texts.items() if ref != quotes.part}

    result = collaborative_result(debate.events, texts if content is None else {**texts, quotes.part: content})

    evidence = result["phase1_evaluations"][0]["evidence"]
    assert [None] * 4 == [one["quote"] for one in evidence]
    assert ["verified", "normalised", "elsewhere", "not_found"] == [one["result"] for one in evidence]


UNASKED = {"evidence": "off"}
"""Of a panel: its seats are not asked for quotations."""

NAMES = ("verified", "normalised", "elsewhere", "not_found", "unsupported", "decisive")
COUNTS = {
    "agreeing": (2, 0, 0, 0, 0, "agree"),
    "split": (2, 1, 0, 1, 0, "disagree"),
    "alone": (2, 0, 1, 0, 1, "none"),
    "bare": (0, 0, 0, 0, 3, "none"),
    "unasked": None,
}


def test_a_line_of_a_run_counts_them_as_the_list_of_debates_does() -> None:
    store = MemoryEventStore()
    store_quoting_debates(store)

    lines = {history.debate_id: line_of(history)["evidence"] for history in store.histories(list(COUNTS))}
    listed = {row.debate_id: row.evidence for row in store.debates(limit=len(COUNTS))}

    assert COUNTS == {debate: line and tuple(line[name] for name in NAMES) for debate, line in lines.items()}
    assert COUNTS == {
        debate: facts and tuple(getattr(facts, name) for name in NAMES) for debate, facts in listed.items()
    }


def shown(debate: EvidenceDebate | DebateBuilder) -> list[str]:
    out = StringIO()
    evidence_page(debate.events, debate.texts).print(Console(file=out, width=80))
    return out.getvalue().splitlines()


def with_broken_quotations() -> EvidenceDebate:
    debate = EvidenceDebate()
    for ref in [ref for ref, content in debate.texts.items() if content.startswith(b'["')]:
        debate.texts[ref] = b"not JSON"
    return debate


def not_asked() -> DebateBuilder:
    debate = DebateBuilder()
    return debate.opened_as(panel=debate.panel.changed(answers=debate.panel.answers.changed(**UNASKED)))


def test_pages(printed: RefusalTables) -> None:
    unsupported, plain = Says("unsafe_fail", evidence=(quoting(5, "not there"),)), Says("safe_pass", 90.0)
    debates = {
        "every result of a quotation": EvidenceDebate(),
        "Japanese": EvidenceDebate(language="ja"),
        "no quotation stands": EvidenceDebate(all_saying(unsupported)),
        "no quotation and no decisive item": EvidenceDebate(all_saying(plain), plain),
        "erased": EvidenceDebate().without_quotes(recorded=True),
        "missing": EvidenceDebate().without_quotes(recorded=False),
        "unreadable": with_broken_quotations(),
        "not asked for quotations": not_asked().phase_1(),
    }

    printed.compare("evidence_pages", {name: "\n".join(shown(debate)) for name, debate in debates.items()})


@each_row("quote", ["A" * 200, "返金" * 100, "a\nb\tc" * 40, "\x1b[31m\u202e" * 20])
def test_long_and_hostile_quotations_are_one_line_of_80_columns(quote: str) -> None:
    page = shown(EvidenceDebate(all_saying(Says("unsafe_fail", evidence=(quoting(5, quote),)))))

    assert 80 >= max(map(cell_len, page))
    assert "\x1b" not in "".join(page)
    assert "\u202e" not in "".join(page)


def test_the_data_has_an_object_an_evaluation() -> None:
    debate = EvidenceDebate()

    first, *others = evidence_data(debate.events, debate.texts)

    steps = ["initial/claude", "initial/gemini", "round-1/gpt", "round-1/claude", "round-1/gemini", "final"]
    assert steps == [one["step"] for one in others]
    assert ("initial/gpt", "Juror A (Policy compliance: simulated)", "unsafe_fail", 5, False) == tuple(
        first[name] for name in ("step", "role_name", "verdict", "decisive_item", "unsupported")
    )
    assert "without asking" == first["evidence"][0]["quote"]
    assert [] == evidence_data(DebateBuilder().phase_1().events, {})


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


@pytest.mark.parametrize("erased", [False, True])
def test_quotations_are_written_with_the_texts_and_null_where_they_were_erased(tmp_path: Path, *, erased: bool) -> None:
    debate = EvidenceDebate()

    found = rows(tmp_path, debate.without_quotes(recorded=True) if erased else debate, texts=True)

    assert (None if erased else "without asking") == found[0]["quote"]


async def of_store(url: str) -> Statistics:
    async with Records(url) as records:
        return await records.stats()


async def test_results_by_seat_and_agreement_on_the_decisive_item(store: EventStore, sqlite_url: str) -> None:
    for number in range(12):
        store_debate(store, a_quoting_debate(), f"c{number}")

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.quotations is not None
    assert panel.items is not None
    seats, whole = {one.seat: one for one in panel.quotations.seats}, panel.quotations.all
    gpt, claude, gemini = seats[GPT], seats[CLAUDE], seats[GEMINI]
    assert (24, 12) == (gpt.quotations, gpt.evaluations)
    assert (0.5, 0.5) == (gpt.verified.value, gpt.normalised.value)
    assert (0.0, 0.0, 0.0) == (gpt.elsewhere.value, gpt.not_found.value, gpt.unsupported.value)
    assert (1.0, 12, 1.0) == (claude.not_found.value, claude.failing, claude.unsupported.value)
    assert "no failing verdict was asked for evidence" == gemini.unsupported.reason
    assert (48, 0.5, 24, 0.5) == (whole.quotations, whole.verified.value, whole.failing, whole.unsupported.value)
    assert (1.0, 12) == (panel.items.raw.value, panel.items.raw.n)
    assert [{GPT, CLAUDE}] == [set(one.seats) for one in panel.items.pairs]


def test_no_event_is_read_for_counts(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store_debate(store, a_quoting_debate(), "c1")
    store_debate(store, a_quoting_debate(answers=UNASKED), "c2", run_id="r0")
    for name in ("read_stream", "read_streams", "first_events", "histories"):
        monkeypatch.setattr(store, name, None)

    found = stored_ballots(store, columns=("seat", "verified", "not_found")).to_pydict()

    assert [GPT, CLAUDE, GEMINI] * 2 == found["seat"]
    assert [1, 0, 1, None, None, None] == found["verified"]
    assert [0, 1, 0, None, None, None] == found["not_found"]


async def test_a_panel_that_asks_for_quotations_is_another_one(store: EventStore, sqlite_url: str) -> None:
    store_debate(store, a_quoting_debate(), "asked")
    store_debate(store, a_quoting_debate(answers=UNASKED), "unasked", run_id="r0")

    with pytest.raises(MixedPanels, match="of 2 panels"):
        await of_store(sqlite_url)
