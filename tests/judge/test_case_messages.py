"""Items and messages of recorded debates, from the members of opening events and cases that they follow from alone."""

from pathlib import Path

import orjson
import pytest

from jury_debate.prompts_v2.item_messages import ItemMessages
from jury_events.case import Case
from jury_events.codec import SCHEMAS, decode
from jury_events.debate_events import DebateOpened
from jury_events.envelope import StoredEvent
from jury_events.provenance import with_provenance
from jury_judge.stores.case_messages import CaseMessages, OpenedCase
from jury_replay.cassettes.importing import import_cassette
from jury_replay.cassettes.reading import read_cassette
from jury_store.memory import MemoryEventStore
from support.corpus import CORPUS

CASSETTES = sorted(CORPUS.glob("*.cassette.jsonl"))


def opening_of(path: Path) -> tuple[MemoryEventStore, StoredEvent]:
    """A store with the debate of a cassette, and its first event."""
    store = MemoryEventStore()
    debate_id = import_cassette(store, read_cassette(path)).debate_id
    (event,) = store.first_events([f"debate/{debate_id}"]).values()
    return store, event


def decoded(event: StoredEvent) -> DebateOpened:
    opened = decode(event)
    assert isinstance(opened, DebateOpened)
    return opened


@pytest.mark.parametrize("path", CASSETTES[::4], ids=lambda path: path.name.partition(".")[0])
def test_an_opening_is_read_as_it_decodes(path: Path) -> None:
    store, event = opening_of(path)
    opened = decoded(event)
    found = OpenedCase.of_event(event)

    assert found == OpenedCase.of(opened)
    messages = CaseMessages(store).of([] if found is None else [found])[opened.debate_id]
    parts = {digest: part.content for digest, part in store.parts(opened.debate_id).items()}
    case = Case.from_part(parts[opened.case.digest])
    if opened.provenance is not None:
        case = with_provenance(case, parts[opened.provenance.digest])
    whole = ItemMessages(case, inline=opened.panel.artifacts.mode == "inline")
    assert (whole.items, whole.messages) == (messages.items, messages.messages)
    assert [whole.named(item) for item in range(whole.items + 2)] == [
        messages.named(item) for item in range(whole.items + 2)
    ]


def test_openings_of_earlier_schemas_and_damaged_ones_are_decoded() -> None:
    _, event = opening_of(CASSETTES[0])
    body = orjson.loads(event.body)
    cut = event._replace(body=event.body[:-1])
    without = event._replace(body=orjson.dumps({name: value for name, value in body.items() if name != "case"}))
    newer = event._replace(schema=SCHEMAS[event.type] + 1)

    assert [None, None, None] == [OpenedCase.of_event(one) for one in (cut, without, newer)]


def test_another_first_event_opens_no_debate() -> None:
    _, event = opening_of(CASSETTES[0])

    assert OpenedCase.of_event(event._replace(type="debate_failed")) is None
