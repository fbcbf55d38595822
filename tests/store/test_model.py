"""The log against a list as its model: any sequence of appends, refusals and repeats."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import NewEvent, Part, make_part
from jury_store import Append, Appended, EventConflict, EventStore, Fenced, MemoryEventStore, StoreError, WrongVersion

_TEXTS = st.sampled_from([b"", b"a", b"\x00", b"\xff\xfe"])
_names = st.sampled_from(["x", "y"])
_events = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), _TEXTS, st.integers(0, 3)), min_size=0, max_size=4)
_debate = st.tuples(st.just("debate"), _names, _events, st.integers(-1, 1), st.integers(0, 3))
_calls = st.tuples(st.just("calls"), _names, _events, st.just(0), st.just(0))
_groups = st.lists(st.lists(st.one_of(_debate, _calls), min_size=1, max_size=4), min_size=1, max_size=8)

Entry = tuple[str, int, bytes]


class Model:
    """Streams are lists of (event id, field, text)."""

    def __init__(self) -> None:
        self.streams: dict[str, list[Entry]] = {}
        self.epochs: dict[str, int] = {}
        self.order: list[tuple[str, str]] = []

    def append(
        self, stream: str, entries: list[Entry], expected: int | None, epoch: int
    ) -> Appended | type[StoreError]:
        there = self.streams.get(stream, [])
        if epoch < self.epochs.get(stream, 0):
            return Fenced
        known = {entry[0]: entry for entry in there}
        fresh: list[Entry] = []
        for entry in entries:
            if known.setdefault(entry[0], entry) != entry:
                return EventConflict
            if entry not in there and entry not in fresh:
                fresh.append(entry)
        if fresh and expected is not None and expected != len(there):
            return WrongVersion
        if fresh:
            self.streams[stream] = there = there + fresh
            self.order += [(stream, entry[0]) for entry in fresh]
        if there:
            self.epochs[stream] = max(epoch, self.epochs.get(stream, 0))
        return Appended(stream, len(there), len(entries) - len(fresh))


def _event(entry: Entry, salt: int) -> NewEvent:
    part = make_part(entry[2], bytes([salt]) * 16)
    body = f'{{"field":{entry[1]},"text":{{"part":"{part.ref.part}"}}}}'.encode()
    return NewEvent(entry[0], "said", 1, salt, body, (part,))


def _check(store: EventStore, groups: list[list[tuple[str, str, list[tuple[int, int, bytes, int]], int, int]]]) -> None:
    model = Model()
    for group in groups:
        requests, expectations = [], []
        for kind, name, drawn, off, epoch in group:
            stream = f"{kind}/{name}"
            entries = [(f"e{number}", field, text) for number, field, text, _ in drawn]
            debate = kind == "debate"
            expected = max(0, len(model.streams.get(stream, [])) + off) if debate else None
            events = tuple(_event(entry, one[3]) for entry, one in zip(entries, drawn, strict=True))
            requests.append(Append(stream, events, expected, epoch if debate else None))
            expectations.append(model.append(stream, entries, expected, epoch))
        answers = store.append(requests)
        assert [one if isinstance(one, Appended) else type(one) for one in answers] == expectations
    log = store.read_all(limit=10_000)
    assert [(event.stream, event.event_id) for event in log] == model.order
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    for stream, entries in model.streams.items():
        parts: dict[bytes, Part] = store.parts(stream.split("/")[1])
        assert [_entry(event.body, event.event_id, parts) for event in store.read_stream(stream)] == entries
        assert store.heads([stream])[stream][:2] == (len(entries), model.epochs[stream])


def _entry(body: bytes, event_id: str, parts: dict[bytes, Part]) -> Entry:
    (found,) = [part for digest, part in parts.items() if part.ref.part.encode() in body]
    return event_id, int(body.split(b'"field":')[1][:1]), found.content


@given(groups=_groups)
def test_memory_does_what_the_model_does(groups: list) -> None:
    _check(MemoryEventStore(), groups)


@given(groups=_groups)
def test_sqlite_does_what_the_model_does(new_sqlite: Callable[[], EventStore], groups: list) -> None:
    store = new_sqlite()
    try:
        _check(store, groups)
    finally:
        store.close()


@pytest.mark.full
@given(groups=_groups)
def test_postgresql_does_what_the_model_does(new_postgres: Callable[[], EventStore], groups: list) -> None:
    store = new_postgres()
    try:
        _check(store, groups)
    finally:
        store.close()
