"""Seals and hashes as the subcommands of `jury seal` read them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

import click

from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.sealer import seal_fault
from jury_store.seals.attestation import COSIGNATURE, Attestation
from jury_store.seals.merkle import is_hash
from jury_store.seals.note import read_signature_line
from jury_store.seals.seal import Seal

T = TypeVar("T")


def all_there(prove: Callable[[], T]) -> T:
    """The result of `prove` for the hashes of the log.

    Raises:
        SealRefused: there are too few of them.
    """
    try:
        return prove()
    except ValueError:
        raise other_log() from None


def other_log() -> SealRefused:
    """The error for events that are not those of the seal."""
    return SealRefused("the log is not the one that was sealed, so nothing of it is proved. Run jury verify --all")


def print_note(seal: Seal, attestations: Iterable[Attestation] = ()) -> None:
    """As it is kept, with the cosignatures of it among the attestations.

    A checkpoint, which a seal without a fault has, has no terminal control characters; nor has a signature
    line.
    """
    print(seal.note.decode(), end="")
    for one in attestations:
        if (one.tree_size, one.kind) == (seal.tree_size, COSIGNATURE):
            with suppress(BadNote):
                read_signature_line(one.content)
                print(one.content.decode(), end="")


def seal_of(store: EventStore, size: int | None) -> Seal:
    """The seal of a size, None: the latest.

    Raises:
        SealRefused: it is not as it was made.
        click.UsageError: there is none.
    """
    if size is None:
        found = store.latest_seal()
        if found is None:
            raise click.UsageError("the log has no seal yet; make one with: jury seal now --key FILE")
    else:
        found = next((seal for seal in store.seals() if seal.tree_size == size), None)
        if found is None:
            raise click.UsageError(f"no seal is over {size} events; jury seal list lists the seals")
    if (fault := seal_fault(found)) is not None:
        raise SealRefused(f"the seal over {found.tree_size} events is not as it was made: {fault}. {_VERIFY}")
    return found


def hashes(store: EventStore) -> Iterator[bytes]:
    """The hashes of the log, in the order of positions.

    Raises:
        SealRefused: a column has another value.
    """
    position = 0
    while rows := store.hashes(position):
        position = rows[-1][0]
        for _, event_hash in rows:
            if not is_hash(event_hash):
                raise other_log()
            yield event_hash


_VERIFY = "Run jury verify --all"
