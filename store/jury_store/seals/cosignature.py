"""Cosignatures: a witness states that a checkpoint is consistent with every earlier one that it cosigned.

The format is cosignature/v1 of C2SP tlog-cosignature: a signature line of a note whose key has the type 0x04, and whose
signature is 8 bytes of time, big-endian, and 64 bytes Ed25519 over "cosignature/v1", "time N" and the note's text.
"""

from pathlib import Path
from struct import unpack
from typing import Self

from jury_store.errors import BadSealKey
from jury_store.seals.keys import VerifyingKey, key_fields, read_keys

_TIME_BYTES = 8
_SIGNATURE_BYTES = 64


class WitnessKey(VerifyingKey):
    """Verifies the cosignatures of a witness."""

    kind = b"\x04"

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key of a line NAME+ID+KEY.

        Raises:
            BadSealKey: the line is not a key of a witness.
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
        """When the witness cosigned `text`, in seconds since 1970-01-01 UTC; None: the cosignature is not valid."""
        if len(signature) != _TIME_BYTES + _SIGNATURE_BYTES:
            return None
        time: int = unpack(">Q", signature[:_TIME_BYTES])[0]
        valid = self.verifies(b"cosignature/v1\ntime %d\n" % time + text, signature[_TIME_BYTES:])
        return time if valid else None


def read_witness_keys(path: Path) -> tuple[WitnessKey, ...]:
    """The keys of a file, one a line.

    Raises:
        SealKeyFileError, BadSealKey: it cannot be read, or a line is not a key of a witness.
    """
    return read_keys(path, WitnessKey)
