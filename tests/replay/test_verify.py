"""Every change that bypasses the store is found and named."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from jury_events import NewEvent, Step, exchange_id
from jury_migrations import upgrade
from jury_replay import IntegrityFailure, VerifyReport, verify
from jury_store import Append, EventStore, MemoryEventStore, PublicKey, Seal, Sealer, SealKey, open_store
from support.cassettes import KEY, record_debate
from support.debates import JUROR, MODEL, DebateScript
from support.refusals import RefusalTables


def _fill(store: EventStore, *names: str) -> list[DebateScript]:
    scripts = [DebateScript(name, seed=n) for n, name in enumerate(names, 1)]
    for script in scripts:
        epoch = store.next_epoch()
        named = exchange_id(Step(0, JUROR).id, MODEL, 1, 1)
        store.append([Append(script.stream, (*script.begins(), script.evaluated(exchanges=(named,))), 0, epoch)])
        store.append([Append(script.calls, (script.exchange(1), script.exchange(2)))])
        store.append([Append(script.stream, (script.checked(), script.judged(), script.completed()), 3, epoch)])
    return scripts


@pytest.fixture
def untouched(tmp_path: Path) -> Path:
    """A SQLite store of two debates without guards, as an attacker with the file can make it."""
    path = tmp_path / "jury.db"
    upgrade(f"sqlite:///{path}")
    store = open_store(f"sqlite:///{path}", write=True)
    _fill(store, "d", "e")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    connection.close()
    return path


Tampered = Callable[..., VerifyReport]


@pytest.fixture
def tampered(untouched: Path, tmp_path: Path) -> Tampered:
    """Runs statements on a copy of the store and verifies what is left."""
    copy = tmp_path / "copy.db"

    def tamper(*statements: str | tuple[str, tuple[object, ...]], only: list[str] | None = None) -> VerifyReport:
        shutil.copyfile(untouched, copy)
        connection = sqlite3.connect(copy)
        for statement in statements:
            connection.execute(*([statement] if isinstance(statement, str) else statement))
        connection.commit()
        connection.close()
        store = open_store(f"sqlite:///{copy}", write=False)
        try:
            return verify(store, only)
        finally:
            store.close()

    return tamper


def _only(report: VerifyReport) -> IntegrityFailure:
    (failure,) = report.failures
    return failure


def test_a_whole_log_is_whole(tampered: Tampered) -> None:
    report = tampered()

    assert report.ok
    assert report.first is None
    assert (report.debates, report.events, report.parts, report.erased) == (2, 16, 12, 0)
    assert report.bytes > 5000


def test_one_debate_can_be_verified_alone(tampered: Tampered) -> None:
    change = "UPDATE events SET recorded_at = recorded_at + 1 WHERE stream = 'debate/e' AND version = 1"

    assert tampered(change, only=["d"]).ok
    assert not tampered(change, only=["e"]).ok
    assert tampered(only=["d"]).debates == 1


def test_an_unknown_debate_is_not_simply_whole(tampered: Tampered) -> None:
    assert _only(tampered(only=["none"])).what == "nothing is stored of it"


D2 = "WHERE stream = 'debate/d' AND version = 2"
CHANGES: dict[str, tuple[str, ...]] = {
    "a changed event": (
        (
            "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'pass', 'fail') AS BLOB) "
            "WHERE event_id = 'completed' AND stream = 'debate/d'"
        ),
    ),
    "the first bad event of a stream": (
        "UPDATE events SET hash = zeroblob(32) WHERE stream = 'debate/d' AND version > 3",
    ),
    "two streams, the first of the log first": (
        "UPDATE events SET schema = 7 WHERE stream = 'debate/e' AND version = 1",
        "UPDATE events SET schema = 7 WHERE stream = 'debate/d' AND version = 6",
    ),
    "an event less": ("DELETE FROM events WHERE stream = 'debate/d' AND version = 3",),
    "a cut tail": ("DELETE FROM events WHERE stream = 'debate/e' AND version > 3",),
    "swapped versions": (
        "UPDATE events SET version = 99 WHERE stream = 'debate/d' AND version = 2",
        "UPDATE events SET version = 2 WHERE stream = 'debate/d' AND version = 3",
        "UPDATE events SET version = 3 WHERE stream = 'debate/d' AND version = 99",
    ),
    "swapped positions": (
        "UPDATE events SET position = 99 WHERE position = 1",
        "UPDATE events SET position = 1 WHERE position = 2",
        "UPDATE events SET position = 2 WHERE position = 99",
    ),
    "an event more": (
        (
            "INSERT INTO events SELECT 17, stream, 7, 'more', type, schema, recorded_at, body, hash FROM "
            "events WHERE stream = 'debate/d' AND version = 6"
        ),
    ),
    "streams out of nowhere": (
        (
            "INSERT INTO events SELECT 17, 'elsewhere', 1, 'x', type, schema, recorded_at, body, hash FROM "
            "events WHERE position = 1"
        ),
        (
            "INSERT INTO events SELECT 18, 'debate/x', 1, event_id, type, schema, recorded_at, body, hash "
            "FROM events WHERE position = 1"
        ),
        "UPDATE counters SET value = 18 WHERE name = 'position'",
    ),
    "a seal of an import without its debate": ("INSERT INTO origins (debate_id, seal) VALUES ('nobody', x'00')",),
    "a lost head": ("DELETE FROM streams WHERE stream = 'calls/d'",),
    "a lost debate": (
        "DELETE FROM events WHERE stream IN ('debate/d', 'calls/d')",
        "DELETE FROM streams WHERE stream IN ('debate/d', 'calls/d')",
    ),
    "a lost text": ("DELETE FROM parts WHERE debate_id = 'd' AND content = CAST('because' AS BLOB)",),
    "a changed text": (
        (
            "UPDATE parts SET content = CAST('why not' AS BLOB) WHERE debate_id = 'd' AND content = "
            "CAST('because' AS BLOB)"
        ),
    ),
    "bytes that moved from texts into their salts": (
        (
            "UPDATE parts SET salt = CAST(salt || substr(content, 1, 2) AS BLOB), content = substr(content, 3) WHERE "
            "debate_id = 'd' AND length(content) > 2"
        ),
    ),
    "a text that nothing refers to": (
        "INSERT INTO parts VALUES ('d', zeroblob(32), zeroblob(16), CAST('psst' AS BLOB))",
    ),
    "lost calls": (
        "DELETE FROM events WHERE stream = 'calls/d'",
        "DELETE FROM streams WHERE stream = 'calls/d'",
    ),
    "a text that is no bytes": ("UPDATE parts SET content = 'text' WHERE debate_id = 'd'",),
    "a digest that is no bytes": (
        "UPDATE parts SET digest = 'text' WHERE salt IN (SELECT max(salt) FROM parts WHERE debate_id = 'd')",
    ),
    **{
        f"a fraction in {column}": (f"UPDATE events SET {column} = {column} + 0.25 WHERE stream = 'debate/d'",)
        for column in ("recorded_at", "version", "schema")
    },
    **{
        f"a wrong kind: {change}": (f"UPDATE events SET {change} {D2}",)
        for change in ("body = 'text'", "hash = 5", "event_id = x'ff'")
    },
    **{
        f"no text any more in {column}": (f"UPDATE events SET {column} = CAST(x'64ff' AS TEXT) {D2}",)
        for column in ("stream", "event_id", "type")
    },
}
"""Statements; `printed/tampered_stores.txt` has what is found."""


def test_changes_are_named_with_their_place(tampered: Tampered, printed: RefusalTables) -> None:
    said = {name: tampered(*statements).failures for name, statements in CHANGES.items()}

    printed.compare("tampered_stores", {name: "\n".join(map(str, failures)) for name, failures in said.items()})


def test_erased_texts_are_counted_and_no_failure_and_one_that_is_back_is_found(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    (script,) = _fill(store, "d")
    store.append([Append(script.stream, (script.erased("because"),), 6, 1)])

    before = verify(store)
    store.delete_parts("d", [script.pen.make("because").digest])
    after = verify(store)
    with_another_gone = store.delete_parts("d", [script.pen.make("judge!").digest]) and verify(store)
    store.close()

    assert "is stored, although its erasure is recorded" in _only(before).what
    assert (after.ok, after.erased) == (True, 1)
    assert with_another_gone
    assert [one.event_id for one in with_another_gone.failures] == ["opened"]


def test_a_body_that_contradicts_its_envelope_is_found() -> None:
    store, script = MemoryEventStore(), DebateScript("d")
    begins, checked = script.begins(), script.checked()
    epoch = store.next_epoch()
    store.append([Append(script.stream, (*begins, checked._replace(event_id="round-7/check")), 0, epoch)])
    store.append([Append("calls/d", (NewEvent("e", "from_the_future", 1, 1, b"{}"),))])

    report = verify(store)

    assert [(one.stream, one.version) for one in report.failures] == [("debate/d", 3), ("calls/d", 1)]
    assert "the envelope says" in report.failures[0].what
    assert "upgrade jury-judge" in report.failures[1].what


@pytest.mark.full
def test_several_processes_find_what_one_finds(untouched: Path) -> None:
    with sqlite3.connect(untouched) as connection:
        connection.execute("UPDATE events SET schema = 7 WHERE stream = 'debate/e' AND version = 1")
    connection.close()
    url = f"sqlite:///{untouched}"
    store = open_store(url, write=False)

    one, two = verify(store), verify(store, url=url, processes=2)

    store.close()
    assert one == two
    assert [failure.stream for failure in two.failures] == ["debate/e"]


def test_many_debates_are_verified_in_chunks_with_progress() -> None:
    store = MemoryEventStore()
    _fill(store, *(f"d{n:03}" for n in range(120)))
    seen: list[int] = []

    report = verify(store, progress=seen.append)

    assert (report.debates, report.ok, seen) == (120, True, [50, 100, 120])


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
