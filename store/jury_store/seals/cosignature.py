"""Cosignatures: a witness states that it saw a checkpoint, and nothing before that contradicts it.

The form is cosignature/v1 of C2SP tlog-cosignature: a signature line of a note whose key has the type 0x04, and whose
signature is 8 bytes of time, big-endian, and 64 bytes Ed25519 over "cosignature/v1", "time N" and the note's text.
"""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from struct import unpack
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from jury_store.errors import BadSealKey
from jury_store.seals.ed25519 import point_fault
from jury_store.seals.keys import check_name, key_fields, key_lines
from jury_store.seals.note import Signature

_COSIGNATURE: Final = b"\x04"
_TIME_BYTES = 8
_SIGNATURE_BYTES = 64


class WitnessKey:
    """What cosignatures of a witness are checked with.

    Raises:
        BadSealKey: the name may not be one, or under these 32 bytes everybody could sign.
    """

    def __init__(self, name: str, raw: bytes) -> None:
        check_name(name)
        if (fault := point_fault(raw)) is not None:
            raise BadSealKey(f"the key {name} is refused: {fault}")
        self.name = name
        self.key_id = sha256(name.encode() + b"\n" + _COSIGNATURE + raw).digest()[:4]
        self.raw = raw
        self._key = Ed25519PublicKey.from_public_bytes(raw)

    @classmethod
    def parse(cls, line: str) -> "WitnessKey":
        """The key of a line NAME+ID+KEY.

        Raises:
            BadSealKey: it does not say one.
        """
        try:
            name, key_id, raw = key_fields(line, _COSIGNATURE)
        except BadSealKey:
            raise BadSealKey(
                "this is no key of a witness: those are one line NAME+ID+KEY of the type 0x04 (Ed25519 cosignatures, "
                "C2SP tlog-cosignature)"
            ) from None
        key = cls(name, raw)
        if key.key_id != key_id:
            raise BadSealKey(f"the id in the key {name} is not the one of this key: a character of it was changed")
        return key

    @property
    def line(self) -> str:
        """The key as a line of text, without its end."""
        return f"{self.name}+{self.key_id.hex()}+{b64encode(_COSIGNATURE + self.raw).decode()}"

    def cosigned_at(self, text: bytes, signature: bytes) -> int | None:
        """When the witness cosigned `text`, seconds since 1970-01-01 UTC; None: this is not its cosignature."""
        if len(signature) != _TIME_BYTES + _SIGNATURE_BYTES:
            return None
        time: int = unpack(">Q", signature[:_TIME_BYTES])[0]
        try:
            self._key.verify(signature[_TIME_BYTES:], b"cosignature/v1\ntime %d\n" % time + text)
        except InvalidSignature:
            return None
        return time

    def claims(self, one: Signature) -> bool:
        """Whether a signature line says that it is this witness's."""
        return (one.name, one.key_id) == (self.name, self.key_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WitnessKey) and self.line == other.line

    def __hash__(self) -> int:
        return hash(self.line)

    def __repr__(self) -> str:
        return f"WitnessKey({self.line})"


def read_witness_keys(path: Path) -> tuple[WitnessKey, ...]:
    """The keys of a file, one a line.

    Raises:
        SealKeyFile, BadSealKey: it cannot be read, or a line of it is no key of a witness.
    """
    keys: list[WitnessKey] = []
    for number, line in enumerate(key_lines(path), 1):
        try:
            keys.append(WitnessKey.parse(line))
        except BadSealKey as error:
            raise BadSealKey(f"{path}, key {number}: {error}") from None
    if not keys:
        raise BadSealKey(f"{path} holds no key")
    return tuple(keys)
