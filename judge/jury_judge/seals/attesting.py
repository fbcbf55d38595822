"""Witnesses and time-stamping authorities: what they are asked, and what of their answers is stored."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import httpx2
from cryptography.x509 import Certificate

from jury_actors.effects import Effects
from jury_events.errors import SettingError
from jury_events.scrubbing import known_scrubber
from jury_events.text import visible_line, visible_url
from jury_judge.errors import AttestationFailed
from jury_judge.seals.stored_seals import consistency, note_text, seal_of
from jury_store.errors import BadNote, BadTimestamp, SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.merkle import Proof
from jury_store.seals.note import WitnessKey, read_checkpoint, read_signature_line
from jury_store.seals.seal import COSIGNATURE, TIMESTAMP, Attestation
from jury_store.seals.timestamp import Timestamp, read_timestamp, timestamp_fault, timestamp_query

_SECONDS = 30.0
_MAX_ANSWER = 64 * 1024
_TRIES = 4
"""How often a witness may name another size: other processes may submit the same log meanwhile."""
_MAX_SIZE_DIGITS = 19
_OK, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _UNPROCESSABLE = 200, 403, 404, 409, 422
_OTHER_LOG = "the log was rewritten, cut or restored since, or its key signed two logs. Run jury verify --all"


class Cosigned(NamedTuple):
    """One cosignature: its line with LF, the witness, and the time (seconds since 1970-01-01 UTC)."""

    line: bytes
    witness: str
    at: int


class _Answer(NamedTuple):
    status: int
    kind: str
    content: bytes

    def __str__(self) -> str:
        said = self.content[:200].decode("utf-8", "replace").strip()
        return f"status {self.status}{': ' + visible_line(known_scrubber().text(said), 200) if said else ''}"


def ask_witness(
    url: str, note: bytes, old: int, prove: Callable[[int], Proof], keys: Sequence[WitnessKey]
) -> list[Cosigned]:
    """Have a witness cosign a checkpoint.

    Args:
        url: its submission prefix; `/add-checkpoint` is appended.
        note: the checkpoint, signed by the log's key.
        old: the size that the witness cosigned last, if known; the witness corrects it.
        prove: returns the consistency proof from a size to that of the checkpoint.
        keys: of the witness; other cosignatures are ignored.
    """
    checkpoint = read_checkpoint(note)
    place, url = f"{_checked(url).rstrip('/')}/add-checkpoint", visible_url(url)
    for _ in range(_TRIES):
        proof = "".join(f"{b64encode(node).decode()}\n" for node in prove(old))
        answer = _post(place, f"old {old}\n{proof}\n".encode() + note, "text/plain; charset=utf-8")
        if answer.status == _OK:
            return _cosignatures(url, answer.content, checkpoint.text, keys)
        if answer.status == _CONFLICT and (size := _size(answer)) is not None and size != old:
            if size > checkpoint.tree_size:
                raise SealRefused(
                    f"the witness {url} cosigned {size} events of {checkpoint.origin}, the seal is over "
                    f"{checkpoint.tree_size}: {_OTHER_LOG}"
                )
            old = size
            continue
        raise _refused(url, answer, checkpoint.origin, old)
    raise AttestationFailed(f"the witness {url} named another size {_TRIES} times; ask it again later")


def ask_authority(url: str, note: bytes, authorities: Sequence[Certificate] = ()) -> tuple[bytes, Timestamp]:
    """Have a time-stamping authority stamp a note; gives its answer, DER, and what it says.

    Without certificates the answer's signature is not checked.
    """
    query = timestamp_query(note)
    answer = _post(_checked(url), query.der, "application/timestamp-query")
    url = visible_url(url)
    if answer.status != _OK:
        raise AttestationFailed(f"the time-stamping authority {url} answered with {answer}")
    try:
        stamp = read_timestamp(answer.content)
    except BadTimestamp as error:
        raise AttestationFailed(f"the time-stamping authority {url}: {error}") from None
    fault = timestamp_fault(answer.content, note, authorities) or (
        None if stamp.nonce == query.nonce else "it repeats another nonce"
    )
    if fault is not None:
        raise AttestationFailed(f"the time-stamp of {url}: {fault}")
    return answer.content, stamp


def _cosignatures(url: str, content: bytes, text: bytes, keys: Sequence[WitnessKey]) -> list[Cosigned]:
    found: list[Cosigned] = []
    for line in content.splitlines(keepends=True):
        try:
            one = read_signature_line(line)
        except BadNote as error:
            raise AttestationFailed(f"the witness {url} answered with no signature lines: {error}") from None
        for key in keys:
            if key.claims(one):
                at = key.cosigned_at(text, one.signature)
                if at is None:
                    raise AttestationFailed(f"the witness {url} answered with a cosignature that is not over the seal")
                found.append(Cosigned(line, key.name, at))
    if not found:
        raise AttestationFailed(f"the witness {url} answered with no cosignature by the keys given: check --key")
    return found


def _refused(url: str, answer: _Answer, origin: str, old: int) -> AttestationFailed | SealRefused:
    if answer.status in {_CONFLICT, _UNPROCESSABLE}:
        return SealRefused(f"the witness {url} cosigned {old} events that this log does not begin with: {_OTHER_LOG}")
    if answer.status == _NOT_FOUND:
        return AttestationFailed(
            f"the witness {url} does not know the log {origin}: give its operator the log's public key, and look "
            "at the URL again"
        )
    if answer.status == _FORBIDDEN:
        return AttestationFailed(
            f"the witness {url} does not know the key that signed for {origin}: give its operator the new public key"
        )
    return AttestationFailed(f"the witness {url} answered with {answer}")


def _size(answer: _Answer) -> int | None:
    """The size that a conflict names."""
    text = answer.content.decode("ascii", "replace").removesuffix("\n")
    said = answer.kind == "text/x.tlog.size" and text.isascii() and text.isdigit() and len(text) <= _MAX_SIZE_DIGITS
    return int(text) if said else None


def _checked(url: str) -> str:
    """The URL, where it can be asked at all: another scheme cannot, now or later."""
    try:
        parts = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise SettingError(f"{visible_url(url)}: is no URL; write https://HOST/PATH") from None
    if parts.scheme not in {"http", "https"} or not parts.host:
        raise SettingError(f"{visible_url(url)}: must be an http:// or https:// URL with a host")
    return url


def _post(url: str, content: bytes, kind: str) -> _Answer:
    try:
        with (
            httpx2.Client(timeout=_SECONDS) as client,
            client.stream("POST", url, content=content, headers={"content-type": kind}) as response,
        ):
            body = b""
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _MAX_ANSWER:
                    raise AttestationFailed(f"{visible_url(url)} answered with more than {_MAX_ANSWER // 1024} KiB")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return _Answer(response.status_code, kind, body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise AttestationFailed(
            f"{visible_url(url)} cannot be asked: {str(error) or type(error).__name__}; try again later"
        ) from None


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
        url: the witness's submission prefix.
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
