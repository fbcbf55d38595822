"""Integrity of the log: chains, heads, positions, texts, lists and seals. No rule of a debate is used, unless the check
is deep: then every debate is replayed too.

A chain detects changed, cut or reordered events of a stream unless everything after them was recomputed. Seals
(`jury_replay.sealed`) detect recomputed streams, and replay detects events that do not follow from the answers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from jury_events.debate_history import DebateHistory
from jury_events.ids import KNOWN_PREFIXES, debate_stream
from jury_replay.cassettes.provenance import origin_failures
from jury_replay.drift_checks import CheckedDrift, check_drift
from jury_replay.integrity import IntegrityFailure, check_debate, import_failures
from jury_replay.quarantine import is_set_aside
from jury_replay.relations import Relations
from jury_replay.replay import Replayed, ReplayStatus, replay_history
from jury_replay.run_checks import CheckedRun, check_run
from jury_replay.sealed import NO_TRUST, Attested, Trust, check_seals
from jury_replay.selection import ALL_STORED, DebateSelection, spread
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey
from jury_store.seals.note import read_checkpoint

Progress = Callable[[int], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """The checked amounts, and the failures.

    `failures`: the first bad event of each stream and each bad text, in the order of the log. `erased` counts
    texts whose erasure is recorded; `bytes` are those of bodies and texts. `quarantined` debates were hashed, not read.

    Of the whole log: `seals` stored; `sealed` events that the largest seal or checkpoint that fits covers, `unsealed`
    ones beyond it; `signatures`: whether those of the seals were checked;
    `witnessed` events that the largest seal or checkpoint covers that fits and enough witnesses cosigned; `stamped`
    ones that the largest time-stamped seal covers, there since `stamped_at` at the latest (ISO 8601, UTC); `runs` that
    have a stream of their own; `drifts`: baselines of drift checks.

    Of a deep check: `replayed` debates follow from their recorded answers; of `not_replayed` the needed texts were
    erased, on record. Both None where the check was not deep.
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
    replayed: int | None
    not_replayed: int | None
    witnessed: int = 0
    stamped: int = 0
    stamped_at: str | None = None
    failures: tuple[IntegrityFailure, ...]
    quarantined: int = 0
    runs: tuple[CheckedRun, ...] = ()
    drifts: tuple[CheckedDrift, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.failures

    @property
    def first(self) -> IntegrityFailure | None:
        """The failure that comes first in the log."""
        return self.failures[0] if self.failures else None


def verify(
    store: EventStore,
    debate_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    deep: bool = False,
    keys: Sequence[PublicKey] = (),
    checkpoints: Sequence[bytes] = (),
    trust: Trust = NO_TRUST,
    url: str = "",
    processes: int = 1,
) -> VerifyReport:
    """Check some debates, or the whole log, in memory that does not grow with it.

    Args:
        debate_ids: which debates; None: all, that positions have no gap, that nothing else is stored, and the seals.
        progress: called after every few debates with the number checked so far.
        deep: also replay every debate whose record is whole, which takes about ten times as long.
        keys: whose signatures under seals count, see `check_seals`; empty: none is checked. Of use for the whole log
            only.
        checkpoints: signed notes over this log that were kept elsewhere. Of use for the whole log only.
        trust: trusted witnesses and time-stamping authorities. Of use for the whole log only.
        url: where the store is; needed for more than one process.
    """
    for note in checkpoints:
        read_checkpoint(note)  # an invalid one is refused before everything is read
    found = _Amounts()
    chunks = (ALL_STORED if debate_ids is None else DebateSelection(tuple(debate_ids))).chunks(store)
    chunks = _readable(chunks, found.failures)
    for checked in spread(store, chunks, partial(_check_chunk, deep=deep), url=url, processes=processes):
        found.add(checked)
        if progress is not None:
            progress(found.debates)
    runs: tuple[CheckedRun, ...] = ()
    drifts: tuple[CheckedDrift, ...] = ()
    seals = sealed = 0
    attested = Attested(0, 0, None, ())
    if debate_ids is None:
        runs = tuple(_checked(store, store.run_ids, check_run, found.failures))
        drifts = tuple(_checked(store, store.drift_ids, partial(check_drift, deep=deep), found.failures))
        found.events += sum(run.events for run in runs) + sum(drift.events for drift in drifts)
        found.failures += _log_failures(store)
        try:
            checked_seals = check_seals(store, keys, checkpoints, trust)
        except StoreDamaged as error:
            found.failures.append(IntegrityFailure("", error.finding))
        else:
            seals, sealed = checked_seals.seals, checked_seals.covered
            found.failures += checked_seals.failures
            attested = checked_seals.attested
    return VerifyReport(
        debates=found.debates,
        events=found.events,
        parts=found.parts,
        erased=found.erased,
        bytes=found.bytes,
        seals=seals,
        sealed=sealed,
        unsealed=max(found.events - sealed, 0) if debate_ids is None else 0,
        signatures=bool(keys) and debate_ids is None,
        replayed=found.replayed if deep else None,
        not_replayed=found.not_replayed if deep else None,
        witnessed=attested.witnessed,
        stamped=attested.stamped,
        stamped_at=None if attested.stamped_at is None else attested.stamped_at.isoformat(),
        failures=tuple(sorted(dict.fromkeys(found.failures), key=lambda one: one.position)),
        quarantined=found.quarantined,
        runs=runs,
        drifts=drifts,
    )


def _checked(
    store: EventStore,
    ids: Callable[[], list[str]],
    check: Callable[[EventStore, str], tuple[T, list[IntegrityFailure]]],
    failures: list[IntegrityFailure],
) -> Iterator[T]:
    try:
        for one in ids():
            checked, found = check(store, one)
            failures += found
            yield checked
    except StoreDamaged as error:
        failures.append(IntegrityFailure("", error.finding))


@dataclass(slots=True, kw_only=True)
class _Amounts:
    """The checked amounts of some debates, and their failures."""

    debates: int = 0
    events: int = 0
    parts: int = 0
    erased: int = 0
    bytes: int = 0
    replayed: int = 0
    not_replayed: int = 0
    quarantined: int = 0
    failures: list[IntegrityFailure] = field(default_factory=list)

    def add(self, other: "_Amounts") -> None:
        """Add what others came to."""
        self.failures += other.failures  # in place: it is filled elsewhere too
        for name in _Amounts.__slots__:
            if name != "failures":
                setattr(self, name, getattr(self, name) + getattr(other, name))


def _readable(chunks: Iterable[Sequence[str]], failures: list[IntegrityFailure]) -> Iterator[Sequence[str]]:
    """The chunks as far as the database can name its debates; adds to `failures` where it cannot."""
    try:
        yield from chunks
    except StoreDamaged as error:
        failures.append(IntegrityFailure("", error.finding))


def _check_chunk(store: EventStore, debate_ids: Sequence[str], *, deep: bool) -> _Amounts:
    """Check some debates; in a damaged database one by one, so that those that can be read are checked."""
    try:
        return _check_debates(store, debate_ids, deep=deep)
    except StoreDamaged as error:
        if len(debate_ids) == 1:
            what = f"it cannot be read: {error.finding}"
            return _Amounts(failures=[IntegrityFailure(debate_stream(debate_ids[0]), what)])
    found = _Amounts()
    for one in debate_ids:
        found.add(_check_chunk(store, [one], deep=deep))
    return found


def _check_debates(store: EventStore, debate_ids: Sequence[str], *, deep: bool) -> _Amounts:
    found = _Amounts()
    failures = found.failures
    origins = store.origins(debate_ids)
    histories = store.histories(debate_ids)
    related = Relations(store)
    for history in histories:
        if not history.streams and not history.heads and not history.parts:
            failures.append(IntegrityFailure(f"debate/{history.debate_id}", "nothing is stored of it"))
            continue
        checked = check_debate(history)
        found.debates += not history.is_batch
        found.events += checked.events
        found.parts += checked.parts
        found.erased += checked.erased
        found.bytes += checked.bytes
        failures += checked.failures
        if deep and not checked.failures and not history.is_batch:
            replayed = replay_history(history)
            found.replayed += replayed.status == ReplayStatus.EQUAL
            found.not_replayed += replayed.status == ReplayStatus.ERASED
            failures += _replay_failures(replayed)
        if deep and not checked.failures:
            failures += related.failures(history)
        origin = origins.get(history.debate_id)
        failures += import_failures(history, origin) if checked.failures else origin_failures(history, origin)
    failures += _list_failures(store, histories)
    found.quarantined = sum(is_set_aside(history.stored_local) for history in histories)
    return found


def _replay_failures(replayed: Replayed) -> Iterable[IntegrityFailure]:
    stream = debate_stream(replayed.debate_id)
    if replayed.status == ReplayStatus.UNREADABLE:
        yield IntegrityFailure(stream, f"it cannot be replayed: {replayed.detail}")
    for difference in replayed.differences[:1]:
        place, *_ = difference.lines()
        yield IntegrityFailure(stream, f"it does not follow from the recorded answers: {place}", difference.version)


def _list_failures(store: EventStore, histories: Sequence[DebateHistory] | None = None) -> Iterable[IntegrityFailure]:
    try:
        for fault in store.list_faults(histories):
            stream = "" if fault.debate_id is None else debate_stream(fault.debate_id)
            yield IntegrityFailure(stream, f"{fault.what}; jury db rebuild makes the lists again")
    except StoreDamaged as error:
        yield IntegrityFailure("", error.finding)


def _log_failures(store: EventStore) -> Iterable[IntegrityFailure]:
    try:
        found = store.inventory()
    except StoreDamaged as error:
        yield IntegrityFailure("", error.finding)
        return
    for fault in found.faults:
        yield IntegrityFailure("", fault)
    if found.first_missing is not None:
        yield IntegrityFailure("", f"no event has the position {found.first_missing}", position=found.first_missing)
    if found.counter is None:
        yield IntegrityFailure("", "the counter of positions is missing")
    elif found.counter != found.last_position:
        what = f"the last event has the position {found.last_position}, the counter says {found.counter}"
        yield IntegrityFailure("", what, position=min(found.last_position, found.counter) + 1)
    if found.epoch is None:
        yield IntegrityFailure("", "the counter of epochs is missing")
    elif found.epoch < found.highest_epoch:
        yield IntegrityFailure(
            "", f"a stream has the epoch {found.highest_epoch}, the counter of epochs says {found.epoch}"
        )
    yield from _list_failures(store)
    for stream in found.strays:
        yield IntegrityFailure(
            stream,
            f"this is no stream of a log: none of {', '.join(f'{prefix}ID' for prefix in KNOWN_PREFIXES)}",
        )
    for debate_id in found.origins:
        yield IntegrityFailure(
            f"debate/{debate_id}", "there is a seal that it was imported with, and nothing else of it"
        )
