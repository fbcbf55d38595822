"""Every change of a small log is found: every byte (`-m long`: every bit), deletion, swap, insertion, cut, forgery.

Two debates with all streams, one reviewed by a person, sealed three times. What the chains alone cannot find, the seals
do. A forger who removes the seals as well is found by a checkpoint that was kept elsewhere.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import pytest

from jury_events import Head, Step, StoredEvent, Verdict, exchange_id
from jury_judge import NewReview
from jury_replay import VerifyReport, check_seals, verify
from jury_store import Append, MemoryEventStore, Seal, Sealer, SealKey, sign_checkpoint
from support.debates import JUROR, MODEL, DebateScript
from support.recorded_reviews import record_review
from support.tampered_store import TamperedStore, flips

KEY = SealKey("example.com/jury", bytes(32))
SIZES = (5, 13, 17)

NO_RECORD = {
    ("streams", "epoch"): "fences writers, and says nothing of what was written",
    ("seals", "sealed_at"): "the sealer's clock, for the list; size and root are signed",
}
"""Columns that are not part of the record, each with the reason.

Of other tables: the lists of debates and runs are made anew from the log, the counter of epochs only fences, `origins`
are proofs that speak for themselves.
"""


@pytest.fixture(scope="module")
def log() -> TamperedStore:
    store = MemoryEventStore()
    sealer = Sealer(store, KEY, lambda: 1_700_000_000_000_000)
    one, two = DebateScript("d", seed=1), DebateScript("e", seed=2)
    named = (exchange_id(Step(0, JUROR).id, MODEL, 1, 1),)
    for script in (one, two):
        store.append([Append(script.stream, (*script.begins(), script.evaluated(exchanges=named)), 0, 1)])
        store.append([Append(script.calls, (script.exchange(1), script.exchange(2)))])
        _seal(store, sealer)
        store.append([Append(script.stream, (script.checked(), script.judged(), script.completed()), 3, 1)])
    record_review(store, "d", NewReview("ann", Verdict.UNSAFE_FAIL, "No."), clock=lambda: 1_700_000_000_000_001)
    _seal(store, sealer)
    found = TamperedStore(store)
    assert SIZES == tuple(seal.tree_size for seal in found.sealed)
    return found


def _seal(store: MemoryEventStore, sealer: Sealer) -> None:
    seal = sealer.next()
    assert seal is not None
    store.store_seal(seal)


def _verified(log: TamperedStore, *checkpoints: bytes) -> VerifyReport:
    return verify(log, keys=[KEY.public], checkpoints=checkpoints)


def _without_seals(log: TamperedStore, beyond: int = 0) -> TamperedStore:
    other = log.mended(log.events)
    other.events, other.streams, other.texts, other.counter = log.events, log.streams, log.texts, log.counter
    other.sealed = [seal for seal in log.sealed if seal.tree_size <= beyond]
    return other


EVERY_BIT = [
    pytest.param(False, id="a bit of every fifth byte"),
    pytest.param(True, id="every bit", marks=pytest.mark.long),
]


def _flipped(log: TamperedStore, *, every_bit: bool) -> Iterator[tuple[str, str, str, TamperedStore]]:
    """Table, column, debate, and the log with one bit of that column of one row flipped."""
    flipped = partial(flips, every_bit=every_bit)
    for row, event in enumerate(log.events):
        for column, changed in _rows(event, flipped):
            yield "events", column, event.stream[-1], log.changed("events", row, changed)
    for row, (name, head) in enumerate(log.streams):
        for value in flipped(name):
            yield "streams", "stream", name[-1], log.changed("streams", row, (value, head))
        for column, changed in _rows(head, flipped):
            yield "streams", column, name[-1], log.changed("streams", row, (name, changed))
    for row, (debate, part) in enumerate(log.texts):
        for value in flipped(debate):
            yield "parts", "debate_id", debate, log.changed("texts", row, (value, part))
        for column, changed in _rows(part, flipped):
            yield "parts", column, debate, log.changed("texts", row, (debate, changed))


def _rows(row: Any, flipped: Callable[[Any], Collection[Any]]) -> Iterator[tuple[str, Any]]:
    """The row with one bit of one column flipped, for every one."""
    for column in row._fields:
        for value in flipped(getattr(row, column)):
            yield column, row._replace(**{column: value})


def _names(report: VerifyReport, debate: str) -> bool:
    """Whether it says which debate, or which position."""
    return any(
        one.stream in {f"debate/{debate}", f"calls/{debate}", f"review/{debate}"} or "position" in one.what
        for one in report.failures
    )


def _found(log: TamperedStore, debate: str) -> bool:
    """The debate alone first: what is found there is found in the whole log, only later."""
    return _names(verify(log, [debate]), debate) or _names(_verified(log), debate)


def test_the_untouched_log_passes(log: TamperedStore) -> None:
    report = _verified(log, log.sealed[-1].note)

    assert report.failures == ()
    assert (report.debates, report.events, report.seals, report.sealed, report.unsealed) == (2, 17, 3, 17, 0)


@pytest.mark.parametrize("every_bit", EVERY_BIT)
def test_flipped_bits_of_events_streams_and_texts_are_found_and_named(log: TamperedStore, every_bit: bool) -> None:
    missed: set[tuple[str, str]] = set()
    count = 0
    for table, column, debate, tampered in _flipped(log, every_bit=every_bit):
        if not tampered.storable():
            continue
        count += 1
        if not _found(tampered, debate):
            missed.add((table, column))

    assert {key for key in NO_RECORD if key[0] != "seals"} == missed
    assert count > (50_000 if every_bit else 1_200)


@pytest.mark.parametrize("every_bit", EVERY_BIT)
def test_flipped_bits_of_a_seal_are_found_and_named(log: TamperedStore, every_bit: bool) -> None:
    missed: set[tuple[str, str]] = set()
    for row, seal in enumerate(log.sealed):
        for column in seal._fields:
            for value in flips(getattr(seal, column), every_bit=every_bit):
                tampered = log.changed("sealed", row, seal._replace(**{column: value}))
                if tampered.storable() and not any(
                    "the seal over" in one.what for one in check_seals(tampered, [KEY.public]).failures
                ):
                    missed.add(("seals", column))

    assert {key for key in NO_RECORD if key[0] == "seals"} == missed


@pytest.mark.parametrize("table", ["events", "streams", "texts"])
def test_every_deletion_is_found_and_named(log: TamperedStore, table: str) -> None:
    for row, deleted in enumerate(getattr(log, table)):
        name = deleted.stream if isinstance(deleted, StoredEvent) else deleted[0]

        assert _names(_verified(log.without(table, row)), name[-1])


def test_every_swap_of_two_events_is_found_and_named(log: TamperedStore) -> None:
    for (row, one), (other_row, other) in combinations(enumerate(log.events), 2):
        for columns in (("version",), ("position",), ("position", "version"), ("body",), ("hash",), ("stream",)):
            ours = {column: getattr(one, column) for column in columns}
            theirs = {column: getattr(other, column) for column in columns}
            if ours == theirs:
                continue
            swapped = log.changed("events", row, one._replace(**theirs))
            swapped = swapped.changed("events", other_row, other._replace(**ours))
            if swapped.storable():
                assert _found(swapped, one.stream[-1]) or _found(swapped, other.stream[-1])


def test_events_of_two_streams_that_exchanged_positions_are_found_by_the_seals_alone(log: TamperedStore) -> None:
    # The last of one debate and the first of the other: in each stream the order stays.
    last, first = log.events[7], log.events[8]
    swapped = log.changed("events", 7, last._replace(position=first.position))
    swapped = swapped.changed("events", 8, first._replace(position=last.position))

    (failure,) = verify(swapped).failures

    assert "the seal over 13 events does not fit the log: the change lies at positions 6 to 13" == failure.what
    assert verify(_without_seals(swapped)).ok


def test_every_event_inserted_again_is_found_and_named(log: TamperedStore) -> None:
    for event in log.events:
        for position in range(1, 19):
            shifted = [e._replace(position=e.position + (e.position >= position)) for e in log.events]
            inserted = _without_seals(log, 17)
            version = sum(e.stream == event.stream for e in log.events) + 1
            more = event._replace(position=position, version=version, event_id="more")
            inserted.events, inserted.counter = [*shifted, more], 16

            assert _found(inserted, event.stream[-1])


def test_an_insertion_with_everything_computed_anew_is_found_by_the_seals(log: TamperedStore) -> None:
    for position in range(17):
        more = log.events[0]._replace(event_id="more", stream="calls/d", **_of_a_call(log))
        forged = log.mended([*log.events[:position], more, *log.events[position:]])

        report = _verified(forged)
        assert any("does not fit the log" in one.what for one in report.failures), position


def _of_a_call(log: TamperedStore) -> dict[str, Any]:
    call = next(event for event in log.events if event.stream == "calls/d")
    return {"type": call.type, "schema": call.schema, "body": call.body}


def test_a_stream_computed_anew_is_found_by_the_seals_with_the_place(
    log: TamperedStore, subtests: pytest.Subtests
) -> None:
    for first in range(1, 16):
        with subtests.test(first=first):
            forged = log.mended(
                [e._replace(recorded_at=e.recorded_at + 1) if e.position == first else e for e in log.events]
            )
            bare = _without_seals(forged)

            (failure,) = _verified(forged).failures
            (with_checkpoint,) = _verified(bare, log.sealed[-1].note).failures

            size = next(one for one in SIZES if first <= one)
            since = max((one for one in SIZES if one < first), default=0) + 1
            assert (
                f"the seal over {size} events does not fit the log: the change lies at positions {since} to {size}"
                == failure.what
            )
            assert verify(bare).ok
            assert "the kept checkpoint over 17 events does not fit the log" in with_checkpoint.what


def test_a_tail_cut_with_everything_mended_is_found_by_the_checkpoint_alone(
    log: TamperedStore, subtests: pytest.Subtests
) -> None:
    for kept in range(17):
        with subtests.test(kept=kept):
            cut = log.mended(log.events[:kept])
            bare = _without_seals(cut, kept)

            with_seals = _verified(cut)
            alone = _verified(bare) if bare.sealed else verify(bare)
            with_checkpoint = _verified(bare, log.sealed[-1].note)

            assert any("its tail was cut" in one.what for one in with_seals.failures)
            assert not any("seal" in one.what or "position" in one.what for one in alone.failures)
            ends = f"the log ends with event {kept}: its tail was cut"
            kept_says = f"the kept checkpoint over 17 events does not fit the log: {ends}"
            assert kept_says in {one.what for one in with_checkpoint.failures}


def test_a_seal_taken_away_harms_no_record(log: TamperedStore) -> None:
    for row, seal in enumerate(log.sealed):
        assert _verified(log.without("sealed", row), seal.note).ok


def test_seals_made_anew_with_another_key_are_found_by_the_key(log: TamperedStore) -> None:
    forged = _without_seals(log.mended([e._replace(recorded_at=e.recorded_at + 1) for e in log.events]))
    sealer = Sealer(forged, SealKey("example.com/jury", bytes([9]) * 32), lambda: 1)
    forged.latest_seal = lambda: None  # type: ignore[method-assign]
    made = sealer.next()
    assert made is not None
    forged.sealed = [made]

    assert verify(forged).ok
    (failure,) = _verified(forged).failures
    assert "none of the keys given" in failure.what


def test_a_hole_is_named_before_the_seals_that_it_spoils(log: TamperedStore) -> None:
    report = _verified(log.without("events", 5))

    whats = [one.what for one in report.failures]
    assert any("no event has the position 6" in what for what in whats)
    assert any("does not fit the log: no event has the position 6" in what for what in whats)


def test_a_seal_of_another_log_is_distinguished_from_a_changed_log(log: TamperedStore) -> None:
    other = TamperedStore(MemoryEventStore())
    other.events = log.mended([e._replace(recorded_at=1) for e in log.events[:6]]).events
    other.latest_seal = lambda: None  # type: ignore[method-assign]
    false = Sealer(other, KEY, lambda: 1).next()
    assert false is not None
    mixed = log.changed("sealed", 0, false)

    (failure,) = _verified(mixed).failures

    (unchecked,) = verify(mixed).failures
    (with_another_key,) = verify(log.changed("sealed", 0, _by_another_key(false))).failures

    both = "the seal over 6 events and the seal over 17 events"
    assert (
        f"split view: one key, {SIGNER}, signed {both}, which cannot be of one log; they part at positions 1 to 6"
        == (failure.what)
    )
    assert f"split view: in the name of one key, {SIGNER} (not checked), are signed {both}" in unchecked.what
    assert "the seal over 6 events is not over this log: one over 17 events fits it" == with_another_key.what


SIGNER = f"{KEY.public.name}+{KEY.public.key_id.hex()}"


def _by_another_key(seal: Seal) -> Seal:
    other = SealKey("example.com/jury", bytes([9]) * 32)
    return seal._replace(note=sign_checkpoint(seal.tree_size, seal.root, other))


def test_events_beyond_the_last_seal_are_counted(log: TamperedStore) -> None:
    report = _verified(_without_seals(log, 5))

    assert (report.seals, report.sealed, report.unsealed, report.signatures) == (1, 5, 12, True)


def test_a_head_made_up_for_a_stream_is_found(log: TamperedStore) -> None:
    made_up = log.mended(log.events)
    made_up.streams = [*made_up.streams, ("debate/x", Head(1, 1, bytes(32)))]

    assert _names(_verified(made_up), "x")


def test_a_note_that_belongs_to_another_seal_is_found(log: TamperedStore) -> None:
    first, second = log.sealed[:2]

    (failure,) = _verified(log.changed("sealed", 0, first._replace(note=second.note))).failures

    assert "the seal over 5 events is not as it was made: its note has another size or root" == failure.what
