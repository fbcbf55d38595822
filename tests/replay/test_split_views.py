"""What `verify` says of keys under which nothing is signed, and of one key that signed two logs."""

import pytest

from jury_replay import VerifyReport, verify
from jury_store import EventStore, MemoryEventStore, PublicKey, Seal, Sealer, SealKey
from support.cassettes import KEY, record_debate

ROTATED = SealKey("example.com/jury", bytes([1]) * 32)
OTHER = SealKey("example.com/other", bytes([2]) * 32)
SIGNER = f"{KEY.public.name}+{KEY.public.key_id.hex()}"


def _log(*seeds: int, key: SealKey = KEY) -> tuple[EventStore, list[Seal]]:
    """A log of one debate a seed, sealed after each: 7 events a debate. The seals are not stored."""
    store = MemoryEventStore()
    sealer = Sealer(store, key, lambda: 1)
    seals = []
    for number, seed in enumerate(seeds):
        record_debate(store, f"d{number}", seed=seed)
        made = sealer.next()
        assert made is not None
        seals.append(made)
    return store, seals


def _failures(report: VerifyReport) -> list[str]:
    return [failure.what for failure in report.failures]


@pytest.mark.parametrize("sealed", [True, False])
def test_a_key_that_signed_nothing_is_a_failure(sealed: bool) -> None:
    store, seals = _log(1)
    if sealed:
        store.store_seal(seals[0])

    (said,) = _failures(verify(store, keys=[KEY.public, OTHER.public] if sealed else [OTHER.public]))

    assert said.startswith("the key example.com/other was given, and ")
    assert ("no seal of the log and no checkpoint given is signed by it" if sealed else "the log has no seal") in said


def test_keys_of_one_name_are_a_rotation_and_one_of_them_is_enough() -> None:
    store, seals = _log(1)
    store.store_seal(seals[0])

    assert verify(store, keys=[KEY.public, ROTATED.public]).ok


def test_two_checkpoints_of_one_size_are_a_split_view_for_any_log() -> None:
    (one, ours), (_, theirs) = _log(1, 2), _log(1, 3)
    empty = MemoryEventStore()

    said = _failures(verify(one, keys=[KEY.public], checkpoints=[ours[1].note, theirs[1].note, ours[0].note]))
    without_log = _failures(verify(empty, keys=[KEY.public], checkpoints=[ours[1].note, theirs[1].note]))

    first, second = (f"the kept checkpoint {number} over 16 events" for number in (1, 2))
    both = f"split view: one key, {SIGNER}, signed {second} and {first}, which cannot be of one log"
    assert [f"{both}; they part at positions 9 to 16"] == said
    assert any(what.startswith("split view") and first in what and second in what for what in without_log)


def test_a_log_sealed_anew_by_the_same_key_is_a_split_view_against_the_checkpoint_that_was_kept() -> None:
    (_, before), (rewritten, after) = _log(1, 2), _log(1, 3, 4)
    for seal in after:
        rewritten.store_seal(seal)

    (said,) = _failures(verify(rewritten, keys=[KEY.public], checkpoints=[before[1].note]))

    assert said == (
        f"split view: one key, {SIGNER}, signed the kept checkpoint over 16 events and the seal over 24 events, which "
        "cannot be of one log; they part at positions 9 to 16"
    )


@pytest.mark.parametrize("keys", [(KEY.public, ROTATED.public), ()])
def test_two_keys_that_contradict_each_other_are_no_split_view(keys: tuple[PublicKey, ...]) -> None:
    (_, before), (rewritten, after) = _log(1, 2), _log(1, 3, key=ROTATED)
    rewritten.store_seal(after[1])

    (said,) = _failures(verify(rewritten, keys=keys, checkpoints=[before[1].note]))

    assert "the kept checkpoint over 16 events is not over this log: one over 16 events fits it" == said


def test_an_invalid_signature_accuses_no_signer() -> None:
    (store, ours), (_, theirs) = _log(1, 2), _log(1, 3)
    forged = theirs[1].note.rpartition(b"\n\n")[0] + b"\n\n" + ours[1].note.rpartition(b"\n\n")[2]

    said = _failures(verify(store, keys=[KEY.public], checkpoints=[ours[1].note, forged]))

    assert any("the kept checkpoint 2 over 16 events: the signature of example.com/jury" in what for what in said)
    assert not any("split view" in what for what in said)


def test_a_log_that_grew_is_no_split_view() -> None:
    store, seals = _log(1, 2, 3)

    assert verify(store, keys=[KEY.public], checkpoints=[seal.note for seal in seals]).ok
