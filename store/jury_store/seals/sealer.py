"""Sealing a log: the next signed root, made from the one before and the hashes beyond it."""

from collections.abc import Callable

from jury_store.errors import BadNote, SealRefused
from jury_store.event_store import EventStore
from jury_store.seals.keys import SealKey
from jury_store.seals.merkle import Frontier, is_hash
from jury_store.seals.note import read_checkpoint, sign_checkpoint, signature_fault
from jury_store.seals.seal import Seal

_BATCH = 10_000


class Sealer:
    """Makes the seals of a log, each consistent with those before it; only reads the log.

    Args:
        store: the log; never read again from its start.
        key: what it signs with.
        now: the time in microseconds since 1970-01-01 UTC.
    """

    def __init__(self, store: EventStore, key: SealKey, now: Callable[[], int]) -> None:
        self._store = store
        self._key = key
        self._now = now
        self._made: Seal | None = None

    def next(self) -> Seal | None:
        """The seal over everything that is stored now, to be kept by whoever writes; None when nothing is new.

        Raises:
            SealRefused: the log, or the seal that it goes on from, is not what was sealed.
            StoreError: the database cannot be read.
        """
        before = self._before()
        if before is not None:
            self._check(before)
        frontier = Frontier() if before is None else Frontier(before.tree_size, before.frontier)
        self._read(frontier)
        if before is not None and frontier.size == before.tree_size:
            return None
        if not frontier.size:
            return None
        root = frontier.root
        note = sign_checkpoint(frontier.size, root, self._key)
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
            if checkpoint.by(self._key.public):
                fault = signature_fault(checkpoint, [self._key.public])
        if fault is not None:
            raise SealRefused(_refusal(seal, fault))

    def _read(self, frontier: Frontier) -> None:
        """Carry the frontier to the end of the log, beginning at its last event to see that it is there."""
        position = max(frontier.size - 1, 0)
        while rows := self._store.hashes(position, _BATCH):
            for found, event_hash in rows:
                position += 1
                if found != position or not is_hash(event_hash):
                    raise SealRefused(
                        f"no whole event has the position {position}, so the log is not sealed. {_VERIFY}"
                    )
                if position > frontier.size:
                    frontier.append(event_hash)
        if position < frontier.size:
            raise SealRefused(
                f"{frontier.size} events were sealed and the last of them is gone, so the log is not sealed. {_VERIFY}"
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
