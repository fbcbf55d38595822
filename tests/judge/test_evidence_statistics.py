"""Statistics of what recorded debates quote, from their ballots; no event is read for them."""

from collections.abc import Iterator
from typing import Any

import pytest

from jury_analysis import EVIDENCE, SCHEMA, STATISTICS_COLUMNS, Statistics
from jury_judge import Records, stored_ballots
from jury_store import EventStore, open_store
from support.debate_harness import SEATS, DebateHarness, a_panel
from support.quoting_debates import ABSENT, CLAUDE, EXACT, GEMINI, GPT, SPACED, a_quoting_debate, quoting
from support.stored_debates import store_debate


@pytest.fixture
def store(sqlite_url: str) -> Iterator[EventStore]:
    opened = open_store(sqlite_url, write=True)
    yield opened
    opened.close()


async def of_store(url: str) -> Statistics:
    async with Records(url) as records:
        return await records.stats()


async def test_results_by_seat(store: EventStore, sqlite_url: str) -> None:
    for number in range(12):
        store_debate(store, a_quoting_debate(), f"c{number}")

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.quotations is not None
    by_seat = {one.seat: one for one in panel.quotations.seats}
    assert (24, 12) == (by_seat[GPT].quotations, by_seat[GPT].evaluations)
    assert [0.5, 0.5, 0.0, 0.0] == [
        share.value for one in [by_seat[GPT]] for share in (one.verified, one.normalised, one.elsewhere, one.not_found)
    ]
    assert (1.0, 0.0) == (by_seat[CLAUDE].not_found.value, by_seat[GPT].unsupported.value)
    assert (12, 1.0) == (by_seat[CLAUDE].failing, by_seat[CLAUDE].unsupported.value)
    assert "no failing verdict was asked for evidence" == by_seat[GEMINI].unsupported.reason
    assert (48, 0.5) == (panel.quotations.all.quotations, panel.quotations.all.verified.value)
    assert (24, 0.5) == (panel.quotations.all.failing, panel.quotations.all.unsupported.value)


async def test_agreement_on_the_decisive_item(store: EventStore, sqlite_url: str) -> None:
    store_debate(store, a_quoting_debate(), "c1")

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.items is not None
    assert (1.0, 1) == (panel.items.raw.value, panel.items.raw.n)
    assert [(GPT, CLAUDE)] == [tuple(sorted(one.seats, reverse=True)) for one in panel.items.pairs]
    assert (1.0, 1) == (panel.items.corrected.value, panel.items.corrected.n)


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


async def test_the_interval_is_over_clusters(store: EventStore, sqlite_url: str) -> None:
    for number in range(12):
        quoted = quoting(EXACT) if number % 2 else quoting(ABSENT, SPACED, SPACED)
        panel = a_panel(*SEATS, prompts=2, preset="independent")
        store_debate(store, DebateHarness(panel, lambda *_, q=quoted: q, prompts=2).run(), f"c{number}")

    (found,) = (await of_store(sqlite_url)).panels

    assert found.quotations is not None
    share = found.quotations.all.verified
    assert (0.25, 72) == (share.value, share.n)
    assert share.interval is not None
    assert ("clustered t", 12) == (share.interval.method, share.interval.clusters)


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
    store_debate(store, a_quoting_debate(prompts=1), "c2", run_id="r0")
    for name in ("read_stream", "read_streams", "first_events", "histories"):
        monkeypatch.setattr(store, name, None)

    found = stored_ballots(store, columns=("seat", "verified", "not_found")).to_pydict()

    assert [GPT, CLAUDE, GEMINI] * 2 == found["seat"]
    assert [1, 0, 1, None, None, None] == found["verified"]
    assert [0, 1, 0, None, None, None] == found["not_found"]


async def test_runs_with_and_without_evidence_are_counted_together(store: EventStore, sqlite_url: str) -> None:
    store_debate(store, a_quoting_debate(), "new")
    store_debate(store, a_quoting_debate(prompts=1), "old", run_id="r0")
    store_debate(store, a_quoting_debate(), "alone", run_id=None)

    (panel,) = (await of_store(sqlite_url)).panels

    assert panel.quotations is not None
    assert (3, 2) == (panel.debates, panel.quotations.seats[0].evaluations)


def test_other_reports_read_the_ballots_as_they_are(store: EventStore) -> None:
    store_debate(store, a_quoting_debate(), "c1")

    assert SCHEMA.names == stored_ballots(store).column_names
