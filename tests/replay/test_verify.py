"""Every change that bypasses the store is found and named."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jury_events import NewEvent, exchange_id
from jury_events.ids import Step
from jury_migrations import upgrade
from jury_replay import IntegrityFailure, VerifyReport
from jury_replay.verify import verify
from jury_store import Append, EventStore, MemoryEventStore, open_store
from support.debates import JUROR, MODEL, DebateScript


def _fill(store: EventStore, *names: str) -> list[DebateScript]:
    scripts = [DebateScript(name, seed=n) for n, name in enumerate(names, 1)]
    for script in scripts:
        epoch = store.next_epoch()
        named = exchange_id(Step(0, JUROR).id, MODEL, 1, 1)
        store.append([Append(script.stream, (script.opened(), script.evaluated(exchanges=(named,))), 0, epoch)])
        store.append([Append(script.calls, (script.exchange(1), script.exchange(2)))])
        store.append([Append(script.stream, (script.checked(), script.judged(), script.completed()), 2, epoch)])
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
    assert (report.debates, report.events, report.parts, report.erased) == (2, 14, 12, 0)
    assert report.bytes > 5000


def test_memory_is_verified_the_same_way() -> None:
    store = MemoryEventStore()
    _fill(store, "d", "e")

    report = verify(store)

    assert report.ok
    assert (report.debates, report.events, report.parts) == (2, 14, 12)


def test_one_debate_can_be_verified_alone(tampered: Tampered) -> None:
    change = "UPDATE events SET recorded_at = recorded_at + 1 WHERE stream = 'debate/e' AND version = 1"

    assert tampered(change, only=["d"]).ok
    assert not tampered(change, only=["e"]).ok
    assert tampered(only=["d"]).debates == 1


def test_an_unknown_debate_is_not_simply_whole(tampered: Tampered) -> None:
    assert _only(tampered(only=["none"])).what == "nothing is stored of it"


def test_a_changed_event_is_named_with_its_place(tampered: Tampered) -> None:
    failure = _only(
        tampered(
            "UPDATE events SET body = replace(body, 'safe_pass', 'safe_fail') WHERE event_id = 'completed' "
            "AND stream = 'debate/d'"
        )
    )

    assert (failure.stream, failure.version, failure.event_id) == ("debate/d", 5, "completed")
    assert str(failure).startswith("debate/d, event 5 (completed): ")


def test_the_first_bad_event_of_a_stream_is_named(tampered: Tampered) -> None:
    failure = _only(tampered("UPDATE events SET hash = zeroblob(32) WHERE stream = 'debate/d' AND version > 2"))

    assert failure.version == 3


def test_the_first_failure_of_the_log_comes_first(tampered: Tampered) -> None:
    report = tampered(
        "UPDATE events SET schema = 7 WHERE stream = 'debate/e' AND version = 1",
        "UPDATE events SET schema = 7 WHERE stream = 'debate/d' AND version = 5",
    )

    assert [(one.stream, one.version) for one in report.failures] == [("debate/d", 5), ("debate/e", 1)]
    assert report.first == report.failures[0]


@pytest.mark.parametrize(("version", "named"), [(1, 1), (3, 3), (5, 5)])
def test_a_missing_event_is_named(tampered: Tampered, version: int, named: int) -> None:
    report = tampered(f"DELETE FROM events WHERE stream = 'debate/d' AND version = {version}")

    assert (report.failures[0].stream, report.failures[0].version) in {("debate/d", named), ("", None)}
    assert any(one.stream == "debate/d" and one.version == named for one in report.failures)
    assert any("no event has the position" in one.what for one in report.failures)


def test_a_cut_tail_is_found_by_head_and_counter(tampered: Tampered) -> None:
    report = tampered("DELETE FROM events WHERE stream = 'debate/e' AND version > 3")

    assert {(one.stream, one.version) for one in report.failures} == {("debate/e", 4), ("", None)}
    assert any("the counter says 14" in one.what for one in report.failures)


def test_swapped_events_are_found(tampered: Tampered) -> None:
    report = tampered(
        "UPDATE events SET version = 99 WHERE stream = 'debate/d' AND version = 2",
        "UPDATE events SET version = 2 WHERE stream = 'debate/d' AND version = 3",
        "UPDATE events SET version = 3 WHERE stream = 'debate/d' AND version = 99",
    )

    assert (_only(report).stream, _only(report).version) == ("debate/d", 2)


def test_swapped_positions_in_a_stream_are_found(tampered: Tampered) -> None:
    report = tampered(
        "UPDATE events SET position = 99 WHERE position = 1",
        "UPDATE events SET position = 1 WHERE position = 2",
        "UPDATE events SET position = 2 WHERE position = 99",
    )

    assert "does not follow" in _only(report).what


def test_an_inserted_event_is_found(tampered: Tampered) -> None:
    report = tampered(
        "INSERT INTO events SELECT 15, stream, 6, 'more', type, schema, recorded_at, body, hash FROM events "
        "WHERE stream = 'debate/d' AND version = 5"
    )

    assert (report.failures[0].stream, report.failures[0].version) == ("debate/d", 6)


def test_a_stream_out_of_nowhere_is_found(tampered: Tampered) -> None:
    report = tampered(
        "INSERT INTO events SELECT 15, 'elsewhere', 1, 'x', type, schema, recorded_at, body, hash FROM events "
        "WHERE position = 1",
        "INSERT INTO events SELECT 16, 'debate/x', 1, event_id, type, schema, recorded_at, body, hash FROM events "
        "WHERE position = 1",
        "UPDATE counters SET value = 16 WHERE name = 'position'",
    )

    assert {one.stream for one in report.failures} == {"elsewhere", "debate/x"}


def test_a_seal_of_an_import_without_its_debate_is_found(tampered: Tampered) -> None:
    report = tampered("INSERT INTO origins (debate_id, seal) VALUES ('nobody', x'00')")

    assert [str(one) for one in report.failures] == [
        "debate/nobody: there is a seal that it was imported with, and nothing else of it"
    ]


def test_a_lost_head_is_found(tampered: Tampered) -> None:
    assert _only(tampered("DELETE FROM streams WHERE stream = 'calls/d'")) == IntegrityFailure(
        "calls/d", "there are events, but the stream has no head"
    )


def test_a_whole_lost_debate_is_found(tampered: Tampered) -> None:
    report = tampered(
        "DELETE FROM events WHERE stream IN ('debate/d', 'calls/d')",
        "DELETE FROM streams WHERE stream IN ('debate/d', 'calls/d')",
    )

    assert "no event has the position 1" in str(report.failures[0])
    assert any(one.what == "there are texts of it, but no stream" for one in report.failures)


def test_a_lost_text_names_the_event_that_refers_to_it(tampered: Tampered) -> None:
    failure = _only(tampered("DELETE FROM parts WHERE debate_id = 'd' AND content = CAST('because' AS BLOB)"))

    assert (failure.stream, failure.event_id, failure.version) == ("debate/d", "initial/juror-gpt/evaluated", 2)
    assert failure.part is not None
    assert failure.part in failure.what


def test_a_changed_text_names_the_event_that_refers_to_it(tampered: Tampered) -> None:
    failure = _only(
        tampered(
            "UPDATE parts SET content = CAST('why not' AS BLOB) WHERE debate_id = 'd' "
            "AND content = CAST('because' AS BLOB)"
        )
    )

    assert failure.event_id == "initial/juror-gpt/evaluated"
    assert "is not the one that was recorded" in failure.what


def test_bytes_that_moved_from_a_text_into_its_salt_are_found(tampered: Tampered) -> None:
    report = tampered(
        "UPDATE parts SET salt = salt || substr(content, 1, 2), content = substr(content, 3) "
        "WHERE debate_id = 'd' AND length(content) > 2"
    )

    assert "is not the one that was recorded" in str(report.first)


@pytest.mark.parametrize("column", ["recorded_at", "version", "schema"])
def test_a_fraction_in_a_whole_number_is_found(tampered: Tampered, column: str) -> None:
    report = tampered(f"UPDATE events SET {column} = {column} + 0.25 WHERE stream = 'debate/d'")

    assert not report.ok


def test_calls_that_an_evaluation_follows_from_must_be_there(tampered: Tampered) -> None:
    report = tampered(
        "DELETE FROM events WHERE stream = 'calls/d'", "DELETE FROM streams WHERE stream = 'calls/d'", only=["d"]
    )

    assert any("the exchange initial/" in str(failure) for failure in report.failures)


def test_a_text_that_nothing_refers_to_is_found(tampered: Tampered) -> None:
    failure = _only(tampered("INSERT INTO parts VALUES ('d', zeroblob(32), zeroblob(16), CAST('psst' AS BLOB))"))

    assert (failure.stream, failure.part) == ("debate/d", "A" * 43)


def test_a_column_of_the_wrong_kind_is_a_failure_and_no_crash(tampered: Tampered) -> None:
    for change in ("events SET body = 'text'", "events SET hash = 5", "events SET event_id = x'ff'"):
        failure = tampered(f"UPDATE {change} WHERE stream = 'debate/d' AND version = 2").failures[0]

        assert (failure.stream, failure.version) == ("debate/d", 2)
    assert not tampered("UPDATE parts SET content = 'text' WHERE debate_id = 'd'").ok
    assert not tampered(
        "UPDATE parts SET digest = 'text' WHERE salt IN (SELECT max(salt) FROM parts WHERE debate_id = 'd')"
    ).ok


@pytest.mark.parametrize("column", ["stream", "event_id", "type"])
def test_text_that_is_no_text_any_more_is_a_failure_and_no_crash(tampered: Tampered, column: str) -> None:
    report = tampered(f"UPDATE events SET {column} = CAST(x'64ff' AS TEXT) WHERE stream = 'debate/d' AND version = 2")

    assert any((one.stream, one.version) == ("debate/d", 2) for one in report.failures)


def test_erased_texts_are_counted_and_no_failure_and_one_that_is_back_is_found(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    (script,) = _fill(store, "d")
    store.append([Append(script.stream, (script.erased("because"),), 5, 1)])

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
    opened, checked = script.opened(), script.checked()
    store.append([Append(script.stream, (opened, checked._replace(event_id="round-7/check")), 0, 1)])
    store.append([Append("calls/d", (NewEvent("e", "from_the_future", 1, 1, b"{}"),))])

    report = verify(store)

    assert [(one.stream, one.version) for one in report.failures] == [("debate/d", 2), ("calls/d", 1)]
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


_COLUMNS = {
    "events": ("position", "stream", "version", "event_id", "type", "schema", "recorded_at", "body", "hash"),
    "streams": ("stream", "version", "hash"),
    "parts": ("debate_id", "digest", "salt", "content"),
}


def _single_changes(connection: sqlite3.Connection) -> Iterator[tuple[str, int, str, object]]:
    """(table, row, column, new value) for changes of one byte in every column of every row of the debate d.

    Every byte of short values, and of long ones the first, the last and every 11th.
    """
    for table, columns in _COLUMNS.items():
        where = "debate_id = 'd'" if table == "parts" else "stream IN ('debate/d', 'calls/d')"
        for row, *values in connection.execute(f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE {where}"):
            for column, value in zip(columns, values, strict=True):
                if isinstance(value, int):
                    yield table, row, column, value ^ (1 << 40)
                    yield table, row, column, value + 1000
                    continue
                raw = value.encode() if isinstance(value, str) else value
                step = 1 if len(raw) <= 3 else 11
                for index in sorted({*range(0, len(raw), step), len(raw) - 1} if raw else ()):
                    changed = bytearray(raw)
                    changed[index] ^= 2  # not 1, which makes debate d out of e
                    yield table, row, column, changed.decode() if isinstance(value, str) else bytes(changed)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_changed_bytes_are_found_and_named(untouched: Path, step: int) -> None:
    url = f"sqlite:///{untouched}"
    connection = sqlite3.connect(untouched, isolation_level=None)
    changes = list(_single_changes(connection))[::step]
    store = open_store(url, write=False)
    missed = []
    for table, row, column, value in changes:
        (old,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        # A position is the row's own number.
        row_now = value if (table, column) == ("events", "position") else row
        report = verify(store)
        if not any(one.stream in {"debate/d", "calls/d"} or "position" in one.what for one in report.failures):
            missed.append((table, row, column, value))
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (old, row_now))
    whole_again = verify(store).ok
    store.close()
    connection.close()

    assert missed == []
    assert len(changes) > 500 / step
    assert whole_again
