"""Signed statements about one file: that a key's holder had these bytes before them.

They are notes of C2SP signed-note as checkpoints are, signed with the keys of seals. The text is three lines: what is
stated, which no log is named as (a key's name has no space), the key's name, and a SHA-256 in hexadecimal.
"""

import re
from base64 import b64encode
from collections.abc import Collection
from typing import Literal, NamedTuple

from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey, SignatureLine, is_key_name
from jury_store.seals.note import MAX_BYTES, read_signature_line

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
