"""Statistics of the messages that recorded debates name: their items are read as messages of the source."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import STATISTICS_COLUMNS, PanelStatistics
from jury_judge import Records, stored_ballots
from jury_migrations import upgrade
from jury_replay import ErasureOrder, erase
from jury_store import EventStore, open_store
from support.located_debates import POLICY, a_located_case, a_located_debate, a_located_scenario
from support.stored_debates import store_debate


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(found)
    return found


@pytest.fixture
def store(url: str) -> Iterator[EventStore]:
    opened = open_store(url, write=True)
    yield opened
    opened.close()


async def statistics_of(url: str) -> PanelStatistics:
    async with Records(url) as records:
        (panel,) = (await records.stats()).panels
    return panel


def columns(store: EventStore, *names: str) -> list[Any]:
    """The values of the first evaluations, row by row; of one column plain."""
    table = stored_ballots(store, columns=STATISTICS_COLUMNS).select(names)
    return table[names[0]].to_pylist() if len(names) == 1 else list(zip(*table.to_pydict().values(), strict=True))


async def test_two_items_of_a_message_are_one_message(store: EventStore, url: str) -> None:
    store_debate(store, a_located_debate(a_located_case(), (2, 3, None)), "c1")

    panel = await statistics_of(url)

    assert (panel.messages is None, panel.items is None) == (False, False)
    assert (1.0, 1.0) == (panel.messages.raw.value, panel.messages.corrected.value)  # type: ignore[union-attr]
    assert (0.0, -0.25) == (panel.items.raw.value, panel.items.corrected.value)  # type: ignore[union-attr]  (1 of 5)


async def test_against_labels(store: EventStore, url: str) -> None:
    for number in range(12):
        fault = a_located_case(decisive_message=1, outcome_correct=number % 3 == 0)
        store_debate(store, a_located_debate(fault, (2, 5, None)), f"c{number}")
    for number in range(10):
        sound = a_located_case(label="safe_pass")
        store_debate(store, a_located_debate(sound, (1, None, None)), f"s{number}")

    found = (await statistics_of(url)).faults

    assert found is not None
    assert (12, 4, 8, 10, 12) == (found.faults, found.silent, found.loud, found.sound, found.messages)
    first, second, third = (
        next(one for one in found.seats if one.seat == name) for name in ("gpt", "claude", "gemini")
    )
    assert [(1.0, 12), (1.0, 4), (1.0, 10), (1.0, 12), (1.0, 12)] == [
        (share.value, share.n)
        for share in (
            first.found,
            first.silent_found,
            first.false_alarms,
            first.message_exact,
            first.message_within_one,
        )
    ]
    assert (0.0, 0.0, 0.0) == (second.message_exact.value, second.message_within_one.value, second.false_alarms.value)
    assert (0.0, None) == (third.found.value, third.message_exact.value)
    assert (1.0, 0.0) == (found.panel.found.value, found.panel.false_alarms.value)
    assert found.panel.silent_found.interval is None
    assert found.panel.found.interval is not None
    assert ("wilson", 12) == (found.panel.found.interval.method, found.panel.found.interval.clusters)


def test_items_as_messages(store: EventStore) -> None:
    store_debate(store, a_located_debate(a_located_case(), (4, 1, None)), "c1")

    found = columns(store, "seat", "decisive_item", "decisive_message", "item_count", "message_count")

    assert [("gpt", 4, 2, 5, 4), ("claude", 1, 0, 5, 4), ("gemini", None, None, 5, 4)] == found


def test_the_operators_policy_moves_the_numbers(store: EventStore) -> None:
    case = a_located_case(a_located_scenario(policy=POLICY))
    store_debate(store, a_located_debate(case, (1, 2, 5), operator_policy=POLICY), "before")
    store_debate(store, a_located_debate(case, (1, 2, 5)), "within")

    assert [(1, None, 6), (2, 0, 6), (5, 2, 6)] * 2 == columns(store, "decisive_item", "decisive_message", "item_count")


@pytest.mark.parametrize(("mode", "items"), [("summary", 6), ("inline", 5)])
def test_the_summary_of_records_is_an_item(store: EventStore, mode: str, items: int) -> None:
    case = a_located_case(records=2)
    store_debate(store, a_located_debate(case, (5, None, None), {"artifacts": {"mode": mode}}), "c1")

    assert [items] * 3 == columns(store, "item_count")


def test_labels_name_no_message_of_a_case_with_several_scenarios(store: EventStore) -> None:
    several = a_located_case(a_located_scenario("a"), a_located_scenario("b"), decisive_message=1)
    store_debate(store, a_located_debate(several, (3, 8, 8)), "several")
    store_debate(store, a_located_debate(a_located_case(decisive_message=1), (3, 3, 3)), "alone")

    found = columns(store, "decisive_item", "decisive_message", "message_count", "label_message")

    assert [*[(3, 1, 4, 1)] * 3, (3, 1, 8, None), (8, 5, 8, None), (8, 5, 8, None)] == found


def test_of_an_erased_case_no_message_is_known(store: EventStore) -> None:
    store_debate(store, a_located_debate(a_located_case(), (2, 3, None)), "c1")
    erase(store, "c1", ErasureOrder("dpo@example.com", "request 17"), now=9)

    table = stored_ballots(store, columns=STATISTICS_COLUMNS)

    assert [2, 3, None] == table["decisive_item"].to_pylist()
    assert not {"decisive_message", "message_count"} & set(table.column_names)


def test_cases_are_read_where_an_item_is_named(store: EventStore) -> None:
    for name, items in (("a", (None, None, None)), ("b", (2, None, None)), ("c", (None, None, 3))):
        store_debate(store, a_located_debate(a_located_case(), items), name)
    read: list[str] = []
    parts = store.named_parts

    def reading(wanted: Mapping[str, Collection[bytes]]) -> Any:
        read.extend(wanted)
        return parts(wanted)

    store.named_parts = reading  # type: ignore[method-assign]

    stored_ballots(store, columns=STATISTICS_COLUMNS)

    assert ["b", "c"] == read


def test_labels_of_debates_that_name_nothing_are_there_too(store: EventStore) -> None:
    case = a_located_case(decisive_message=3, outcome_correct=True)
    store_debate(store, a_located_debate(case, (2, None, None), {"answers": {"evidence": "off"}}), "c1")

    table = stored_ballots(store, columns=STATISTICS_COLUMNS)

    assert ({3}, {True}) == (set(table["label_message"].to_pylist()), set(table["outcome_correct"].to_pylist()))
    assert pa.int32() == table.schema.field("label_message").type
