"""The Merkle tree over the events of a log: RFC 6962, section 2.1.

Leaf `i` is SHA-256(0x00 ‖ hash of the event at position `i` + 1), an inner node SHA-256(0x01 ‖ left ‖ right). The
functions take event hashes and make the leaves themselves.

No function holds a whole tree in memory: roots and proofs are computed in one pass over the hashes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

Proof = tuple[bytes, ...]
"""Roots of subtrees, 32 bytes each, in the order of RFC 6962."""


class Subtree(NamedTuple):
    """The subtree over the leaves from `start` to `stop`, exclusive."""

    start: int
    stop: int


class Frontier:
    """The state needed to append to a tree: the roots of its perfect subtrees (peaks), the largest first.

    `size` and `peaks` restore another frontier.

    Raises:
        ValueError: the number of peaks does not match the size.
    """

    def __init__(self, size: int = 0, peaks: bytes = b"") -> None:
        if size < 0 or len(peaks) != HASH_BYTES * size.bit_count():
            raise ValueError(f"a tree over {size} events does not have {len(peaks)} bytes of peaks")
        self.size = size
        self._peaks = [peaks[at : at + HASH_BYTES] for at in range(0, len(peaks), HASH_BYTES)]

    def append(self, event_hash: bytes) -> None:
        """Add the next event."""
        node = _leaf(event_hash)
        size = self.size
        while size & 1:
            node = hash_children(self._peaks.pop(), node)
            size >>= 1
        self._peaks.append(node)
        self.size += 1

    @property
    def peaks(self) -> bytes:
        """The concatenated peaks, 32 bytes each."""
        return b"".join(self._peaks)

    @property
    def root(self) -> bytes:
        """The root over all appended events."""
        return root_of_peaks(self._peaks)


def inclusion_proofs(event_hashes: Iterable[bytes], size: int, indexes: Collection[int]) -> dict[int, Proof]:
    """Proofs that the leaves of `indexes` are in the tree of the first `size` hashes, in one pass.

    Raises:
        ValueError: an index is beyond the tree, or there are fewer hashes.
    """
    paths = {index: inclusion_path(index, size) for index in indexes}
    roots = _roots(event_hashes, {subtree for path in paths.values() for subtree in path})
    return {index: tuple(roots[subtree] for subtree in path) for index, path in paths.items()}


def consistency_proof(event_hashes: Iterable[bytes], old: int, new: int) -> Proof:
    """The proof that the tree of the first `new` hashes begins with that of the first `old`.

    Raises:
        ValueError: `old` is beyond `new`, or there are fewer hashes.
    """
    path = consistency_path(old, new)
    roots = _roots(event_hashes, set(path))
    return tuple(roots[subtree] for subtree in path)


def is_included(event_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether `proof` proves that leaf `index` of the tree with `size` leaves and this root is `event_hash`."""
    if not 0 <= index < size:
        return False
    path = inclusion_path(index, size)
    if not _fits(proof, path):
        return False
    node = _leaf(event_hash)
    for subtree, sibling in zip(path, proof, strict=True):
        node = hash_children(sibling, node) if subtree.start < index else hash_children(node, sibling)
    return node == root


def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` proves that the tree of size `new` begins with that of size `old`."""
    if not 0 <= old <= new:
        return False
    path = consistency_path(old, new)
    if not _fits(proof, path):
        return False
    if not path:
        # Every tree begins with the empty one, and with itself.
        return old_root == (EMPTY_ROOT if old == 0 else new_root)
    before = after = old_root if path[0].start >= old else proof[0]
    first = 0 if path[0].start >= old else 1
    for subtree, node in zip(path[first:], proof[first:], strict=True):
        if subtree.start < old:
            before, after = hash_children(node, before), hash_children(node, after)
        else:
            after = hash_children(after, node)
    return (before, after) == (old_root, new_root)


def inclusion_path(index: int, size: int) -> list[Subtree]:
    """The subtrees whose roots make an inclusion proof, the smallest first: PATH(m, D[n]) of the RFC.

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree over {size} events has no leaf {index}")
    path: list[Subtree] = []
    tree = Subtree(0, size)
    while tree.stop - tree.start > 1:
        split = _split(tree)
        left, right = Subtree(tree.start, split), Subtree(split, tree.stop)
        tree, sibling = (left, right) if index < split else (right, left)
        path.append(sibling)
    return path[::-1]


def consistency_path(old: int, new: int) -> list[Subtree]:
    """The subtrees whose roots make a consistency proof, the smallest first: PROOF(m, D[n]) of the RFC.

    Raises:
        ValueError: `old` is beyond `new`.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a tree over {new} events cannot begin with one over {old}")
    path: list[Subtree] = []
    tree = Subtree(0, new)
    while old and tree.stop != old:
        split = _split(tree)
        left, right = Subtree(tree.start, split), Subtree(split, tree.stop)
        tree, other = (left, right) if old <= split else (right, left)
        path.append(other)
    if tree.start:
        # The last part of the old tree; the root of the whole old tree is known to the verifier.
        path.append(tree)
    return path[::-1]


def _roots(event_hashes: Iterable[bytes], subtrees: Collection[Subtree]) -> dict[Subtree, bytes]:
    """The roots of some subtrees, in one pass that stops at the end of the last."""
    needed = {piece for subtree in subtrees for piece in perfect_subtrees(subtree)}
    stop = max((subtree.stop for subtree in subtrees), default=0)
    found: dict[Subtree, bytes] = {}
    peaks: list[bytes] = []
    size = 0
    for event_hash in event_hashes if stop else ():
        node, width = _leaf(event_hash), 1
        size += 1
        while True:
            subtree = Subtree(size - width, size)
            if subtree in needed:
                found[subtree] = node
            if not (size - width) & width:
                break
            node = hash_children(peaks.pop(), node)
            width *= 2
        peaks.append(node)
        if size == stop:
            break
    if size < stop:
        raise ValueError(f"there are {size} events, a proof needs {stop}")
    return {subtree: root_of_peaks([found[piece] for piece in perfect_subtrees(subtree)]) for subtree in subtrees}


def perfect_subtrees(subtree: Subtree) -> Iterator[Subtree]:
    """The perfect subtrees of a subtree, the largest first."""
    start, stop = subtree
    while start < stop:
        width = 1 << (stop - start).bit_length() - 1
        yield Subtree(start, start + width)
        start += width


def _split(tree: Subtree) -> int:
    """The first leaf of the right child: after the largest power of two smaller than the tree."""
    return tree.start + (1 << (tree.stop - tree.start - 1).bit_length() - 1)


def root_of_peaks(peaks: Sequence[bytes]) -> bytes:
    """The root of the tree that consists of these perfect subtrees."""
    if not peaks:
        return EMPTY_ROOT
    *others, node = peaks
    for peak in reversed(others):
        node = hash_children(peak, node)
    return node


def _fits(proof: Sequence[bytes], path: Sequence[Subtree]) -> bool:
    return len(proof) == len(path) and all(len(node) == HASH_BYTES for node in proof)


def is_hash(value: object) -> bool:
    """Whether a value is a hash: a SQLite column may contain values of any type."""
    return isinstance(value, bytes) and len(value) == HASH_BYTES


def _leaf(event_hash: bytes) -> bytes:
    return sha256(b"\0" + event_hash).digest()


def hash_children(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()
