"""Sealing a growing log, and what a sealer refuses."""

from itertools import count

import pytest

from jury_store import (
    Append,
    EventStore,
    Frontier,
    MemoryEventStore,
    Seal,
    Sealer,
    SealKey,
    SealRefused,
    consistency_proof,
    is_consistent,
    read_checkpoint,
    signature_fault,
)
from support.debates import DebateScript
from support.each_row import each_row

KEY = SealKey("example.com/jury", bytes(32))


def _grow(store: EventStore, name: str) -> None:
    script = DebateScript(name, seed=len(name))
    store.append([Append(script.stream, script.whole(), 0, 1)])


def _sealer(store: EventStore, key: SealKey = KEY) -> Sealer:
    clock = count(1_700_000_000_000_000)
    return Sealer(store, key, lambda: next(clock))


def _sealed(store: EventStore, key: SealKey = KEY) -> Seal:
    seal = _sealer(store, key).next()
    assert seal is not None
    assert store.store_seal(seal)
    return seal


class Altered(MemoryEventStore):
    """Returns other hashes than stored."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[int, bytes | None] = {}

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        rows = [(at, self.shown.get(at, found)) for at, found in super().hashes(after, limit)]
        return [(at, found) for at, found in rows if found is not None]


def test_an_empty_log_is_not_sealed(store: EventStore) -> None:
    assert _sealer(store).next() is None


def test_a_seal_is_over_every_event_and_signed(store: EventStore) -> None:
    _grow(store, "d")

    seal = _sealed(store)

    frontier = Frontier()
    for _, event_hash in store.hashes():
        frontier.append(event_hash)
    checkpoint = read_checkpoint(seal.note)
    assert (6, frontier.root, frontier.peaks) == (seal.tree_size, seal.root, seal.frontier)
    assert (6, frontier.root) == (checkpoint.tree_size, checkpoint.root)
    assert signature_fault(checkpoint, [KEY.public]) is None
    assert seal == store.latest_seal()


def test_without_new_events_there_is_no_seal(store: EventStore) -> None:
    _grow(store, "d")
    sealer = _sealer(store)
    first = sealer.next()
    assert first is not None
    again = sealer.next()
    store.store_seal(first)

    assert again is None
    assert sealer.next() is None
    assert _sealer(store).next() is None


def test_every_seal_is_consistent_with_the_one_before(store: EventStore) -> None:
    seals = []
    for name in ("a", "bb", "ccc"):
        _grow(store, name)
        seals.append(_sealed(store))

    hashes = [event_hash for _, event_hash in store.hashes()]
    for old, new in ((seals[0], seals[1]), (seals[1], seals[2])):
        proof = consistency_proof(hashes, old.tree_size, new.tree_size)
        assert is_consistent(old.tree_size, old.root, new.tree_size, new.root, proof)


ALTERED = [
    {"root": bytes(32)},
    {"frontier": bytes(64)},
    {"frontier": b""},
    {"tree_size": 4},
    {"note": b"nonsense"},
    {"note": "text"},
    {"root": 5},
]


def test_an_altered_seal_is_refused(subtests: pytest.Subtests) -> None:
    for change in ALTERED:
        with subtests.test(change=change):
            store = MemoryEventStore()
            _grow(store, "a")
            seal = _sealer(store).next()
            assert seal is not None
            store.store_seal(seal._replace(**change))
            _grow(store, "bb")

            with pytest.raises(SealRefused, match=r"was altered.*jury verify --all"):
                _sealer(store).next()


def test_a_forged_seal_in_the_keys_name_is_refused() -> None:
    store, forged = MemoryEventStore(), MemoryEventStore()
    _grow(store, "a")
    _grow(forged, "b")
    false = _sealer(forged).next()
    true = _sealer(store).next()
    assert false is not None
    assert true is not None
    signature = true.note.rpartition(b"\n\n")[2]
    store.store_seal(false._replace(note=false.note.rpartition(b"\n\n")[0] + b"\n\n" + signature))
    _grow(store, "bb")

    with pytest.raises(SealRefused, match="not valid for this text"):
        _sealer(store).next()


def test_a_log_that_was_cut_is_not_sealed_again() -> None:
    store, short = MemoryEventStore(), MemoryEventStore()
    _grow(store, "a")
    short.store_seal(_sealed(store))

    with pytest.raises(SealRefused, match="6 events were sealed and the last of them is missing"):
        _sealer(short).next()


@each_row("shown", [None, b"short", 7])
def test_a_log_with_a_gap_is_not_sealed(shown: bytes | None) -> None:
    store = Altered()
    _grow(store, "a")
    store.shown[3] = shown

    with pytest.raises(SealRefused, match="position 3"):
        _sealer(store).next()


def test_a_sealer_never_contradicts_what_it_signed() -> None:
    store, other = MemoryEventStore(), MemoryEventStore()
    _grow(store, "a")
    _grow(other, "b")
    sealer = _sealer(store)
    sealer.next()
    contradiction = _sealer(other).next()
    assert contradiction is not None
    store.store_seal(contradiction)

    with pytest.raises(SealRefused, match="two seals of this size"):
        sealer.next()
