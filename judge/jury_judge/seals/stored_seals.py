"""The seals that a log has."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from jury_events.text import moment
from jury_judge.errors import NoSeal
from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.sealer import seal_fault
from jury_store.seals.merkle import is_hash
from jury_store.seals.note import read_checkpoint, read_signature_line
from jury_store.seals.seal import COSIGNATURE, Attestation, Seal


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
