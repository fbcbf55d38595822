"""The Merkle tree over the sealed events of a log, for proofs of any number of them."""

from jury_store.errors import SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.merkle import (
    HASH_BYTES,
    Frontier,
    Proof,
    Subtree,
    hash_children,
    inclusion_path,
    is_hash,
    perfect_subtrees,
    root_of_peaks,
)

_BLOCK = 256
_READ = 40 * _BLOCK


class LogTree:
    """The tree over the first `size` events; reads their hashes once.

    It keeps the roots of subtrees of 256 leaves and more, a quarter of a byte an event; a proof rereads its 256 leaves.

    Raises:
        SealRefused: the log has fewer events.
        StoreFailed: the database cannot be read.
    """

    def __init__(self, store: EventStore, size: int) -> None:
        self._store = store
        self.size = size
        # The concatenated roots of all perfect subtrees of 256 leaves, of 512, and so on.
        self._levels: list[bytearray] = [bytearray()]
        self._block: tuple[int, list[bytes]] = (-1, [])
        for start in range(0, size, _READ):
            hashes = self._hashes(start, min(_READ, size - start))
            for first in range(0, len(hashes) - _BLOCK + 1, _BLOCK):
                self._levels[0] += _root(hashes[first : first + _BLOCK])
        while len(below := self._levels[-1]) >= 2 * HASH_BYTES:
            level = bytearray()
            for at in range(0, len(below) - HASH_BYTES, 2 * HASH_BYTES):
                left, right = below[at : at + HASH_BYTES], below[at + HASH_BYTES : at + 2 * HASH_BYTES]
                level += hash_children(bytes(left), bytes(right))
            self._levels.append(level)

    @property
    def root(self) -> bytes:
        """The root of the whole tree."""
        return self._root(Subtree(0, self.size))

    def proof(self, index: int) -> Proof:
        """The inclusion proof of leaf `index`.

        Raises:
            ValueError: there is no such leaf.
        """
        return tuple(self._root(subtree) for subtree in inclusion_path(index, self.size))

    def _root(self, subtree: Subtree) -> bytes:
        return root_of_peaks([self._perfect_root(piece) for piece in perfect_subtrees(subtree)])

    def _perfect_root(self, subtree: Subtree) -> bytes:
        width = subtree.stop - subtree.start
        if width >= _BLOCK:
            at = subtree.start // width * HASH_BYTES
            return bytes(self._levels[(width // _BLOCK).bit_length() - 1][at : at + HASH_BYTES])
        block = subtree.start // _BLOCK * _BLOCK
        if self._block[0] != block:
            self._block = (block, self._hashes(block, min(_BLOCK, self.size - block)))
        return _root(self._block[1][subtree.start - block : subtree.stop - block])

    def _hashes(self, start: int, count: int) -> list[bytes]:
        rows = self._store.hashes(start, count)
        whole = [position for position, event_hash in rows if is_hash(event_hash)]
        if whole != list(range(start + 1, start + count + 1)):
            raise SealRefused(
                f"{self.size} events were sealed, and some of those from {start + 1} to {start + count} are missing. "
                "Run jury verify --all"
            )
        return [event_hash for _, event_hash in rows]


def _root(hashes: list[bytes]) -> bytes:
    frontier = Frontier()
    for event_hash in hashes:
        frontier.append(event_hash)
    return frontier.root
