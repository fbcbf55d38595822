"""Statistics of what recorded debates quote, from their ballots; no event is read for them."""

from collections.abc import Iterator
from typing import Any

import pytest

from jury_analysis import EVIDENCE, SCHEMA, STATISTICS_COLUMNS, Statistics
from jury_judge import Records, stored_ballots
from jury_store import EventStore, open_store
from support.quoting_debates import CLAUDE, GEMINI, GPT, a_quoting_debate
from support.stored_debates import store_debate


@pytest.fixture
def store(sqlite_url: str) -> Iterator[EventStore]:
    opened = open_store(sqlite_url, write=True)
    yield opened
    opened.close()


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


async def test_statements_and_the_final_judge_quote_too(store: EventStore, sqlite_url: str) -> None:
    discussed = a_quoting_debate(preset="parallel-rounds", final={"method": "final_judge"})
    store_debate(store, discussed, "c1")
    rounds = 1 + max(asked.step.round or 0 for asked in discussed.asked)

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.quotations is not None
    assert panel.quotations.judge is not None
    assert rounds > 1
    assert [rounds] * 3 == [one.evaluations for one in panel.quotations.seats]
    assert (2, 0.5) == (panel.quotations.judge.quotations, panel.quotations.judge.verified.value)


@pytest.mark.parametrize("spec", [{"prompts": 1}, {"answers": {"evidence": "off"}}])
async def test_where_nothing_was_asked_there_are_no_columns(
    store: EventStore, sqlite_url: str, spec: dict[str, Any]
) -> None:
    store_debate(store, a_quoting_debate(**spec), "c1")

    ballots = stored_ballots(store, columns=STATISTICS_COLUMNS)
    (panel,) = (await of_store(sqlite_url)).panels

    assert not set(EVIDENCE.names) & set(ballots.column_names)
    assert (None, None) == (panel.quotations, panel.items)


def test_no_event_is_read_for_counts(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store_debate(store, a_quoting_debate(), "c1")
    store_debate(store, a_quoting_debate(), "c2", run_id="r0")
    for name in ("read_stream", "read_streams", "first_events", "histories"):
        monkeypatch.setattr(store, name, None)

    found = stored_ballots(store, columns=("seat", "verified", "not_found")).to_pydict()

    assert [GPT, CLAUDE, GEMINI] * 2 == found["seat"]
    assert [1, 0, 1, None, None, None] == found["verified"]
    assert [0, 1, 0, None, None, None] == found["not_found"]


async def test_runs_with_and_without_evidence_are_counted_together(store: EventStore, sqlite_url: str) -> None:
    store_debate(store, a_quoting_debate(), "new")
    store_debate(store, a_quoting_debate(), "old", run_id="r0")
    store_debate(store, a_quoting_debate(), "alone", run_id=None)

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.quotations is not None
    assert (3, 2) == (panel.debates, panel.quotations.seats[0].evaluations)


def test_other_reports_read_the_ballots_as_they_are(store: EventStore) -> None:
    store_debate(store, a_quoting_debate(), "c1")

    assert SCHEMA.names == stored_ballots(store).column_names
