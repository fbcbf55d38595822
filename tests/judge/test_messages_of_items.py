"""The messages that numbered items of recorded debates are of: as jurors were shown them, and as they are counted."""

from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from jury_analysis import STATISTICS_COLUMNS, PanelStatistics
from jury_debate import OPERATOR_POLICY, ItemMessages, line_sign
from jury_debate.rules_1.evidence import searched_items
from jury_events import (
    SCHEMAS,
    Case,
    DebateOpened,
    EvidenceSpan,
    ExecutionResult,
    Message,
    NotShown,
    QuestionSpec,
    Scenario,
    StoredEvent,
    Transcript,
    debate_stream,
    decode,
    with_provenance,
)
from jury_judge import CaseMessages, OpenedCase, Records, stored_ballots
from jury_replay import import_cassette, policy_of_piece, read_cassette
from jury_store import EventStore, MemoryEventStore
from jury_views import NumberedItems, numbered_items
from support.corpus import CORPUS
from support.debate_harness import SECRET, Says
from support.each_row import each_row
from support.evidence_debate import ITEMS, POLICY, EvidenceDebate, a_cited_case, all_saying
from support.located_debates import POLICY as LOCATED_POLICY
from support.located_debates import a_located_case, a_located_debate, a_located_scenario
from support.pictures import a_case_with_pictures
from support.stored_debates import store_debate

TEXTS = st.text(st.sampled_from("ab \t\r\n\u200b\u202e\u0645é🙂[3]#⟨⟩:"), min_size=3, max_size=30)
PASSES = all_saying(Says("safe_pass", 90.0))


def items_of(debate: EvidenceDebate) -> NumberedItems:
    found = numbered_items(debate.opened, debate.texts)
    assert found is not None
    return found


@each_row("language", ["en", "ja"])
@each_row("operator_policy", [None, POLICY])
def test_items_are_numbered_as_in_the_prompts(language: str, operator_policy: str | None) -> None:
    items = items_of(EvidenceDebate(language=language, operator_policy=operator_policy))

    found = [items.item(number) for number in range(1, 10)]
    assert [*ITEMS.items(), None] == [one and (one.number, one.text) for one in found]
    assert "policy" == (found[0] and found[0].kind)
    assert items.at(1, "transcript", 2) == found[3]
    assert items.at(None, "summary") == found[7]
    assert items.at(1, "question") is None


@given(TEXTS, TEXTS)
def test_a_span_of_what_a_seat_was_shown_is_the_same_characters_here(text: str, named: str) -> None:
    case = a_cited_case(Message(kind="speaker", origin="unknown", name="Ag\ten", text=f"{text}{named}"))
    debate = EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case)
    piece = next(one.text for one in debate.opened.pieces if one.name == "case")
    searched = searched_items(debate.texts[piece.part], None, line_sign(SECRET)).item(7)
    item = items_of(debate).item(7)
    assert searched is not None
    assert item is not None

    found = searched.exact(item.text)

    assert (0, len(item.text)) == found


def test_a_span_over_several_texts_of_an_item_is_placed_in_each() -> None:
    items = items_of(EvidenceDebate())

    placed = items.placed(EvidenceSpan(item=3, start=2, end=10))

    assert [(0, 2, 6), (1, 0, 3)] == [tuple(one) for one in placed]
    assert () == items.placed(EvidenceSpan(item=None, start=0, end=3))
    assert () == items.placed(EvidenceSpan(item=99, start=0, end=3))
    assert () == items.placed(EvidenceSpan(item=4, start=900, end=903))


def test_scenarios_are_numbered_through_and_items_without_a_text_have_none() -> None:
    def scenario(name: str) -> Scenario:
        items = (NotShown(origin="user", what="audio", size=3), Message(kind="assistant", origin="model", text="Done."))
        return Scenario(
            scenario_id=name,
            question=QuestionSpec(prompt="Listen."),
            execution=ExecutionResult(transcript=Transcript(items=items), response="Done."),
        )

    case = Case(case_id="c1", scenarios=(scenario("a"), scenario("b")))
    items = items_of(EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case))

    found = [items.item(number) for number in range(1, 8)]
    assert [
        (1, "question"), (1, "transcript"), (1, "transcript"), (2, "question"), (2, "transcript"), (2, "transcript"),
    ] == [(one.scenario, one.kind) for one in found if one]  # fmt: skip
    assert items.at(2, "response") is None


def test_a_seat_that_was_sent_the_pictures_was_shown_other_texts_of_them() -> None:
    case = a_case_with_pictures()
    panel = {"seats": [{"model": "openai/gpt-6-sol", "juror_id": "gpt"}]}
    debate = EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case, **panel)
    assert debate.opened.panel.seats[0].images

    items = items_of(debate)

    piece = next(one.text for one in debate.opened.pieces if one.name == "case/images")
    searched = searched_items(debate.texts[piece.part], None, line_sign(SECRET))
    for number in (2, 3):
        plain, pictured, found = items.item(number), items.item(number, images=True), searched.item(number)
        assert plain is not None
        assert pictured is not None
        assert found is not None
        assert plain.text != pictured.text
        assert (0, len(pictured.text)) == found.exact(pictured.text)


