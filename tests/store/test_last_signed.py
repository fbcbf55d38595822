"""The last signed note: a log that does not begin with it is never signed by that key."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from jury_store import (
    Append,
    BadNote,
    EventStore,
    LastSigned,
    MemoryEventStore,
    Seal,
    Sealer,
    SealKey,
    SealKeyFileError,
    SealRefused,
    read_checkpoint,
    sign_checkpoint,
)
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")

KEY = SealKey("example.com/jury", bytes(32))
STRANGER = SealKey("example.com/jury", bytes([1]) * 32)


class Owned(MemoryEventStore):
    """A store that returns other hashes, fewer events, or other seals, as its owner could."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: dict[int, bytes] = {}
        self.shown: int | None = None
        self.hidden: set[int] = set()
        self.more: list[Seal] = []
        self.read = 0

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        rows = [(at, self.changed.get(at, found)) for at, found in super().hashes(after, limit)]
        found = [row for row in rows if self.shown is None or row[0] <= self.shown]
        self.read += len(found)
        return found

    def seals(self) -> list[Seal]:
        return sorted([*(seal for seal in super().seals() if seal.tree_size not in self.hidden), *self.more])

    def latest_seal(self) -> Seal | None:
        return max(self.seals(), default=None)


def grow(store: EventStore, name: str) -> None:
    """Append six events."""
    script = DebateScript(name, seed=len(name))
    store.append([Append(script.stream, script.whole(), 0, 1)])


@pytest.fixture
def last(tmp_path: Path) -> LastSigned:
    return LastSigned(tmp_path / "k.last", KEY.public)


def sealer(store: EventStore, last: LastSigned | None, key: SealKey = KEY) -> Sealer:
    clock = count(1_700_000_000_000_000)
    return Sealer(store, key, lambda: next(clock), last)


def sealed(store: EventStore, last: LastSigned, *names: str) -> list[Seal]:
    """Seals after each of these debates was appended."""
    for name in names:
        grow(store, name)
        made = sealer(store, last).next()
        assert made is not None
        assert store.store_seal(made)
    return store.seals()


def refused(store: EventStore, last: LastSigned) -> str:
    """The error of a new sealer."""
    before = last.path.read_bytes()
    with pytest.raises(SealRefused) as caught:
        sealer(store, last).next()
    assert before == last.path.read_bytes()
    return str(caught.value)


def test_the_last_signed_note_is_stored_beside_the_key(store: EventStore, last: LastSigned) -> None:
    seals = sealed(store, last, "a", "bb")

    assert seals[-1].note == last.path.read_bytes()
    assert last.read() == read_checkpoint(seals[-1].note)


def _without_seals(store: Owned) -> None:
    store.hidden = {6, 12, 18}


def _without_the_last_seal(store: Owned) -> None:
    store.hidden = {18}


def _with_recomputed_seals(store: Owned) -> None:
    store.hidden = {6, 12, 18}
    (made,) = [sealer(store, None, STRANGER).next()]
    assert made is not None
    store.more = [made]


@pytest.mark.parametrize(
    ("seals_changed", "place"),
    [
        (_without_seals, "positions 1 to 18"),
        (_without_the_last_seal, "positions 13 to 18"),
        (_with_recomputed_seals, "positions 1 to 18"),
        (lambda _: None, "positions 13 to 18"),
    ],
)
def test_a_rewritten_log_is_not_signed(last: LastSigned, seals_changed: Callable[[Owned], None], place: str) -> None:
    store = Owned()
    sealed(store, last, "a", "bb", "ccc")
    store.changed[14] = bytes(32)
    seals_changed(store)
    grow(store, "dddd")

    said = refused(store, last)

    assert f"the key example.com/jury signed 18 events ({last.path}), and this log does not begin with them" in said
    assert f"it was changed at {place}" in said
    assert f"jury verify --checkpoint {last.path}" in said


def test_a_change_at_the_last_event_alone_is_named(last: LastSigned) -> None:
    store = Owned()
    sealed(store, last, "a")
    made = sealer(Shown(store, 5), None).next()
    assert made is not None
    store.more = [made]
    store.changed[6] = bytes(32)

    assert "changed at position 6," in refused(store, last)


class Shown(MemoryEventStore):
    """The first events of another store."""

    def __init__(self, store: EventStore, size: int) -> None:
        super().__init__()
        self._rows = store.hashes()[:size]

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        return self._rows[after : after + limit]


@pytest.mark.parametrize("shown", [0, 9, 17])
def test_a_log_that_was_cut_or_restored_from_an_older_backup_is_not_signed(last: LastSigned, shown: int) -> None:
    store = Owned()
    sealed(store, last, "a", "bb", "ccc")
    _without_seals(store)
    store.shown = shown

    said = refused(store, last)

    assert f"this log ends with event {shown}: its tail was cut, or an older backup was restored" in said
    assert "Restore the log that was signed" in said


def test_a_second_log_is_not_signed_by_the_key_of_the_first(last: LastSigned) -> None:
    store, other = MemoryEventStore(), MemoryEventStore()
    sealed(store, last, "a")
    grow(other, "bb")

    assert "it is another log, and a key seals one" in refused(other, last)


