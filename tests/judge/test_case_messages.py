"""Items and messages of recorded debates, from the members of opening events and cases that they follow from alone."""

from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from jury_debate import OPERATOR_POLICY, ItemMessages
from jury_events import SCHEMAS, Case, DebateOpened, StoredEvent, debate_stream, decode, with_provenance
from jury_judge.stores.case_messages import CaseMessages, OpenedCase
from jury_replay import import_cassette, policy_of_piece, read_cassette
from jury_store import MemoryEventStore
from support.corpus import CORPUS
from support.located_debates import POLICY, a_located_case, a_located_debate, a_located_scenario
from support.stored_debates import store_debate

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
    policy = policy_of_piece(pieces[0], opened.panel.language, case) if pieces else None
    whole = ItemMessages(case, policy, inline=opened.panel.artifacts.mode == "inline")
    return CaseMessages(store).of([found])[opened.debate_id], whole


def numbers(messages: ItemMessages) -> tuple[int, int, list[int | None]]:
    """All that is known of them."""
    return messages.items, messages.messages, [messages.named(item) for item in range(messages.items + 2)]


def test_openings_of_the_corpus_are_read_as_they_decode() -> None:
    for path in CASSETTES[::4]:
        mapped, whole = both_ways(*opening_of(path))

        assert numbers(whole) == numbers(mapped), path


@pytest.mark.parametrize("policy", [None, POLICY, "Another policy."])
@pytest.mark.parametrize("scenarios", [1, 2])
def test_messages_are_those_of_the_whole_case(policy: str | None, scenarios: int) -> None:
    case = a_located_case(*(a_located_scenario(f"s{number}", POLICY) for number in range(scenarios)), records=2)
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
