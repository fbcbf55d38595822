"""Sealing a log: the next signed root, made from the one before and the hashes beyond it."""

from collections.abc import Callable
from typing import NamedTuple

from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.keys import SealKey
from jury_store.seals.last_signed import LastSigned
from jury_store.seals.merkle import Frontier, is_hash
from jury_store.seals.note import Checkpoint, read_checkpoint, sign_checkpoint, signature_fault
from jury_store.seals.seal import Seal

_BATCH = 10_000


class _Mark(NamedTuple):
    """A root that the log must have at some size: of the latest "seal", or what the key "signed" last."""

    root: bytes
    of: str


class Sealer:
    """Makes the seals of a log, each consistent with those before it; only reads the log.

    Args:
        store: the log. With `last` all of its hashes are read once, by the first seal; without it, and later, only what
            is new.
        key: what it signs with.
        now: the time in microseconds since 1970-01-01 UTC.
        last: what the key signed last, kept beside it. Without it the stored seals alone are gone on from, which
            whoever writes to the database can exchange.
    """

    def __init__(self, store: EventStore, key: SealKey, now: Callable[[], int], last: LastSigned | None = None) -> None:
        self._store = store
        self._key = key
        self._now = now
        self._last = last
        self._made: Seal | None = None

    def next(self) -> Seal | None:
        """The seal over everything that is stored now, to be kept by whoever writes; None when nothing is new.

        Raises:
            SealRefused: the log, or the seal that it goes on from, is not what was sealed, or not what the key signed.
            SealKeyFileError, BadNote: what the key signed last cannot be read or written.
            StoreError: the database cannot be read.
        """
        if self._last is None:
            return self._next(None, None)
        with self._last.held() as signed:
            return self._next(self._last, signed)

    def _next(self, last: LastSigned | None, signed: Checkpoint | None) -> Seal | None:
        before = self._before()
        if before is not None:
            self._check(before)
        start = before if last is None else self._made
        frontier = Frontier() if start is None else Frontier(start.tree_size, start.frontier)
        self._read(frontier, self._marks(before, signed))
        if before is not None and frontier.size == before.tree_size:
            if last is not None and signed is None and read_checkpoint(before.note).by(self._key.public):
                last.write(before.note)
            return None
        if not frontier.size:
            return None
        root = frontier.root
        note = sign_checkpoint(frontier.size, root, self._key)
        if last is not None:
            # Before anybody has the note: who is killed here signs the same again.
            last.write(note)
        self._made = Seal(frontier.size, root, frontier.peaks, note, self._now())
        return self._made

    def _before(self) -> Seal | None:
        """The seal to go on from: never one that would let this sealer contradict what it signed."""
        kept, made = self._store.latest_seal(), self._made
        if kept is None or made is None:
            return made if kept is None else kept
        if kept.tree_size == made.tree_size and kept.root != made.root:
            raise SealRefused(_refusal(kept, "two seals of this size have different roots"))
        return kept if kept.tree_size >= made.tree_size else made

    def _check(self, seal: Seal) -> None:
        fault = seal_fault(seal)
        if fault is None:
            checkpoint = read_checkpoint(seal.note)
            if checkpoint.signatures_by(self._key.public):
                fault = signature_fault(checkpoint, [self._key.public])
        if fault is not None:
            raise SealRefused(_refusal(seal, fault))

    def _marks(self, before: Seal | None, signed: Checkpoint | None) -> dict[int, list[_Mark]]:
        """By size, which roots the log must have on the way."""
        marks: dict[int, list[_Mark]] = {}
        if before is not None:
            marks[before.tree_size] = [_Mark(before.root, "seal")]
        if signed is not None:
            marks.setdefault(signed.tree_size, []).insert(0, _Mark(signed.root, "signed"))
        return marks

    def _read(self, frontier: Frontier, marks: dict[int, list[_Mark]]) -> None:
        """Carry the frontier to the end of the log, beginning at its last event to see that it is there."""
        position = max(frontier.size - 1, 0)
        self._compare(frontier, marks)
        while rows := self._store.hashes(position, _BATCH):
            for found, event_hash in rows:
                position += 1
                if found != position or not is_hash(event_hash):
                    raise SealRefused(
                        f"no whole event has the position {position}, so the log is not sealed. {_VERIFY}"
                    )
                if position > frontier.size:
                    frontier.append(event_hash)
                    self._compare(frontier, marks)
        for size, found_marks in marks.items():
            if size > position and any(mark.of == "signed" for mark in found_marks):
                raise SealRefused(
                    f"{self._has_signed(size)}, and this log ends with event {position}: its tail was cut, or an older "
                    f"backup was restored. {self._remedy()}"
                )
        sealed = max(frontier.size, *marks, 0)
        if position < sealed:
            raise SealRefused(
                f"{sealed} events were sealed and the last of them is gone, so the log is not sealed. {_VERIFY}"
            )

    def _compare(self, frontier: Frontier, marks: dict[int, list[_Mark]]) -> None:
        for mark in marks.get(frontier.size, ()):
            if mark.root == frontier.root:
                continue
            if mark.of == "signed":
                raise SealRefused(self._rewritten(frontier.size))
            raise SealRefused(
                f"the seal over {frontier.size} events does not fit the log, so the log is not sealed. {_VERIFY}"
            )

    def _rewritten(self, size: int) -> str:
        first = self._fitting(size) + 1
        place = f"position {size}" if first == size else f"positions {first} to {size}"
        return (
            f"{self._has_signed(size)}, and this log does not begin with them: it was changed at {place}, "
            f"or it is another log, and a key seals one. {self._remedy()}"
        )

    def _fitting(self, size: int) -> int:
        """How many events the largest stored seal below `size` covers that fits the log; 0: there is none."""
        claims = {seal.tree_size: seal.root for seal in self._store.seals() if seal_fault(seal) is None}
        frontier, fitting = Frontier(), 0
        while frontier.size < size - 1 and (rows := self._store.hashes(frontier.size, _BATCH)):
            for _, event_hash in rows[: size - 1 - frontier.size]:
                frontier.append(event_hash)
                if claims.get(frontier.size) == frontier.root:
                    fitting = frontier.size
        return fitting

    def _has_signed(self, size: int) -> str:
        path = "" if self._last is None else f" ({self._last.path})"
        return f"the key {self._key.public.name} signed {size} events{path}"

    def _remedy(self) -> str:
        path = "" if self._last is None else f" jury verify --checkpoint {self._last.path} shows what fits."
        return (
            f"Nothing was signed.{path} Restore the log that was signed; one that stays as it is needs a new key "
            "(jury seal keygen)"
        )


def seal_fault(seal: Seal) -> str | None:
    """What does not fit within a seal, whatever the log says; None: its frontier, root and note say the same."""
    try:
        checkpoint = read_checkpoint(seal.note)
        frontier = Frontier(seal.tree_size, seal.frontier)
    except BadNote as error:
        return f"its note: {error}"
    except ValueError as error:
        return f"its frontier: {error}"
    except (TypeError, AttributeError) as error:
        return f"a column holds a value of the wrong kind: {error}"
    if (checkpoint.tree_size, checkpoint.root) != (seal.tree_size, seal.root):
        return "its note says another size or root"
    if frontier.root != seal.root:
        return "its frontier has another root"
    return None


_VERIFY = "Run jury verify --all"


def _refusal(seal: Seal, what: str) -> str:
    return f"the seal over {seal.tree_size} events is not as it was made ({what}), so the log is not sealed. {_VERIFY}"
