"""Whether the log is whole: chains, heads, positions, texts and seals, by arithmetic alone. No rule of a debate is
involved.

A chain shows that nobody changed, cut or reordered events of a stream without recomputing everything after them.
Against somebody who recomputes, there are seals (`jury_replay.sealed`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jury_replay.cassettes.provenance import origin_fault
from jury_replay.imports import import_failures
from jury_replay.integrity import Failure, check_debate
from jury_replay.quarantine import set_aside
from jury_replay.sealed import check_seals
from jury_replay.selection import ALL_STORED, Selection, spread
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey
from jury_store.seals.note import read_checkpoint

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was looked at, and what is wrong with it.

    `failures` holds the first bad event of each stream and each bad text, in the order of the log. `erased` counts
    texts whose absence is recorded; `bytes` are those of bodies and texts. `quarantined` debates were hashed, not read.

    Of the whole log: `seals` stored; `sealed` events that the largest seal or checkpoint that fits covers, `unsealed`
    ones beyond it; `signatures`: whether those of the seals were checked.
    """

    debates: int
    events: int
    parts: int
    erased: int
    bytes: int
    seals: int
    sealed: int
    unsealed: int
    signatures: bool
    failures: tuple[Failure, ...]
    quarantined: int = 0

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.failures

    @property
    def first(self) -> Failure | None:
        """The failure that comes first in the log."""
        return self.failures[0] if self.failures else None


def verify(
    store: EventStore,
    debate_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    keys: Sequence[PublicKey] = (),
    checkpoint: bytes | None = None,
    url: str = "",
    processes: int = 1,
) -> Report:
    """Check some debates, or the whole log, in memory that does not grow with it.

    Args:
        store: may be written to meanwhile.
        debate_ids: which debates; None: all, that positions have no gap, that nothing else is stored, and the seals.
        progress: told after every few debates how many were checked so far.
        keys: whose signatures under seals count; empty: none is checked. Of use for the whole log only.
        checkpoint: a signed note over this log that was kept elsewhere. Of use for the whole log only.
        url: where the store is; needed for more than one process.
        processes: how many check debates.

    Raises:
        BadNote: the checkpoint is none.
        StoreFailed: the database cannot be read.
    """
    if checkpoint is not None:
        read_checkpoint(checkpoint)  # what is none is told before everything is read
    failures: list[Failure] = []
    debates = events = parts = erased = size = quarantined = 0
    chunks = (ALL_STORED if debate_ids is None else Selection(tuple(debate_ids))).chunks(store)
    for checked in spread(store, chunks, _check_chunk, url=url, processes=processes):
        debates += checked.debates
        events += checked.events
        parts += checked.parts
        erased += checked.erased
        size += checked.bytes
        quarantined += checked.quarantined
        failures += checked.failures
        if progress is not None:
            progress(debates)
    seals = sealed = 0
    if debate_ids is None:
        failures += _log_failures(store)
        checked_seals = check_seals(store, keys, checkpoint)
        seals, sealed = checked_seals.seals, checked_seals.covered
        failures += checked_seals.failures
    failures.sort(key=lambda one: one.position)
    return Report(
        debates=debates,
        events=events,
        parts=parts,
        erased=erased,
        bytes=size,
        seals=seals,
        sealed=sealed,
        unsealed=max(events - sealed, 0) if debate_ids is None else 0,
        signatures=bool(keys) and debate_ids is None,
        failures=tuple(failures),
        quarantined=quarantined,
    )


class _Chunk(NamedTuple):
    """What was looked at in some debates, and what is wrong with them."""

    debates: int
    events: int
    parts: int
    erased: int
    bytes: int
    failures: list[Failure]
    quarantined: int


def _check_chunk(store: EventStore, debate_ids: Sequence[str]) -> _Chunk:
    debates = events = parts = erased = size = 0
    failures: list[Failure] = []
    origins = store.origins(debate_ids)
    for record in store.records(debate_ids):
        if not record.events and not record.heads and not record.parts:
            failures.append(Failure(f"debate/{record.debate_id}", "nothing is stored of it"))
            continue
        checked = check_debate(record)
        debates += 1
        events += checked.events
        parts += checked.parts
        erased += checked.erased
        size += checked.bytes
        failures += checked.failures
        origin = origins.get(record.debate_id)
        failures += import_failures(record, origin)
        if origin is not None and not checked.failures and (fault := origin_fault(record, origin)) is not None:
            failures.append(Failure(f"debate/{record.debate_id}", f"the seal that it was imported with: {fault}"))
    quarantined = len(set_aside(store, debate_ids))
    return _Chunk(debates, events, parts, erased, size, failures, quarantined)


def _log_failures(store: EventStore) -> Iterable[Failure]:
    found = store.inventory()
    if found.first_missing is not None:
        yield Failure("", f"no event has the position {found.first_missing}", position=found.first_missing)
    if found.counter != found.last_position:
        what = f"the last event has the position {found.last_position}, the counter says {found.counter}"
        yield Failure("", what, position=min(found.last_position, found.counter) + 1)
    for stream in found.strays:
        yield Failure(stream, "this is no stream of a debate: neither debate/ID nor calls/ID nor local/ID")
    for debate_id in found.origins:
        yield Failure(f"debate/{debate_id}", "there is a seal that it was imported with, and nothing else of it")
