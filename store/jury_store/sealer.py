"""Signing the root of the log at intervals, and the Merkle tree over it."""

from collections.abc import Callable
from typing import NamedTuple

from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.keys import SealKey
from jury_store.seals.last_signed import LastSigned
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
from jury_store.seals.note import Checkpoint, read_checkpoint, sign_checkpoint, signature_fault
from jury_store.seals.seal import Seal

_BATCH = 10_000


class _ExpectedRoot(NamedTuple):
    """A root that the log must have at some size; `of`: the latest "seal", or the last "signed" note."""

    root: bytes
    of: str


class Sealer:
    """Computes the seals of a log, each consistent with those before it; only reads the log.

    Args:
        store: the log. With `last` the first seal reads all of its hashes, later ones only the new ones; without it all
            seals read only what is new.
        now: the time in microseconds since 1970-01-01 UTC.
        last: the file of the last signed note. Without it a seal continues from the stored seals alone, which a writer
            of the database can replace.
    """

    def __init__(self, store: EventStore, key: SealKey, now: Callable[[], int], last: LastSigned | None = None) -> None:
        self._store = store
        self._key = key
        self._now = now
        self._last = last
        self._latest: Seal | None = None

    def next(self) -> Seal | None:
        """A seal over all events stored now; does not store it. None when there are no new events."""
        if self._last is None:
            return self._next(None, None)
        with self._last.locked() as signed:
            return self._next(self._last, signed)

    def _next(self, last: LastSigned | None, signed: Checkpoint | None) -> Seal | None:
        before = self._before()
        if before is not None:
            self._check(before)
        start = before if last is None else self._latest
        frontier = Frontier() if start is None else Frontier(start.tree_size, start.frontier)
        self._read(frontier, self._expected_roots(before, signed))
        if before is not None and frontier.size == before.tree_size:
            if last is not None and signed is None and read_checkpoint(before.note).signatures_by(self._key.public):
                last.write(before.note)
            return None
        if not frontier.size:
            return None
        root = frontier.root
        note = sign_checkpoint(frontier.size, root, self._key)
        if last is not None:
            # Before the note is returned: after a kill here, the next call signs the same again.
            last.write(note)
        self._latest = Seal(frontier.size, root, frontier.peaks, note, self._now())
        return self._latest

    def _before(self) -> Seal | None:
        """The seal to continue from; never an older one than this sealer's own."""
        stored, latest = self._store.latest_seal(), self._latest
        if stored is None or latest is None:
            return latest if stored is None else stored
        if stored.tree_size == latest.tree_size and stored.root != latest.root:
            raise SealRefused(_refusal(stored, "two seals of this size have different roots"))
        return stored if stored.tree_size >= latest.tree_size else latest

    def _check(self, seal: Seal) -> None:
        fault = seal_fault(seal)
        if fault is None:
            checkpoint = read_checkpoint(seal.note)
            if checkpoint.signatures_by(self._key.public):
                fault = signature_fault(checkpoint, [self._key.public])
        if fault is not None:
            raise SealRefused(_refusal(seal, fault))

    def _expected_roots(self, before: Seal | None, signed: Checkpoint | None) -> dict[int, list[_ExpectedRoot]]:
        expected: dict[int, list[_ExpectedRoot]] = {}
        if before is not None:
            expected[before.tree_size] = [_ExpectedRoot(before.root, "seal")]
        if signed is not None:
            expected.setdefault(signed.tree_size, []).insert(0, _ExpectedRoot(signed.root, "signed"))
        return expected

    def _read(self, frontier: Frontier, expected: dict[int, list[_ExpectedRoot]]) -> None:
        """Append the remaining hashes to the frontier; begins at its last event, to check that it still exists."""
        position = max(frontier.size - 1, 0)
        self._compare(frontier, expected)
        while rows := self._store.hashes(position, _BATCH):
            for found, event_hash in rows:
                position += 1
                if found != position or not is_hash(event_hash):
                    raise SealRefused(
                        f"no intact event has the position {position}, so the log is not sealed. {_VERIFY}"
                    )
                if position > frontier.size:
                    frontier.append(event_hash)
                    self._compare(frontier, expected)
        for size, roots in expected.items():
            if size > position and any(root.of == "signed" for root in roots):
                raise SealRefused(
                    f"{self._has_signed(size)}, and this log ends with event {position}: its tail was cut, or an older "
                    f"backup was restored. {self._remedy()}"
                )
        sealed = max(frontier.size, *expected, 0)
        if position < sealed:
            raise SealRefused(
                f"{sealed} events were sealed and the last of them is missing, so the log is not sealed. {_VERIFY}"
            )

    def _compare(self, frontier: Frontier, expected: dict[int, list[_ExpectedRoot]]) -> None:
        for root in expected.get(frontier.size, ()):
            if root.root == frontier.root:
                continue
            if root.of == "signed":
                raise SealRefused(self._changed_log(frontier.size))
            raise SealRefused(
                f"the seal over {frontier.size} events does not match the log, so the log is not sealed. {_VERIFY}"
            )

    def _changed_log(self, size: int) -> str:
        first = self._matching(size) + 1
        where = f"position {size}" if first == size else f"positions {first} to {size}"
        return (
            f"{self._has_signed(size)}, and this log does not begin with them: it was changed at {where}, "
            f"or it is another log, and a key seals one log only. {self._remedy()}"
        )

    def _matching(self, size: int) -> int:
        """The size of the largest stored seal below `size` that matches the log; 0: there is none."""
        claims = {seal.tree_size: seal.root for seal in self._store.seals() if seal_fault(seal) is None}
        frontier, matching = Frontier(), 0
        while frontier.size < size - 1 and (rows := self._store.hashes(frontier.size, _BATCH)):
            for _, event_hash in rows[: size - 1 - frontier.size]:
                frontier.append(event_hash)
                if claims.get(frontier.size) == frontier.root:
                    matching = frontier.size
        return matching

    def _has_signed(self, size: int) -> str:
        path = "" if self._last is None else f" ({self._last.path})"
        return f"the key {self._key.public.name} signed {size} events{path}"

    def _remedy(self) -> str:
        from shlex import quote  # noqa: PLC0415  (keys are seldom ahead of their store)

        path = (
            "" if self._last is None else f" jury verify --checkpoint {quote(str(self._last.path))} shows what matches."
        )
        return (
            f"Nothing was signed.{path} Restore the log that was signed; to seal this one, create a new key "
            "(jury seal keygen)"
        )


def seal_fault(seal: Seal) -> str | None:
    """A contradiction within a seal; None: its frontier, root and note agree."""
    try:
        checkpoint = read_checkpoint(seal.note)
        frontier = Frontier(seal.tree_size, seal.frontier)
    except BadNote as error:
        return f"its note: {error}"
    except ValueError as error:
        return f"its frontier: {error}"
    except (TypeError, AttributeError) as error:
        return f"a column contains a value of a wrong type: {error}"
    if (checkpoint.tree_size, checkpoint.root) != (seal.tree_size, seal.root):
        return "its note has another size or root"
    if frontier.root != seal.root:
        return "its frontier has another root"
    return None


_VERIFY = "Run jury verify --all"


def _refusal(seal: Seal, what: str) -> str:
    return f"the seal over {seal.tree_size} events was altered ({what}), so the log is not sealed. {_VERIFY}"


_BLOCK = 256
_READ = 40 * _BLOCK


class LogTree:
    """The tree over the first `size` events; reads their hashes once.

    It keeps the roots of subtrees of 256 leaves and more, a quarter of a byte an event; a proof rereads its 256 leaves.
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