CASSETTES = sorted(CORPUS.glob("*.cassette.jsonl"))


def opening_of(path: Path) -> tuple[MemoryEventStore, StoredEvent]:
    """A store with the debate of a cassette, and its first event."""
    store = MemoryEventStore()
    debate_id = import_cassette(store, read_cassette(path)).debate_id
    (event,) = store.first_events([f"debate/{debate_id}"]).values()
    return store, event


def a_stored(case: Case, spec: dict[str, Any], **own: Any) -> tuple[MemoryEventStore, StoredEvent]:
    """A store with a debate over a case whose messages are known, and its first event."""
    store = MemoryEventStore()
    store_debate(store, a_located_debate(case, (1, 2, None), spec, **own), "d1")
    (event,) = store.first_events([debate_stream("d1")]).values()
    return store, event


def decoded(event: StoredEvent) -> DebateOpened:
    opened = decode(event)
    assert isinstance(opened, DebateOpened)
    return opened


def both_ways(store: MemoryEventStore, event: StoredEvent) -> tuple[ItemMessages, ItemMessages]:
    """The messages as they are mapped, and those of the whole case with its provenance."""
    opened = decoded(event)
    found = OpenedCase.of_event(event)
    assert found is not None
    assert found == OpenedCase.of(opened)
    parts = {digest: part.content for digest, part in store.parts(opened.debate_id).items()}
    case = Case.from_part(parts[opened.case.digest])
    if opened.provenance is not None:
        case = with_provenance(case, parts[opened.provenance.digest])
    pieces = [parts[piece.text.digest] for piece in opened.pieces if piece.name == OPERATOR_POLICY]
    policy = policy_of_piece(pieces[0], opened.prompts, opened.panel.language, case) if pieces else None
    whole = ItemMessages(case, policy, inline=opened.panel.artifacts.mode == "inline")
    return CaseMessages(store).of([found])[opened.debate_id], whole


def numbers(messages: ItemMessages) -> tuple[int, int, list[int | None]]:
    """All that is known of them."""
    return messages.items, messages.messages, [messages.named(item) for item in range(messages.items + 2)]


def test_openings_of_the_corpus_are_read_as_they_decode() -> None:
    for path in CASSETTES[::4]:
        mapped, whole = both_ways(*opening_of(path))

        assert numbers(whole) == numbers(mapped), path


@each_row("policy", [None, LOCATED_POLICY, "Another policy."])
@each_row("scenarios", [1, 2])
def test_messages_are_those_of_the_whole_case(policy: str | None, scenarios: int) -> None:
    case = a_located_case(*(a_located_scenario(f"s{number}", LOCATED_POLICY) for number in range(scenarios)), records=2)
    for language, mode in product(("en", "ja"), ("summary", "inline")):
        spec = {"language": language, "artifacts": {"mode": mode}}
        mapped, whole = both_ways(*a_stored(case, spec, operator_policy=policy))

        assert numbers(whole) == numbers(mapped)
        assert 4 * scenarios == mapped.messages


def test_another_first_event_and_openings_of_other_schemas_or_damaged_are_decoded() -> None:
    _, event = opening_of(CASSETTES[0])
    body = orjson.loads(event.body)
    without = {name: value for name, value in body.items() if name != "case"}
    others = [
        event._replace(body=event.body[:-1]),
        event._replace(body=orjson.dumps(without)),
        event._replace(schema=SCHEMAS[event.type] + 1),
        event._replace(type="debate_failed"),
    ]

    assert [None] * 4 == [OpenedCase.of_event(one) for one in others]


async def statistics_of(sqlite_url: str) -> PanelStatistics:
    async with Records(sqlite_url) as records:
        (panel,) = (await records.stats()).panels
    return panel


def columns(store: EventStore, *names: str) -> list[Any]:
    """The values of the first evaluations, row by row; of one column plain."""
    table = stored_ballots(store, columns=STATISTICS_COLUMNS).select(names)
    return table[names[0]].to_pylist() if len(names) == 1 else list(zip(*table.to_pydict().values(), strict=True))


async def test_two_items_of_a_message_are_one_message(store: EventStore, sqlite_url: str) -> None:
    store_debate(store, a_located_debate(a_located_case(), (2, 3, None)), "c1")

    panel = await statistics_of(sqlite_url)

    assert (panel.messages is None, panel.items is None) == (False, False)
    assert (1.0, 1.0) == (panel.messages.raw.value, panel.messages.corrected.value)  # type: ignore[union-attr]
    assert (0.0, -0.25) == (panel.items.raw.value, panel.items.corrected.value)  # type: ignore[union-attr]  (1 of 5)


async def test_against_labels(store: EventStore, sqlite_url: str) -> None:
    for number in range(12):
        fault = a_located_case(decisive_message=1, outcome_correct=number % 3 == 0)
        store_debate(store, a_located_debate(fault, (2, 5, None)), f"c{number}")
    for number in range(10):
        sound = a_located_case(label="safe_pass")
        store_debate(store, a_located_debate(sound, (1, None, None)), f"s{number}")

    found = (await statistics_of(sqlite_url)).faults

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
