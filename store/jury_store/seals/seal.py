"""A seal as stored."""

from typing import NamedTuple


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
