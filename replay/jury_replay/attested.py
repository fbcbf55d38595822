"""Attestations of seals: cosignatures of witnesses, and time-stamps.

A witness cosigns only a continuation of what it cosigned before, so two versions of a log cannot both be cosigned. A
time-stamp proves that a seal existed at that time.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cryptography.x509 import Certificate

from jury_replay.integrity import IntegrityFailure
from jury_store.errors import BadNote
from jury_store.seals.keys import SignatureLine
from jury_store.seals.note import WitnessKey, read_checkpoint, read_signature_line
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
        fault = _fault(one, notes)
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


def _fault(one: Attestation, notes: Mapping[int, bytes]) -> str | None:
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
