"""Proofs over a sealed log (RFC 6962): one seal's log begins with another's; a debate is under a seal."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from jury_events.ids import portable_streams
from jury_judge.errors import NoSeal, SettingsRefused
from jury_judge.seals.stored_seals import seal_of
from jury_store.errors import SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.merkle import (
    Proof,
    consistency_proof,
    inclusion_proofs,
    is_consistent,
    is_hash,
    is_included,
)

T = TypeVar("T")


class SealedTree(NamedTuple):
    """The first `tree_size` events of a log, and their root."""

    tree_size: int
    root: bytes


class ConsistencyProof(NamedTuple):
    """That the log of a seal begins with that of an older one (RFC 6962, 2.1.2)."""

    old: SealedTree
    new: SealedTree
    proof: Proof


class IncludedEvent(NamedTuple):
    """The event of a stream that is under a seal: its hash is leaf `leaf_index` (from 0) of the tree."""

    version: int
    hash: bytes
    leaf_index: int
    proof: Proof


class InclusionProof(NamedTuple):
    """That a debate is under a seal (RFC 6962, 2.1.1).

    `checkpoint`: the signed note. `streams`: of each stream the last event that the seal covers, since the chain binds
    all before it.
    """

    checkpoint: str
    streams: Mapping[str, IncludedEvent]


def prove_consistency(store: EventStore, old: int, new: int | None) -> ConsistencyProof:
    """The proof between the seals over `old` and `new` events, None: the latest."""
    before, after = seal_of(store, old), seal_of(store, new)
    if before.tree_size > after.tree_size:
        raise SettingsRefused(f"{{old}} {before.tree_size} is the newer seal: exchange the two")
    proof = consistency(store, before.tree_size, after.tree_size)
    if not is_consistent(before.tree_size, before.root, after.tree_size, after.root, proof):
        raise _other_log()
    return ConsistencyProof(SealedTree(before.tree_size, before.root), SealedTree(after.tree_size, after.root), proof)


def consistency(store: EventStore, old: int, new: int) -> Proof:
    """The hashes that show the first `old` events to be the beginning of the first `new`."""
    return _all_there(lambda: consistency_proof(_hashes(store), old, new))


def prove_inclusion(store: EventStore, debate_id: str) -> InclusionProof:
    """The proofs of a debate under the latest seal."""
    seal = seal_of(store)
    streams = store.read_streams(portable_streams(debate_id))
    covered = {
        name: next((event for event in reversed(events) if event.position <= seal.tree_size), None)
        for name, events in sorted(streams.items(), reverse=True)
    }
    heads = {name: event for name, event in covered.items() if event is not None}
    if not heads:
        raise NoSeal(f"no event of debate {debate_id} is under the latest seal (over {seal.tree_size} events)")
    leaves = {event.position - 1 for event in heads.values()}
    proofs = _all_there(lambda: inclusion_proofs(_hashes(store), seal.tree_size, leaves))
    included = {
        name: IncludedEvent(event.version, event.hash, event.position - 1, proofs[event.position - 1])
        for name, event in heads.items()
    }
    for one in included.values():
        if not is_included(one.hash, one.leaf_index, seal.tree_size, one.proof, seal.root):
            raise _other_log()
    return InclusionProof(seal.note.decode(), included)


def _all_there(prove: Callable[[], T]) -> T:
    try:
        return prove()
    except ValueError:
        raise _other_log() from None


def _hashes(store: EventStore) -> Iterator[bytes]:
    """The hashes of the log, in the order of positions."""
    position = 0
    while rows := store.hashes(position):
        position = rows[-1][0]
        for _, event_hash in rows:
            if not is_hash(event_hash):
                raise _other_log()
            yield event_hash


def _other_log() -> SealRefused:
    return SealRefused("the log is not the one that was sealed, so nothing of it is proved. Run jury verify --all")