def test_a_signer_killed_between_signing_and_storing_signs_the_same_again(store: EventStore, last: LastSigned) -> None:
    grow(store, "a")
    lost = sealer(store, last).next()
    assert lost is not None

    again = sealer(store, last).next()
    grow(store, "bb")
    further = sealer(store, last).next()

    assert again is not None
    assert again.note == lost.note
    assert further is not None
    assert 12 == further.tree_size


def test_a_log_changed_while_the_signer_was_down_is_refused_even_where_no_seal_was_stored(last: LastSigned) -> None:
    store = Owned()
    grow(store, "a")
    sealer(store, last).next()
    store.changed[2] = bytes(32)

    assert "changed at positions 1 to 6" in refused(store, last)


def test_nothing_is_signed_when_the_note_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "k.last.new").mkdir()
    store = MemoryEventStore()
    grow(store, "a")

    for path in (tmp_path / "file" / "k.last", tmp_path / "none" / "k.last", tmp_path / "k.last"):
        with pytest.raises(SealKeyFileError, match=r"k\.last, which records .* cannot be written.*--seal-last"):
            sealer(store, LastSigned(path, KEY.public)).next()

    assert not (tmp_path / "k.last").exists()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "this is not a checkpoint"),
        (b"x" * 70_000, "KiB"),
        (sign_checkpoint(5, bytes(32), STRANGER), "none of the keys given"),
        (sign_checkpoint(5, bytes(32), KEY).replace(b"\n5\n", b"\n4\n"), "not valid for this text"),
    ],
)
def test_an_invalid_last_signed_file_stops_the_signer(last: LastSigned, content: bytes, named: str) -> None:
    store = MemoryEventStore()
    grow(store, "a")
    last.path.write_bytes(content)

    with pytest.raises(BadNote, match=named) as caught:
        sealer(store, last).next()

    assert str(caught.value).startswith(f"{last.path} must contain the last note that the key example.com/jury signed")
    assert content == last.path.read_bytes()


def test_a_key_without_its_file_begins_with_the_current_log(last: LastSigned) -> None:
    store = MemoryEventStore()
    seals = sealed(store, last, "a")
    last.path.unlink()

    assert sealer(store, last).next() is None
    assert seals[-1].note == last.path.read_bytes()


def test_a_rotated_key_continues_after_the_old_one(tmp_path: Path, last: LastSigned) -> None:
    store = MemoryEventStore()
    sealed(store, last, "a")
    theirs = LastSigned(tmp_path / "new.last", STRANGER.public)

    assert sealer(store, theirs, STRANGER).next() is None
    assert theirs.read() is None
    grow(store, "bb")
    made = sealer(store, theirs, STRANGER).next()
    assert made is not None
    assert 12 == made.tree_size


def test_a_log_that_differs_from_its_latest_seal_is_not_signed_by_a_new_key(last: LastSigned) -> None:
    store = Owned()
    sealed(store, last, "a")
    last.path.unlink()
    store.changed[2] = bytes(32)
    grow(store, "bb")

    with pytest.raises(SealRefused, match="the seal over 6 events does not match the log"):
        sealer(store, last).next()

    assert not last.path.exists()


def test_the_log_is_read_once_and_then_only_what_is_new(last: LastSigned) -> None:
    store = Owned()
    sealed(store, last, "a", "bb")
    store.read = 0
    one = sealer(store, last)
    for name in ("ccc", "dddd", "eeeee"):
        grow(store, name)
        made = one.next()
        assert made is not None
        store.store_seal(made)

    # All 18, then 6 new ones each time and the last sealed one, to see that it is there.
    assert 18 + 7 + 7 == store.read


def test_two_signers_of_one_key_and_log_take_turns(last: LastSigned) -> None:
    store = Owned()
    sealers = [sealer(store, last), sealer(store, last)]
    for number in range(6):
        grow(store, "a" * (number + 1))
        made = sealers[number % 2].next()
        assert made is not None
        store.store_seal(made)

    assert [6, 12, 18, 24, 30, 36] == [seal.tree_size for seal in store.seals()]


@pytest.mark.parametrize("number", range(3))
def test_one_key_signs_only_one_of_two_logs(last: LastSigned, number: int) -> None:
    logs = [MemoryEventStore(), MemoryEventStore()]
    grow(logs[0], "a")
    grow(logs[1], "bb")
    together = Barrier(2)

    def sign(store: EventStore) -> Seal | None:
        one = sealer(store, LastSigned(last.path, KEY.public))
        together.wait()
        try:
            return one.next()
        except SealRefused:
            return None

    with ThreadPoolExecutor(2) as pool:
        made = [seal for seal in pool.map(sign, logs) if seal is not None]

    assert [last.path.read_bytes()] == [seal.note for seal in made]


def test_a_pipe_as_last_signed_file_is_refused_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.last")

    with pytest.raises(SealKeyFileError, match="not a regular file"):
        LastSigned(tmp_path / "k.last", KEY.public).read()
