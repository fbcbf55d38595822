"""Cosignatures: a witness states that it saw a checkpoint, and nothing before that contradicts it.

The form is cosignature/v1 of C2SP tlog-cosignature: a signature line of a note whose key has the type 0x04, and whose
signature is 8 bytes of time, big-endian, and 64 bytes Ed25519 over "cosignature/v1", "time N" and the note's text.
"""

from pathlib import Path
from struct import unpack
from typing import Self

from jury_store.errors import BadSealKey
from jury_store.seals.keys import VerifyingKey, key_fields, key_lines
from jury_store.seals.note import Signature

_TIME_BYTES = 8
_SIGNATURE_BYTES = 64


class WitnessKey(VerifyingKey):
    """What cosignatures of a witness are checked with."""

    kind = b"\x04"

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key of a line NAME+ID+KEY.

        Raises:
            BadSealKey: it does not say one.
        """
        try:
            fields = key_fields(line, cls.kind)
        except BadSealKey:
            raise BadSealKey(
                "this is no key of a witness: those are one line NAME+ID+KEY of the type 0x04 (Ed25519 cosignatures, "
                "C2SP tlog-cosignature)"
            ) from None
        return cls._of(*fields)

    def cosigned_at(self, text: bytes, signature: bytes) -> int | None:
        """When the witness cosigned `text`, seconds since 1970-01-01 UTC; None: this is not its cosignature."""
        if len(signature) != _TIME_BYTES + _SIGNATURE_BYTES:
            return None
        time: int = unpack(">Q", signature[:_TIME_BYTES])[0]
        signed = self.signed(b"cosignature/v1\ntime %d\n" % time + text, signature[_TIME_BYTES:])
        return time if signed else None

    def claims(self, one: Signature) -> bool:
        """Whether a signature line says that it is this witness's."""
        return (one.name, one.key_id) == (self.name, self.key_id)


def read_witness_keys(path: Path) -> tuple[WitnessKey, ...]:
    """The keys of a file, one a line.

    Raises:
        SealKeyFileError, BadSealKey: it cannot be read, or a line of it is no key of a witness.
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
