"""The seals of a store: made while debates run, listed, and what they prove."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import NamedTuple, TypeVar

from jury_actors.runtime import Runtime
from jury_events.ids import portable_streams
from jury_events.text import moment
from jury_judge.errors import NoSeal, SettingsRefused
from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.sealer import Sealer, seal_fault
from jury_store.seals.merkle import Proof, consistency_proof, inclusion_proofs, is_consistent, is_hash, is_included
from jury_store.seals.note import read_checkpoint, read_signature_line
from jury_store.seals.seal import COSIGNATURE, Attestation, Seal


class Sealing:
    """Makes a seal every `every` seconds and one at the end; a failure is reported once, and the debates go on.

    `sealed` is the number of events that the last stored seal covers, None before there is one.
    """

    def __init__(self, sealer: Sealer, every: float, say: Callable[[str], None]) -> None:
        self._sealer = sealer
        self._every = every
        self._say = say
        self._failed = False
        self.sealed: int | None = None

    def around(
        self, open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]]
    ) -> Callable[[], AbstractAsyncContextManager[Runtime]]:
        """The same runtime; the log is sealed while it is open, and once before it closes."""

        @asynccontextmanager
        async def sealed() -> AsyncIterator[Runtime]:
            async with open_runtime() as runtime:
                task = asyncio.create_task(self._keep_sealing(runtime))
                try:
                    yield runtime
                finally:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    await self._seal(runtime)

        return sealed

    async def _keep_sealing(self, runtime: Runtime) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self._seal(runtime)

    async def _seal(self, runtime: Runtime) -> None:
        try:
            seal = await asyncio.to_thread(self._sealer.next)
            if seal is None:
                return
            await runtime.clerk.store_seal(seal)
            self.sealed = seal.tree_size
        except Exception as error:  # noqa: BLE001  (a log that cannot be sealed must not stop the debates)
            if not self._failed:
                self._failed = True
                self._say(f"jury: the log could not be sealed, the debates go on: {error}")


class ListedSeal(NamedTuple):
    """A seal as it is stored, whole or not: `Records.verify` says what is wrong with it.

    `events`: how many of the log it covers. `sealed_at`: ISO 8601. `root`: in hexadecimal, "" for none. `origin`: the
    name of the log in its note, None where that is no checkpoint.
    """

    events: int
    sealed_at: str
    root: str
    origin: str | None


def listed_seals(store: EventStore) -> list[ListedSeal]:
    """All seals, the smallest first."""
    return [_listed(seal) for seal in store.seals()]


def _listed(seal: Seal) -> ListedSeal:
    # A SQLite column may have a value of any type.
    try:
        at = moment(seal.sealed_at)
    except TypeError:
        at = "at no time"
    try:
        origin = read_checkpoint(seal.note).origin
    except (BadNote, TypeError, AttributeError):
        origin = None
    return ListedSeal(seal.tree_size, at, seal.root.hex() if is_hash(seal.root) else "", origin)


def seal_of(store: EventStore, size: int | None = None) -> Seal:
    """The seal over so many events, None: the latest."""
    if size is None:
        found = store.latest_seal()
        if found is None:
            raise NoSeal("the log has no seal yet; make one with: jury seal now --key FILE")
    else:
        found = next((seal for seal in store.seals() if seal.tree_size == size), None)
        if found is None:
            raise NoSeal(f"no seal is over {size} events; jury seal list lists the seals")
    if (fault := seal_fault(found)) is not None:
        raise SealRefused(f"the seal over {found.tree_size} events is not as it was made: {fault}. {_VERIFY}")
    return found


def kept_note(store: EventStore, size: int | None = None) -> str:
    """The note of a seal as it is kept elsewhere, with the cosignatures of it. Errors as of `seal_of`."""
    return note_text(seal_of(store, size), store.attestations())


def note_text(seal: Seal, attestations: Iterable[Attestation] = ()) -> str:
    """The note of a seal, with the cosignatures of it among the attestations.

    A checkpoint, which a seal without a fault has, has no terminal control characters; nor has a signature
    line.
    """
    lines = [seal.note.decode()]
    for one in attestations:
        if (one.tree_size, one.kind) == (seal.tree_size, COSIGNATURE):
            with suppress(BadNote):
                read_signature_line(one.content)
                lines.append(one.content.decode())
    return "".join(lines)


_VERIFY = "Run jury verify --all"


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
