"""Signed notes: checkpoints, the cosignatures of witnesses, and statements about one file.

Notes are C2SP signed-note and tlog-checkpoint: three lines (origin, size in decimal, root in base64), optional further
lines (ignored), an empty line, then one line a signature: `— NAME BASE64(key id ‖ signature)`.

Cosignatures are cosignature/v1 of C2SP tlog-cosignature: a signature line of a note whose key has the type 0x04, and
whose signature is 8 bytes of time, big-endian, and 64 bytes Ed25519 over "cosignature/v1", "time N" and the note's
text.

A statement says that a key's holder had the bytes of a file before them, signed with the keys of seals. Its text is
three lines: what is stated, which no log is named as (a key's name has no space), the key's name, and a SHA-256 in
hexadecimal.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Collection
from pathlib import Path
from struct import unpack
from typing import Literal, NamedTuple, Self

from jury_store.errors import BadNote, BadSealKey
from jury_store.seals.keys import PublicKey, SealKey, SignatureLine, VerifyingKey, is_key_name, key_fields, read_keys
from jury_store.seals.merkle import HASH_BYTES

MAX_BYTES = 64 * 1024
MAX_SIGNATURES = 100
_MAX_SIZE = 2**63
_KEY_ID_BYTES = 4
_DASH = "\u2014 "
_SHOWN = 100


class Checkpoint(NamedTuple):
    """A decoded note: `origin` (the log's name), the number of events, their 32-byte root; the signatures of `text`."""

    origin: str
    tree_size: int
    root: bytes
    text: bytes
    signatures: tuple[SignatureLine, ...]

    def signatures_by(self, key: VerifyingKey) -> tuple[SignatureLine, ...]:
        """The signatures with this key's name and id, valid or not."""
        return tuple(one for one in self.signatures if key.claims(one))


def sign_checkpoint(tree_size: int, root: bytes, key: SealKey) -> bytes:
    """A signed note over a log's first `tree_size` events; its origin is the name of the key."""
    text = f"{key.public.name}\n{tree_size}\n{b64encode(root).decode()}\n".encode()
    signature = b64encode(key.public.key_id + key.sign(text)).decode()
    return text + f"\n{_DASH}{key.public.name} {signature}\n".encode()


def read_checkpoint(note: bytes) -> Checkpoint:
    """Decode a note without verifying its signatures: see `signature_fault`."""
    if len(note) > MAX_BYTES:
        raise BadNote(f"this is not a checkpoint: it has more than {MAX_BYTES // 1024} KiB")
    try:
        whole = note.decode()
    except UnicodeDecodeError:
        raise BadNote("this is not a checkpoint: it is not UTF-8 text") from None
    if any(character < " " and character != "\n" for character in whole):
        raise BadNote("this is not a checkpoint: it contains a control character; line ends must be LF, not CR LF")
    text, blank, signed = whole.rpartition("\n\n")
    if not blank or not signed.endswith("\n"):
        raise BadNote("this is not a checkpoint, or not a complete one: those end with an empty line and signatures")
    lines = signed[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise BadNote(f"this is not a checkpoint: it has more than {MAX_SIGNATURES} signatures")
    signatures = tuple(_signature(number, line) for number, line in enumerate(lines, 1))
    origin, tree_size, root = _body(text.split("\n"))
    if not any(one.name == origin for one in signatures):
        names = ", ".join(sorted({one.name for one in signatures}))
        raise BadNote(
            f"this is not a checkpoint: it is of the log {origin[:_SHOWN]} and has only signatures named {names}"
        )
    return Checkpoint(origin, tree_size, root, (text + "\n").encode(), signatures)


def signature_fault(checkpoint: Checkpoint, keys: Collection[PublicKey]) -> str | None:
    """The fault of a note's signatures under trusted `keys`; None: it is validly signed.

    Signatures of unknown keys are ignored; an invalid one in the name of a known key is a fault. At least one key must
    have the name of the log: a key for one log does not sign for another.
    """
    known = [(key, one) for key in keys for one in checkpoint.signatures_by(key)]
    for key, one in known:
        if not key.verifies(checkpoint.text, one.signature):
            return f"the signature of {key.name}+{key.key_id.hex()} is not valid for this text"
    if not known:
        names = ", ".join(sorted({f"{one.name}+{one.key_id.hex()}" for one in checkpoint.signatures}))
        return f"it is signed by {names}, which is none of the keys given"
    if not any(key.name == checkpoint.origin for key, _ in known):
        names = ", ".join(sorted({key.name for key, _ in known}))
        return f"it is of the log {checkpoint.origin[:_SHOWN]}, and of the keys given only {names} signed it"
    return None


def _body(lines: list[str]) -> tuple[str, int, bytes]:
    if len(lines) < 3 or not all(lines):  # noqa: PLR2004  (origin, size, root)
        raise BadNote("this is a note, but not a checkpoint: those begin with origin, size and root, a line each")
    origin, size, root = lines[:3]
    if not (size.isascii() and size.isdigit() and (size == "0" or size[0] != "0") and len(size) <= len(str(_MAX_SIZE))):
        raise BadNote("this is not a checkpoint: its second line is not a number of events")
    raw = _base64(root)
    if raw is None or len(raw) != HASH_BYTES or int(size) >= _MAX_SIZE:
        raise BadNote("this is not a checkpoint: its third line is not the base64 of a 32-byte root")
    return origin, int(size), raw


def read_signature_line(line: bytes) -> SignatureLine:
    """Decode one signature line, with its LF."""
    try:
        text = line.decode()
    except (UnicodeDecodeError, AttributeError):
        raise BadNote("this is not a signature line: it is not UTF-8 text") from None
    if not text.endswith("\n") or any(character < " " for character in text[:-1]):
        raise BadNote("this is not a signature line: it does not end with one LF, or contains a control character")
    return _signature(1, text[:-1])


def _signature(number: int, line: str) -> SignatureLine:
    name, blank, encoded = line.removeprefix(_DASH).partition(" ")
    raw = _base64(encoded)
    if not line.startswith(_DASH) or not blank or not is_key_name(name) or raw is None or len(raw) <= _KEY_ID_BYTES:
        raise BadNote(f"this is not a checkpoint, or a damaged one: its signature line {number} is malformed")
    return SignatureLine(name, raw[:_KEY_ID_BYTES], raw[_KEY_ID_BYTES:])


def _base64(text: str) -> bytes | None:
    """The bytes of canonical standard base64; None for any other text."""
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        return None
    return raw if b64encode(raw).decode() == text else None


_TIME_BYTES = 8
_SIGNATURE_BYTES = 64


class WitnessKey(VerifyingKey):
    """Verifies the cosignatures of a witness."""

    kind = b"\x04"

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key of a line NAME+ID+KEY."""
        try:
            fields = key_fields(line, cls.kind)
        except BadSealKey:
            raise BadSealKey(
                "this is no key of a witness: those are one line NAME+ID+KEY of the type 0x04 (Ed25519 cosignatures, "
                "C2SP tlog-cosignature)"
            ) from None
        return cls._of(*fields)

    def cosigned_at(self, text: bytes, signature: bytes) -> int | None:
        """When the witness cosigned `text`, in seconds since 1970-01-01 UTC; None: the cosignature is not valid."""
        if len(signature) != _TIME_BYTES + _SIGNATURE_BYTES:
            return None
        time: int = unpack(">Q", signature[:_TIME_BYTES])[0]
        valid = self.verifies(b"cosignature/v1\ntime %d\n" % time + text, signature[_TIME_BYTES:])
        return time if valid else None


def read_witness_keys(path: Path) -> tuple[WitnessKey, ...]:
    """The keys of a file, one a line."""
    return read_keys(path, WitnessKey)


StatementKind = Literal["jury-judge calibration 1", "jury-judge streams 1"]
CALIBRATION: StatementKind = "jury-judge calibration 1"
STREAMS: StatementKind = "jury-judge streams 1"

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LINES = 5


class SignedStatement(NamedTuple):
    """A decoded statement: the key's name, the digest in hexadecimal, the signature of `text`."""

    signer: str
    digest: str
    text: bytes
    signature: SignatureLine

    @property
    def key(self) -> str:
        """The name and the id of the key."""
        return f"{self.signature.name}+{self.signature.key_id.hex()}"


def sign_statement(kind: StatementKind, digest: str, key: SealKey) -> str:
    """The note that states `digest`, 64 hexadecimal digits."""
    text = f"{kind}\n{key.public.name}\n{digest}\n"
    signature = b64encode(key.public.key_id + key.sign(text.encode())).decode()
    return f"{text}\n\u2014 {key.public.name} {signature}\n"


def read_statement(note: str, kind: StatementKind) -> SignedStatement:
    """Decode a statement without verifying its signature: see `statement_fault`."""
    lines = note.split("\n", _LINES)
    if len(note) > MAX_BYTES or len(lines) != _LINES + 1 or lines[5] or lines[3] or lines[0] != kind:
        raise BadNote(f"this is no signed note of the kind {kind!r}")
    if not is_key_name(lines[1]) or not _DIGEST.fullmatch(lines[2]):
        raise BadNote(f"this is a damaged note of the kind {kind!r}")
    try:
        signature = read_signature_line(f"{lines[4]}\n".encode())
    except UnicodeEncodeError:
        raise BadNote(f"this is a damaged note of the kind {kind!r}: it is no text") from None
    if signature.name != lines[1]:
        raise BadNote(f"this note names the key {lines[1][:100]}, and is signed by {signature.name[:100]}")
    return SignedStatement(lines[1], lines[2], "".join(f"{line}\n" for line in lines[:3]).encode(), signature)


def statement_fault(statement: SignedStatement, keys: Collection[PublicKey]) -> str | None:
    """Why a statement is not validly signed by one of these trusted keys; None: it is."""
    key = known_key(statement, keys)
    if key is None:
        return f"it is signed by {statement.key}, which is none of the keys given"
    if not key.verifies(statement.text, statement.signature.signature):
        return f"the signature of {statement.key} is not valid for this text"
    return None


def known_key(statement: SignedStatement, keys: Collection[PublicKey]) -> PublicKey | None:
    """The key that a statement names, if it is one of these; its signature may be invalid all the same."""
    return next((key for key in keys if key.claims(statement.signature)), None)
