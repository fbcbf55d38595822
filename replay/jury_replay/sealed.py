"""The log against the seals that are kept of it, and against a checkpoint that somebody kept elsewhere.

A chain shows what was changed by somebody who could not, or did not, compute everything after it anew. A seal is a root
over the hashes of all events in the order of their positions: recomputed streams, exchanged positions and cut tails do
not fit it. Whoever can write to the database can take stored seals away, too; only a checkpoint elsewhere stands then.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jury_replay.integrity import Failure
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey
from jury_store.seals.merkle import Frontier
from jury_store.seals.note import read_checkpoint, signature_fault
from jury_store.seals.seal import Seal
from jury_store.seals.sealer import seal_fault

_BATCH = 10_000


class SealsChecked(NamedTuple):
    """How many seals are stored, how many events the largest of those that fit covers, and what does not fit."""

    seals: int
    covered: int
    failures: tuple[Failure, ...]


class _Claim(NamedTuple):
    """What a seal or a checkpoint says of the log."""

    tree_size: int
    root: bytes
    kept: bool
    """Elsewhere."""

    def __str__(self) -> str:
        return f"the {'kept checkpoint' if self.kept else 'seal'} over {self.tree_size} events"


class _Misfit(NamedTuple):
    claim: _Claim
    what: str
    position: int
    holes: bool


def check_seals(store: EventStore, keys: Sequence[PublicKey] = (), checkpoint: bytes | None = None) -> SealsChecked:
    """Compute the root anew at every stored seal and at the kept checkpoint, in one reading of the hashes.

    Args:
        store: may be written to meanwhile.
        keys: whose signatures count; empty: no signature is checked.
        checkpoint: a signed note over this log that was kept elsewhere.

    Raises:
        BadNote: the checkpoint is none.
        StoreFailed: the database cannot be read.
    """
    claims: list[_Claim] = []
    failures: list[Failure] = []
    if checkpoint is not None:
        said = read_checkpoint(checkpoint)
        claims.append(_Claim(said.tree_size, said.root, kept=True))
        if keys and (fault := signature_fault(said, keys)) is not None:
            failures.append(Failure("", f"the kept checkpoint over {said.tree_size} events: {fault}"))
    # Before the hashes: what is sealed meanwhile is none of these.
    seals = store.seals()
    for seal in seals:
        fault = _fault(seal, keys)
        if fault is None:
            claims.append(_Claim(seal.tree_size, seal.root, kept=False))
        else:
            failures.append(Failure("", f"the seal over {seal.tree_size} events is not as it was made: {fault}"))
    claims.sort()
    fitting, misfits = _compared(claims, store)
    failures += _told(fitting, misfits)
    return SealsChecked(len(seals), max((claim.tree_size for claim in fitting), default=0), tuple(failures))


def _fault(seal: Seal, keys: Sequence[PublicKey]) -> str | None:
    fault = seal_fault(seal)
    if fault is None and keys:
        fault = signature_fault(read_checkpoint(seal.note), keys)
    return fault


def _compared(claims: Iterable[_Claim], store: EventStore) -> tuple[list[_Claim], list[_Misfit]]:
    """Those that fit the log, and those that do not; `claims` the smallest first."""
    hashes = _Hashes(store)
    events = iter(hashes)
    frontier = Frontier()
    fitting: list[_Claim] = []
    misfits: list[_Misfit] = []
    for claim in claims:
        while frontier.size < claim.tree_size and (event_hash := next(events, None)) is not None:
            frontier.append(event_hash)
        first = fitting[-1].tree_size + 1 if fitting else 1
        if frontier.size < claim.tree_size:
            what = f"the log ends with event {frontier.size}: its tail was cut"
            if hashes.hole is not None:
                what = f"no event has the position {hashes.hole}"
            misfits.append(_Misfit(claim, what, frontier.size + 1, holes=True))
        elif frontier.root == claim.root:
            fitting.append(claim)
        else:
            place = f"position {first}" if first == claim.tree_size else f"positions {first} to {claim.tree_size}"
            misfits.append(_Misfit(claim, f"the change lies at {place}", first, holes=False))
    return fitting, misfits


def _told(fitting: Sequence[_Claim], misfits: Sequence[_Misfit]) -> Iterator[Failure]:
    """One change spoils every later seal: told are the first one that does not fit, and the kept checkpoint."""
    largest = fitting[-1].tree_size if fitting else -1
    told = False
    for misfit in misfits:
        claim, what = misfit.claim, misfit.what
        if not misfit.holes and claim.tree_size <= largest:
            # Where a later root fits, the log is as it was: what does not fit is itself another's.
            yield Failure("", f"{claim} is not over this log: one over {largest} events fits it", position=largest + 1)
        elif not told or claim.kept:
            told = True
            yield Failure("", f"{claim} does not fit the log: {what}", position=misfit.position)


class _Hashes:
    """The hashes in the order of positions, up to the first position that no event has: `hole`, once it was met."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.hole: int | None = None

    def __iter__(self) -> Iterator[bytes]:
        position = 0
        while rows := self._store.hashes(position, _BATCH):
            for found, event_hash in rows:
                position += 1
                if found != position:
                    self.hole = position
                    return
                yield _bytes(event_hash)


def _bytes(value: object) -> bytes:
    """A SQLite column holds whatever somebody put there; what is no hash fits no root."""
    return value if isinstance(value, bytes) else b""
