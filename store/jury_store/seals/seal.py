"""What a store keeps of a seal, and of attestations of it."""

from hashlib import sha256
from typing import Final, NamedTuple


class Seal(NamedTuple):
    """A signed root over the hashes of the first `tree_size` events of a log, in the order of their positions.

    `root` has 32 bytes. `frontier` lets a sealer continue without rereading the log: the roots of the perfect subtrees
    that cover those events, 32 bytes each, the largest first. `note` is the signed checkpoint with size and root, to be
    kept outside the database. `sealed_at` is in microseconds since 1970-01-01 UTC.
    """

    tree_size: int
    root: bytes
    frontier: bytes
    note: bytes
    sealed_at: int


COSIGNATURE: Final = "cosignature"
TIMESTAMP: Final = "timestamp"


class Attestation(NamedTuple):
    """A statement about the seal over `tree_size` events by a witness or a time-stamping authority.

    `content` of a "cosignature": one signature line of a witness over the text of the seal's note (C2SP
    tlog-cosignature), with its LF. Of a "timestamp": the DER of a TimeStampResp (RFC 3161) over the SHA-256 of the
    seal's note. `kept_at` is the time of storing, in microseconds since 1970-01-01 UTC, and only for display.
    """

    tree_size: int
    kind: str
    content: bytes
    kept_at: int

    @property
    def digest(self) -> bytes:
        """The primary key: equal statements are stored once."""
        return sha256(self.content).digest()
