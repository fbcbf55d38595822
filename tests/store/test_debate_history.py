"""The history of a debate: read in bulk or alone, decoded once, with erased, altered and missing texts kept apart."""

import pickle
from dataclasses import replace

import pytest

from jury_events import DebateHistory, DebateNotFound, MalformedBody, codec, debate_history
from jury_store import MemoryEventStore
from support.cassettes import erase_text, record_debate


@pytest.fixture
def store() -> MemoryEventStore:
    store = MemoryEventStore()
    record_debate(store)
    return store


def test_an_event_is_decoded_when_it_is_first_read_and_only_then(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []

    def counted(stored):
        decoded.append(stored.event_id)
        return codec.decode(stored)

    monkeypatch.setattr(debate_history, "decode", counted)
    history = store.history("d")
    opened, last = history.opened, history.events[-1]

    assert decoded == [history.stored_events[0].event_id, history.stored_events[-1].event_id]
    assert (opened, last) == (history.opened, list(history.events)[-1])
    assert len(decoded) == len(history.stored_events)


def test_histories_are_read_in_bulk_in_the_order_of_the_ids(store: MemoryEventStore) -> None:
    record_debate(store, "e", seed=2)
    found = store.histories(["e", "unknown", "d"])
    alone = store.event_histories(["e", "unknown", "d"])

    assert ["e", "unknown", "d"] == [one.debate_id for one in found] == [one.debate_id for one in alone]
    assert [list(one.stored_events) for one in found] == [list(one.stored_events) for one in alone]
    assert not found[1].streams
    assert not any((*one.stored_exchanges, *one.parts) for one in alone)


@pytest.mark.parametrize("debate_id", ["unknown", "x" * 500])
def test_a_debate_that_does_not_exist_is_not_found_by_every_reader(store: MemoryEventStore, debate_id: str) -> None:
    for read in (
        store.history,
        lambda one: store.histories([one])[0].opened,
        lambda one: store.event_histories([one])[0].opened,
    ):
        with pytest.raises(DebateNotFound, match=f"no debate '{debate_id[:240]}' in this store; `jury list`"):
            read(debate_id)


def test_a_history_pickles_as_it_is_stored(store: MemoryEventStore) -> None:
    history = store.history("d")
    fresh = pickle.dumps(history)
    assert history.opened
    assert history.texts

    assert pickle.dumps(history) == fresh
    assert pickle.loads(fresh) == history


def test_an_altered_text_is_left_out_and_is_not_called_erased(store: MemoryEventStore) -> None:
    history = store.history("d")
    digest, part = next(iter(history.parts.items()))
    altered = replace(history, parts={**history.parts, digest: part._replace(content=b"altered")})

    assert history.texts.keys() - altered.texts.keys() == {part.ref.part}
    assert not altered.erased


def test_an_erased_text_is_left_out_and_named_even_where_it_is_still_stored(store: MemoryEventStore) -> None:
    part = next(iter(store.parts("d").values()))
    erase_text(store, "d", part.content, delete=False)
    history = store.history("d")

    assert part.digest in history.parts
    assert history.erased == {part.ref.part}
    assert part.ref.part not in history.texts


def test_an_event_in_the_stream_of_another_is_refused(store: MemoryEventStore) -> None:
    history = store.history("d")
    debate, calls = history.streams
    swapped = DebateHistory("d", {debate: history.streams[calls]})

    with pytest.raises(MalformedBody, match="is stored in debate/d"):
        list(swapped.events)


def test_events_as_they_arrive_make_a_history_from_any_version_on(store: MemoryEventStore) -> None:
    whole = store.history("d")
    later = DebateHistory.of_events("d", whole.stored_events[2:])

    assert list(later.events) == whole.events[2:]
    with pytest.raises(MalformedBody, match="does not begin with its opening event"):
        assert later.opened
