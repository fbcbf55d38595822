"""The Merkle tree over a log as far as a seal covers it, for proofs of any number of its events."""

from jury_store.errors import SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.merkle import HASH_BYTES, Frontier, Proof, Span, inclusion_path, is_hash, joined, node_of, perfect

_BLOCK = 256
_READ = 40 * _BLOCK


class LogTree:
    """The tree over the first `size` events, after one reading of their hashes.

    It holds the roots of 256 events and more, a quarter of a byte an event; below that a proof reads its 256 again.

    Raises:
        SealRefused: the log does not have so many events.
        StoreFailed: the database cannot be read.
    """

    def __init__(self, store: EventStore, size: int) -> None:
        self._store = store
        self.size = size
        # The roots of all subtrees of 256 leaves in a row, then of 512, and so on.
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
                level += node_of(bytes(left), bytes(right))
            self._levels.append(level)

    @property
    def root(self) -> bytes:
        """Over everything."""
        return self._root(Span(0, self.size))

    def proof(self, index: int) -> Proof:
        """That leaf `index` is in the tree.

        Raises:
            ValueError: there is no such leaf.
        """
        return tuple(self._root(span) for span in inclusion_path(index, self.size))

    def _root(self, span: Span) -> bytes:
        return joined([self._perfect_root(piece) for piece in perfect(span)])

    def _perfect_root(self, span: Span) -> bytes:
        width = span.stop - span.start
        if width >= _BLOCK:
            at = span.start // width * HASH_BYTES
            return bytes(self._levels[(width // _BLOCK).bit_length() - 1][at : at + HASH_BYTES])
        block = span.start // _BLOCK * _BLOCK
        if self._block[0] != block:
            self._block = (block, self._hashes(block, min(_BLOCK, self.size - block)))
        return _root(self._block[1][span.start - block : span.stop - block])

    def _hashes(self, start: int, count: int) -> list[bytes]:
        rows = self._store.hashes(start, count)
        whole = [position for position, event_hash in rows if is_hash(event_hash)]
        if whole != list(range(start + 1, start + count + 1)):
            raise SealRefused(
                f"{self.size} events were sealed, and some of those from {start + 1} to {start + count} are gone. "
                "Run jury verify --all"
            )
        return [event_hash for _, event_hash in rows]


def _root(hashes: list[bytes]) -> bytes:
    frontier = Frontier()
    for event_hash in hashes:
        frontier.append(event_hash)
    return frontier.root
