"""The latest seal attested by others, and their statements kept beside it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from cryptography.x509 import Certificate

from jury_actors.effects import Effects
from jury_judge.seals.attesting import Cosigned, ask_authority, ask_witness
from jury_judge.seals.proofs import consistency
from jury_judge.seals.stored_seals import note_text, seal_of
from jury_store.errors import BadNote
from jury_store.event_store import EventStore
from jury_store.seals.note import WitnessKey, read_signature_line
from jury_store.seals.seal import COSIGNATURE, TIMESTAMP, Attestation


class WitnessedSeal(NamedTuple):
    """A seal over `events` that a witness cosigned, and its note with all cosignatures."""

    events: int
    note: str
    cosigned: Sequence[Cosigned]


class StampedSeal(NamedTuple):
    """A seal over `events`, and when it was time-stamped."""

    events: int
    at: datetime


def have_witnessed(store: EventStore, url: str, keys: Sequence[WitnessKey]) -> WitnessedSeal:
    """Have a witness cosign the latest seal.

    Args:
        store: open for writing.
        url: the witness's submission prefix.
        keys: of the witness.
    """
    seal = seal_of(store)
    cosigned = ask_witness(
        url, seal.note, _cosigned_before(store, keys), lambda old: consistency(store, old, seal.tree_size), keys
    )
    for one in cosigned:
        store.store_attestation(Attestation(seal.tree_size, COSIGNATURE, one.line, Effects().clock()))
    return WitnessedSeal(seal.tree_size, note_text(seal, store.attestations()), cosigned)


def have_stamped(store: EventStore, url: str, authorities: Sequence[Certificate]) -> StampedSeal:
    """Have a time-stamping authority stamp the note of the latest seal, as it is without cosignatures.

    Args:
        store: open for writing.
        url: of the authority.
        authorities: under which its answer must be; (): its signature is not checked.
    """
    seal = seal_of(store)
    answer, stamp = ask_authority(url, seal.note, authorities)
    store.store_attestation(Attestation(seal.tree_size, TIMESTAMP, answer, Effects().clock()))
    return StampedSeal(seal.tree_size, stamp.at)


def _cosigned_before(store: EventStore, keys: Iterable[WitnessKey]) -> int:
    """The largest size that a witness is known to have cosigned, 0: none. It knows better itself."""
    largest = 0
    for one in store.attestations():
        with suppress(BadNote):
            line = read_signature_line(one.content)
            if any(key.claims(line) for key in keys):
                largest = max(largest, one.tree_size)
    return largest
