"""Checks the log against its stored seals, and against checkpoints kept elsewhere.

A chain detects a change unless every hash after it was recomputed. A seal is a root
over the hashes of all events in the order of their positions: recomputed streams, exchanged positions and cut tails do
not fit it. A writer of the database can remove stored seals too; only a checkpoint kept elsewhere detects that.

Two notes by one key that cannot both be of one log are a split view: the key's holder, or who stole the key, showed one
log here and another there.

A witness cosigns only a continuation of what it cosigned before, so two versions of a log cannot both be cosigned. A
time-stamp proves that a seal existed at that time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cryptography.x509 import Certificate

from jury_replay.integrity import IntegrityFailure
from jury_store.errors import BadNote
from jury_store.event_store import EventStore
from jury_store.sealer import seal_fault
from jury_store.seals.keys import PublicKey, SignatureLine
from jury_store.seals.merkle import Frontier
from jury_store.seals.note import Checkpoint, WitnessKey, read_checkpoint, read_signature_line, signature_fault
from jury_store.seals.seal import COSIGNATURE, TIMESTAMP, Attestation, Seal
from jury_store.seals.timestamp import read_timestamp, timestamp_fault


class Trust(NamedTuple):
    """Trusted witnesses and time-stamping authorities.

    `witnesses`: `required` of them must have cosigned a seal or checkpoint, None: all. `authorities`: certificates; at
    least one seal must be time-stamped under one of them. Empty: not checked.
    """

    witnesses: tuple[WitnessKey, ...] = ()
    required: int | None = None
    authorities: tuple[Certificate, ...] = ()


NO_TRUST = Trust()


class Attested(NamedTuple):
    """How many events the largest seal or checkpoint covers that fits and enough witnesses cosigned; how many the
    largest time-stamped seal that fits covers, and since when; and what is wrong.
    """

    witnessed: int
    stamped: int
    stamped_at: datetime | None
    failures: tuple[IntegrityFailure, ...]


def check_attestations(
    attestations: Sequence[Attestation],
    seals: Sequence[Seal],
    fitting: Mapping[int, Sequence[bytes]],
    trust: Trust = NO_TRUST,
) -> Attested:
    """Check what others state of a log, once it is known which notes fit it.

    Args:
        fitting: by size the notes of seals and checkpoints that fit the log.
        trust: trusted witnesses and authorities; a statement that belongs to no seal is always a failure.
    """
    failures: list[IntegrityFailure] = []
    notes = {seal.tree_size: seal.note for seal in seals}
    lines: dict[int, list[SignatureLine]] = {}
    stamps: dict[int, list[bytes]] = {}
    for one in attestations:
        fault = _statement_fault(one, notes)
        if fault is not None:
            failures.append(
                IntegrityFailure("", f"what is kept as a {one.kind} of the seal over {one.tree_size} events: {fault}")
            )
        elif one.kind == COSIGNATURE:
            lines.setdefault(one.tree_size, []).append(read_signature_line(one.content))
        else:
            stamps.setdefault(one.tree_size, []).append(one.content)
    witnessed = stamped = 0
    stamped_at = None
    if trust.witnesses:
        witnessed, found = _witnessed(fitting, lines, trust)
        failures += found
    if trust.authorities:
        stamped, stamped_at, found = _stamped(fitting, notes, stamps, trust.authorities)
        failures += found
    return Attested(witnessed, stamped, stamped_at, tuple(failures))


def _statement_fault(one: Attestation, notes: Mapping[int, bytes]) -> str | None:
    if one.tree_size not in notes:
        return "no such seal is stored"
    note: Any = notes[one.tree_size]
    content: Any = one.content
    # A tampered SQLite column can contain any type.
    if not isinstance(content, bytes) or not isinstance(note, bytes):
        return "a column contains a value of the wrong type"
    if one.kind == TIMESTAMP:
        return timestamp_fault(one.content, note)
    if one.kind != COSIGNATURE:
        return "the kind is unknown"
    try:
        read_signature_line(one.content)
    except BadNote as error:
        return str(error)
    return None


def _witnessed(
    fitting: Mapping[int, Sequence[bytes]], lines: Mapping[int, Sequence[SignatureLine]], trust: Trust
) -> tuple[int, list[IntegrityFailure]]:
    required = len({witness.raw for witness in trust.witnesses}) if trust.required is None else trust.required
    failures: list[IntegrityFailure] = []
    largest = dict.fromkeys((witness.name for witness in trust.witnesses), 0)
    witnessed = 0
    for size in sorted(fitting):
        agreed: set[bytes] = set()
        for checkpoint in map(read_checkpoint, fitting[size]):
            for witness in trust.witnesses:
                claimed = [one for one in (*checkpoint.signatures, *lines.get(size, ())) if witness.claims(one)]
                good = [one for one in claimed if witness.cosigned_at(checkpoint.text, one.signature) is not None]
                if len(good) < len(claimed):
                    failures.append(
                        IntegrityFailure("", f"a cosignature of {witness.name} over {size} events is not its own")
                    )
                if good:
                    agreed.add(witness.raw)
                    largest[witness.name] = size
        if len(agreed) >= required:
            witnessed = size
    if not witnessed:
        found_sizes = ", ".join(
            f"{name}: {f'over {size} events' if size else 'none'}" for name, size in largest.items()
        )
        what = (
            f"no seal or checkpoint that fits the log is cosigned by {required} of the witnesses given ({found_sizes})"
        )
        failures.append(IntegrityFailure("", what))
    return witnessed, failures


def _stamped(
    fitting: Mapping[int, Sequence[bytes]],
    notes: Mapping[int, bytes],
    stamps: Mapping[int, Sequence[bytes]],
    authorities: Sequence[Certificate],
) -> tuple[int, datetime | None, list[IntegrityFailure]]:
    failures: list[IntegrityFailure] = []
    stamped, stamped_at = 0, None
    for size in sorted(stamps.keys() & fitting.keys()):
        good = list(_good_stamps(stamps[size], notes[size], authorities))
        if good:
            stamped, stamped_at = size, min(good)
    if not stamped:
        remark = "" if not stamps else ", though there are time-stamps"
        what = f"no seal that fits the log is time-stamped under the certificates given{remark}"
        failures.append(IntegrityFailure("", what))
    return stamped, stamped_at, failures


def _good_stamps(stamps: Sequence[bytes], note: bytes, authorities: Sequence[Certificate]) -> Iterator[datetime]:
    for stamp in stamps:
        if timestamp_fault(stamp, note, authorities) is None:
            yield read_timestamp(stamp).at


_BATCH = 10_000


class SealsChecked(NamedTuple):
    """How many seals are stored, how many events the largest of those that fit covers, what others state of them, and
    what does not fit.
    """

    seals: int
    covered: int
    attested: Attested
    failures: tuple[IntegrityFailure, ...]


class _Claim(NamedTuple):
    """The statement of a seal or a checkpoint about the log; `signers` are key names with their ids."""

    tree_size: int
    root: bytes
    kept: bool
    """Elsewhere."""
    name: str
    signers: frozenset[str]
    note: bytes

    def __str__(self) -> str:
        return self.name


class _Misfit(NamedTuple):
    """A claim that does not fit; what does not lies after the last event that a smaller claim which fits covers."""

    claim: _Claim
    what: str
    position: int
    holes: bool

    @property
    def place(self) -> str:
        first, last = self.position, self.claim.tree_size
        return f"position {first}" if first == last else f"positions {first} to {last}"


def check_seals(
    store: EventStore,
    keys: Sequence[PublicKey] = (),
    checkpoints: Sequence[bytes] = (),
    trust: Trust = NO_TRUST,
) -> SealsChecked:
    """Recompute the root at every stored seal and at the kept checkpoints, in one reading of the hashes.

    Args:
        keys: whose signatures count; empty: no signature is checked. In the name of each a seal or a checkpoint must be
            signed; keys of one name are those before and after a rotation, and one of them is enough.
        checkpoints: signed notes over this log that were kept elsewhere.
    """
    claims: list[_Claim] = []
    failures: list[IntegrityFailure] = []
    for number, note in enumerate(checkpoints, 1):
        said = read_checkpoint(note)
        which = f" {number}" if len(checkpoints) > 1 else ""
        name = f"the kept checkpoint{which} over {said.tree_size} events"
        fault = signature_fault(said, keys) if keys else None
        if fault is not None:
            failures.append(IntegrityFailure("", f"{name}: {fault}"))
        signers = frozenset[str]() if fault is not None else _signers(said, keys)
        claims.append(_Claim(said.tree_size, said.root, kept=True, name=name, signers=signers, note=note))
    # Read before the seals that they attest, and seals before the hashes: rows added meanwhile are left out.
    attestations = store.attestations()
    seals = store.seals()
    for seal in seals:
        name = f"the seal over {seal.tree_size} events"
        fault = _fault(seal, keys)
        if fault is None:
            signers = _signers(read_checkpoint(seal.note), keys)
            claims.append(_Claim(seal.tree_size, seal.root, kept=False, name=name, signers=signers, note=seal.note))
        else:
            failures.append(IntegrityFailure("", f"{name} is not as it was made: {fault}"))
    if not failures:
        failures += _unsigned(claims, keys)
    claims.sort(key=lambda claim: (claim.tree_size, claim.root, claim.kept))
    fitting, misfits = _compared(claims, store)
    failures += _misfit_failures(fitting, misfits, checked=bool(keys))
    notes: dict[int, list[bytes]] = {}
    for claim in fitting:
        notes.setdefault(claim.tree_size, []).append(claim.note)
    attested = check_attestations(attestations, seals, notes, trust)
    covered = max((claim.tree_size for claim in fitting), default=0)
    return SealsChecked(len(seals), covered, attested, (*failures, *attested.failures))


def _fault(seal: Seal, keys: Sequence[PublicKey]) -> str | None:
    fault = seal_fault(seal)
    if fault is None and keys:
        fault = signature_fault(read_checkpoint(seal.note), keys)
    return fault


def _signers(checkpoint: Checkpoint, keys: Sequence[PublicKey]) -> frozenset[str]:
    """The keys that signed a note without a fault; without keys, the unchecked signers that the note names."""
    if keys:
        return frozenset(f"{key.name}+{key.key_id.hex()}" for key in keys if checkpoint.signatures_by(key))
    own = (one for one in checkpoint.signatures if one.name == checkpoint.origin)
    return frozenset(f"{one.name}+{one.key_id.hex()}" for one in own)


def _unsigned(claims: Sequence[_Claim], keys: Sequence[PublicKey]) -> Iterator[IntegrityFailure]:
    """The names of keys under which nothing is signed."""
    signed = {signer.rpartition("+")[0] for claim in claims for signer in claim.signers}
    for name in sorted({key.name for key in keys} - signed):
        what = "the log has no seal" if not claims else "no seal of the log and no checkpoint given is signed by it"
        yield IntegrityFailure(
            "", f"the key {name} was given, and {what}: nothing shows that this log is the one of its holder"
        )


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
        first = next((one.tree_size for one in reversed(fitting) if one.tree_size < claim.tree_size), 0) + 1
        if frontier.size < claim.tree_size:
            what = f"the log ends with event {frontier.size}: its tail was cut"
            if hashes.hole is not None:
                what = f"no event has the position {hashes.hole}"
            misfits.append(_Misfit(claim, what, frontier.size + 1, holes=True))
        elif frontier.root == claim.root:
            fitting.append(claim)
        else:
            misfit = _Misfit(claim, "", first, holes=False)
            misfits.append(misfit._replace(what=f"the change lies at {misfit.place}"))
    return fitting, misfits


def _misfit_failures(
    fitting: Sequence[_Claim], misfits: Sequence[_Misfit], *, checked: bool
) -> Iterator[IntegrityFailure]:
    """One change invalidates every later seal: reported are the first misfit, kept checkpoints, and split views."""
    largest = fitting[-1].tree_size if fitting else -1
    by_signer = {signer: claim for claim in fitting for signer in claim.signers}
    equal: list[_Claim] = []
    reported = False
    for misfit in misfits:
        claim = misfit.claim
        equal = [one for one in equal if one.tree_size == claim.tree_size]
        if (other := _contradiction(misfit, by_signer, equal)) is not None:
            yield IntegrityFailure("", _split_view(misfit, other, checked=checked), position=misfit.position)
        elif not misfit.holes and claim.tree_size <= largest:
            # Where a later root fits, the log is as it was: what does not fit is itself another's.
            yield IntegrityFailure(
                "", f"{claim} is not over this log: one over {largest} events fits it", position=largest + 1
            )
        elif not reported or claim.kept:
            reported = True
            yield IntegrityFailure("", f"{claim} does not fit the log: {misfit.what}", position=misfit.position)
        equal.append(claim)


def _contradiction(misfit: _Misfit, by_signer: Mapping[str, _Claim], equal: Sequence[_Claim]) -> _Claim | None:
    """A claim of the same signer that cannot be true together with this one; None: none is known.

    Two roots over as many events contradict each other. So does a larger one that the log fits: the events that it
    covers are there, and the tree over the first of them is not the one that the smaller claim states.
    """
    claim = misfit.claim
    fitting = [by_signer[signer] for signer in sorted(claim.signers & by_signer.keys())]
    larger = [one for one in fitting if not misfit.holes and one.tree_size >= claim.tree_size]
    others = [one for one in equal if one.root != claim.root and one.signers & claim.signers]
    return next(iter((*larger, *others)), None)


def _split_view(misfit: _Misfit, other: _Claim, *, checked: bool) -> str:
    signer = min(misfit.claim.signers & other.signers)
    by = f"one key, {signer}, signed" if checked else f"in the name of one key, {signer} (not checked), are signed"
    where = "" if misfit.holes else f"; they part at {misfit.place}"
    return f"split view: {by} {misfit.claim} and {other}, which cannot be of one log{where}"


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
    """A tampered SQLite column can contain any type; a value that is no hash fits no root."""
    return value if isinstance(value, bytes) else b""
