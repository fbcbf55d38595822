"""A seal as the store keeps it."""

from typing import NamedTuple


class Seal(NamedTuple):
    """A signed root over the hashes of the first `tree_size` events of a log, in the order of their positions.

    `root` has 32 bytes. `frontier` holds what a sealer needs to go on without reading the log again: the roots of the
    perfect subtrees that cover those events, 32 bytes each, the largest first. `note` is the signed checkpoint that
    says the same to anybody who keeps it elsewhere. `sealed_at` is in microseconds since 1970-01-01 UTC.
    """

    tree_size: int
    root: bytes
    frontier: bytes
    note: bytes
    sealed_at: int
