"""The Merkle tree over the events of a log: RFC 6962, section 2.1.

Leaf `i` is SHA-256(0x00 ‖ hash of the event at position `i` + 1), an inner node SHA-256(0x01 ‖ left ‖ right). What is
called a hash here is that of an event, as the log keeps it; leaves are made of it inside.

Nothing here holds a whole tree: roots and proofs are made while the hashes go by once, in their order.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

Proof = tuple[bytes, ...]
"""Roots of subtrees, 32 bytes each, in the order of RFC 6962."""


class Span(NamedTuple):
    """The leaves from `start` up to, not including, `stop`: a subtree of a log's tree."""

    start: int
    stop: int


class Frontier:
    """What is left of a tree when only its growth matters: the roots of the perfect subtrees, the largest first.

    `peaks` takes up what another frontier left off, of the same `size`.

    Raises:
        ValueError: no tree of that size has so many peaks.
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
            node = node_of(self._peaks.pop(), node)
            size >>= 1
        self._peaks.append(node)
        self.size += 1

    @property
    def peaks(self) -> bytes:
        """The peaks in a row, 32 bytes each."""
        return b"".join(self._peaks)

    @property
    def root(self) -> bytes:
        """The root over everything so far."""
        return joined(self._peaks)


def inclusion_proofs(event_hashes: Iterable[bytes], size: int, indexes: Collection[int]) -> dict[int, Proof]:
    """That the leaves of `indexes` are in the tree of the first `size` hashes; one reading serves all of them.

    Raises:
        ValueError: an index is beyond the tree, or there are fewer hashes.
    """
    paths = {index: inclusion_path(index, size) for index in indexes}
    roots = _roots(event_hashes, {span for path in paths.values() for span in path})
    return {index: tuple(roots[span] for span in path) for index, path in paths.items()}


def consistency_proof(event_hashes: Iterable[bytes], old: int, new: int) -> Proof:
    """That the tree of the first `new` hashes begins with that of the first `old`.

    Raises:
        ValueError: `old` is beyond `new`, or there are fewer hashes.
    """
    path = consistency_path(old, new)
    roots = _roots(event_hashes, set(path))
    return tuple(roots[span] for span in path)


def is_included(event_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether `proof` shows that leaf `index` of the tree with `size` leaves and that `root` is `event_hash`."""
    if not 0 <= index < size:
        return False
    path = inclusion_path(index, size)
    if not _fits(proof, path):
        return False
    node = _leaf(event_hash)
    for span, sibling in zip(path, proof, strict=True):
        node = node_of(sibling, node) if span.start < index else node_of(node, sibling)
    return node == root


def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree of size `new` begins with that of size `old`."""
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
    for span, node in zip(path[first:], proof[first:], strict=True):
        if span.start < old:
            before, after = node_of(node, before), node_of(node, after)
        else:
            after = node_of(after, node)
    return (before, after) == (old_root, new_root)


def inclusion_path(index: int, size: int) -> list[Span]:
    """Of which subtrees an inclusion proof holds the roots, the smallest first: PATH(m, D[n]) of the RFC.

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree over {size} events has no leaf {index}")
    path: list[Span] = []
    tree = Span(0, size)
    while tree.stop - tree.start > 1:
        middle = _middle(tree)
        left, right = Span(tree.start, middle), Span(middle, tree.stop)
        tree, sibling = (left, right) if index < middle else (right, left)
        path.append(sibling)
    return path[::-1]


def consistency_path(old: int, new: int) -> list[Span]:
    """Of which subtrees a consistency proof holds the roots, the smallest first: PROOF(m, D[n]) of the RFC.

    Raises:
        ValueError: `old` is beyond `new`.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a tree over {new} events cannot begin with one over {old}")
    path: list[Span] = []
    tree = Span(0, new)
    while old and tree.stop != old:
        middle = _middle(tree)
        left, right = Span(tree.start, middle), Span(middle, tree.stop)
        tree, other = (left, right) if old <= middle else (right, left)
        path.append(other)
    if tree.start:
        # Not the old tree itself, whose root whoever verifies knows, but its last part.
        path.append(tree)
    return path[::-1]


def _roots(event_hashes: Iterable[bytes], spans: Collection[Span]) -> dict[Span, bytes]:
    """The roots of some subtrees, in one reading that ends where the last of them does."""
    needed = {piece for span in spans for piece in perfect(span)}
    stop = max((span.stop for span in spans), default=0)
    found: dict[Span, bytes] = {}
    peaks: list[bytes] = []
    size = 0
    for event_hash in event_hashes if stop else ():
        node, width = _leaf(event_hash), 1
        size += 1
        while True:
            span = Span(size - width, size)
            if span in needed:
                found[span] = node
            if not (size - width) & width:
                break
            node = node_of(peaks.pop(), node)
            width *= 2
        peaks.append(node)
        if size == stop:
            break
    if size < stop:
        raise ValueError(f"there are {size} events, a proof needs {stop}")
    return {span: joined([found[piece] for piece in perfect(span)]) for span in spans}


def perfect(span: Span) -> Iterator[Span]:
    """The perfect subtrees that a subtree of a log's tree is made of, the largest first."""
    start, stop = span
    while start < stop:
        width = 1 << (stop - start).bit_length() - 1
        yield Span(start, start + width)
        start += width


def _middle(tree: Span) -> int:
    """Where a tree of more than one leaf parts: after the largest power of two that is smaller than it."""
    return tree.start + (1 << (tree.stop - tree.start - 1).bit_length() - 1)


def joined(peaks: Sequence[bytes]) -> bytes:
    """The root of the tree that these perfect subtrees make up."""
    if not peaks:
        return EMPTY_ROOT
    *others, node = peaks
    for peak in reversed(others):
        node = node_of(peak, node)
    return node


def _fits(proof: Sequence[bytes], path: Sequence[Span]) -> bool:
    return len(proof) == len(path) and all(len(node) == HASH_BYTES for node in proof)


def is_hash(value: object) -> bool:
    """Whether it is a hash: a SQLite column holds whatever somebody put there."""
    return isinstance(value, bytes) and len(value) == HASH_BYTES


def _leaf(event_hash: bytes) -> bytes:
    return sha256(b"\0" + event_hash).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()
